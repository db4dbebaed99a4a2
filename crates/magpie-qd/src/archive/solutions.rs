//! The parameters of the stored solutions, which take most of the memory.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::elite::Candidate;
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// One row of parameters and one of extra fields for each stored solution, in numbered slots. A solution keeps its slot
/// while it moves from cell to cell or from rank to rank, so that a save has to write new solutions only.
///
/// Rows are allocated one by one. A single growing vector would hold the old and the new copy at the moment it grows: up to
/// three times the final size.
///
/// A row can be shared with a save that is still being written: a new row for its slot is then placed in new memory, and
/// the shared row does not change ([`Solutions::row`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solutions {
    solution_len: usize,
    extra_len: usize,
    rows: Vec<Option<Arc<Row>>>,
    /// Empty slots; found anew in restored archives.
    #[serde(skip)]
    free: BTreeSet<usize>,
}

/// A stored solution.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    solution: Box<[f32]>,
    extra: Box<[f64]>,
    /// Not saved: it distinguishes rows within one process.
    #[serde(skip, default = "next_version")]
    version: u64,
}

/// Returns a version that no other row of the process has, in any archive.
fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        (&self.solution, &self.extra) == (&other.solution, &other.extra)
    }
}

impl Row {
    /// The parameters.
    pub fn solution(&self) -> &[f32] {
        &self.solution
    }

    /// The extra fields.
    pub fn extra(&self) -> &[f64] {
        &self.extra
    }

    /// A number that changes whenever a slot gets another row; it starts anew in each process.
    pub fn version(&self) -> u64 {
        self.version
    }
}

impl Solutions {
    /// `slots` empty slots for rows of `solution_len` parameters and `extra_len` extra fields; more are added as needed.
    pub fn new(slots: usize, solution_len: usize, extra_len: usize) -> Self {
        Solutions { solution_len, extra_len, rows: vec![None; slots], free: (0..slots).collect() }
    }

    /// The number of parameters of a solution.
    pub fn solution_len(&self) -> usize {
        self.solution_len
    }

    /// The number of extra fields of a solution.
    pub fn extra_len(&self) -> usize {
        self.extra_len
    }

    /// The number of slots, empty ones included.
    pub fn slots(&self) -> usize {
        self.rows.len()
    }

    /// Parameters and extra fields in `slot`, if it is used.
    pub fn get(&self, slot: usize) -> Option<(&[f32], &[f64])> {
        let row = self.row(slot)?;
        Some((&row.solution, &row.extra))
    }

    /// The row in `slot`, if it is used. Cloning the pointer is cheap and preserves the row in its current state.
    pub fn row(&self, slot: usize) -> Option<&Arc<Row>> {
        self.rows.get(slot)?.as_ref()
    }

    /// Stores a row in the first empty slot, and returns that.
    pub(super) fn insert(&mut self, solution: &[f32], extra: &[f64]) -> Result<usize, Error> {
        let slot = self.free.first().copied().unwrap_or(self.rows.len());
        if slot == self.rows.len() {
            self.rows.push(None);
        }
        self.set(slot, solution, extra)?;
        Ok(slot)
    }

    /// Empties all slots but these.
    pub(super) fn keep(&mut self, used: impl Iterator<Item = usize>) {
        let used: BTreeSet<usize> = used.collect();
        (0..self.slots()).filter(|slot| !used.contains(slot)).for_each(|slot| self.remove(slot));
    }

    /// Empties a slot.
    pub(super) fn remove(&mut self, slot: usize) {
        if self.rows.get_mut(slot).and_then(Option::take).is_some() {
            self.free.insert(slot);
        }
    }

    /// Stores the row in `slot`, replacing the previous one. Public so that rows can be restored one by one from a
    /// file.
    pub fn set(&mut self, slot: usize, solution: &[f32], extra: &[f64]) -> Result<(), Error> {
        if solution.len() != self.solution_len || extra.len() != self.extra_len {
            return Err(Error::Record("row of parameters or extra fields of wrong length"));
        }
        self.free.remove(&slot);
        let slot = self.rows.get_mut(slot).ok_or(Error::Record("row beyond the last slot"))?;
        match slot.as_mut().and_then(Arc::get_mut) {
            Some(row) => {
                row.solution.copy_from_slice(solution);
                row.extra.copy_from_slice(extra);
                row.version = next_version();
            }
            None => {
                let (solution, extra) = (solution.into(), extra.into());
                *slot = Some(Arc::new(Row { solution, extra, version: next_version() }));
            }
        }
        Ok(())
    }

