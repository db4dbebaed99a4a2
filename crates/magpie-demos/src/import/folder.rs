//! Datasets that are folders.
//!
//! Minari keeps `main_data.hdf5` and `metadata.json` in the folder `data` of a dataset. Hugging Face's `datasets`, which the
//! library `imitation` uses, keeps parts of a table in `*.arrow` files, listed in `state.json`.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Given, READABLE, arrow, import_with, minari};
use crate::demonstrations::Demonstrations;
use crate::error::{DemonstrationError, Problem};
use crate::file;

const MINARI: &str = "main_data.hdf5";
const METADATA: &str = "metadata.json";
const STATE: &str = "state.json";
/// Longer descriptions than this are none.
const LONGEST_TEXT: u64 = 1 << 20;

/// Reads a dataset.
pub(super) fn read(folder: &Path, given: &Given) -> Result<Demonstrations, DemonstrationError> {
    let data = [folder.join("data"), folder.to_owned()].map(|folder| folder.join(MINARI));
    if let Some(file) = data.iter().find(|file| file.is_file()) {
        let read = import_with(&file::read(file)?, given, simulator_beside(file));
        return read.map_err(|problem| DemonstrationError::Content { path: file.clone(), problem });
    }
    let content =
        |text: String| DemonstrationError::Content { path: folder.to_owned(), problem: Problem(text) };
    let parts = parts(folder)?;
    if parts.is_empty() {
        return Err(content(format!("a folder without {MINARI} or *.arrow files; {READABLE}")));
    }
    let parts = parts.iter().map(|part| file::read(part)).collect::<Result<Vec<_>, _>>()?;
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    arrow::read(&parts, given)
        .and_then(|demonstrations| given.fits(demonstrations))
        .map_err(|problem| content(problem.0))
}

/// What `metadata.json` beside Minari's file says of the environment.
pub(super) fn simulator_beside(file: &Path) -> Option<String> {
    (file.file_name()? == MINARI)
        .then(|| text(&file.with_file_name(METADATA)))?
        .as_deref()
        .and_then(minari::simulator)
}

/// The Arrow files of a dataset in their order: those that its state lists, or all by name.
fn parts(folder: &Path) -> Result<Vec<PathBuf>, DemonstrationError> {
    let listed = text(&folder.join(STATE)).and_then(|state| {
        let state: serde_json::Value = serde_json::from_str(&state).ok()?;
        let name = |file: &serde_json::Value| Some(file.get("filename")?.as_str()?.to_owned());
        state.get("_data_files")?.as_array()?.iter().map(name).collect::<Option<Vec<String>>>()
    });
    if let Some(listed) = listed {
        // A name with a folder in it would lead out of the dataset.
        let plain = |name: &String| Path::new(name).file_name() == Some(name.as_ref());
        return Ok(listed.iter().filter(|name| plain(name)).map(|name| folder.join(name)).collect());
    }
    let io = |reason| DemonstrationError::Io { path: folder.to_owned(), action: "listing", reason };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|extension| extension == "arrow") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// A short text file, if it is there.
fn text(path: &Path) -> Option<String> {
    let about = fs::metadata(path).ok()?;
    (about.is_file() && about.len() <= LONGEST_TEXT).then(|| fs::read_to_string(path).ok())?
}
