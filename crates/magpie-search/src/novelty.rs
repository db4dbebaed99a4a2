//! How new a behaviour is, from 0 (known) to 1: what curiosity pays for.

use magpie_qd::{Archive, ArchivePair, Cells, Grid};
use serde::{Deserialize, Serialize};

use crate::curiosity::Curiosity;

/// What makes behaviour new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Novelty {
    /// Its cell is empty: 1, otherwise 0. The paper's.
    #[default]
    Empty,
    /// The share of empty cells around it, nearer ones counting more: there is something to climb before the first
    /// empty cell is reached.
    Density,
    /// 1/√(1 + n), when n episodes have been judged to lie in its cell before: what chance alone reaches is soon paid no
    /// more.
    Visits,
}

/// Which archive says what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// The soft one. It never takes what returns less than its threshold_min, so that such behaviour stays new for ever.
    #[default]
    Soft,
    /// The result archive: whatever has been tried once.
    Result,
}

impl Known {
    /// The archive that says it.
    pub(crate) fn archive(self, archives: &ArchivePair) -> &Archive {
        match self {
            Known::Soft => archives.soft(),
            Known::Result => archives.result(),
        }
    }
}

/// How new each behaviour is as a phase begins.
pub(crate) enum Chart<'a> {
    Empty { cells: &'a Cells, archive: &'a Archive },
    Density { cells: &'a Cells, shares: Vec<f32> },
    Visits { cells: &'a Cells, visits: &'a [u32] },
}

impl<'a> Chart<'a> {
    /// `visits` has a number for each cell, if they are counted.
    pub fn new(curiosity: &Curiosity, archives: &'a ArchivePair, visits: &'a [u32]) -> Chart<'a> {
        let cells = archives.cells();
        let archive = curiosity.archive.archive(archives);
        match (curiosity.pays_for(), cells) {
            (Novelty::Density, Cells::Grid(grid)) => {
                Chart::Density { cells, shares: empty_share(grid, curiosity.width, archive) }
            }
            // A search has a grid; other cells have no rows and columns to smooth along.
            (Novelty::Empty, _) | (Novelty::Density, Cells::Cvt(_)) => Chart::Empty { cells, archive },
            (Novelty::Visits, _) => Chart::Visits { cells, visits },
        }
    }

    /// Of a mean measure; one that is not finite lies in no cell, so in no new one.
    pub fn novelty(&self, mean: &[f64]) -> f64 {
        match self {
            Chart::Empty { cells, archive } => {
                let is_empty = |cell| archive.entry(cell).is_none();
                f64::from(u8::from(cells.index_of(mean).is_ok_and(is_empty)))
            }
            Chart::Density { cells, shares } => cells.index_of(mean).map_or(0.0, |cell| shares[cell].into()),
            Chart::Visits { cells, visits } => {
                cells.index_of(mean).map_or(0.0, |cell| 1.0 / (1.0 + f64::from(visits[cell])).sqrt())
            }
        }
    }

    /// The cell of a mean measure, if visits are to be counted.
    pub fn visited(&self, mean: &[f64]) -> Option<usize> {
        match self {
            Chart::Visits { cells, .. } => cells.index_of(mean).ok(),
            Chart::Empty { .. } | Chart::Density { .. } => None,
        }
    }
}

/// The share of empty cells around each, weighted by a Gaussian of `width` cells; beyond the borders there is nothing.
pub(crate) fn empty_share(grid: &Grid, width: f64, archive: &Archive) -> Vec<f32> {
    let mut empty = vec![1.0; grid.count()];
    archive.entries().for_each(|(cell, _)| empty[cell] = 0.0);
    // A Gaussian in several dimensions is one after the other.
    let mut stride = 1;
    for &dim in grid.dims().iter().rev() {
        empty = smoothed(&empty, &gaussian(width, dim), dim, stride);
        stride *= dim;
    }
    empty
}

/// Weights at distances 0, 1, …: up to three widths, and no further than a dimension is long.
fn gaussian(width: f64, dim: usize) -> Vec<f32> {
    let reach = ((3.0 * width).ceil() as usize).min(dim - 1);
    (0..=reach).map(|d| (-0.5 * (d as f64 / width).powi(2)).exp() as f32).collect()
}

