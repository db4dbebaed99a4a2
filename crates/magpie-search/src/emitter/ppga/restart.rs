//! Where a search restarts after it has stalled: from a random elite, or from an elite next to empty cells, with xNES
//! directed at those cells.
//!
//! A random elite is often surrounded by occupied cells, where there is no curiosity bonus. The quality of the elite
//! does not matter: searches that restarted from good elites next to poorer cells found few new ones. And some empty
//! cells can never be reached, because no robot walks without its feet on the ground. Therefore the search remembers
//! its restart targets and avoids them later.

use magpie_qd::{ArchivePair, Cells, Grid};
use magpie_random::Draws;

use crate::bonus::{Spacing, empty_share, nearness};
use crate::config::Curiosity;

/// Norm of the measure coefficients after a restart, as large as they get in the paper's draws.
const REACH: f64 = 2.0;

/// An elite next to empty cells.
pub(super) struct RestartTarget {
    /// Its cell.
    pub cell: usize,
    /// Coefficients of the measures that lead to the empty cells; `None` if there is no such direction.
    pub heading: Option<Vec<f64>>,
}

impl RestartTarget {
    /// Draws an elite of the soft archive in proportion to e / (1 + n)², where e is the share of empty cells around it
    /// and n the number of `earlier` targets there, weighted by distance. The configuration gives the reference archive
    /// and the width of the neighbourhood. Returns `None` if no elite has empty cells around it.
    pub fn draw(
        archives: &ArchivePair,
        config: &Curiosity,
        earlier: &[usize],
        draws: &mut Draws,
    ) -> Option<RestartTarget> {
        let (cells, width) = (archives.cells(), config.width);
        let empty = empty_share(cells, width, config.reference_archive.archive(archives));
        let spacing = Spacing::of(cells);
        let earlier: Vec<Vec<f64>> = earlier.iter().map(|&cell| spacing.position(cell)).collect();
        let worth = |(cell, _): (usize, _)| {
            let here = spacing.position(cell);
            let been: f64 = earlier.iter().map(|there| nearness(&here, there, width)).sum();
            (cell, f64::from(empty[cell]) / (1.0 + been).powi(2))
        };
        let worths: Vec<(usize, f64)> = archives.soft().entries().map(worth).collect();
        let cell = in_proportion(&worths, draws)?;
        let heading = match cells {
            Cells::Grid(grid) => slope_on_grid(grid, &empty, cell)?,
            Cells::Cvt(_) => slope_around(&spacing, &empty, cell),
        };
        Some(RestartTarget { cell, heading: of_reach(heading) })
    }
}

/// Draws an item in proportion to its weight; `None` if all weights are 0.
fn in_proportion(weights: &[(usize, f64)], draws: &mut Draws) -> Option<usize> {
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let mut left = f64::from(draws.unit()) * total;
    let mut heavy = weights.iter().filter(|(_, weight)| *weight > 0.0);
    // Rounding can leave a remainder after the last item.
    let last = heavy.clone().next_back()?;
    let reached = heavy.find(|(_, weight)| {
        left -= weight;
        left < 0.0
    });
    Some(reached.unwrap_or(last).0)
}

/// The gradient of the share of empty cells, along each axis.
fn slope_on_grid(grid: &Grid, empty: &[f32], cell: usize) -> Option<Vec<f64>> {
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
    Some(at.iter().enumerate().map(slope).collect())
}

/// The gradient among centroids: differences to the surrounding cells, weighted by distance.
fn slope_around(spacing: &Spacing<'_>, empty: &[f32], cell: usize) -> Vec<f64> {
    let here = spacing.position(cell);
    let mut slope = vec![0.0; here.len()];
    for (other, share) in empty.iter().enumerate() {
        let there = spacing.position(other);
        let gain = f64::from(share - empty[cell]) * nearness(&here, &there, 1.0);
        slope.iter_mut().zip(there).zip(&here).for_each(|((s, to), at)| *s += gain * (to - at));
    }
    slope
}

