//! Opening files that may not be what they should be.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

fn ordinary(about: &Metadata) -> io::Result<()> {
    let problem = match about {
        _ if about.is_file() => return Ok(()),
        _ if about.is_dir() => "it is a folder and not a file",
        _ => "it is not an ordinary file",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
}

/// Opens an ordinary file for reading. To open a named pipe would be to wait for its other end.
pub fn open(path: &Path) -> io::Result<File> {
    ordinary(&fs::metadata(path)?)?;
    File::open(path)
}

/// The bytes of an ordinary file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens an ordinary file that is written in place, as `options` say, if it is not a link to one.
pub fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    if path.is_symlink() {
        let problem =
            "it is a symbolic link, and what it points to would be changed; put a file in its place";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    // In case it becomes a link, or a pipe, at this moment.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    ordinary(&file.metadata()?)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn pipes_folders_and_links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        let own = |name: &str| open_own(&at(name), OpenOptions::new().append(true)).map(drop);
        let reading = |name: &str| read(&at(name)).map(drop);
        for (result, problem) in [
            (reading("pipe"), "not an ordinary file"),
            (own("pipe"), ""),
            (reading("."), "a folder"),
            (own("link"), "symbolic link"),
        ] {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        assert_eq!(read(&at("link")).unwrap(), b"text");
        own("file").unwrap();
    }
}
