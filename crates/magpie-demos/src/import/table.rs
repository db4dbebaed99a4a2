//! Arrays as importers want them: tables, lists and counts.

use magpie_npz::Array;

use crate::error::{Problem, problem};

/// Rows and columns of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f64>,
}

impl Table {
    /// An array with two axes.
    pub fn of(name: &str, array: Array<f64>) -> Result<Table, Problem> {
        match array.shape[..] {
            [rows, columns] => Ok(Table { rows, columns, values: array.values }),
            // A header may list thousands.
            ref axes if axes.len() > 10 => {
                problem!("{name} has {} axes; expected rows and columns", axes.len())
            }
            _ => problem!("{name} has the shape {:?}; expected rows and columns", array.shape),
        }
    }

    /// In single precision. A number too large for it becomes infinite, which is refused later.
    pub fn single(&self) -> Vec<f32> {
        self.values.iter().map(|&value| value as f32).collect()
    }

    /// Only the first `rows`.
    pub fn truncated(mut self, rows: usize) -> Table {
        self.rows = self.rows.min(rows);
        self.values.truncate(self.rows * self.columns);
        self
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..][..self.columns]
    }
}

/// An array with one axis; a single number counts as an axis of one.
pub(super) fn list(name: &str, array: Array<f64>) -> Result<Vec<f64>, Problem> {
    match array.shape.len() {
        0 | 1 => Ok(array.values),
        _ => problem!("{name} has the shape {:?}; expected one axis", array.shape),
    }
}

/// Whole numbers of at least 0 that count steps.
pub(super) fn counts(name: &str, values: &[f64]) -> Result<Vec<usize>, Problem> {
    let count = |&value: &f64| match value >= 0.0 && value.fract() == 0.0 && value < 1e9 {
        true => Ok(value as usize),
        false => problem!("{name} holds {value}; expected numbers of steps"),
    };
    values.iter().map(count).collect()
}
