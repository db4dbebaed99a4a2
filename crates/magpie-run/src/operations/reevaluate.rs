//! Many runs verified one after the other: which are to be, and which have been.
//!
//! A run is *due* if it is finished and its `reevaluation.csv` is missing, of an earlier archive, or of fewer episodes than
//! are asked for. So whoever goes through all runs below a folder and is stopped goes on where that was.

use std::io;
use std::path::{Path, PathBuf};

use super::evaluate::VERIFIED;
use crate::archive::load_outline;
use crate::directory::CONFIG;
use crate::error::RunError;
use crate::reevaluation::Reevaluation;
use crate::settings::read_text;
use crate::train::ARCHIVE;

/// How far below a folder runs are looked for: a sweep, its parts, and their runs.
const DEPTH: usize = 3;

/// What there is to do about a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// Its elites are to be run again.
    Due,
    /// They have been, with at least as many episodes.
    Current(Reevaluation),
    /// It has not made all of its iterations.
    Unfinished {
        /// Iterations made.
        made: u64,
        /// Iterations to make.
        planned: u64,
    },
    /// It has no archive: a run of one policy, or one that has hardly begun.
    NoArchive,
}

/// The folders of runs at a place or below it, sorted.
pub fn runs_below(place: &Path) -> Result<Vec<PathBuf>, RunError> {
    let mut found = Vec::new();
    find(place, DEPTH, &mut found).map_err(RunError::io(place, "looking for runs"))?;
    Ok(found)
}

fn find(folder: &Path, depth: usize, into: &mut Vec<PathBuf>) -> io::Result<()> {
    if folder.join(CONFIG).is_file() {
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
            // A folder below that cannot be looked into holds no run of ours.
            let _ = find(&folder, depth - 1, into);
        }
    }
    Ok(())
}

/// What there is to do about the run in `folder`, if its elites are to have this many episodes each, and if a verified
/// archive is to lie beside its own.
pub fn standing(folder: &Path, episodes: u32, with_archive: bool) -> Result<Standing, RunError> {
    if !folder.join(ARCHIVE).is_file() {
        return Ok(Standing::NoArchive);
    }
    let archive = load_outline(&folder.join(ARCHIVE))?;
    let (made, planned) = (archive.about.iteration, planned(folder)?);
    if made < planned {
        return Ok(Standing::Unfinished { made, planned });
    }
    // What cannot be read is made anew.
    let before = Reevaluation::load(folder).ok().flatten();
    let current = before.filter(|before| before.is_of(&archive) && before.episodes >= episodes);
    let is_there = |before: &Reevaluation| {
        load_outline(&folder.join(VERIFIED)).is_ok_and(|verified| {
            let (now, then) = (verified.metrics(), before.metrics);
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
            now.elites == then.elites
                && close(now.qd_score, then.qd_score)
                && verified.about.iteration == made
        })
    };
    Ok(match current.filter(|before| !with_archive || is_there(before)) {
        Some(before) => Standing::Current(before),
        None => Standing::Due,
    })
}

/// Iterations that the configuration of a run asks for.
fn planned(folder: &Path) -> Result<u64, RunError> {
    let path = folder.join(CONFIG);
    let wrong = |problem: String| RunError::Config { path: path.clone(), problem };
    let table: toml::Table = read_text(&path)?.parse().map_err(|e: toml::de::Error| wrong(e.to_string()))?;
    let iterations = table.get("iterations").and_then(toml::Value::as_integer);
    let known = iterations.and_then(|iterations| u64::try_from(iterations).ok());
    known.ok_or_else(|| wrong("`iterations` is no number; restore the file from a copy".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::tests::{CELLS, hopper};
    use crate::operations::{EvaluateOptions, Kept, Selection, evaluate_archive};

    #[test]
    fn a_finished_run_is_due_until_it_has_been_verified_with_as_many_episodes() {
        let (folder, open) = hopper(CELLS[0]());
        let folder = folder.path();
        let configure = |iterations: u64| {
            std::fs::write(folder.join(CONFIG), format!("iterations = {iterations}\n")).unwrap();
        };
        configure(2);
        assert_eq!(standing(folder, 1, false).unwrap(), Standing::Unfinished { made: 1, planned: 2 });
        configure(1);
        assert_eq!(standing(folder, 1, false).unwrap(), Standing::Due);
        let options = EvaluateOptions { episodes: 2, actions: None, seed: 3, world: None };
        let evaluation = evaluate_archive(&open, Selection::All, &options).unwrap();
        assert_eq!(evaluation.keep(folder).unwrap().unwrap(), Kept::Written);
        for (episodes, current) in [(1, true), (2, true), (3, false)] {
            let found = standing(folder, episodes, false).unwrap();
            assert_eq!(matches!(found, Standing::Current(_)), current, "{episodes}: {found:?}");
        }
        assert_eq!(standing(folder, 2, true).unwrap(), Standing::Due, "the verified archive is asked for");
        evaluation.save_verified(&open.archive, &folder.join(VERIFIED)).unwrap();
        assert!(matches!(standing(folder, 2, true).unwrap(), Standing::Current(_)));
        // The run has gone on.
        std::fs::write(folder.join(CONFIG), "iterations = 'x'").unwrap();
        let error = standing(folder, 2, true).unwrap_err().to_string();
        assert!(error.contains("config.toml") && error.contains("iterations"), "{error}");
        std::fs::remove_file(folder.join(ARCHIVE)).unwrap();
        assert_eq!(standing(folder, 2, true).unwrap(), Standing::NoArchive);
    }

    #[test]
    fn runs_are_found_below_a_folder_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["b/run", "a/part/run", "a/run/inside", "too/deep/to/be/found"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        for name in ["b/run", "a/part/run", "a/run", "a/run/inside", "too/deep/to/be/found"] {
            std::fs::write(at(name).join(CONFIG), "").unwrap();
        }
        assert_eq!(runs_below(folder.path()).unwrap(), ["a/part/run", "a/run", "b/run"].map(at));
        assert_eq!(runs_below(&at("b/run")).unwrap(), [at("b/run")]);
        let error = runs_below(&at("nowhere")).unwrap_err().to_string();
        assert!(error.contains("nowhere: looking for runs"), "{error}");
    }
}
