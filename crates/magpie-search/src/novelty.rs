//! How new a behaviour is, from 0 (known) to 1: what curiosity pays for.

use magpie_qd::{ArchivePair, Cells, Grid};
use serde::{Deserialize, Serialize};

/// What makes behaviour new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Novelty {
    /// Its cell is empty in the soft archive: 1, otherwise 0. The paper's.
    #[default]
    Empty,
    /// The share of empty cells around it, nearer ones counting more: there is something to climb before the first
    /// empty cell is reached.
    Density,
    /// 1/√(1 + n), when n episodes of training have ended in its cell: what chance alone reaches is soon paid no more.
    Visits,
}

/// How new each behaviour is as a phase begins.
pub(crate) enum Chart<'a> {
    Empty(&'a ArchivePair),
    Density { cells: &'a Cells, shares: Vec<f32> },
    Visits { cells: &'a Cells, shares: Vec<f32> },
}

impl<'a> Chart<'a> {
    /// `visits` has a number for each cell, if they are counted; `width` is in cells.
    pub fn new(novelty: Novelty, width: f64, archives: &'a ArchivePair, visits: &[u32]) -> Chart<'a> {
        let cells = archives.cells();
        match (novelty, cells) {
            (Novelty::Density, Cells::Grid(grid)) => {
                Chart::Density { cells, shares: empty_share(grid, width, archives) }
            }
            // Cells that are not in rows and columns have no neighbours to smooth over.
            (Novelty::Empty, _) | (Novelty::Density, Cells::Cvt(_)) => Chart::Empty(archives),
            (Novelty::Visits, _) => {
                let share = |&n: &u32| 1.0 / (1.0 + n as f32).sqrt();
                Chart::Visits { cells, shares: visits.iter().map(share).collect() }
            }
        }
    }

    /// Of a mean measure; one that is not finite lies in no cell, so in no new one.
    pub fn novelty(&self, mean: &[f64]) -> f64 {
        match self {
            Chart::Empty(archives) => f64::from(u8::from(archives.is_empty(mean).unwrap_or(false))),
            Chart::Density { cells, shares } | Chart::Visits { cells, shares } => {
                cells.index_of(mean).map_or(0.0, |cell| shares[cell].into())
            }
        }
    }

    /// The cell of an episode that is over, if visits are to be counted.
    pub fn visited(&self, mean: &[f64]) -> Option<usize> {
        match self {
            Chart::Visits { cells, .. } => cells.index_of(mean).ok(),
            Chart::Empty(_) | Chart::Density { .. } => None,
        }
    }
}

/// The share of empty cells around each, weighted by a Gaussian of `width` cells; beyond the borders there is nothing.
fn empty_share(grid: &Grid, width: f64, archives: &ArchivePair) -> Vec<f32> {
    let mut empty = vec![1.0; grid.count()];
    archives.soft().entries().for_each(|(cell, _)| empty[cell] = 0.0);
    let mut all = vec![1.0; grid.count()];
    // A Gaussian in several dimensions is one after the other.
    let mut stride = 1;
    for &dim in grid.dims().iter().rev() {
        let kernel = gaussian(width, dim);
        empty = smoothed(&empty, &kernel, dim, stride);
        all = smoothed(&all, &kernel, dim, stride);
        stride *= dim;
    }
    empty.iter().zip(all).map(|(empty, all)| empty / all).collect()
}

/// Weights at distances 0, 1, …: up to three widths, and no further than a dimension is long.
fn gaussian(width: f64, dim: usize) -> Vec<f32> {
    let reach = ((3.0 * width).ceil() as usize).min(dim - 1);
    (0..=reach).map(|d| (-0.5 * (d as f64 / width).powi(2)).exp() as f32).collect()
}

fn smoothed(field: &[f32], kernel: &[f32], dim: usize, stride: usize) -> Vec<f32> {
    let at = |cell: usize| {
        let i = cell / stride % dim;
        let (first, last) = (i.saturating_sub(kernel.len() - 1), (i + kernel.len() - 1).min(dim - 1));
        (first..=last).map(|j| kernel[i.abs_diff(j)] * field[cell - i * stride + j * stride]).sum()
    };
    (0..field.len()).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_qd::{Acceptance, Candidate, Provenance};

    /// 5 by 3 cells of which one is filled.
    fn archives(filled: [f64; 2]) -> ArchivePair {
        let grid = Grid::new(vec![5, 3], vec![0.0; 2], vec![1.0; 2]).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        let mut archives = ArchivePair::new(grid, rule, 1, 1).unwrap();
        let provenance = Provenance { iteration: 1, branch: None };
        let candidate = Candidate {
            solution: &[0.0],
            extra: &[0.0],
            objective: 1.0,
            measures: &filled,
            length: 1.0,
            provenance,
        };
        archives.add(&[candidate]).unwrap();
        archives
    }

    #[test]
    fn the_paper_asks_whether_the_cell_is_empty() {
        let archives = archives([0.1, 0.1]);
        let chart = Chart::new(Novelty::Empty, 1.0, &archives, &[]);
        assert_eq!([[0.15, 0.2], [0.9, 0.2], [f64::NAN, 0.0]].map(|m| chart.novelty(&m)), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn density_is_a_share_of_the_neighbourhood() {
        let archives = archives([0.1, 0.1]);
        let chart = Chart::new(Novelty::Density, 1.0, &archives, &[]);
        let near = |d: f64| (-0.5 * d * d).exp();
        // From the corner: distances 0 to 3 along one dimension, 0 to 2 along the other.
        let all = (0..4).map(|d| near(d.into())).sum::<f64>() * (0..3).map(|d| near(d.into())).sum::<f64>();
        assert!((chart.novelty(&[0.1, 0.1]) - (1.0 - 1.0 / all)).abs() < 1e-6);
        // The further away, the newer; nothing of the filled cell is felt beyond three widths.
        let along: Vec<f64> = [0.1, 0.3, 0.5, 0.7, 0.9].iter().map(|&m| chart.novelty(&[m, 0.5])).collect();
        assert!(along.windows(2).all(|pair| pair[0] < pair[1]), "{along:?}");
        assert_eq!(along[4], 1.0);
    }

    #[test]
    fn visits_wear_off() {
        let archives = archives([0.1, 0.1]);
        let mut visits = vec![0; 15];
        visits[14] = 3;
        let chart = Chart::new(Novelty::Visits, 1.0, &archives, &visits);
        assert_eq!([[0.1, 0.1], [0.9, 0.9]].map(|m| chart.novelty(&m)), [1.0, 0.5]);
        assert_eq!(chart.visited(&[0.9, 0.9]), Some(14));
    }
}
