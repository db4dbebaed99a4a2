//! Whether a search still gets on.
//!
//! Evaluations are noisy, so the soft archive accepts a few branches of a search policy that has long found what there
//! is to find around it, and the paper's rule, a restart when none is accepted, hardly ever speaks. This one does: a
//! search whose archive gains less than a fifth as fast as it has on average had better start elsewhere.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Below this share of its mean pace so far a search has come to a standstill. A score that grows like nᵃ with the
/// iterations has a pace of a times its mean, so at one half whoever slows down more than √n, like ∛n, would be sent elsewhere
/// every few iterations: those most that had begun well.
pub(crate) const STANDSTILL: f64 = 0.2;

/// What the archive has, iteration by iteration, since the search policy was last put somewhere: its score, or its cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    sizes: VecDeque<f64>,
}

impl Growth {
    /// From an archive of this size.
    pub fn from(size: f64) -> Growth {
        Growth { sizes: VecDeque::from([size]) }
    }

    /// Takes down the size after another iteration, of `iterations` in all, and says how fast it has grown in the last
    /// `patience` of them, in units of the mean pace so far. Nothing is said before `patience` is over; 0 is endless.
    pub fn pace(&mut self, size: f64, iterations: u64, patience: u32) -> Option<f64> {
        let patience = patience as usize;
        if patience == 0 {
            return None;
        }
        self.sizes.push_back(size);
        if self.sizes.len() <= patience {
            return None;
        }
        self.sizes.drain(..self.sizes.len() - 1 - patience);
        let gained = (size - self.sizes[0]) / patience as f64;
        // A score below zero, for want of an offset, has no pace to compare with: then any gain will do.
        let mean = size.max(0.0) / iterations as f64;
        Some(if gained <= 0.0 { 0.0 } else { gained / mean })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations, from 1, at which scores that begin at 0 have come to a standstill.
    fn stalls(patience: u32, scores: &[f64]) -> Vec<usize> {
        let mut growth = Growth::from(0.0);
        let mut pace = |i: usize, score: f64| growth.pace(score, i as u64 + 1, patience);
        let stalled = |(i, &score): (usize, &f64)| {
            pace(i, score).is_some_and(|pace| pace <= STANDSTILL).then_some(i + 1)
        };
        scores.iter().enumerate().filter_map(stalled).collect()
    }

    #[test]
    fn a_steady_pace_never_stalls_and_a_standstill_does_after_patience() {
        let steady: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(stalls(3, &steady), [0_usize; 0]);
        let halts: Vec<f64> = (1..=8).map(|i| f64::from(i.min(5))).collect();
        // After 7 iterations the last three together brought as much as one before; after 8 they brought nothing.
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
        let mut growth = Growth::from(100.0);
        assert_eq!(growth.pace(100.0, 11, 2), None);
        assert_eq!(growth.pace(100.0, 12, 2), Some(0.0));
    }

    #[test]
    fn a_pace_is_counted_in_the_mean_pace() {
        let mut growth = Growth::from(10.0);
        assert_eq!(growth.pace(20.0, 10, 1), Some(5.0));
        assert_eq!(growth.pace(22.0, 11, 1), Some(1.0));
    }
}
