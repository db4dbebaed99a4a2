//! Intervals by the stratified bootstrap, as rliable computes them (Agarwal et al., "Deep reinforcement learning at the
//! edge of the statistical precipice", 2021).
//!
//! A *stratum* is the scores of one task, one number a run. A replicate draws, in each stratum on its own, as many runs
//! as there are, with replacement, and applies the statistic to the whole. The 95 % interval runs from the 2.5th to the
//! 97.5th percentile of the replicates (percentile method, linear interpolation). Strata may differ in size; with equal
//! sizes this is rliable's matrix of runs by tasks.
//!
//! Draws depend on (seed, stratum, replicate) alone: replicate 17 is the same whether 20 or 20,000 are asked for.

use magpie_random::Stream;

use super::error::{StatisticsError, check_values};
use super::summary;

/// Replicates that give the ends of an interval to about one per cent of its width: the share below an end varies by
/// √(0.025 · 0.975 / 10,000) = 0.16 %. rliable takes 50,000 by default; at a handful of runs the interval itself is far
/// less certain than either.
pub const REPLICATES: u32 = 10_000;

/// How much of the replicates an interval holds.
pub const CONFIDENCE: f64 = 0.95;

/// Runs without which there is no interval: the bootstrap draws from the runs that there are, and one or two say next to
/// nothing about others.
pub const FEWEST_RUNS: usize = 3;

/// From where to where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The statistic of the data themselves.
    pub value: f64,
    /// Where it would lie with other runs.
    pub interval: Interval,
}

/// How many replicates, under which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// Number of replicates, at least 1.
    pub replicates: u32,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { replicates: REPLICATES, seed: 0 }
    }
}

impl Bootstrap {
    /// A statistic of all `strata`, and its interval. It must have a value wherever no stratum is empty.
    pub fn estimate(
        self,
        strata: &[Vec<f64>],
        statistic: impl Fn(&[Vec<f64>]) -> Option<f64>,
    ) -> Result<Estimate, StatisticsError> {
        let finite =
            |value: Option<f64>| value.filter(|value| value.is_finite()).ok_or(StatisticsError::Overflow);
        let replicates = self.replicates(strata, &statistic)?;
        let replicates: Vec<f64> = replicates.into_iter().map(finite).collect::<Result<_, _>>()?;
        let interval = percentile_interval(&replicates).ok_or(StatisticsError::Overflow)?;
        Ok(Estimate { value: finite(statistic(strata))?, interval })
    }

    /// What the statistic says of each replicate.
    pub fn replicates(
        self,
        strata: &[Vec<f64>],
        statistic: impl Fn(&[Vec<f64>]) -> Option<f64>,
    ) -> Result<Vec<Option<f64>>, StatisticsError> {
        if self.replicates == 0 {
            let expected = "at least 1";
            return Err(StatisticsError::Parameter { name: "bootstrap replicates", found: 0.0, expected });
        }
        if strata.is_empty() {
            return Err(StatisticsError::Empty("a bootstrap".to_owned()));
        }
        for (i, stratum) in strata.iter().enumerate() {
            check_values(&format!("stratum {i}"), stratum)?;
        }
        let stream = Stream::new(self.seed, "stratified bootstrap");
        let mut drawn = strata.to_vec();
        let replicate = |r| {
            for (i, (stratum, drawn)) in strata.iter().zip(&mut drawn).enumerate() {
                let mut draws = stream.draws(i as u32, u64::from(r));
                drawn.fill_with(|| stratum[draws.below(stratum.len() as u32) as usize]);
            }
            statistic(&drawn)
        };
        Ok((0..self.replicates).map(replicate).collect())
    }

    /// The inter-quartile mean over all runs of all tasks, with its interval.
    pub fn iqm(self, tasks: &[Vec<f64>]) -> Result<Estimate, StatisticsError> {
        self.estimate(tasks, |tasks| summary::iqm(&tasks.concat()))
    }

    /// The mean over all runs of all tasks, with its interval.
    pub fn mean(self, tasks: &[Vec<f64>]) -> Result<Estimate, StatisticsError> {
        self.estimate(tasks, |tasks| summary::mean(&tasks.concat()))
    }

