//! Writing npz files, as numpy reads them: zip archives with one npy file for each array. Arrays grow while a computation
//! runs.

use std::fs;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use magpie_files::{Beside, in_words};
use tempfile::SpooledTempFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::error::RunError;

/// Numbers that arrays are made of.
pub trait Element: Copy {
    /// As numpy calls it.
    const DTYPE: &'static str;

    /// Appends the number to bytes of a file.
    fn put(self, bytes: &mut Vec<u8>);
}

impl Element for f32 {
    const DTYPE: &'static str = "<f4";

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }
}

impl Element for f64 {
    const DTYPE: &'static str = "<f8";

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }
}

/// A column stays in memory up to this many bytes; beyond, in an unnamed file beside the result.
const MAX_BYTES_IN_MEMORY: usize = 32 << 20;

/// A file that appears under its name only when it is complete.
pub struct NpzWriter {
    path: PathBuf,
    file: Beside,
}

/// An array whose first axis grows.
pub struct Column {
    name: &'static str,
    dtype: &'static str,
    tail: Vec<usize>,
    bytes: SpooledTempFile,
}

impl NpzWriter {
    /// Opens a temporary file beside `path`, so that what forbids to write is found before the work and not after it.
    pub fn create(path: &Path) -> Result<NpzWriter, RunError> {
        let refuse = |problem: String| Err(RunError::Output { path: path.to_owned(), problem });
        if path.is_dir() {
            return refuse(format!(
                "is a directory; name a file, such as {}",
                path.join("out.npz").display()
            ));
        }
        // A link stays a link: what it points to is replaced. Devices and pipes are not files to be replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if target.exists() && !target.is_file() {
            return refuse("exists and is not an ordinary file; choose another name".to_owned());
        }
        let folder = folder(&target);
        if !folder.is_dir() {
            let folder = folder.display();
            return refuse(format!("there is no directory {folder}; make it first, or choose another"));
        }
        match Beside::create(&target) {
            Ok(file) => Ok(NpzWriter { path: target, file }),
            Err(e) => refuse(format!(
                "cannot be written; choose a folder where you may write, with room on its disk: {}",
                in_words(&e)
            )),
        }
    }

    /// An array of which nothing has been computed yet, with rows of the shape `tail`.
    pub fn column<T: Element>(&self, name: &'static str, tail: Vec<usize>) -> Column {
        let bytes = tempfile::spooled_tempfile_in(MAX_BYTES_IN_MEMORY, folder(&self.path));
        Column { name, dtype: T::DTYPE, tail, bytes }
    }

    /// Writes the columns, each with `rows` rows, and gives the file its name.
    pub fn finish(self, columns: Vec<Column>, rows: usize) -> Result<(), RunError> {
        self.write(columns, rows).and_then(|()| self.file.finish()).map_err(|e| RunError::Output {
            path: self.path,
            problem: format!("cannot be written: {}", in_words(&e)),
        })
    }

    fn write(&self, columns: Vec<Column>, rows: usize) -> io::Result<()> {
        let mut zip = ZipWriter::new(BufWriter::new(self.file.file()));
        for mut column in columns {
            let shape = [&[rows][..], &column.tail].concat();
            // Floating-point numbers hardly shrink, and numpy.savez does not try either.
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Stored)
                .large_file(column.bytes.stream_position()? >= u64::from(u32::MAX));
            zip.start_file(format!("{}.npy", column.name), options)?;
            zip.write_all(&header(column.dtype, &shape))?;
            column.bytes.rewind()?;
            io::copy(&mut BufReader::new(column.bytes), &mut zip)?;
        }
        zip.finish()?.flush()
    }
}

impl Column {
    /// Appends numbers; they have to make up whole rows in the end.
    pub fn extend<T: Element>(&mut self, values: impl IntoIterator<Item = T>) -> Result<(), RunError> {
        debug_assert_eq!(self.dtype, T::DTYPE);
        let mut bytes = Vec::new();
        for value in values {
            value.put(&mut bytes);
        }
        let place = Path::new(self.name);
        self.bytes.write_all(&bytes).map_err(RunError::io(place, "storing the array"))
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The header of an npy file, version 1. Numbers start at a multiple of 64 bytes.
pub(crate) fn header(dtype: &str, shape: &[usize]) -> Vec<u8> {
    let dict = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {}, }}", tuple(shape));
    let before = b"\x93NUMPY\x01\x00".len() + size_of::<u16>();
    let length = (before + dict.len() + 1).next_multiple_of(64) - before;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(length as u16).to_le_bytes());
    bytes.extend_from_slice(format!("{dict:<width$}\n", width = length - 1).as_bytes());
    bytes
}

/// A shape as numpy prints it: `(8, 200, 3)`.
pub fn tuple(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target.npz"), folder.path().join("link.npz"));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        NpzWriter::create(&link).unwrap().finish(vec![], 0).unwrap();
        assert!(link.is_symlink() && fs::read(&target).unwrap() != b"old");
        let error = NpzWriter::create(Path::new("/dev/null")).err().unwrap().to_string();
        assert!(error.contains("not an ordinary file"), "{error}");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let out = NpzWriter::create(&path).unwrap();
        let mut single = out.column::<f32>("single", vec![2]);
        let empty = out.column::<f64>("empty", vec![3, 0]);
        single.extend([1.0_f32, -2.5]).unwrap();
        single.extend([3.0_f32, f32::MIN_POSITIVE]).unwrap();
        out.finish(vec![single, empty], 2).unwrap();

        let mut npz = magpie_golden::Npz::open(path.to_str().unwrap());
        let single = npz.array("single");
        assert_eq!(single.shape, [2, 2]);
        assert_eq!(single.data, [1.0, -2.5, 3.0, f64::from(f32::MIN_POSITIVE)]);
        assert_eq!(npz.array("empty").shape, [2, 3, 0]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_unfinished_file_leaves_nothing_and_touches_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        fs::write(&path, "precious").unwrap();
        drop(NpzWriter::create(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
