//! Which of several episodes is typical of a policy.
//!
//! The typical one is nearest to the means of all, in measures and return:
//!
//! ```text
//! d² = Σⱼ ((mⱼ − mean mⱼ) / wⱼ)² + ((R − mean R) / s)²
//! ```
//!
//! where wⱼ is the width of a cell along dimension j and s the standard deviation of the returns. Episodes that terminate
//! are left aside unless more than half of them do: where a fall is the exception, it is not typical. Nor is an episode that
//! returns far less than the mean, however it behaves.

use magpie_learn::Recording;
use magpie_qd::Cells;

/// What fresh episodes of a policy gave.
#[derive(Debug, Clone, PartialEq)]
pub struct FreshEpisodes {
    /// How many there were.
    pub episodes: u32,
    /// How many of them terminated, as a fall does; the others ran to the time limit.
    pub terminated: u32,
    /// Mean return.
    pub mean_return: f64,
    /// Standard deviation of the returns.
    pub std_return: f64,
    /// Mean of each dimension of the measure.
    pub mean_measures: Vec<f64>,
}

/// The share of the mean return that a typical episode reaches.
const LEAST_SHARE: f64 = 0.8;

impl FreshEpisodes {
    pub(super) fn of(recordings: &[Recording]) -> FreshEpisodes {
        let count = recordings.len() as f64;
        let mean = |values: &dyn Fn(&Recording) -> f64| recordings.iter().map(values).sum::<f64>() / count;
        let mean_return = mean(&Recording::true_return);
        let variance = mean(&|r| (r.true_return() - mean_return).powi(2));
        let measures: Vec<Vec<f64>> = recordings.iter().map(Recording::mean_measures).collect();
        let dimensions = measures.first().map_or(0, Vec::len);
        FreshEpisodes {
            episodes: recordings.len() as u32,
            terminated: recordings.iter().filter(|r| r.terminated).count() as u32,
            mean_return,
            std_return: variance.sqrt(),
            mean_measures: (0..dimensions)
                .map(|j| measures.iter().map(|m| m[j]).sum::<f64>() / count)
                .collect(),
        }
    }

    /// Position of the typical episode, the first one on a tie; with the `widths` of a cell.
    pub(super) fn typical(&self, recordings: &[Recording], widths: &[f64]) -> Option<usize> {
        let usually_terminates = 2 * self.terminated > self.episodes;
        let distance = |recording: &Recording| {
            let of_return = match self.std_return {
                0.0 => 0.0,
                spread => (recording.true_return() - self.mean_return) / spread,
            };
            let measures = recording.mean_measures();
            let pairs = measures.iter().zip(&self.mean_measures).zip(widths);
            pairs.map(|((m, mean), width)| ((m - mean) / width).powi(2)).sum::<f64>() + of_return.powi(2)
        };
        let least = self.mean_return - (1.0 - LEAST_SHARE) * self.mean_return.abs();
        let of_usual_end = |&(_, r): &(usize, &Recording)| usually_terminates || !r.terminated;
        let good = |&(_, r): &(usize, &Recording)| r.true_return() >= least;
        let nearest = |candidates: &mut dyn Iterator<Item = (usize, &Recording)>| {
            let rated = candidates.map(|(i, recording)| (i, distance(recording)));
            rated.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| i)
        };
        let candidates = || recordings.iter().enumerate().filter(of_usual_end);
        nearest(&mut candidates().filter(good)).or_else(|| nearest(&mut candidates()))
    }

    /// The largest distance of the mean measures from `measures` along a dimension, in cells.
    pub(super) fn cells_from(&self, measures: &[f64], widths: &[f64]) -> f64 {
        let apart = self.mean_measures.iter().zip(measures).zip(widths);
        apart.map(|((now, stored), width)| (now - stored).abs() / width).fold(0.0, f64::max)
    }
}

/// Width of a cell along each dimension: of a tessellation, that of a grid with as many cells.
pub(super) fn cell_widths(cells: &Cells, ranges: &[[f64; 2]]) -> Vec<f64> {
    let along = |j: usize| match cells {
        Cells::Grid(grid) => grid.dims()[j] as f64,
        Cells::Cvt(cvt) => (cvt.count() as f64).powf(1.0 / ranges.len() as f64),
    };
    ranges.iter().enumerate().map(|(j, [lower, upper])| (upper - lower) / along(j)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An episode of two steps.
    fn episode(true_return: f32, measure: f32, terminated: bool) -> Recording {
        Recording {
            rewards: vec![true_return, 0.0],
            measures: vec![measure - 0.1, measure + 0.1],
            terminated,
            ..Recording::default()
        }
    }

    fn typical(episodes: &[Recording], width: f64) -> usize {
        FreshEpisodes::of(episodes).typical(episodes, &[width]).unwrap()
    }

    #[test]
    fn the_typical_episode_is_nearest_to_the_means() {
        // Means: return 99, measure 0.5.
        let episodes =
            [(100.0, 0.2), (105.0, 0.5), (101.0, 0.8), (90.0, 0.5)].map(|(r, m)| episode(r, m, false));
        let fresh = FreshEpisodes::of(&episodes);
        assert!((fresh.mean_return - 99.0).abs() < 1e-9 && (fresh.std_return - 30.5_f64.sqrt()).abs() < 1e-9);
        assert!((fresh.mean_measures[0] - 0.5).abs() < 1e-6);
        assert_eq!(
            typical(&episodes, 0.02),
            1,
            "a return about one spread away, against measures 15 cells away"
        );
        assert_eq!(typical(&episodes, 10.0), 0, "in one large cell only returns count");
        assert!((fresh.cells_from(&[0.4], &[0.02]) - 5.0).abs() < 1e-4);
    }

    #[test]
    fn a_fall_is_typical_only_of_a_policy_that_usually_falls() {
        let mut episodes = [
            episode(100.0, 0.5, true),
            episode(140.0, 0.5, false),
            episode(90.0, 0.5, false),
            episode(70.0, 0.5, false),
        ];
        assert_eq!(typical(&episodes, 0.02), 2, "the first one is at the mean, but fell");
        episodes[1].terminated = true;
        assert_eq!(typical(&episodes, 0.02), 2, "half of them are not most");
        episodes[3].terminated = true;
        assert_eq!(typical(&episodes, 0.02), 0);
    }

    #[test]
    fn an_episode_that_returns_far_less_than_the_mean_is_not_typical() {
        // The first one is at the mean of the measures.
        let episodes = [(10.0, 0.5), (150.0, 0.3), (140.0, 0.7)].map(|(r, m)| episode(r, m, false));
        assert_eq!(typical(&episodes, 0.02), 2);
    }

    #[test]
    fn equal_returns_have_no_spread() {
        let episodes = [episode(5.0, 0.1, false), episode(5.0, 0.4, false), episode(5.0, 0.6, false)];
        assert_eq!(typical(&episodes, 0.1), 1);
    }
}
