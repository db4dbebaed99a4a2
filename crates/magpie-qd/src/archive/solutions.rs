//! The parameters of the elites, which take most of the memory.

use super::elite::Candidate;
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// One row of parameters and one of extra fields for each occupied cell.
///
/// Rows are allocated one by one when a cell is first occupied, and overwritten in place afterwards. A single growing
/// vector would hold the old and the new copy at the moment it grows: up to three times the final size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solutions {
    solution_len: usize,
    extra_len: usize,
    rows: Vec<Option<Row>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    solution: Box<[f32]>,
    extra: Box<[f64]>,
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

    /// Parameters and extra fields of `cell`, if it is occupied.
    pub fn get(&self, cell: usize) -> Option<(&[f32], &[f64])> {
        let row = self.rows.get(cell)?.as_ref()?;
        Some((&row.solution, &row.extra))
    }

    /// Stores the row of `cell`, replacing the previous one. Public so that rows can be restored one by one from a
    /// file.
    pub fn set(&mut self, cell: usize, solution: &[f32], extra: &[f64]) -> Result<(), Error> {
        if solution.len() != self.solution_len || extra.len() != self.extra_len {
            return Err(Error::Record("row of parameters or extra fields of wrong length"));
        }
        match self.rows.get_mut(cell) {
            None => return Err(Error::Record("row beyond the last cell")),
            Some(Some(row)) => {
                row.solution.copy_from_slice(solution);
                row.extra.copy_from_slice(extra);
            }
            Some(empty) => *empty = Some(Row { solution: solution.into(), extra: extra.into() }),
        }
        Ok(())
    }

    /// The number of bytes that the rows occupy.
    pub fn bytes(&self) -> usize {
        let row = |row: &Row| size_of_val(&*row.solution) + size_of_val(&*row.extra);
        self.rows.iter().flatten().map(row).sum::<usize>() + self.rows.capacity() * size_of::<Option<Row>>()
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
                |row: &Row| row.solution.len() == self.solution_len && row.extra.len() == self.extra_len;
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
