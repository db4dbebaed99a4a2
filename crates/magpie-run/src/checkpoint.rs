//! All state of a run in one file: a short head, then the record.
//!
//! ```text
//! "magpie checkpoint 1\n"   length (8 bytes, little endian)   CRC-32 of the record (4 bytes)   record
//! ```

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::directory::{read, write_whole};
use crate::error::RunError;

const MAGIC: &[u8] = b"magpie checkpoint 1\n";

/// Writes `state`, replacing an earlier checkpoint only when the new one is complete.
pub(crate) fn save<T: Serialize>(path: &Path, state: &T) -> Result<(), RunError> {
    let record = postcard::to_stdvec(state).map_err(|e| damaged(path, format!("cannot be written: {e}")))?;
    let mut bytes = Vec::with_capacity(MAGIC.len() + 12 + record.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&(record.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&record).to_le_bytes());
    bytes.extend_from_slice(&record);
    write_whole(path, &bytes)
}

/// Reads a checkpoint, or says what is wrong with it.
pub(crate) fn load<T: DeserializeOwned>(path: &Path) -> Result<T, RunError> {
    let bytes = read(path)?;
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or_else(|| damaged(path, "it does not begin like a checkpoint of this version".to_owned()))?;
    let (head, record) =
        rest.split_at_checked(12).ok_or_else(|| damaged(path, "it ends within its head".to_owned()))?;
    let mut length = [0; 8];
    length.copy_from_slice(&head[..8]);
    let length = u64::from_le_bytes(length);
    if record.len() as u64 != length {
        return Err(damaged(
            path,
            format!("it should have {length} bytes after its head and has {}", record.len()),
        ));
    }
    if crc32fast::hash(record).to_le_bytes() != head[8..] {
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
}
