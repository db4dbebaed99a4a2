//! Where a bored search goes: to an elite beside empty cells, and from there towards them.
//!
//! A search that has learnt its task well sits where it does it best. It goes on improving what it has, so that it never
//! stands still, but finds nothing new, and where all cells around are filled the bonus of curiosity cannot draw it away.
//! Not every empty cell can be filled: no robot walks without its feet on the ground. So it remembers where it has set
//! out from, and goes elsewhere the next time.

use magpie_qd::{ArchivePair, Cells, Grid};
use magpie_random::Draws;

use crate::novelty::empty_share;

/// How wide the neighbourhood is in which empty cells count, in cells.
const WIDTH: f64 = 3.0;

/// How much the measures count as the search sets out: as far as the paper's draws of coefficients go.
const REACH: f64 = 2.0;

/// An elite at the frontier of what is known.
pub(crate) struct Outpost {
    /// Its cell.
    pub cell: usize,
    /// Coefficients of the measures that lead to the empty cells; `None` where no way leads to more of them.
    pub heading: Option<Vec<f64>>,
}

impl Outpost {
    /// One of those that the soft archive holds, in proportion to e / (1 + n)²: e is the share of empty cells around it,
    /// n the number of `earlier` outposts there, nearer ones counting more. `None` if there is none with empty cells
    /// around, and where cells are no grid, along whose rows and columns one could look.
    pub fn draw(archives: &ArchivePair, earlier: &[usize], draws: &mut Draws) -> Option<Outpost> {
        let Cells::Grid(grid) = archives.cells() else { return None };
        let empty = empty_share(grid, WIDTH, archives.result());
        let worth = |cell: usize| {
            let been: f64 = earlier.iter().map(|&other| nearness(grid, cell, other)).sum();
            f64::from(empty[cell]) / (1.0 + been).powi(2)
        };
        let worths: Vec<(usize, f64)> =
            archives.soft().entries().map(|(cell, _)| (cell, worth(cell))).collect();
        let cell = in_proportion(&worths, draws)?;
        Some(Outpost { cell, heading: heading(grid, &empty, cell) })
    }
}

/// 1 for a cell and itself, and less the further away another is.
fn nearness(grid: &Grid, a: usize, b: usize) -> f64 {
    let (mut stride, mut squares) = (1, 0.0);
    for &dim in grid.dims().iter().rev() {
        let apart = (a / stride % dim).abs_diff(b / stride % dim) as f64;
        squares += (apart / WIDTH).powi(2);
        stride *= dim;
    }
    (-0.5 * squares).exp()
}

/// An item, drawn in proportion to its weight; `None` if none has any.
fn in_proportion(weights: &[(usize, f64)], draws: &mut Draws) -> Option<usize> {
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let mut left = f64::from(draws.unit()) * total;
    let mut heavy = weights.iter().filter(|(_, weight)| *weight > 0.0);
    // Roundings may leave a rest behind the last one.
    let last = heavy.clone().next_back()?;
    let reached = heavy.find(|(_, weight)| {
        left -= weight;
        left < 0.0
    });
    Some(reached.unwrap_or(last).0)
}

/// The way in which the share of empty cells grows fastest, [`REACH`] long.
fn heading(grid: &Grid, empty: &[f32], cell: usize) -> Option<Vec<f64>> {
    let mut slopes = Vec::with_capacity(grid.dims().len());
    let mut stride = 1;
    for &dim in grid.dims().iter().rev() {
        let at = cell / stride % dim;
        let (below, above) = (at.saturating_sub(1), (at + 1).min(dim - 1));
        let share = |i: usize| f64::from(empty[cell - at * stride + i * stride]);
        slopes.push((share(above) - share(below)) / (above - below).max(1) as f64);
        stride *= dim;
    }
    slopes.reverse();
    let length = slopes.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
    // Less is a rounding error.
    (length > 1e-6).then(|| slopes.iter().map(|slope| REACH * slope / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_qd::{Acceptance, Candidate, Provenance};
    use magpie_random::Stream;

    /// Twenty by twenty cells, of which the columns left of `columns` are filled.
    fn archives(columns: usize) -> ArchivePair {
        let grid = Grid::new(vec![20, 20], vec![0.0; 2], vec![1.0; 2]).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        let mut archives = ArchivePair::new(grid, rule, 1, 1).unwrap();
        for cell in (0..400).filter(|cell| cell / 20 < columns) {
            let measures = [cell / 20, cell % 20].map(|i| (i as f64 + 0.5) / 20.0);
            let candidate = Candidate {
                solution: &[0.0],
                extra: &[0.0],
                objective: 1.0,
                measures: &measures,
                length: 1.0,
                provenance: Provenance { iteration: 1, branch: None },
            };
            archives.add(&[candidate]).unwrap();
        }
        archives
    }

    fn outposts(archives: &ArchivePair, earlier: &[usize]) -> Vec<Outpost> {
        let draw = |i| Outpost::draw(archives, earlier, &mut Stream::new(1, "test").draws(i, 0));
        (0..200).filter_map(draw).collect()
    }

    #[test]
    fn a_bored_search_goes_to_the_frontier_and_beyond() {
        let outposts = outposts(&archives(10), &[]);
        assert_eq!(outposts.len(), 200);
        let near = outposts.iter().filter(|outpost| outpost.cell / 20 >= 6).count();
        // All ten columns alike would give 80.
        assert!(near > 150, "{near}");
        for Outpost { cell, heading } in outposts {
            // Far inside there is no slope to be felt.
            let Some(heading) = heading else { continue };
            let [along, across] = heading[..] else { panic!("{heading:?}") };
            assert!(along > 1.99 && across.abs() < 0.1, "{heading:?} in cell {cell}");
        }
    }

    #[test]
    fn where_it_has_been_it_seldom_goes_again() {
        let upper = |outposts: &[Outpost]| outposts.iter().filter(|outpost| outpost.cell % 20 >= 10).count();
        let archives = archives(10);
        // Of twenty rows, the frontier of the upper ten.
        let earlier: Vec<usize> = (0..10).map(|row| 9 * 20 + 10 + row).collect();
        let (before, after) = (upper(&outposts(&archives, &[])), upper(&outposts(&archives, &earlier)));
        assert!(before > 80 && after < 30, "{before} and {after}");
    }

    #[test]
    fn neighbours_are_told_by_rows_and_columns() {
        let grid = Grid::new(vec![20, 20], vec![0.0; 2], vec![1.0; 2]).unwrap();
        assert_eq!(nearness(&grid, 45, 45), 1.0);
        // Three cells along the first dimension, or along the second.
        assert!((nearness(&grid, 45, 105) - (-0.5_f64).exp()).abs() < 1e-12);
        assert!((nearness(&grid, 45, 48) - (-0.5_f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn a_full_archive_has_no_frontier() {
        assert!(outposts(&archives(20), &[]).is_empty());
        assert!(outposts(&archives(0), &[]).is_empty());
    }
}
