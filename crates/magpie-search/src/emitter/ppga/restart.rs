//! Where a search restarts after it has stalled.
//!
//! A random elite is often surrounded by occupied cells, where there is no curiosity bonus. **At the frontier** it has empty
//! cells beside it, and xNES is directed at those. Its quality does not matter there: searches that restarted from good
//! elites next to poorer cells found few new ones. And some empty cells can never be reached, because no robot walks
//! without its feet on the ground. Therefore the search remembers these targets and avoids them later.
//!
//! In a full archive what is left is to improve elites. A **promising** one is good and lies where elites have improved
//! lately: what was trained there was not yet as good as it gets.

use magpie_qd::{ArchivePair, Cells, Grid};
use magpie_random::Draws;

use crate::bonus::{Spacing, empty_share, mean_around, nearness};
use crate::config::{Curiosity, Restarts};

/// Norm of the measure coefficients after a restart, as large as they get in the paper's draws.
const REACH: f64 = 2.0;

/// Iterations after which an improvement counts half.
const HALF_LIFE: f64 = 10.0;

/// The best elites are one in this many.
const BEST: usize = 20;

/// An elite to restart from.
pub(super) struct RestartTarget {
    /// Its cell.
    pub cell: usize,
    /// Whether it was chosen for the empty cells next to it.
    pub frontier: bool,
    /// Coefficients of the measures that lead to the empty cells; `None` if there is no such direction.
    pub heading: Option<Vec<f64>>,
}

/// What a restart depends on, beside the archives.
pub(super) struct Past<'a> {
    /// Cells at the frontier where the search has restarted.
    pub earlier: &'a [usize],
    /// The number of restarts.
    pub restarts: u64,
    /// The number of this iteration, from 1.
    pub iteration: u64,
}

impl RestartTarget {
    /// Draws an elite of the soft archive. `None` stands for a random one.
    pub fn choose(
        restarts: Restarts,
        archives: &ArchivePair,
        config: &Curiosity,
        past: &Past<'_>,
        draws: &mut Draws,
    ) -> Option<RestartTarget> {
        let elite = |cell| RestartTarget { cell, frontier: false, heading: None };
        match restarts {
            Restarts::Random | Restarts::Auto => None,
            Restarts::Best => best(archives, draws).map(elite),
            Restarts::Alternate if past.restarts % 2 == 1 => {
                promising(archives, config.width, past.iteration, draws).map(elite)
            }
            Restarts::Promise => promising(archives, config.width, past.iteration, draws).map(elite),
            Restarts::Frontier | Restarts::Alternate => {
                RestartTarget::at_frontier(archives, config, past.earlier, draws)
            }
        }
    }

    /// Draws an elite of the soft archive in proportion to e / (1 + n)², where e is the share of empty cells around it
    /// and n the number of `earlier` targets there, weighted by distance. The configuration gives the reference archive
    /// and the width of the neighbourhood. Returns `None` if no elite has empty cells around it.
    fn at_frontier(
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
        Some(RestartTarget { cell, frontier: true, heading: of_reach(heading) })
    }
}

/// Draws an elite of the soft archive in proportion to i · q, where i is the mean of 2^(-age/10) over the cells around it,
/// with the ages of their elites in iterations, and q its objective, from 0 for the lowest to 1 for the highest.
fn promising(archives: &ArchivePair, width: f64, iteration: u64, draws: &mut Draws) -> Option<usize> {
    let soft = archives.soft();
    let mut improved = vec![0.0; archives.cells().count()];
    for (cell, entry) in soft.entries() {
        let age = iteration.saturating_sub(entry.provenance.iteration) as f64;
        improved[cell] = (-age / HALF_LIFE).exp2() as f32;
    }
    let improved = mean_around(archives.cells(), width, improved);
    let objectives = || soft.entries().map(|(_, entry)| entry.objective);
    let (lowest, highest) =
        (objectives().fold(f64::INFINITY, f64::min), objectives().fold(f64::NEG_INFINITY, f64::max));
    let quality =
        |objective: f64| if highest > lowest { (objective - lowest) / (highest - lowest) } else { 1.0 };
    let worth = |(cell, entry): (usize, &magpie_qd::Entry)| {
        (cell, f64::from(improved[cell]) * quality(entry.objective))
    };
    in_proportion(&soft.entries().map(worth).collect::<Vec<_>>(), draws)
}

