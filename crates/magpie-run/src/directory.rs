//! A folder that belongs to one run and, while it runs, to one process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use magpie_files::{open_own, sync_folder};

use crate::error::RunError;
use crate::lease::{Lease, owner};

/// The folder of a run, this process's for as long as this lives.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    // Let go before the lock is.
    lease: Lease,
    lock: File,
}

/// Its presence makes a folder a run.
pub(crate) const CONFIG: &str = "config.toml";
/// The file that is locked.
pub(crate) const LOCK: &str = "lock";
/// Folders in that of a run.
const FOLDERS: [&str; 2] = ["checkpoint", "plots"];

impl RunDirectory {
    /// A folder for a new run; made if it is not there, refused if it holds a run.
    pub fn create(path: &Path) -> Result<RunDirectory, RunError> {
        let is_free = || match path.join(CONFIG).exists() {
            true => Err(RunError::Exists { path: path.to_owned() }),
            false => Ok(()),
        };
        is_free()?;
        let created = fs::create_dir_all(path.join("checkpoint"));
        created.map_err(RunError::io(path, "making the folder"))?;
        let directory = RunDirectory::lock(path)?;
        // Another process may have made a whole run between the first look and the lock.
        is_free()?;
        // A run that survives a power cut needs a folder that does.
        let above = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        above
            .ancestors()
            .take(4)
            .try_for_each(sync_folder)
            .map_err(RunError::io(path, "making the folder"))?;
        Ok(directory)
    }

    /// The folder of a run that was started before.
    pub fn open(path: &Path) -> Result<RunDirectory, RunError> {
        if !path.join(CONFIG).is_file() {
            return Err(match path.join(LOCK).is_file() || path.join("checkpoint").is_dir() {
                true => RunError::NotBegun { path: path.to_owned() },
                false => RunError::NoRun { path: path.to_owned(), missing: CONFIG },
            });
        }
        RunDirectory::lock(path)
    }

    /// The folder of a run of `magpie COMMAND` that was started before: such a run has a file called `checkpoint`.
    pub fn open_kind(
        path: &Path,
        asked: &'static str,
        checkpoint: &'static str,
    ) -> Result<RunDirectory, RunError> {
        let directory = RunDirectory::open(path)?;
        match directory.file(checkpoint).is_file() {
            true => Ok(directory),
            false => Err(RunError::OtherKind { path: path.to_owned(), asked, missing: checkpoint }),
        }
    }

