//! Boxes of equal size: the cells of a grid archive.
//!
//! Per dimension, with D cells on [lower, upper],
//!
//! ```text
//! i = clamp(trunc((D·(m − lower) + ε) / (upper − lower)), 0, D − 1),   ε = 1e-6
//! ```
//!
//! and row-major order, in which the last dimension varies fastest. This matches the arithmetic of pyribs to the last
//! rounding: ε is added before the division, so that it does not scale with the range.

use crate::error::Error;
use serde::{Deserialize, Serialize};

/// Moves a measure that rounding put just below a border (0.3 computed as 0.2999…) up into the intended cell. Unit:
/// measure × cells. The value is pyribs' default.
pub const EPSILON: f64 = 1e-6;

/// A grid over the box `lower..upper` with `dims` cells per dimension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "GridRecord")]
pub struct Grid {
    dims: Vec<usize>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

#[derive(Deserialize)]
struct GridRecord {
    dims: Vec<usize>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl TryFrom<GridRecord> for Grid {
    type Error = Error;
    fn try_from(record: GridRecord) -> Result<Self, Error> {
        Grid::new(record.dims, record.lower, record.upper)
    }
}

impl Grid {
    /// A grid with `dims[j]` cells on `lower[j]..upper[j]`.
    pub fn new(dims: Vec<usize>, lower: Vec<f64>, upper: Vec<f64>) -> Result<Self, Error> {
        let wrong = |dimension, reason| Err(Error::Grid { dimension, reason });
        if dims.is_empty() {
            return wrong(0, "there must be at least one dimension");
        }
        if lower.len() != dims.len() || upper.len() != dims.len() {
            let first_missing = dims.len().min(lower.len()).min(upper.len());
            return wrong(first_missing, "there must be as many cell counts as lower and upper bounds");
        }
        let mut count = 1usize;
        for (j, &dim) in dims.iter().enumerate() {
            if dim == 0 {
                return wrong(j, "there must be at least one cell");
            }
            if !(upper[j] - lower[j]).is_finite() || upper[j] <= lower[j] {
                return wrong(j, "the range must be finite with lower < upper");
            }
            // Tools that read archives store cell numbers as u32.
            count = match count.checked_mul(dim) {
                Some(product) if product <= u32::MAX as usize => product,
                _ => return wrong(j, "too many cells"),
            };
        }
        Ok(Grid { dims, lower, upper })
    }

    /// The number of cells.
    pub fn count(&self) -> usize {
        self.dims.iter().product()
    }

    /// The number of measures.
    pub fn measure_dim(&self) -> usize {
        self.dims.len()
    }

    /// Cells per dimension.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Lower ends of the ranges.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// Upper ends of the ranges.
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// The cell of the given (finite) measures; those outside the range belong to the cell at the border.
    pub(super) fn nearest(&self, measures: &[f64]) -> usize {
        let mut cell = 0;
        for (j, &m) in measures.iter().enumerate() {
            let dim = self.dims[j];
            let scaled = (dim as f64 * (m - self.lower[j]) + EPSILON) / (self.upper[j] - self.lower[j]);
            // The cast truncates and saturates, so that measures outside the range give the border cell.
            cell = cell * dim + (scaled as i64).clamp(0, dim as i64 - 1) as usize;
        }
        cell
    }

    /// The grid coordinates of `cell`, or `None` beyond the last cell.
    pub fn coordinates(&self, cell: usize) -> Option<Vec<usize>> {
        if cell >= self.count() {
            return None;
        }
        let mut rest = cell;
        let mut coordinates = vec![0; self.dims.len()];
        for (coordinate, &dim) in coordinates.iter_mut().zip(&self.dims).rev() {
            *coordinate = rest % dim;
            rest /= dim;
        }
        Some(coordinates)
    }

    /// The cell at grid `coordinates`, or `None` outside the grid.
    pub fn cell_at(&self, coordinates: &[usize]) -> Option<usize> {
        if coordinates.len() != self.dims.len() || coordinates.iter().zip(&self.dims).any(|(c, dim)| c >= dim)
        {
            return None;
        }
        Some(coordinates.iter().zip(&self.dims).fold(0, |cell, (&c, &dim)| cell * dim + c))
    }

    /// The centre of `cell`, or `None` beyond the last cell.
    pub fn centre(&self, cell: usize) -> Option<Vec<f64>> {
        let coordinates = self.coordinates(cell)?;
        let middle = |(j, &c): (usize, &usize)| {
            self.lower[j] + (c as f64 + 0.5) * (self.upper[j] - self.lower[j]) / self.dims[j] as f64
        };
        Some(coordinates.iter().enumerate().map(middle).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(dims: &[usize]) -> Grid {
        Grid::new(dims.to_vec(), vec![-1.0; dims.len()], vec![3.0; dims.len()]).unwrap()
    }

    #[test]
    fn coordinates_and_centres_lead_back_to_their_cell() {
        let grid = grid(&[4, 1, 7]);
        for cell in 0..grid.count() {
            assert_eq!(grid.cell_at(&grid.coordinates(cell).unwrap()), Some(cell));
            assert_eq!(grid.nearest(&grid.centre(cell).unwrap()), cell);
        }
        assert_eq!(grid.coordinates(28), None);
        assert_eq!(grid.cell_at(&[0, 1, 0]), None);
        assert_eq!(grid.cell_at(&[0, 0]), None);
    }

    #[test]
    fn far_outside_is_the_border_cell() {
        let grid = grid(&[5, 5]);
        assert_eq!(grid.nearest(&[f64::MAX, -f64::MAX]), 20);
        assert_eq!(grid.nearest(&[-1e12, 1e12]), 4);
    }

    #[test]
    fn epsilon_is_not_scaled_with_the_range() {
        // Half of ε below the border between cells 2 and 3, in units of cells.
        let just_below = |upper: f64| {
            let grid = Grid::new(vec![10], vec![0.0], vec![upper]).unwrap();
            grid.nearest(&[(3.0 - 0.5 * EPSILON) * upper / 10.0])
        };
        assert_eq!(just_below(1.0), 3);
        assert_eq!(just_below(0.1), 3);
        assert_eq!(just_below(10.0), 2);
    }

    #[test]
    fn impossible_grids_are_refused() {
        assert!(Grid::new(vec![], vec![], vec![]).is_err());
        assert!(Grid::new(vec![3, 0], vec![0.0; 2], vec![1.0; 2]).is_err());
        assert!(Grid::new(vec![3], vec![1.0], vec![1.0]).is_err());
        assert!(Grid::new(vec![3], vec![0.0], vec![f64::INFINITY]).is_err());
        assert!(Grid::new(vec![3], vec![f64::NAN], vec![1.0]).is_err());
        assert!(Grid::new(vec![3, 3], vec![0.0], vec![1.0; 2]).is_err());
        assert!(Grid::new(vec![1 << 20, 1 << 20], vec![0.0; 2], vec![1.0; 2]).is_err());
    }
}
