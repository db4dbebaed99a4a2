//! Cells: the map from measures to cell numbers.
//!
//! Archives use only cell numbers, so that the same insertion logic serves every tessellation.

mod cvt;
mod grid;
mod kdtree;
mod kmeans;

pub use cvt::Cvt;
pub use grid::{EPSILON, Grid};

use crate::error::Refusal;
use serde::{Deserialize, Serialize};

/// A partition of measure space into numbered cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Cells {
    /// Boxes of equal size.
    Grid(Grid),
    /// Voronoi regions of centroids.
    Cvt(Cvt),
}

impl Cells {
    /// The number of cells.
    pub fn count(&self) -> usize {
        match self {
            Cells::Grid(grid) => grid.count(),
            Cells::Cvt(cvt) => cvt.count(),
        }
    }

    /// The number of measures.
    pub fn measure_dim(&self) -> usize {
        match self {
            Cells::Grid(grid) => grid.measure_dim(),
            Cells::Cvt(cvt) => cvt.measure_dim(),
        }
    }

    /// The cell that contains `measures`.
    pub fn index_of(&self, measures: &[f64]) -> Result<usize, Refusal> {
        if measures.len() != self.measure_dim() {
            return Err(Refusal::MeasureDim);
        }
        if !measures.iter().all(|m| m.is_finite()) {
            return Err(Refusal::Measures);
        }
        Ok(match self {
            Cells::Grid(grid) => grid.nearest(measures),
            Cells::Cvt(cvt) => cvt.nearest(measures),
        })
    }

    /// A representative point of `cell`: the centre of the box, or the centroid. `None` beyond the last cell.
    pub fn centre(&self, cell: usize) -> Option<Vec<f64>> {
        match self {
            Cells::Grid(grid) => grid.centre(cell),
            Cells::Cvt(cvt) => cvt.centroid(cell).map(<[f64]>::to_vec),
        }
    }
}

impl From<Grid> for Cells {
    fn from(grid: Grid) -> Self {
        Cells::Grid(grid)
    }
}

impl From<Cvt> for Cells {
    fn from(cvt: Cvt) -> Self {
        Cells::Cvt(cvt)
    }
}