    fn lock(path: &Path) -> Result<RunDirectory, RunError> {
        let file = path.join(LOCK);
        let mut options = OpenOptions::new();
        let lock = open_own(&file, options.write(true).create(true).truncate(false))
            .map_err(RunError::io(&file, "opening the lock"))?;
        let locked = match lock.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => {
                return Err(RunError::Locked { path: path.to_owned(), owner: owner(path).map(Box::new) });
            }
            // Some network file systems have none.
            Err(TryLockError::Error(_)) => false,
        };
        // A folder from elsewhere may lead to files that are no business of the run.
        for folder in FOLDERS.map(|name| path.join(name)) {
            if folder.is_symlink() {
                let problem = "it is a symbolic link, and what it points to would be changed; put a folder in its place";
                return Err(RunError::Foreign { path: folder, problem: problem.to_owned() });
            }
        }
        let directory = RunDirectory { path: path.to_owned(), lease: Lease::claim(path, locked)?, lock };
        directory.clear_away();
        Ok(directory)
    }

    /// Removes the temporary files of processes that were killed while they wrote a file of the run. Only whoever has
    /// the lock writes such files.
    fn clear_away(&self) {
        for folder in ["", "checkpoint", "plots"].map(|name| self.path.join(name)) {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_left_behind)) {
                // A folder that cannot be tidied is as good as one that is tidy.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// An error if the folder was deleted, replaced by another or taken over since it was opened: nothing may be written
    /// there by this process then.
    pub fn still_here(&self) -> Result<(), RunError> {
        let file = self.file(LOCK);
        match (self.lock.metadata(), fs::symlink_metadata(&file)) {
            (Ok(ours), Ok(there)) if same_file(&ours, &there) => {}
            (Ok(_), Err(reason)) if reason.kind() != io::ErrorKind::NotFound => {
                return Err(RunError::io(&file, "looking for the lock")(reason));
            }
            _ => return Err(RunError::Gone { path: self.path.clone() }),
        }
        match self.lease.holds().map_err(RunError::io(&self.path, "looking for other processes"))? {
            true => Ok(()),
            false => Err(RunError::TakenOver { path: self.path.clone() }),
        }
    }

    /// Why something failed: because the folder is gone or another's, if it is, which is more than that a file cannot be
    /// found.
    pub(crate) fn explain(&self, reason: RunError) -> RunError {
        match self.still_here() {
            Err(gone @ (RunError::Gone { .. } | RunError::TakenOver { .. })) => gone,
            _ => reason,
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file of the run.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file so that a reader, or a crash, sees the old one or the new one and nothing between.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), RunError> {
        self.still_here()?;
        write_whole(&self.file(name), bytes)
    }
}

#[cfg(unix)]
pub(crate) fn same_file(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Windows removes no folder in which a file is open.
#[cfg(not(unix))]
pub(crate) fn same_file(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

/// Files that only the process with the lock writes, whole.
const WRITTEN_WHOLE: [&str; 15] = [
    CONFIG,
    "metrics.csv",
    "search",
    "trainer",
    "settle",
    crate::reevaluation::FILE,
    "archive.png",
    crate::finished::FILE,
    crate::sweep::FAILED,
    crate::train::ARCHIVE,
    crate::train::DEMONSTRATIONS,
    crate::ppo::POLICY,
    crate::world::ROBOT,
    crate::world::TASK,
    crate::tensorboard::FILE,
];

/// Whether this is the temporary name of a file of a run: its name, a dot, random letters, `.part`.
fn is_left_behind(name: &str) -> bool {
    let stem = name.strip_suffix(".part").and_then(|stem| stem.rsplit_once('.'));
    stem.is_some_and(|(file, random)| {
        (WRITTEN_WHOLE.contains(&file) || file.starts_with(crate::checkpoint::SEGMENT))
            && random.len() == 6
            && random.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// Writes a file so that a reader, or a crash, sees the old one or the new one and nothing between.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    write_with(path, |file| file.write_all(bytes))
}

/// Writes beside, flushes to disk, renames.
pub(crate) fn write_with(
    path: &Path,
    contents: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> Result<(), RunError> {
    magpie_files::write_with(path, contents).map_err(RunError::io(path, "writing"))
}

/// Bytes of a file.
pub(crate) fn size(path: &Path) -> Result<u64, RunError> {
    Ok(fs::metadata(path).map_err(RunError::io(path, "reading"))?.len())
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, RunError> {
    magpie_files::read(path).map_err(RunError::io(path, "reading"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_replaced_is_noticed_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let first = RunDirectory::create(&path).unwrap();
        first.write(CONFIG, b"first").unwrap();
        let gone = |directory: &RunDirectory| {
            let error = directory.write("file", b"").unwrap_err();
            assert!(matches!(error, RunError::Gone { .. }), "{error}");
        };
        fs::remove_dir_all(&path).unwrap();
        gone(&first);
        let second = RunDirectory::create(&path).unwrap();
        gone(&first);
        second.write(CONFIG, b"second").unwrap();
        assert_eq!(fs::read(path.join(CONFIG)).unwrap(), b"second");
        assert!(!path.join("file").exists());
    }

    /// A process that slept for so long that another one took its run for abandoned.
    #[test]
    fn a_run_that_was_taken_over_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let directory = RunDirectory::create(folder.path()).unwrap();
        directory.write(CONFIG, b"first").unwrap();
        let lease = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with("owner-");
        let entries = fs::read_dir(folder.path()).unwrap().flatten();
        fs::remove_file(entries.into_iter().find(lease).unwrap().path()).unwrap();
        let error = directory.write(CONFIG, b"late").unwrap_err();
        assert!(matches!(error, RunError::TakenOver { .. }), "{error}");
        assert_eq!(fs::read(folder.path().join(CONFIG)).unwrap(), b"first");
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_foreign_folder_lead_nowhere() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        fs::write(&precious, "precious").unwrap();
        for link in ["lock", "checkpoint", "plots"] {
            let path = folder.path().join(format!("run-{link}"));
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join(CONFIG), "").unwrap();
            let target = if link == "lock" { precious.as_path() } else { folder.path() };
            symlink(target, path.join(link)).unwrap();
            let error = RunDirectory::open(&path).unwrap_err().to_string();
            assert!(error.contains(link) && error.contains("symbolic link"), "{error}");
        }
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
    }

    #[test]
    fn a_lock_is_not_emptied() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(LOCK), "somebody's notes").unwrap();
        drop(RunDirectory::create(folder.path()).unwrap());
        assert_eq!(fs::read(folder.path().join(LOCK)).unwrap(), b"somebody's notes");
    }

    #[test]
    fn what_killed_processes_left_is_cleared_away_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("checkpoint")).unwrap();
        let (left, own) = (
            [
                "checkpoint/search.a1B2c3.part",
                "checkpoint/rows-3.a1B2c3.part",
                "archive.safetensors.XXXXXX.part",
                "config.toml.0aZ9kk.part",
            ],
            [
                "archive.csv.a1B2c3.part",
                "my.part",
                "archive.safetensors.part",
                "checkpoint/search",
                "config.toml.a.b.part",
            ],
        );
        for name in left.iter().chain(&own) {
            fs::write(at(name), "").unwrap();
        }
        drop(RunDirectory::create(folder.path()).unwrap());
        assert!(left.iter().all(|name| !at(name).exists()));
        assert!(own.iter().all(|name| at(name).exists()));
    }
}
