//! Single rows of a checkpoint, without the others of their segments.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::index::Index;
use super::{damaged, decode, head, rows, segment_file};
use crate::error::RunError;

/// The rows of a checkpoint, read one at a time. Checksums are of whole segments, so that a single row has none.
#[derive(Debug)]
pub(crate) struct CheckpointRows {
    path: PathBuf,
    index: Index,
}

impl CheckpointRows {
    /// Those of the checkpoint whose head is at `path`, and its record.
    pub fn open<T: DeserializeOwned>(path: &Path) -> Result<(T, CheckpointRows), RunError> {
        let head = head::read(path)?;
        Ok((decode(path, &head.record)?, CheckpointRows { path: path.to_owned(), index: head.index }))
    }

    /// The bytes of the row in a slot: its parameters in single and what belongs to them in double precision.
    pub fn row(&self, slot: usize, solution: usize, extra: usize) -> Result<Vec<u8>, RunError> {
        let Index { solution_len, extra_len, ref places, .. } = self.index;
        let place = places.get(slot).copied().flatten();
        let (Some(place), true) = (place, (solution_len, extra_len) == (solution, extra)) else {
            return Err(self.damaged(format!("it has no row of this size in slot {slot}")));
        };
        let file = segment_file(&self.path, place.segment);
        let size = 4 * solution + 8 * extra;
        let from = rows::FIRST_LINE.len() as u64 + u64::from(place.row) * size as u64;
        let mut bytes = vec![0; size];
        magpie_files::open(&file)
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(from))?;
                file.read_exact(&mut bytes)
            })
            .map_err(RunError::io(&file, "reading"))?;
        Ok(bytes)
    }

    pub fn damaged(&self, problem: String) -> RunError {
        damaged(&self.path, problem)
    }
}
