//! Replacing a file: written beside, synced, renamed.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Temporary files end like this. One is left behind only by a process that was killed.
const SUFFIX: &str = ".part";

/// A new file that takes its name when it is finished; dropped before that, it leaves nothing behind.
///
/// Its temporary name is unique, so that two processes can write the same file and the last one wins, and it is created
/// exclusively: a link that waits under that name is not followed.
#[derive(Debug)]
pub struct Beside {
    target: PathBuf,
    file: NamedTempFile,
}

impl Beside {
    /// Creates the file beside `target`.
    pub fn create(target: &Path) -> io::Result<Beside> {
        /// Bytes of a file's name in front of the random ones: most file systems allow 255 in all.
        const LONGEST: usize = 200;
        let Some(name) = target.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "this path does not name a file"));
        };
        let text = name.to_string_lossy();
        let mut prefix = match name.len() <= LONGEST {
            true => name.to_owned(),
            // Letters of up to four bytes.
            false => text.chars().take(LONGEST / 4).collect::<String>().into(),
        };
        prefix.push(".");
        let mut builder = tempfile::Builder::new();
        // As any new file, where tempfile would make one for the owner alone, and tell its name in errors.
        let create = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
        let file = builder.prefix(&prefix).suffix(SUFFIX).make_in(folder_of(target), create)?;
        Ok(Beside { target: target.to_owned(), file })
    }

    /// The file to write into.
    pub fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives the file its name, in place of an earlier one. It is on the disk by then, and so is its name.
    pub fn finish(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(&self.target).map_err(|e| e.error)?;
        sync_folder(folder_of(&self.target))
    }
}

/// Writes a file so that a reader, or a crash, sees the old one or the new one and nothing between.
pub fn write_with(
    path: &Path,
    contents: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    let beside = Beside::create(path)?;
    let mut buffer = BufWriter::with_capacity(1 << 16, beside.file());
    contents(&mut buffer)?;
    buffer.flush()?;
    drop(buffer);
    beside.finish()
}

/// Writes a file so that a reader, or a crash, sees the old one or the new one and nothing between.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// Makes sure that new names in a folder, and those that are gone, survive a power cut.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        // Windows opens no folders, and its file systems keep a journal of names.
        return Ok(());
    }
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    match synced.as_ref().map_err(io::Error::kind) {
        // Some file systems cannot do this, and some folders may be written but not read.
        Err(io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) => {
            Ok(())
        }
        _ => synced,
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_whole(&path, b"old").unwrap();
        let failed = write_with(&path, |file| {
            file.write_all(b"new")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn two_can_write_the_same_file_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let (first, second) = (Beside::create(&path).unwrap(), Beside::create(&path).unwrap());
        first.file().write_all(b"first").unwrap();
        second.file().write_all(b"second").unwrap();
        second.finish().unwrap();
        first.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"first");
    }

    #[test]
    fn names_as_long_as_the_file_system_takes_them() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["x".repeat(255), "ü".repeat(127)] {
            write_whole(&folder.path().join(name), b"").unwrap();
        }
    }

    #[test]
    fn errors_are_told_without_temporary_names() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_whole(&folder.path().join("none/file"), b"").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains(".part"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_replaced_and_not_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (precious, path) = (folder.path().join("precious"), folder.path().join("file"));
        fs::write(&precious, "precious").unwrap();
        for link in [path.clone(), folder.path().join("file.part")] {
            symlink(&precious, link).unwrap();
        }
        write_whole(&path, b"new").unwrap();
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        assert!(!path.is_symlink() && fs::read(&path).unwrap() == b"new");
        // Others may read it if the umask lets them, as with every new file.
        fs::write(folder.path().join("usual"), "").unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode("file"), mode("usual"));
    }
}
