//! Where a curious search goes when it has come to a standstill: to an elite that is far better than what lies around it,
//! and from there towards the poor and empty cells.
//!
//! What a search can still gain is what a good policy does not yet do in cells nearby. A random elite seldom has such
//! cells around it, and one beside empty cells is mostly a poor one, from which all has to be learnt anew. But not every
//! cell can be filled well: no robot walks without its feet on the ground. So the search remembers where it has set out
//! from, and goes elsewhere the next time.

use std::f64::consts::FRAC_1_SQRT_2;
use std::iter;

use magpie_qd::{Archive, ArchivePair, Cells, Entry, Grid};
use magpie_random::Draws;

use crate::curiosity::Curiosity;
use crate::novelty::blurred;

/// How far from 0 the coefficients are with which a search sets out: as far as each goes in the paper's draws.
const REACH: f64 = 2.0;

/// An elite with more to be gained around it than others have.
pub(crate) struct Outpost {
    /// Its cell.
    pub cell: usize,
    /// Coefficients of the objective and the measures that lead to poorer cells, [`REACH`] long; `None` where no way does.
    /// The objective counts as much as the way: who forgets on it what it can do gains nothing there.
    pub coefficients: Option<Vec<f64>>,
}

impl Outpost {
    /// One of those that the soft archive holds, in proportion to g / (1 + n)²: g is how much better it is than its
    /// neighbourhood, n the number of `earlier` outposts there, nearer ones counting more in both; curiosity says which
    /// archive knows how good they are, and how wide to look. `None` if none is better than what is around it, and where
    /// cells are no grid, along whose rows and columns one could look.
    pub fn draw(
        archives: &ArchivePair,
        curiosity: &Curiosity,
        earlier: &[usize],
        draws: &mut Draws,
    ) -> Option<Outpost> {
        let Cells::Grid(grid) = archives.cells() else { return None };
        let known = curiosity.archive.archive(archives);
        let scale = Scale::of(known)?;
        let around = blurred(grid, curiosity.width, scale.wants(grid, known));
        let earlier: Vec<Vec<usize>> = earlier.iter().filter_map(|&cell| grid.coordinates(cell)).collect();
        let worth = |(cell, _): (usize, &Entry)| {
            let here = grid.coordinates(cell)?;
            // A restart takes the best of a cell, which the soft archive may have given up for a newer one.
            let elite = archives.result().entry(cell)?;
            let been: f64 = earlier.iter().map(|there| nearness(&here, there, curiosity.width)).sum();
            let gain = around[cell] - scale.want(elite.objective);
            Some((cell, f64::from(gain.max(0.0)) / (1.0 + been).powi(2)))
        };
        let worths: Vec<(usize, f64)> = archives.soft().entries().filter_map(worth).collect();
        let cell = in_proportion(&worths, draws)?;
        Some(Outpost { cell, coefficients: heading(grid, &around, cell).map(coefficients) })
    }
}

/// Returns have no unit of their own: what counts is where they lie between the best and the worst known. One return that is
/// far from all others makes these alike, and then little but empty cells counts.
struct Scale {
    best: f64,
    worst: f64,
}

impl Scale {
    /// `None` if nothing is known.
    fn of(known: &Archive) -> Option<Scale> {
        let returns = || known.entries().map(|(_, entry)| entry.objective);
        Some(Scale { best: returns().max_by(f64::total_cmp)?, worst: returns().min_by(f64::total_cmp)? })
    }

    /// What a return wants of the best one: from 0, which it is if all are equal, to 1 for the worst.
    fn want(&self, objective: f64) -> f32 {
        let range = self.best - self.worst;
        if range > 0.0 { ((self.best - objective) / range).clamp(0.0, 1.0) as f32 } else { 0.0 }
    }