/// The same direction, with norm [`REACH`].
fn of_reach(slopes: Vec<f64>) -> Option<Vec<f64>> {
    let length = slopes.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
    // Anything smaller is a rounding error.
    (length > 1e-6).then(|| slopes.iter().map(|slope| REACH * slope / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_qd::{Acceptance, Candidate, Cvt, Evidence, Provenance};
    use magpie_random::Stream;

    /// An archive whose occupied cells are those whose coordinates satisfy `is_filled`.
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
                evidence: Evidence::ONE,
                provenance: Provenance { iteration: 1, branch: None },
            };
            archives.add(&[candidate]).unwrap();
        }
        archives
    }

    fn targets(archives: &ArchivePair, earlier: &[usize]) -> Vec<RestartTarget> {
        let curiosity = Curiosity { width: 3.0, ..Curiosity::default() };
        let draw =
            |i| RestartTarget::draw(archives, &curiosity, earlier, &mut Stream::new(1, "test").draws(i, 0));
        (0..200).filter_map(draw).collect()
    }

    #[test]
    fn a_curious_search_goes_to_the_frontier_and_beyond() {
        for (is_left, sign) in [(true, 1.0), (false, -1.0)] {
            let archives = archives(&[20, 12], |at| (at[0] < 10) == is_left);
            let targets = targets(&archives, &[]);
            assert_eq!(targets.len(), 200);
            let column = |target: &RestartTarget| target.cell / 12;
            let near = targets.iter().filter(|target| (6..14).contains(&column(target))).count();
            // A uniform draw over all ten columns would give 80.
            assert!(near > 150, "{near}");
            for RestartTarget { cell, heading } in targets {
                let heading = heading.expect("a slope");
                let [along, across] = heading[..] else { panic!("{heading:?}") };
                assert!(sign * along > 1.99 && across.abs() < 0.1, "{heading:?} in cell {cell}");
            }
        }
    }

    #[test]
    fn where_it_has_been_it_seldom_goes_again() {
        let upper =
            |targets: &[RestartTarget]| targets.iter().filter(|target| target.cell % 20 >= 10).count();
        let archives = archives(&[20, 20], |at| at[0] < 10);
        // Of twenty rows, the frontier of the upper ten.
        let earlier: Vec<usize> = (0..10).map(|row| 9 * 20 + 10 + row).collect();
        let (before, after) = (upper(&targets(&archives, &[])), upper(&targets(&archives, &earlier)));
        assert!(before > 80 && after < 30, "{before} and {after}");
    }

    #[test]
    fn nearness_is_a_gaussian() {
        let grid = Grid::new(vec![10, 10], vec![0.0; 2], vec![1.0; 2]).unwrap();
        let cell = |at: [usize; 2]| grid.cell_at(&at).unwrap();
        let cells = Cells::from(grid.clone());
        let position = |at| Spacing::of(&cells).position(cell(at));
        let nearness = |a, b| nearness(&position(a), &position(b), 3.0);
        assert_eq!(nearness([4, 5], [4, 5]), 1.0);
        assert!((nearness([4, 5], [7, 5]) - (-0.5_f64).exp()).abs() < 1e-12);
        assert!((nearness([4, 5], [4, 2]) - (-0.5_f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn measures_of_one_and_of_four_dimensions_have_frontiers_too() {
        let row = targets(&archives(&[9], |at| at[0] > 4), &[]);
        assert_eq!(row.len(), 200);
        assert!(row.iter().all(|target| target.heading == Some(vec![-2.0])));
        // A dimension with one cell has no gradient.
        let four = targets(&archives(&[3, 5, 1, 3], |at| at[1] < 2), &[]);
        assert!(four.len() == 200);
        assert!(
            four.iter().all(|target| target.heading.as_ref().is_some_and(|h| h[1] > 1.99 && h[2] == 0.0))
        );
    }

    #[test]
    fn centroids_have_a_frontier_too() {
        let mut draws = Stream::new(5, "centroids").draws(0, 0);
        let centroids: Vec<f64> = (0..400).map(|_| f64::from(draws.unit())).collect();
        let cvt = Cvt::new(centroids.clone(), 2).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        let mut archives = ArchivePair::new(cvt, rule, 1, 1).unwrap();
        for centroid in centroids.chunks(2).filter(|c| c[0] < 0.5) {
            let candidate = Candidate {
                solution: &[0.0],
                extra: &[0.0],
                objective: 1.0,
                measures: centroid,
                length: 1.0,
                evidence: Evidence::ONE,
                provenance: Provenance { iteration: 1, branch: None },
            };
            archives.add(&[candidate]).unwrap();
        }
        let targets = targets(&archives, &[]);
        let near = targets.iter().filter(|target| centroids[2 * target.cell] > 0.3).count();
        // A random elite would be there in 80 of 200 cases.
        assert!(targets.len() == 200 && near > 140, "{near}");
        let right = |target: &&RestartTarget| target.heading.as_ref().is_some_and(|h| h[0] > 0.0);
        assert!(targets.iter().filter(right).count() > 150);
    }

    #[test]
    fn in_the_middle_of_nothing_no_way_is_better_than_another() {
        let targets = targets(&archives(&[9, 9], |at| at == [4, 4]), &[]);
        assert!(targets.len() == 200 && targets.iter().all(|target| target.heading.is_none()));
    }

    #[test]
    fn a_full_archive_has_no_frontier() {
        assert!(targets(&archives(&[20, 20], |_| true), &[]).is_empty());
        assert!(targets(&archives(&[20, 20], |_| false), &[]).is_empty());
    }
}