/// Weighted means along one dimension, whose neighbours lie `stride` apart.
fn smoothed(field: &[f32], kernel: &[f32], dim: usize, stride: usize) -> Vec<f32> {
    let mut means = vec![0.0; field.len()];
    for (block, from) in means.chunks_exact_mut(dim * stride).zip(field.chunks_exact(dim * stride)) {
        for (i, row) in block.chunks_exact_mut(stride).enumerate() {
            let near = i.saturating_sub(kernel.len() - 1)..(i + kernel.len()).min(dim);
            let total: f32 = near.clone().map(|j| kernel[i.abs_diff(j)]).sum();
            for j in near {
                let weight = kernel[i.abs_diff(j)] / total;
                row.iter_mut().zip(&from[j * stride..]).for_each(|(mean, value)| *mean += weight * value);
            }
        }
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_qd::{Acceptance, Candidate, Provenance};

    /// Cells of which one is filled.
    fn archives(dims: &[usize], filled: &[f64]) -> ArchivePair {
        let grid = Grid::new(dims.to_vec(), vec![0.0; dims.len()], vec![1.0; dims.len()]).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        fill(ArchivePair::new(grid, rule, 1, 1).unwrap(), filled)
    }

    /// Offers one policy with a return of 1.
    fn fill(mut archives: ArchivePair, filled: &[f64]) -> ArchivePair {
        let provenance = Provenance { iteration: 1, branch: None };
        let candidate = Candidate {
            solution: &[0.0],
            extra: &[0.0],
            objective: 1.0,
            measures: filled,
            length: 1.0,
            provenance,
        };
        archives.add(&[candidate]).unwrap();
        archives
    }

    fn curiosity(novelty: Novelty) -> Curiosity {
        Curiosity { weight: 2.0, novelty, width: 1.0, ..Curiosity::default() }
    }

    #[test]
    fn the_paper_asks_whether_the_cell_is_empty() {
        let archives = archives(&[5, 3], &[0.1, 0.1]);
        let chart = Chart::new(&curiosity(Novelty::Empty), &archives, &[]);
        assert_eq!([[0.15, 0.2], [0.9, 0.2], [f64::NAN, 0.0]].map(|m| chart.novelty(&m)), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn what_is_too_poor_for_the_soft_archive_is_known_to_the_result_archive() {
        let grid = Grid::new(vec![5], vec![0.0], vec![1.0]).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 200.0 };
        let archives = fill(ArchivePair::new(grid, rule, 1, 1).unwrap(), &[0.1]);
        let new = |archive| {
            let curiosity = Curiosity { archive, ..curiosity(Novelty::Empty) };
            Chart::new(&curiosity, &archives, &[]).novelty(&[0.1])
        };
        assert_eq!((new(Known::Soft), new(Known::Result)), (1.0, 0.0));
    }

    #[test]
    fn density_is_a_share_of_the_neighbourhood() {
        let archives = archives(&[5, 3], &[0.1, 0.1]);
        let chart = Chart::new(&curiosity(Novelty::Density), &archives, &[]);
        let near = |d: f64| (-0.5 * d * d).exp();
        // From the corner: distances 0 to 3 along one dimension, 0 to 2 along the other.
        let all = (0..4).map(|d| near(d.into())).sum::<f64>() * (0..3).map(|d| near(d.into())).sum::<f64>();
        assert!((chart.novelty(&[0.1, 0.1]) - (1.0 - 1.0 / all)).abs() < 1e-6);
        // The further away, the newer; nothing of the filled cell is felt beyond three widths.
        let along: Vec<f64> = [0.1, 0.3, 0.5, 0.7, 0.9].iter().map(|&m| chart.novelty(&[m, 0.5])).collect();
        assert!(along.windows(2).all(|pair| pair[0] < pair[1]), "{along:?}");
        assert!((along[4] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn density_knows_any_number_of_dimensions() {
        // The neighbour along each dimension in turn loses as much; a dimension of one cell changes nothing.
        let filled = archives(&[3, 3, 1, 3], &[0.5; 4]);
        let chart = Chart::new(&curiosity(Novelty::Density), &filled, &[]);
        let mut beside = [0, 1, 3].map(|dimension| {
            let mut mean = [0.5; 4];
            mean[dimension] = 0.1;
            chart.novelty(&mean)
        });
        beside.sort_by(f64::total_cmp);
        assert!(beside[2] - beside[0] < 1e-6 && beside[2] < 1.0, "{beside:?}");
        assert!(chart.novelty(&[0.5; 4]) < beside[0]);
        let one = archives(&[1], &[0.5]);
        assert_eq!(Chart::new(&curiosity(Novelty::Density), &one, &[]).novelty(&[0.2]), 0.0);
    }

    #[test]
    fn visits_wear_off() {
        let archives = archives(&[5, 3], &[0.1, 0.1]);
        let mut visits = vec![0; 15];
        visits[14] = 3;
        let chart = Chart::new(&curiosity(Novelty::Visits), &archives, &visits);
        assert_eq!([[0.1, 0.1], [0.9, 0.9]].map(|m| chart.novelty(&m)), [1.0, 0.5]);
        assert_eq!(chart.visited(&[0.9, 0.9]), Some(14));
    }

    #[test]
    fn who_is_not_curious_counts_nothing() {
        let archives = archives(&[5, 3], &[0.1, 0.1]);
        let indifferent = Curiosity { weight: 0.0, ..curiosity(Novelty::Visits) };
        assert_eq!(Chart::new(&indifferent, &archives, &[]).visited(&[0.9, 0.9]), None);
    }
}