    /// Of each cell; an empty one wants as much as the worst.
    fn wants(&self, grid: &Grid, known: &Archive) -> Vec<f32> {
        let mut wants = vec![1.0; grid.count()];
        known.entries().for_each(|(cell, entry)| wants[cell] = self.want(entry.objective));
        wants
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

/// The coefficients of who keeps up the objective on a way.
fn coefficients(heading: Vec<f64>) -> Vec<f64> {
    let share = |part: f64| REACH * FRAC_1_SQRT_2 * part;
    iter::once(1.0).chain(heading).map(share).collect()
}

/// The way in which cells want more and more with what is `around` them, of length 1.
fn heading(grid: &Grid, around: &[f32], cell: usize) -> Option<Vec<f64>> {
    let at = grid.coordinates(cell)?;
    let want = |axis: usize, i: usize| {
        let mut other = at.clone();
        other[axis] = i;
        grid.cell_at(&other).map_or(0.0, |cell| f64::from(around[cell]))
    };
    let slope = |(axis, &i): (usize, &usize)| {
        let (below, above) = (i.saturating_sub(1), (i + 1).min(grid.dims()[axis] - 1));
        (want(axis, above) - want(axis, below)) / (above - below).max(1) as f64
    };
    let slopes: Vec<f64> = at.iter().enumerate().map(slope).collect();
    let length = slopes.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
    // Less is a rounding error.
    (length > 1e-6).then(|| slopes.iter().map(|slope| slope / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::novelty::Known;
    use magpie_qd::{Acceptance, Candidate, Provenance};
    use magpie_random::Stream;
    use std::f64::consts::SQRT_2;

    /// Cells in which those with coordinates that `is_filled` are filled, all alike.
    fn archives(dims: &[usize], is_filled: impl Fn(&[usize]) -> bool) -> ArchivePair {
        with_returns(dims, |at| is_filled(at).then_some(1.0))
    }

    /// Cells with these returns by coordinates.
    fn with_returns(dims: &[usize], returns: impl Fn(&[usize]) -> Option<f64>) -> ArchivePair {
        let grid = Grid::new(dims.to_vec(), vec![0.0; dims.len()], vec![1.0; dims.len()]).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: -1e6 };
        let mut archives = ArchivePair::new(grid.clone(), rule, 1, 1).unwrap();
        for cell in 0..grid.count() {
            if let Some(objective) = returns(&grid.coordinates(cell).unwrap()) {
                offer(&mut archives, &grid.centre(cell).unwrap(), objective);
            }
        }
        archives
    }

    fn offer(archives: &mut ArchivePair, measures: &[f64], objective: f64) {
        let candidate = Candidate {
            solution: &[0.0],
            extra: &[0.0],
            objective,
            measures,
            length: 1.0,
            provenance: Provenance { iteration: 1, branch: None },
        };
        archives.add(&[candidate]).unwrap();
    }

    fn outposts(archives: &ArchivePair, earlier: &[usize]) -> Vec<Outpost> {
        let curiosity = Curiosity { width: 3.0, archive: Known::Result, ..Curiosity::default() };
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
            for Outpost { cell, coefficients } in outposts {
                let coefficients = coefficients.expect("a slope");
                let [objective, along, across] = coefficients[..] else { panic!("{coefficients:?}") };
                assert_eq!(objective, SQRT_2);
                assert!(sign * along > 1.41 && across.abs() < 0.1, "{coefficients:?} in cell {cell}");
            }
        }
    }

    #[test]
    fn good_elites_beside_poor_ones_are_where_there_is_most_to_gain() {
        // All cells are filled: good ones left, poor ones right, a column of middling ones in between. Returns may be
        // negative, as those of a halfcheetah are at first.
        for shift in [0.0, -3500.0] {
            let returns = |at: &[usize]| Some(shift + [3000.0, 1000.0, 100.0][(at[0].max(9) - 9).min(2)]);
            let outposts = outposts(&with_returns(&[20, 12], returns), &[]);
            assert_eq!(outposts.len(), 200);
            for Outpost { cell, coefficients } in &outposts {
                assert!(cell / 12 < 10, "cell {cell} is no better than what is around it");
                assert!(coefficients.as_ref().is_some_and(|c| c[1] > 1.41), "{coefficients:?}");
            }
            let near = outposts.iter().filter(|outpost| outpost.cell / 12 > 5).count();
            assert!(near > 150, "{near}");
        }
    }

    #[test]
    fn an_elite_is_as_good_as_the_policy_that_a_restart_would_take() {
        let mut archives = with_returns(&[20, 20], |at| Some(if at == [4, 4] { 3000.0 } else { 1650.0 }));
        // The soft archive takes it; the best of the cell stays what it was.
        let Cells::Grid(grid) = archives.cells().clone() else { unreachable!("made of a grid") };
        offer(&mut archives, &grid.centre(4 * 20 + 4).unwrap(), 1600.0);
        assert_eq!(archives.soft().entry(4 * 20 + 4).unwrap().objective, 1600.0);
        let outposts = outposts(&archives, &[]);
        assert!(outposts.len() == 200 && outposts.iter().all(|outpost| outpost.cell == 4 * 20 + 4));
    }

    #[test]
    fn in_the_middle_of_nothing_no_way_is_better_than_another() {
        let outposts = outposts(&archives(&[9, 9], |at| at == [4, 4]), &[]);
        assert!(outposts.len() == 200 && outposts.iter().all(|outpost| outpost.coefficients.is_none()));
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
        assert!(row.iter().all(|outpost| outpost.coefficients == Some(vec![SQRT_2, -SQRT_2])));
        // A dimension of one cell has no slope.
        let four = outposts(&archives(&[3, 5, 1, 3], |at| at[1] < 2), &[]);
        assert!(four.len() == 200);
        assert!(
            four.iter()
                .all(|outpost| outpost.coefficients.as_ref().is_some_and(|c| c[2] > 1.41 && c[3] == 0.0))
        );
    }

    #[test]
    fn where_all_cells_are_alike_there_is_no_frontier() {
        assert!(outposts(&archives(&[20, 20], |_| true), &[]).is_empty());
        assert!(outposts(&archives(&[20, 20], |_| false), &[]).is_empty());
    }
}