    /// The median over tasks of the mean over runs (rliable's median), with its interval.
    pub fn median(self, tasks: &[Vec<f64>]) -> Result<Estimate, StatisticsError> {
        self.estimate(tasks, median_of_means)
    }
}

/// The median over tasks of the mean over runs.
pub fn median_of_means(tasks: &[Vec<f64>]) -> Option<f64> {
    let means: Option<Vec<f64>> = tasks.iter().map(|runs| summary::mean(runs)).collect();
    summary::median(&means?)
}

/// The middle 95 % of the replicates; `None` if there are none.
pub fn percentile_interval(replicates: &[f64]) -> Option<Interval> {
    let sorted = summary::ascending(replicates);
    let outside = 50.0 * (1.0 - CONFIDENCE);
    Some(Interval {
        low: summary::percentile(&sorted, outside)?,
        high: summary::percentile(&sorted, 100.0 - outside)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_draws_depend_on_seed_stratum_and_replicate_alone() {
        let strata = vec![vec![1.0, 2.0, 3.0, 4.0, 5.0], vec![10.0, 20.0, 30.0, 40.0, 50.0]];
        let means = |seed, replicates, strata: &[Vec<f64>]| {
            Bootstrap { replicates, seed }.replicates(strata, |s| summary::mean(&s[0])).unwrap()
        };
        let all = means(1, 200, &strata);
        assert_eq!(all[..50], means(1, 50, &strata));
        assert_eq!(all, means(1, 200, &strata[..1]));
        assert_ne!(all, means(2, 200, &strata));
        assert_ne!(all[0], all[1]);
    }

    #[test]
    fn strata_do_not_mix_and_draw_apart() {
        let strata = vec![vec![0.0, 1.0], vec![100.0, 101.0]];
        let pairs = Bootstrap { replicates: 500, seed: 3 }
            .replicates(&strata, |s| Some(s[0][0] * 2.0 + (s[1][0] - 100.0)))
            .unwrap();
        for kind in [0.0, 1.0, 2.0, 3.0] {
            assert!(pairs.contains(&Some(kind)), "no replicate of kind {kind}");
        }
        assert!(pairs.iter().all(|pair| (0.0..=3.0).contains(&pair.unwrap())));
    }

    #[test]
    fn a_bad_question_is_an_error() {
        let bootstrap = Bootstrap::default();
        assert!(bootstrap.iqm(&[]).is_err());
        assert!(
            bootstrap.iqm(&[vec![1.0], vec![]]).unwrap_err().to_string().contains("stratum 1 has no values")
        );
        assert!(bootstrap.iqm(&[vec![1.0, f64::NAN]]).unwrap_err().to_string().contains("value 1 is NaN"));
        assert!(Bootstrap { replicates: 0, seed: 0 }.iqm(&[vec![1.0]]).is_err());
        assert_eq!(bootstrap.mean(&[vec![f64::MAX, f64::MIN, f64::MAX]]), Err(StatisticsError::Overflow));
    }

    #[test]
    fn the_interval_of_a_mean_is_that_of_the_normal_distribution() {
        // 400 values: the mean is nearly normal, so the interval is nearly ±1.96 standard errors.
        let mut draws = Stream::new(9, "test").draws(0, 0);
        let values: Vec<f64> = (0..400).map(|_| f64::from(draws.normal())).collect();
        let estimate = Bootstrap::default().mean(std::slice::from_ref(&values)).unwrap();
        let half = 1.96 * summary::std(&values, 0).unwrap() / 20.0;
        let Interval { low, high } = estimate.interval;
        assert!((estimate.value - low - half).abs() < 0.05 * half, "{estimate:?}, half {half}");
        assert!((high - estimate.value - half).abs() < 0.05 * half, "{estimate:?}, half {half}");
    }

    proptest! {
        #[test]
        fn an_interval_lies_within_the_values(
            strata in proptest::collection::vec(proptest::collection::vec(-1e6..1e6f64, 1..6), 1..4),
        ) {
            let estimate = Bootstrap { replicates: 50, seed: 1 }.iqm(&strata).unwrap();
            let all = summary::ascending(&strata.concat());
            let Interval { low, high } = estimate.interval;
            prop_assert!(all[0] - 1e-6 <= low && low <= high && high <= all[all.len() - 1] + 1e-6);
        }
    }
}
