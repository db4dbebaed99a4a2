//! The parameters of the elites, which take most of the memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::elite::Candidate;
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// One row of parameters and one of extra fields for each occupied cell.
///
/// Rows are allocated one by one when a cell is first occupied, and overwritten in place afterwards. A single growing
/// vector would hold the old and the new copy at the moment it grows: up to three times the final size.
///
/// A row can be shared with a save that is still being written: a new row for its cell is then placed in new memory, and
/// the shared row does not change ([`Solutions::row`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solutions {
    solution_len: usize,
    extra_len: usize,
    rows: Vec<Option<Arc<Row>>>,
}

/// The stored solution of a cell.
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

    /// A number that changes whenever a cell gets another row; it starts anew in each process.
    pub fn version(&self) -> u64 {
        self.version
    }
}

impl Solutions {
    /// Memory for `cells` rows of `solution_len` parameters and `extra_len` extra fields, all empty.
    pub fn new(cells: usize, solution_len: usize, extra_len: usize) -> Self {
        Solutions { solution_len, extra_len, rows: vec![None; cells] }
    }

    /// The number of parameters of a solution.
    pub fn solution_len(&self) -> usize {
        self.solution_len
    }

    /// The number of extra fields of a solution.
    pub fn extra_len(&self) -> usize {
        self.extra_len
    }

    /// The number of cells.
    pub fn cells(&self) -> usize {
        self.rows.len()
    }

    /// Parameters and extra fields of `cell`, if it is occupied.
    pub fn get(&self, cell: usize) -> Option<(&[f32], &[f64])> {
        let row = self.row(cell)?;
        Some((&row.solution, &row.extra))
    }

    /// The row of `cell`, if it is occupied. Cloning the pointer is cheap and preserves the row in its current state.
    pub fn row(&self, cell: usize) -> Option<&Arc<Row>> {
        self.rows.get(cell)?.as_ref()
    }

    /// Stores the row of `cell`, replacing the previous one. Public so that rows can be restored one by one from a
    /// file.
    pub fn set(&mut self, cell: usize, solution: &[f32], extra: &[f64]) -> Result<(), Error> {
        if solution.len() != self.solution_len || extra.len() != self.extra_len {
            return Err(Error::Record("row of parameters or extra fields of wrong length"));
        }
        let slot = self.rows.get_mut(cell).ok_or(Error::Record("row beyond the last cell"))?;
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
        let row = |row: &Arc<Row>| size_of::<Row>() + size_of_val(&*row.solution) + size_of_val(&*row.extra);
        let pointers = self.rows.capacity() * size_of::<Option<Arc<Row>>>();
        self.rows.iter().flatten().map(row).sum::<usize>() + pointers
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

    /// Whether restored rows have the declared lengths and fill exactly the cells in `occupied`.
    pub(super) fn check(&self, cells: usize, occupied: impl Fn(usize) -> bool) -> Result<(), Error> {
        if self.rows.len() != cells {
            return Err(Error::Record("number of rows differs from the number of cells"));
        }
        for (cell, row) in self.rows.iter().enumerate() {
            let fits =
                |row: &Arc<Row>| row.solution.len() == self.solution_len && row.extra.len() == self.extra_len;
            if !row.as_ref().is_none_or(fits) {
                return Err(Error::Record("row of parameters or extra fields of wrong length"));
            }
            if row.is_some() != occupied(cell) {
                return Err(Error::Record("parameters and entries do not fill the same cells"));
            }
        }
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
