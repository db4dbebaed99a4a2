//! Segments: rows of parameters, one after the other.
//!
//! ```text
//! "magpie rows 1\n"   rows: parameters (f32 each), then extra fields (f64 each), little endian   CRC-32
//! ```

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use magpie_qd::{Row, Solutions};

use super::index::{Index, Segment};
use super::sealed::{self, Seal, Sealed};
use super::{damaged, segment_file};
use crate::error::RunError;

pub(super) const FIRST_LINE: &[u8] = b"magpie rows 1\n";

/// Writes a segment.
pub(super) fn write(path: &Path, rows: &[Arc<Row>]) -> Result<Seal, RunError> {
    let mut bytes = Vec::new();
    sealed::write(path, FIRST_LINE, |file| {
        for row in rows {
            bytes.clear();
            bytes.extend(row.solution().iter().flat_map(|v| v.to_le_bytes()));
            bytes.extend(row.extra().iter().flat_map(|v| v.to_le_bytes()));
            file.write_all(&bytes)?;
        }
        Ok(())
    })
}

/// Reads the rows that the head at `path` refers to.
pub(super) fn load(path: &Path, index: &Index) -> Result<Solutions, RunError> {
    let mut wanted: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
    for (slot, place) in index.places.iter().enumerate() {
        if let Some(place) = place {
            wanted.entry(place.segment).or_default().insert(place.row, slot);
        }
    }
    let mut rows = Solutions::new(index.places.len(), index.solution_len, index.extra_len);
    for (number, wanted) in wanted {
        let file = segment_file(path, number);
        let segment = index.segments.get(&number).ok_or_else(|| {
            damaged(path, format!("it refers to rows in {}, which it does not list", file.display()))
        })?;
        read(&file, segment, &wanted, &mut rows)?;
    }
    Ok(rows)
}

/// Reads a segment, and takes the wanted rows, by their places, into their slots.
fn read(
    path: &Path,
    segment: &Segment,
    wanted: &BTreeMap<u32, usize>,
    rows: &mut Solutions,
) -> Result<(), RunError> {
    let unlike = |_| damaged(path, "it does not begin like the rows of a checkpoint".to_owned());
    let mut file = match Sealed::open(path, FIRST_LINE) {
        Err(RunError::Io { reason, .. }) if reason.kind() == ErrorKind::NotFound => {
            return Err(damaged(path, "it is missing, and the checkpoint needs it".to_owned()));
        }
        opened => opened?.map_err(unlike)?,
    };
    let bytes = |len: usize, of: usize| len.checked_mul(of);
    let (solution_len, extra_len) = (rows.solution_len(), rows.extra_len());
    let size = bytes(solution_len, 4).zip(bytes(extra_len, 8)).and_then(|(a, b)| a.checked_add(b));
    let size = size.filter(|&size| (size as u64).checked_mul(segment.rows.into()) == Some(file.left));
    let size = size.ok_or_else(|| {
        damaged(path, format!("it should hold {} rows of {solution_len} parameters", segment.rows))
    })?;
    let mut row = vec![0; size];
    let (mut solution, mut extra) = (vec![0.0; solution_len], vec![0.0; extra_len]);
    for place in 0..segment.rows {
        file.read(&mut row)?;
        let Some(&slot) = wanted.get(&place) else { continue };
        let (first, second) = row.split_at(4 * solution_len);
        let singles = first.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b));
        let doubles = second.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b));
        solution.iter_mut().zip(singles).for_each(|(to, from)| *to = from);
        extra.iter_mut().zip(doubles).for_each(|(to, from)| *to = from);
        rows.set(slot, &solution, &extra)?;
    }
    match file.finish()? == segment.sum {
        true => Ok(()),
        false => Err(damaged(path, "its checksum is not the one that the checkpoint knows".to_owned())),
    }
}
