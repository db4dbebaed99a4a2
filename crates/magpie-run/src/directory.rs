//! A folder that belongs to one run and, while it runs, to one process.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::RunError;

/// The folder of a run, locked for as long as this lives.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    _lock: File,
}

/// Its presence makes a folder a run.
pub(crate) const CONFIG: &str = "config.toml";

impl RunDirectory {
    /// A folder for a new run; made if it is not there, refused if it holds a run.
    pub fn create(path: &Path) -> Result<RunDirectory, RunError> {
        let is_free = || match path.join(CONFIG).exists() {
            true => Err(RunError::Exists { path: path.to_owned() }),
            false => Ok(()),
        };
        is_free()?;
        fs::create_dir_all(path.join("checkpoint")).map_err(RunError::io(path, "making the folder"))?;
        let directory = RunDirectory::lock(path)?;
        // Another process may have made a whole run between the first look and the lock.
        is_free()?;
        Ok(directory)
    }

    /// The folder of a run that was started before.
    pub fn open(path: &Path) -> Result<RunDirectory, RunError> {
        if !path.join(CONFIG).is_file() {
            return Err(RunError::NoRun { path: path.to_owned(), missing: CONFIG });
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
        let file = path.join("lock");
        let lock = File::create(&file).map_err(RunError::io(&file, "opening the lock"))?;
        match lock.try_lock() {
            Ok(()) => Ok(RunDirectory { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(RunError::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(reason)) => Err(RunError::io(&file, "locking")(reason)),
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
        write_whole(&self.file(name), bytes)
    }
}

/// Writes a file so that a reader, or a crash, sees the old one or the new one and nothing between.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RunError> {
    write_with(path, |file| file.write_all(bytes))
}

/// Writes beside, flushes to disk, renames.
pub(crate) fn write_with(
    path: &Path,
    contents: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), RunError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let result = File::create(&beside).and_then(|file| {
        let mut buffer = BufWriter::with_capacity(1 << 16, file);
        contents(&mut buffer)?;
        buffer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&beside, path)
    });
    if result.is_err() {
        // A disk that is full should not stay full because of half a file.
        let _ = fs::remove_file(&beside);
    }
    result.map_err(RunError::io(path, "writing"))
}

/// Bytes of a file.
pub(crate) fn size(path: &Path) -> Result<u64, RunError> {
    Ok(fs::metadata(path).map_err(RunError::io(path, "reading"))?.len())
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, RunError> {
    fs::read(path).map_err(RunError::io(path, "reading"))
}
