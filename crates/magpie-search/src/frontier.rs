//! Where a curious search goes when it has come to a standstill: to an elite beside empty cells, and from there towards
//! them.
//!
//! A random elite lies somewhere inside, where all cells around are filled and the bonus of curiosity is silent. Whether it
//! is a good one does not matter: searches that set out from good elites beside poorer cells found few new ones. And not
//! every empty cell can be filled: no robot walks without its feet on the ground. So the search remembers where it has set
//! out from, and goes elsewhere the next time.

use magpie_qd::{ArchivePair, Cells, Grid};
use magpie_random::Draws;

use crate::curiosity::Curiosity;
use crate::novelty::empty_share;

/// How much the measures count as the search sets out: as far as each goes in the paper's draws.
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
    /// n the number of `earlier` outposts there, nearer ones counting more; curiosity says which archive knows what is
    /// empty, and how wide to look. `None` if there is none with empty cells around, and where cells are no grid, along
    /// whose rows and columns one could look.
    pub fn draw(
        archives: &ArchivePair,
        curiosity: &Curiosity,
        earlier: &[usize],
        draws: &mut Draws,
    ) -> Option<Outpost> {
        let Cells::Grid(grid) = archives.cells() else { return None };
        let width = curiosity.width;
        let empty = empty_share(grid, width, curiosity.archive.archive(archives));
        let earlier: Vec<Vec<usize>> = earlier.iter().filter_map(|&cell| grid.coordinates(cell)).collect();
        let worth = |(cell, _): (usize, _)| {
            let here = grid.coordinates(cell)?;
            let been: f64 = earlier.iter().map(|there| nearness(&here, there, width)).sum();
            Some((cell, f64::from(empty[cell]) / (1.0 + been).powi(2)))
        };
        let worths: Vec<(usize, f64)> = archives.soft().entries().filter_map(worth).collect();
        let cell = in_proportion(&worths, draws)?;
        Some(Outpost { cell, heading: heading(grid, &empty, cell) })
    }
}

/// 1 for a cell and itself, and less the further away another is.
fn nearness(here: &[usize], there: &[usize], width: f64) -> f64 {
    let square = |(a, b): (&usize, &usize)| (a.abs_diff(*b) as f64 / width).powi(2);
    (-0.5 * here.iter().zip(there).map(square).sum::<f64>()).exp()
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
    let at = grid.coordinates(cell)?;
    let share = |axis: usize, i: usize| {
        let mut other = at.clone();
        other[axis] = i;
        grid.cell_at(&other).map_or(0.0, |cell| f64::from(empty[cell]))
    };
    let slope = |(axis, &i): (usize, &usize)| {
        let (below, above) = (i.saturating_sub(1), (i + 1).min(grid.dims()[axis] - 1));
        (share(axis, above) - share(axis, below)) / (above - below).max(1) as f64
    };
    let slopes: Vec<f64> = at.iter().enumerate().map(slope).collect();
    let length = slopes.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
    // Less is a rounding error.
    (length > 1e-6).then(|| slopes.iter().map(|slope| REACH * slope / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_qd::{Acceptance, Candidate, Provenance};
    use magpie_random::Stream;

    /// Cells in which those with coordinates that `is_filled` are filled.
    fn archives(dims: &[usize], is_filled: impl Fn(&[usize]) -> bool) -> ArchivePair {
        let grid = Grid::new(dims.to_vec(), vec![0.0; dims.len()], vec![1.0; dims.len()]).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        let mut archives = ArchivePair::new(grid.clone(), rule, 1, 1).unwrap();
        for cell in (0..grid.count()).filter(|&cell| is_filled(&grid.coordinates(cell).unwrap())) {
            let candidate = Candidate {
                solution: &[0.0],
                extra: &[0.0],
                objective: 1.0,
                measures: &grid.centre(cell).unwrap(),
                length: 1.0,
                provenance: Provenance { iteration: 1, branch: None },
            };
            archives.add(&[candidate]).unwrap();
        }
        archives
    }

    fn outposts(archives: &ArchivePair, earlier: &[usize]) -> Vec<Outpost> {
        let curiosity = Curiosity { width: 3.0, ..Curiosity::default() };
        let draw = |i| Outpost::draw(archives, &curiosity, earlier, &mut Stream::new(1, "test").draws(i, 0));
        (0..200).filter_map(draw).collect()
    }

    #[test]
    fn a_curious_search_goes_to_the_frontier_and_beyond() {
        for (is_left, sign) in [(true, 1.0), (false, -1.0)] {
            let archives = archives(&[20, 12], |at| (at[0] < 10) == is_left);
            let outposts = outposts(&archives, &[]);
            assert_eq!(outposts.len(), 200);
            let column = |outpost: &Outpost| outpost.cell / 12;
            let near = outposts.iter().filter(|outpost| (6..14).contains(&column(outpost))).count();
            // All ten columns alike would give 80.
            assert!(near > 150, "{near}");
            for Outpost { cell, heading } in outposts {
                let heading = heading.expect("a slope");
                let [along, across] = heading[..] else { panic!("{heading:?}") };
                assert!(sign * along > 1.99 && across.abs() < 0.1, "{heading:?} in cell {cell}");
            }
        }
    }

    #[test]
    fn where_it_has_been_it_seldom_goes_again() {
        let upper = |outposts: &[Outpost]| outposts.iter().filter(|outpost| outpost.cell % 20 >= 10).count();
        let archives = archives(&[20, 20], |at| at[0] < 10);
        // Of twenty rows, the frontier of the upper ten.
        let earlier: Vec<usize> = (0..10).map(|row| 9 * 20 + 10 + row).collect();
        let (before, after) = (upper(&outposts(&archives, &[])), upper(&outposts(&archives, &earlier)));
        assert!(before > 80 && after < 30, "{before} and {after}");
    }

    #[test]
    fn nearness_is_a_gaussian() {
        assert_eq!(nearness(&[4, 5], &[4, 5], 3.0), 1.0);
        assert!((nearness(&[4, 5], &[7, 5], 3.0) - (-0.5_f64).exp()).abs() < 1e-12);
        assert!((nearness(&[4, 5], &[4, 2], 3.0) - (-0.5_f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn measures_of_one_and_of_four_dimensions_have_frontiers_too() {
        let row = outposts(&archives(&[9], |at| at[0] > 4), &[]);
        assert_eq!(row.len(), 200);
        assert!(row.iter().all(|outpost| outpost.heading == Some(vec![-2.0])));
        // A dimension of one cell has no slope.
        let four = outposts(&archives(&[3, 5, 1, 3], |at| at[1] < 2), &[]);
        assert!(four.len() == 200);
        assert!(
            four.iter().all(|outpost| outpost.heading.as_ref().is_some_and(|h| h[1] > 1.99 && h[2] == 0.0))
        );
    }

    #[test]
    fn in_the_middle_of_nothing_no_way_is_better_than_another() {
        let outposts = outposts(&archives(&[9, 9], |at| at == [4, 4]), &[]);
        assert!(outposts.len() == 200 && outposts.iter().all(|outpost| outpost.heading.is_none()));
    }

    #[test]
    fn a_full_archive_has_no_frontier() {
        assert!(outposts(&archives(&[20, 20], |_| true), &[]).is_empty());
        assert!(outposts(&archives(&[20, 20], |_| false), &[]).is_empty());
    }
}
