//! All state of a run in one file: a line that says so, the record, and a checksum.
//!
//! ```text
//! "magpie checkpoint 8\n"   record   CRC-32 of the record (4 bytes, little endian)
//! ```
//!
//! The record goes to the disk as it is made: a checkpoint of a full archive needs no memory of its own.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::directory::{read, write_with};
use crate::error::RunError;

const MAGIC: &[u8] = b"magpie checkpoint 8\n";
/// How those of every version begin.
const ANY_VERSION: &[u8] = b"magpie checkpoint ";

/// Writes `state`, replacing an earlier checkpoint only when the new one is complete.
pub(crate) fn save<T: Serialize>(path: &Path, state: &T) -> Result<(), RunError> {
    write_with(path, |file| {
        file.write_all(MAGIC)?;
        let mut summed = Summed { inner: &mut *file, sum: crc32fast::Hasher::new(), failure: None };
        // Numbers come one by one: summed up in larger pieces they cost a tenth.
        let mut pieces = BufWriter::with_capacity(1 << 16, &mut summed);
        let written = postcard::to_io(state, &mut pieces).map(|_| ());
        let flushed = pieces.flush();
        drop(pieces);
        // postcard keeps to itself why a write failed.
        if let Some(reason) = summed.failure {
            return Err(reason);
        }
        written.map_err(io::Error::other)?;
        flushed?;
        let sum = summed.sum.finalize();
        file.write_all(&sum.to_le_bytes())
    })
}

/// Sums up what passes through to a writer.
struct Summed<W> {
    inner: W,
    sum: crc32fast::Hasher,
    failure: Option<io::Error>,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.inner.write(bytes) {
            Ok(n) => {
                self.sum.update(&bytes[..n]);
                Ok(n)
            }
            // Whoever writes tries again after these.
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(e),
            Err(e) => {
                let kind = e.kind();
                self.failure = Some(e);
                Err(kind.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Reads a checkpoint, or says what is wrong with it.
pub(crate) fn load<T: DeserializeOwned>(path: &Path) -> Result<T, RunError> {
    let bytes = read(path)?;
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| match bytes.starts_with(ANY_VERSION) {
        true => RunError::Foreign {
            path: path.to_owned(),
            problem:
                "this checkpoint was written by another version of magpie; resume it with that version, or start the run again"
                    .to_owned(),
        },
        false => damaged(path, "it does not begin like a checkpoint".to_owned()),
    })?;
    let (record, sum) =
        rest.split_last_chunk().ok_or_else(|| damaged(path, "it has no record".to_owned()))?;
    if crc32fast::hash(record) != u32::from_le_bytes(*sum) {
        return Err(damaged(path, "its checksum does not fit".to_owned()));
    }
    postcard::from_bytes(record).map_err(|e| damaged(path, format!("its record cannot be read: {e}")))
}

fn damaged(path: &Path, problem: String) -> RunError {
    RunError::Damaged { path: path.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_damage_is_named_and_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let state: Vec<f64> = (0..100).map(f64::from).collect();
        save(&path, &state).unwrap();
        assert_eq!(load::<Vec<f64>>(&path).unwrap(), state);
        let whole = std::fs::read(&path).unwrap();
        let mut damages: Vec<Vec<u8>> =
            [0, 5, MAGIC.len(), MAGIC.len() + 3, whole.len() - 1].map(|n| whole[..n].to_vec()).into();
        for at in (0..whole.len()).step_by(7) {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            damages.push(flipped);
        }
        for damage in damages {
            std::fs::write(&path, &damage).unwrap();
            let error = load::<Vec<f64>>(&path).unwrap_err().to_string();
            assert!(error.contains("state") && error.contains("damaged"), "{error}");
        }
    }

    #[test]
    fn a_checkpoint_of_another_version_is_not_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        std::fs::write(&path, b"magpie checkpoint 4\nand more").unwrap();
        let error = load::<Vec<f64>>(&path).unwrap_err().to_string();
        assert!(error.contains("another version") && !error.contains("damaged"), "{error}");
    }
}
