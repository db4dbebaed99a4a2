//! How the runs of a sweep stand, seen from any machine that sees their folder. Nothing is locked or changed.

use std::fs;
use std::path::{Path, PathBuf};

use super::state::{failure, made_at_a_glance};
use super::{Run, Sweep};
use crate::directory::{CONFIG, LOCK};
use crate::error::RunError;
use crate::lease::{self, Owner, SILENCE};
use crate::settings::read_text;

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// All iterations have been made, and all files are there.
    Done,
    /// A process makes it.
    Running(Owner),
    /// A process had it and shows no sign of life: the next one that comes to the run takes it over.
    Stale(Owner),
    /// It could not be made, or go on, when that was tried last.
    Failed(String),
    /// No process has it.
    Waiting,
}

impl Standing {
    /// In a word.
    pub fn name(&self) -> &'static str {
        match self {
            Standing::Done => "done",
            Standing::Running(_) => "running",
            Standing::Stale(_) => "stale",
            Standing::Failed(_) => "failed",
            Standing::Waiting => "waiting",
        }
    }

    /// The process that has the run, or had it.
    pub fn owner(&self) -> Option<&Owner> {
        match self {
            Standing::Running(owner) | Standing::Stale(owner) => Some(owner),
            _ => None,
        }
    }
}

/// A run and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStatus {
    /// Its name.
    pub run: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Iterations made; those since the last checkpoint would be made again if it were killed now.
    pub made: u64,
    /// Iterations of the whole run; `None` if the folder does not say.
    pub iterations: Option<u64>,
    /// How it stands.
    pub standing: Standing,
}

impl Sweep {
    /// How every run stands whose folder is in `out`.
    pub fn status(&self, out: &Path) -> Vec<RunStatus> {
        let of = |run: &Run| of_run(&run.name, out.join(&run.name), Some(run.config.iterations));
        self.runs.iter().map(of).collect()
    }
}

/// How the runs in a folder stand that have begun: the others are in the sweep file alone.
pub fn status_of_folder(folder: &Path) -> Result<Vec<RunStatus>, RunError> {
    let entries = fs::read_dir(folder).map_err(RunError::io(folder, "reading"))?;
    let is_run = |path: &PathBuf| path.join(CONFIG).is_file() || path.join(LOCK).is_file();
    let mut runs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_run).collect();
    runs.sort();
    if runs.is_empty() {
        return Err(RunError::NoRun { path: folder.to_owned(), missing: CONFIG });
    }
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(runs.into_iter().map(|path| of_run(&name(&path), path.clone(), planned(&path))).collect())
}

fn planned(run: &Path) -> Option<u64> {
    let config: toml::Table = read_text(&run.join(CONFIG)).ok()?.parse().ok()?;
    config.get("iterations")?.as_integer()?.try_into().ok()
}

fn of_run(name: &str, folder: PathBuf, iterations: Option<u64>) -> RunStatus {
    let (made, finished) = made_at_a_glance(&folder);
    let standing = match lease::owner(&folder) {
        Some(owner) if owner.silent < SILENCE => Standing::Running(owner),
        _ if finished && iterations.is_none_or(|iterations| made == iterations) => Standing::Done,
        Some(owner) => Standing::Stale(owner),
        None => failure(&folder).map_or(Standing::Waiting, Standing::Failed),
    };
    RunStatus { run: name.to_owned(), folder, made, iterations, standing }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_folder_tells_how_its_runs_stand() {
        let temporary = tempfile::tempdir().unwrap();
        let at = |path: &str| temporary.path().join(path);
        let write = |path: &str, text: &str| {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), text).unwrap();
        };
        let error = status_of_folder(temporary.path()).unwrap_err().to_string();
        assert!(error.contains("holds no run"), "{error}");
        for run in ["failed", "lost", "running", "waiting"] {
            write(&format!("{run}/config.toml"), "iterations = 7\n");
            write(&format!("{run}/metrics.csv"), "iteration,x\n1,0\n2,0\n3,");
        }
        write("begun/lock", "");
        write("notes/readme", "");
        write("failed/failed", "the disk is full");
        for (run, ago) in [("lost", 100), ("running", 20)] {
            let owner = format!("{run}/owner-elsewhere-0123abcd");
            write(&owner, "host = 'node7'\nprocess = 42");
            let beat = SystemTime::now() - Duration::from_secs(ago);
            fs::File::options().write(true).open(at(&owner)).unwrap().set_modified(beat).unwrap();
        }
        let found = status_of_folder(temporary.path()).unwrap();
        let short: Vec<_> =
            found.iter().map(|s| (s.run.as_str(), s.standing.name(), s.made, s.iterations)).collect();
        assert_eq!(
            short,
            [
                ("begun", "waiting", 0, None),
                ("failed", "failed", 2, Some(7)),
                ("lost", "stale", 2, Some(7)),
                ("running", "running", 2, Some(7)),
                ("waiting", "waiting", 2, Some(7)),
            ]
        );
        assert_eq!(found[1].standing, Standing::Failed("the disk is full".to_owned()));
        let owner = found[2].standing.owner().unwrap();
        assert_eq!((owner.host.as_str(), owner.process, owner.is_here), ("node7", 42, false));
    }
}
