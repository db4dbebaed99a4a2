//! Runs found in folders.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::run::{Note, Run};
use crate::error::ReportError;

/// The runs that were found.
#[derive(Debug, Default)]
pub struct Collection {
    /// The runs, in the order in which they were named; those in a folder by name.
    pub runs: Vec<Run>,
    /// What is wrong with some of them.
    pub notes: Vec<Note>,
}

/// How far below a folder runs are looked for: a sweep, its parts, and their runs.
const DEPTH: usize = 3;

/// Reads all runs at these places. Each is the folder of a run, or a folder with such folders in it; what is neither is
/// noted.
///
/// # Errors
/// If there is no run at all.
pub fn collect(places: &[PathBuf]) -> Result<Collection, ReportError> {
    let mut folders = Vec::new();
    let mut found = Collection::default();
    for place in places {
        let before = folders.len();
        let problem = match find(place, DEPTH, &mut folders) {
            Ok(()) if folders.len() > before => continue,
            Ok(()) => format!("left out: there is no run in it, or in folders up to {DEPTH} levels below it"),
            Err(e) if e.kind() == io::ErrorKind::NotFound => "left out: there is no such folder".to_owned(),
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
                "left out: this is not a folder; name the folder of a run, or a folder that contains runs"
                    .to_owned()
            }
            Err(e) => format!("left out: {e}"),
        };
        found.notes.push(Note { place: place.display().to_string(), problem });
    }
    let mut seen = BTreeSet::new();
    for folder in folders {
        // The same run may be named twice, or by way of a link.
        if !seen.insert(folder.canonicalize().unwrap_or_else(|_| folder.clone())) {
            continue;
        }
        let place = || folder.display().to_string();
        match Run::read(&folder, &mut found.notes) {
            Ok(Some(run)) => found.runs.push(run),
            Ok(None) if found.notes.iter().any(|note| note.place == place()) => {}
            Ok(None) => {
                let problem =
                    "left out: it is a run of one policy and not a search, so it has no archive to compare"
                        .to_owned();
                found.notes.push(Note { place: place(), problem });
            }
            Err(e) => found.notes.push(Note { place: place(), problem: format!("left out: {e}") }),
        }
    }
    if found.runs.is_empty() {
        let places: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        let why: String =
            found.notes.iter().map(|note| format!("\n  {}: {}", note.place, note.problem)).collect();
        return Err(ReportError::NoRuns { places: places.join(", "), why });
    }
    Ok(found)
}

/// Appends the folders of runs at or below a folder. What has the files of a run but no configuration is one too: its
/// damage has to be said.
fn find(folder: &Path, depth: usize, into: &mut Vec<PathBuf>) -> io::Result<()> {
    let is_run =
        ["config.toml", "metrics.csv", "archive.safetensors"].iter().any(|file| folder.join(file).is_file());
    if is_run {
        into.push(folder.to_owned());
        return Ok(());
    }
    let mut inside = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            inside.push(path);
        }
    }
    inside.sort();
    if depth > 0 {
        for folder in inside {
            // A folder below that cannot be read is skipped; one that was named is an error.
            let _ = find(&folder, depth - 1, into);
        }
    }
    Ok(())
}
