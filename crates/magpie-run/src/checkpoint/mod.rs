//! Checkpoints: all state of a run, of which a save writes what has changed.
//!
//! Nearly all of a search's state are the parameters of its elites, and from one save to the next only some of them
//! change. A checkpoint is therefore a small *head*, written whole, and *segments* that hold rows of parameters:
//!
//! ```text
//! checkpoint/search   the head: everything but the rows, and for each slot the segment and the place of its row
//! checkpoint/rows-0   a segment: rows one after the other
//! checkpoint/rows-3
//! checkpoint/settle   what has been evaluated since the last iteration, if the archive has been or is being settled
//! ```
//!
//! A segment is never changed. A save writes the rows that are in no segment yet into a new one, then the head, and then
//! deletes segments that the head no longer refers to: killed at any moment, it leaves the old head with all that belongs
//! to it, or the new one. Where replaced rows are more than half of what lies there, rows that are still in use move into
//! the new segment, from the emptiest segments first; so the rows take at most twice the room of those in use.
//!
//! Files begin with a line that says what they are and end with a CRC-32 of everything before it; the head also keeps
//! the checksums of its segments. Damage is noticed when they are read.
//!
//! The rows of a save are shared with the search and the rest of the state is copied, so that a thread of its own can
//! write while the search goes on ([`Writer`]).

mod head;
mod index;
mod rows;
mod sealed;
mod single;
mod writer;

use std::path::{Path, PathBuf};

use magpie_qd::Solutions;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::RunError;
pub(crate) use head::iteration_of;
pub(crate) use index::Stored;
pub(crate) use single::CheckpointRows;
pub(crate) use writer::{Job, WriteResults, Writer, Written};

/// A checkpoint as read.
pub(crate) struct Checkpoint<T> {
    /// Everything but the rows.
    pub record: T,
    /// The rows.
    pub rows: Solutions,
    /// Where they lie.
    pub stored: Stored,
}

/// How often a reader tries again, if the run it reads is saved just then.
const ATTEMPTS: u32 = 10;

/// Reads a checkpoint by the path of its head, or says what is wrong with it. The run may be under way in another process.
pub(crate) fn load<T: DeserializeOwned>(path: &Path) -> Result<Checkpoint<T>, RunError> {
    let mut attempts = 1;
    loop {
        let head = head::read(path)?;
        let rows = match rows::load(path, &head.index) {
            Ok(rows) => rows,
            // A save may have deleted a segment after the head that refers to it was read.
            Err(_) if attempts < ATTEMPTS && head::read(path)?.index != head.index => {
                attempts += 1;
                continue;
            }
            Err(reason) => return Err(reason),
        };
        let record = decode(path, &head.record)?;
        return Ok(Checkpoint { record, stored: Stored::new(head.index, &rows), rows });
    }
}

/// Reads a checkpoint without its rows.
pub(crate) fn load_head<T: DeserializeOwned>(path: &Path) -> Result<T, RunError> {
    decode(path, &head::read(path)?.record)
}

/// Writes a record of other work than iterations into a file of its own, with a checksum.
pub(crate) fn save_sealed(path: &Path, record: &impl Serialize) -> Result<(), RunError> {
    let bytes = postcard::to_stdvec(record).map_err(|e| damaged(path, format!("cannot be written: {e}")))?;
    sealed::write(path, RECORD_LINE, |file| file.write_all(&bytes)).map(drop)
}

/// The record in such a file, if there is one that is intact and of this version.
pub(crate) fn load_sealed<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let file = sealed::Sealed::open(path, RECORD_LINE).ok()?.ok()?;
    postcard::from_bytes(&file.rest().ok()?).ok()
}

/// How the file of such a record begins.
const RECORD_LINE: &[u8] = b"magpie record 1\n";

/// Whether these are the bytes of a file of a checkpoint, intact or not.
pub(crate) fn is_part(bytes: &[u8]) -> bool {
    [head::ANY_VERSION, rows::FIRST_LINE, RECORD_LINE].iter().any(|line| bytes.starts_with(line))
}

/// Checks the checksum of one file of a checkpoint: the head, a segment or another record.
pub(crate) fn verify(path: &Path) -> Result<(), RunError> {
    for line in [rows::FIRST_LINE, RECORD_LINE] {
        if let Ok(file) = sealed::Sealed::open(path, line)? {
            return file.rest().map(drop);
        }
    }
    head::read(path).map(drop)
}

fn decode<T: DeserializeOwned>(path: &Path, record: &[u8]) -> Result<T, RunError> {
    postcard::from_bytes(record).map_err(|e| damaged(path, format!("its record cannot be read: {e}")))
}

/// How the files of segments are called, before their number.
pub(crate) const SEGMENT: &str = "rows-";

/// A segment, which lies beside the head.
fn segment_file(head: &Path, number: u32) -> PathBuf {
    head.with_file_name(format!("{SEGMENT}{number}"))
}

fn damaged(path: &Path, problem: String) -> RunError {
    RunError::Damaged { path: path.to_owned(), problem }
}

#[cfg(test)]
mod tests;