    /// The number of bytes that the rows occupy.
    pub fn bytes(&self) -> usize {
        self.len() * self.row_bytes() + self.rows.capacity() * size_of::<Option<Arc<Row>>>()
    }

    /// The number of bytes that one row occupies.
    pub(super) fn row_bytes(&self) -> usize {
        size_of::<Row>() + self.solution_len * size_of::<f32>() + self.extra_len * size_of::<f64>()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len() - self.free.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a candidate has the declared lengths.
    pub(super) fn check_candidate(&self, row: usize, candidate: &Candidate<'_>) -> Result<(), Error> {
        let lengths = [
            ("solution", self.solution_len, candidate.solution.len()),
            ("extra fields", self.extra_len, candidate.extra.len()),
        ];
        for (what, expected, found) in lengths {
            if expected != found {
                return Err(Error::Length { what, row, expected, found });
            }
        }
        Ok(())
    }

    /// Whether restored rows have the declared lengths and fill exactly the slots in `used`, one solution each.
    pub(super) fn check(&mut self, used: impl Iterator<Item = usize>) -> Result<(), Error> {
        let mut full: BTreeSet<usize> = BTreeSet::new();
        if !used.into_iter().all(|slot| full.insert(slot)) {
            return Err(Error::Record("two solutions in one slot"));
        }
        for row in &self.rows {
            let fits =
                |row: &Arc<Row>| row.solution.len() == self.solution_len && row.extra.len() == self.extra_len;
            if !row.as_ref().is_none_or(fits) {
                return Err(Error::Record("row of parameters or extra fields of wrong length"));
            }
        }
        let filled = |slot: &usize| self.rows[*slot].is_some();
        if !(0..self.rows.len()).filter(filled).eq(full) {
            return Err(Error::Record("parameters and entries do not fill the same slots"));
        }
        self.free = (0..self.rows.len()).filter(|slot| !filled(slot)).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_row_stays_as_it_was() {
        let mut solutions = Solutions::new(2, 2, 1);
        solutions.set(1, &[1.0, 2.0], &[3.0]).unwrap();
        let before = Arc::clone(solutions.row(1).unwrap());
        solutions.set(1, &[4.0, 5.0], &[6.0]).unwrap();
        assert_eq!((before.solution(), before.extra()), (&[1.0, 2.0][..], &[3.0][..]));
        assert_eq!(solutions.get(1), Some((&[4.0, 5.0][..], &[6.0][..])));
        assert_ne!(before.version(), solutions.row(1).unwrap().version());
    }

    #[test]
    fn empty_slots_are_used_again() {
        let mut solutions = Solutions::new(0, 1, 0);
        let slots = [1.0, 2.0, 3.0].map(|value| solutions.insert(&[value], &[]).unwrap());
        assert_eq!((slots, solutions.len()), ([0, 1, 2], 3));
        solutions.remove(1);
        solutions.remove(1);
        assert_eq!((solutions.get(1), solutions.len(), solutions.slots()), (None, 2, 3));
        assert_eq!(solutions.insert(&[4.0], &[]), Ok(1));
        assert_eq!(solutions.insert(&[5.0], &[]), Ok(3));
    }

    #[test]
    fn every_change_is_a_new_version_and_no_change_is_none() {
        let mut solutions = Solutions::new(2, 1, 1);
        let mut seen = std::collections::BTreeSet::new();
        for (cell, value) in [(0, 1.0), (1, 1.0), (0, 2.0), (0, 2.0)] {
            solutions.set(cell, &[value], &[0.0]).unwrap();
            assert!(seen.insert(solutions.row(cell).unwrap().version()));
        }
        let versions = |of: &Solutions| [0, 1].map(|cell| of.row(cell).unwrap().version());
        assert_eq!(versions(&solutions), versions(&solutions.clone()));
    }
}
