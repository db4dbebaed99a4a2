//! The head of a checkpoint: everything but rows, and where these lie.
//!
//! ```text
//! "magpie checkpoint 10\n"   iteration and index (postcard)   record (postcard)   CRC-32
//! ```

use std::io::Read;
use std::path::Path;

use super::damaged;
use super::index::Index;
use super::sealed::{self, Seal, Sealed};
use crate::error::RunError;

pub(super) const FIRST_LINE: &[u8] = b"magpie checkpoint 10\n";
/// How those of every version begin.
pub(super) const ANY_VERSION: &[u8] = b"magpie checkpoint ";

/// A head as read.
pub(super) struct Head {
    pub index: Index,
    pub record: Vec<u8>,
}

/// Replaces the head by another one.
pub(super) fn write(path: &Path, iteration: u64, index: &Index, record: &[u8]) -> Result<Seal, RunError> {
    let unwritten = |e: postcard::Error| damaged(path, format!("cannot be written: {e}"));
    let front = postcard::to_stdvec(&(iteration, index)).map_err(unwritten)?;
    sealed::write(path, FIRST_LINE, |file| {
        file.write_all(&front)?;
        file.write_all(record)
    })
}

/// Reads a head, or says what is wrong with it.
pub(super) fn read(path: &Path) -> Result<Head, RunError> {
    let file = Sealed::open(path, FIRST_LINE)?.map_err(|begins| match begins.starts_with(ANY_VERSION) {
        true => RunError::Foreign {
            path: path.to_owned(),
            problem: "this checkpoint was written by another version of magpie; resume the run with that version, or \
                      start it anew"
                .to_owned(),
        },
        false => damaged(path, "it does not begin like a checkpoint".to_owned()),
    })?;
    let contents = file.rest()?;
    let ((_, index), record): ((u64, Index), &[u8]) = postcard::take_from_bytes(&contents)
        .map_err(|e| damaged(path, format!("its index cannot be read: {e}")))?;
    Ok(Head { index, record: record.to_vec() })
}

/// How many iterations had been made when a checkpoint was written; `None` if there is none, or one of another version. Only
/// its first bytes are looked at, so that this says where a run seems to be, and not that it can go on from there.
pub(crate) fn iteration_of(path: &Path) -> Option<u64> {
    /// No number is longer in postcard.
    const LONGEST: u64 = 10;
    let mut begins = Vec::new();
    magpie_files::open(path).ok()?.take(FIRST_LINE.len() as u64 + LONGEST).read_to_end(&mut begins).ok()?;
    let (iteration, _) = postcard::take_from_bytes(begins.strip_prefix(FIRST_LINE)?).ok()?;
    Some(iteration)
}
