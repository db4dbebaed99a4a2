//! Files that notice damage.
//!
//! ```text
//! first line   contents   CRC-32 of all before it (4 bytes, little endian)
//! ```

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use super::damaged;
use crate::directory::write_with;
use crate::error::RunError;

/// What a file ends with, and how long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seal {
    pub bytes: u64,
    pub sum: u32,
}

/// Length of the checksum.
pub(super) const SUM: u64 = 4;

/// Replaces a file, once it is complete, by one with this first line and these contents.
pub(super) fn write(
    path: &Path,
    first_line: &[u8],
    contents: impl FnOnce(&mut Summed<'_>) -> io::Result<()>,
) -> Result<Seal, RunError> {
    let mut seal = Seal { bytes: 0, sum: 0 };
    write_with(path, |file| {
        let mut summed = Summed { file, sum: crc32fast::Hasher::new(), bytes: 0 };
        summed.write_all(first_line)?;
        contents(&mut summed)?;
        let Summed { file, sum, bytes } = summed;
        seal = Seal { bytes: bytes + SUM, sum: sum.finalize() };
        file.write_all(&seal.sum.to_le_bytes())
    })?;
    Ok(seal)
}

/// Sums up what is written.
pub(super) struct Summed<'a> {
    file: &'a mut dyn Write,
    sum: crc32fast::Hasher,
    bytes: u64,
}

impl Summed<'_> {
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }
}

/// A file that is read piece by piece; its contents are to be believed after [`finish`](Sealed::finish).
pub(super) struct Sealed<'a> {
    path: &'a Path,
    file: BufReader<File>,
    sum: crc32fast::Hasher,
    /// Contents that have not been read yet.
    pub left: u64,
}

impl<'a> Sealed<'a> {
    /// Opens a file that begins with one line, or says what it begins with if that may be another version.
    pub fn open(path: &'a Path, first_line: &[u8]) -> Result<Result<Sealed<'a>, Vec<u8>>, RunError> {
        let io = || RunError::io(path, "reading");
        let file = magpie_files::open(path).map_err(io())?;
        let length = file.metadata().map_err(io())?.len();
        let mut begins = Vec::new();
        let mut file = BufReader::with_capacity(1 << 16, file);
        file.by_ref().take(first_line.len() as u64).read_to_end(&mut begins).map_err(io())?;
        if begins != first_line {
            return Ok(Err(begins));
        }
        let Some(left) = length.checked_sub(first_line.len() as u64 + SUM) else {
            return Err(damaged(path, "it ends too early".to_owned()));
        };
        let mut sum = crc32fast::Hasher::new();
        sum.update(first_line);
        Ok(Ok(Sealed { path, file, sum, left }))
    }

    /// The next piece of the contents.
    pub fn read(&mut self, piece: &mut [u8]) -> Result<(), RunError> {
        self.left = self
            .left
            .checked_sub(piece.len() as u64)
            .ok_or_else(|| damaged(self.path, "it ends too early".to_owned()))?;
        self.file.read_exact(piece).map_err(RunError::io(self.path, "reading"))?;
        self.sum.update(piece);
        Ok(())
    }

    /// All that is left of the contents.
    pub fn rest(mut self) -> Result<Vec<u8>, RunError> {
        let mut rest = vec![0; self.left as usize];
        self.read(&mut rest)?;
        self.finish()?;
        Ok(rest)
    }

    /// The checksum, if it is the right one. All contents have to be read by then.
    pub fn finish(mut self) -> Result<u32, RunError> {
        let mut sum = [0; SUM as usize];
        self.file.read_exact(&mut sum).map_err(RunError::io(self.path, "reading"))?;
        let sum = u32::from_le_bytes(sum);
        match self.left == 0 && self.sum.finalize() == sum {
            true => Ok(sum),
            false => Err(damaged(self.path, "its checksum does not fit".to_owned())),
        }
    }
}
