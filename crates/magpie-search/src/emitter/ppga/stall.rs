//! Stall detection.
//!
//! PPGA restarts when the soft archive accepts no branch. Because evaluations are noisy, the soft archive accepts a few
//! branches even if the search policy has long explored its surroundings, so that this rule hardly ever applies. This
//! detector also reports a stall when the archive grows less than a fifth as fast as it has on average.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The search has stalled if the archive's growth falls below this share of its mean growth. If a score grows like nᵃ
/// with the iterations, its growth is a times the mean; with a threshold of one half, any search that slows down more
/// than √n, such as ∛n, would restart every few iterations, especially after a good start.
const STANDSTILL: f64 = 0.2;

/// The archive's score after each iteration since the last restart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StallDetector {
    scores: VecDeque<f64>,
}

impl StallDetector {
    /// Starts with an archive of this score.
    pub fn from(score: f64) -> StallDetector {
        StallDetector { scores: VecDeque::from([score]) }
    }

    /// Leaves out the growth of the archive while others had their turns.
    pub fn leave_out(&mut self, growth: f64) {
        self.scores.iter_mut().for_each(|score| *score += growth);
    }

    /// Records the score after an iteration (the search has made `iterations` in total) and returns whether the last
    /// `patience` iterations together gained less than a fifth of the average for as many iterations. A `patience` of 0
    /// never reports a stall, and none is reported before `min_walks` walks, one in each iteration but the current one.
    pub fn has_stalled(&mut self, score: f64, iterations: u64, patience: u32, min_walks: u32) -> bool {
        let (patience, walks) = (patience as usize, min_walks as usize);
        if patience == 0 {
            return false;
        }
        self.scores.push_back(score);
        let least = if walks > 0 { patience.max(walks + 1) } else { patience };
        if self.scores.len() <= least {
            return false;
        }
        self.scores.drain(..self.scores.len() - 1 - least);
        let gained = (score - self.scores[least - patience]) / patience as f64;
        // A score below zero, which lacks an offset, has no meaningful mean growth; then any gain is enough.
        gained <= STANDSTILL * score.max(0.0) / iterations as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations, from 1, at which scores that begin at 0 have stalled.
    fn stalls(patience: u32, scores: &[f64]) -> Vec<usize> {
        let mut growth = StallDetector::from(0.0);
        let stalled = |(i, &score): (usize, &f64)| {
            growth.has_stalled(score, i as u64 + 1, patience, 0).then_some(i + 1)
        };
        scores.iter().enumerate().filter_map(stalled).collect()
    }

    #[test]
    fn a_steady_pace_never_stalls_and_a_standstill_does_after_patience() {
        let steady: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(stalls(3, &steady), [0_usize; 0]);
        let halts: Vec<f64> = (1..=8).map(|i| f64::from(i.min(5))).collect();
        // After 7 iterations the last three together gained as much as one before; after 8 they gained nothing.
        assert_eq!(stalls(3, &halts), [8]);
        assert_eq!(stalls(0, &halts), [0_usize; 0]);
    }

    #[test]
    fn who_began_well_and_slows_down_like_a_cube_root_has_not_stalled() {
        let slowing = |exponent| (1..=500).map(|i| f64::from(i).powf(exponent)).collect::<Vec<_>>();
        assert_eq!(stalls(3, &slowing(1.0 / 3.0)), [0_usize; 0]);
        assert!(stalls(3, &slowing(0.1)).len() > 400);
    }

    #[test]
    fn below_zero_any_gain_will_do() {
        assert_eq!(stalls(1, &[-9.0, -8.0, -8.0]), [1, 3]);
    }

    #[test]
    fn after_a_restart_there_is_patience_anew() {
        let mut growth = StallDetector::from(100.0);
        assert!(!growth.has_stalled(100.0, 11, 2, 0));
        assert!(growth.has_stalled(100.0, 12, 2, 0));
    }

    #[test]
    fn a_search_policy_makes_its_walks_before_it_has_stalled() {
        let first = |patience, min_walks| {
            let mut growth = StallDetector::from(100.0);
            (1..20).find(|&n| growth.has_stalled(100.0, 10 + n, patience, min_walks)).unwrap()
        };
        // In iteration n there have been n - 1 walks.
        assert_eq!([first(2, 0), first(2, 1), first(2, 2), first(2, 5), first(4, 2)], [2, 2, 3, 6, 4]);
    }

    #[test]
    fn the_growth_of_others_is_left_out() {
        let mut growth = StallDetector::from(100.0);
        assert!(!growth.has_stalled(110.0, 11, 2, 0));
        growth.leave_out(1000.0);
        assert!(growth.has_stalled(1110.0, 12, 2, 0), "ten in two iterations of a mean of ninety");
    }
}