/// Draws one of the best twentieth of the soft archive's elites.
fn best(archives: &ArchivePair, draws: &mut Draws) -> Option<usize> {
    let mut ranked: Vec<(usize, f64)> =
        archives.soft().entries().map(|(cell, entry)| (cell, entry.objective)).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let some = ranked.len().div_ceil(BEST) as u32;
    ranked.get(draws.below(some) as usize).map(|&(cell, _)| cell)
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
        archives_of(dims, |at| is_filled(at).then_some((1.0, 1)))
    }

    /// An archive with these objectives, found in these iterations.
    fn archives_of(dims: &[usize], elite: impl Fn(&[usize]) -> Option<(f64, u64)>) -> ArchivePair {
        let grid = Grid::new(dims.to_vec(), vec![0.0; dims.len()], vec![1.0; dims.len()]).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        let mut archives = ArchivePair::new(grid.clone(), rule, 1, 1).unwrap();
        for cell in 0..grid.count() {
            let Some((objective, iteration)) = elite(&grid.coordinates(cell).unwrap()) else { continue };
            let candidate = Candidate {
                solution: &[0.0],
                extra: &[0.0],
                objective,
                measures: &grid.centre(cell).unwrap(),
                length: 1.0,
                evidence: Evidence::ONE,
                provenance: Provenance { iteration, branch: None },
            };
            archives.add(&[candidate]).unwrap();
        }
        archives
    }

    /// Cells of 200 restarts in iteration 100, after this many.
    fn cells(restarts: Restarts, archives: &ArchivePair, before: u64) -> Vec<Option<usize>> {
        let curiosity = Curiosity { width: 1.0, ..Curiosity::default() };
        let past = Past { earlier: &[], restarts: before, iteration: 100 };
        let choose = |i| {
            let mut draws = Stream::new(1, "test").draws(i, 0);
            RestartTarget::choose(restarts, archives, &curiosity, &past, &mut draws).map(|target| target.cell)
        };
        (0..200).map(choose).collect()
    }

    #[test]
    fn promise_is_where_good_elites_have_improved_lately() {
        // Good and new on the left, good and old in the middle, poor and new on the right.
        let archives = archives_of(&[30, 3], |at| match at[0] {
            0..10 => Some((100.0, 98)),
            10..20 => Some((100.0, 2)),
            _ => Some((1.0, 98)),
        });
        let columns = cells(Restarts::Promise, &archives, 0);
        let left = columns.iter().filter(|cell| cell.unwrap() / 3 < 10).count();
        assert!(left > 180, "{left}");
        // If all are alike, any will do.
        let alike = archives_of(&[10], |_| Some((5.0, 100)));
        let mut drawn = cells(Restarts::Promise, &alike, 0);
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 10);
    }

    #[test]
    fn the_best_are_one_in_twenty() {
        let archives = archives_of(&[100], |at| Some(((at[0] * 7 % 100) as f64, 1)));
        let mut drawn = cells(Restarts::Best, &archives, 0);
        drawn.sort_unstable();
        drawn.dedup();
        let mut best: Vec<Option<usize>> = (95..100).map(|o| (0..100).find(|c| c * 7 % 100 == o)).collect();
        best.sort_unstable();
        assert_eq!(drawn, best);
    }

    #[test]
    fn frontier_and_promise_take_turns() {
        // The frontier is in the middle; what is good and new is at its far end.
        let archives = archives_of(&[40], |at| match at[0] {
            0..3 => Some((100.0, 100)),
            3..20 => Some((1.0, 1)),
            _ => None,
        });
        let far = |before| {
            cells(Restarts::Alternate, &archives, before).iter().filter(|cell| cell.unwrap() < 10).count()
        };
        assert_eq!((far(0), far(1), far(2)), (0, 200, 0));
        assert!(cells(Restarts::Random, &archives, 0).iter().all(Option::is_none));
    }

    fn targets(archives: &ArchivePair, earlier: &[usize]) -> Vec<RestartTarget> {
        let curiosity = Curiosity { width: 3.0, ..Curiosity::default() };
        let draw = |i| {
            let mut draws = Stream::new(1, "test").draws(i, 0);
            RestartTarget::at_frontier(archives, &curiosity, earlier, &mut draws)
        };
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
            for RestartTarget { cell, heading, .. } in targets {
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
