//! Whether a search still gets on.
//!
//! Evaluations are noisy, so the soft archive accepts a few branches of a search policy that has long found what there
//! is to find around it, and the paper's rule, a restart when none is accepted, hardly ever speaks. This one does: a
//! search whose archive gains less than half as fast as it has on average had better start elsewhere.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Below this share of its mean pace so far a search has come to a standstill.
const STANDSTILL: f64 = 0.5;

/// The archive's score, iteration by iteration, since the search policy was last put somewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    scores: VecDeque<f64>,
}

impl Pace {
    /// From an archive with this score.
    pub fn from(score: f64) -> Pace {
        Pace { scores: VecDeque::from([score]) }
    }

    /// Takes down the score after another iteration, of `iterations` in all, and says whether the last `patience` of them
    /// brought less than half of what an equal number has on average. 0 is endless patience.
    pub fn has_flagged(&mut self, score: f64, iterations: u64, patience: u32) -> bool {
        self.scores.push_back(score);
        if patience == 0 || self.scores.len() <= patience as usize {
            return false;
        }
        self.scores.drain(..self.scores.len() - 1 - patience as usize);
        let gained = (score - self.scores[0]) / f64::from(patience);
        gained < STANDSTILL * score / iterations as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations, from 1, at which scores that begin at 0 have flagged.
    fn flags(patience: u32, scores: &[f64]) -> Vec<usize> {
        let mut pace = Pace::from(0.0);
        let flagged =
            |(i, &score): (usize, &f64)| pace.has_flagged(score, i as u64 + 1, patience).then_some(i + 1);
        scores.iter().enumerate().filter_map(flagged).collect()
    }

    #[test]
    fn a_steady_pace_never_flags_and_a_standstill_does_after_patience() {
        let steady: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(flags(3, &steady), [0_usize; 0]);
        let halts: Vec<f64> = (1..=8).map(|i| f64::from(i.min(5))).collect();
        // After 7 iterations the last two brought nothing, and the three together a third of an average one each.
        assert_eq!(flags(3, &halts), [7, 8]);
        assert_eq!(flags(0, &halts), [0_usize; 0]);
    }

    #[test]
    fn after_a_restart_there_is_patience_anew() {
        let mut pace = Pace::from(100.0);
        assert!(!pace.has_flagged(100.0, 11, 2));
        assert!(pace.has_flagged(100.0, 12, 2));
    }
}
