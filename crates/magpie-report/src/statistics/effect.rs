//! The effect of curiosity in per cent.
//!
//! ```text
//! effect = 100 (x̄_with / x̄_without − 1)
//! ```
//!
//! with the 95 % interval of the stratified bootstrap, the runs with and the runs without being the two strata. The
//! paper gives such effects without intervals (its section 4.1).

use super::bootstrap::{Bootstrap, FEWEST_RUNS, Interval, percentile_interval};
use super::error::{StatisticsError, check_values};
use super::summary::mean;

/// A change in per cent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// By how many per cent the mean with exceeds the mean without.
    pub percent: f64,
    /// Where that would lie with other runs. `None` if a side has fewer than [`FEWEST_RUNS`], or if
    /// the mean without may be zero or negative as far as these runs tell: then the ratio has no bound.
    pub interval: Option<Interval>,
}

/// How much the runs `with` exceed those `without`, in per cent. The mean without must be positive.
pub fn effect(with: &[f64], without: &[f64], bootstrap: Bootstrap) -> Result<Effect, StatisticsError> {
    check_values("the group with", with)?;
    check_values("the group without", without)?;
    let strata = [with.to_vec(), without.to_vec()];
    let Some(percent) = change(&strata) else {
        return Err(StatisticsError::BaselineNotPositive(mean(without).unwrap_or_default()));
    };
    if with.len().min(without.len()) < FEWEST_RUNS {
        return Ok(Effect { percent, interval: None });
    }
    let replicates: Option<Vec<f64>> = bootstrap.replicates(&strata, change)?.into_iter().collect();
    let interval = replicates.and_then(|replicates| percentile_interval(&replicates));
    Ok(Effect { percent, interval })
}

/// The change of the mean of the first stratum against that of the second, in per cent; `None` if that is not positive.
fn change(strata: &[Vec<f64>]) -> Option<f64> {
    let (with, without) = (mean(&strata[0])?, mean(&strata[1])?);
    let percent = 100.0 * (with / without - 1.0);
    (without > 0.0 && percent.is_finite()).then_some(percent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effect_is_the_ratio_of_the_means() {
        let found = effect(&[3.0, 4.0, 5.0], &[2.0, 1.5, 2.5], Bootstrap::default()).unwrap();
        assert_eq!(found.percent, 100.0);
        let Interval { low, high } = found.interval.unwrap();
        // The extremes are 3 / 2.5 and 5 / 1.5; they are rarer (1 in 729 each) than the 2.5 % that are cut.
        assert!(20.0 < low && low < 60.0 && 150.0 < high && high < 233.0, "{low} {high}");
    }

    #[test]
    fn constant_groups_have_a_point_for_an_interval() {
        let found = effect(&[3.0; 3], &[2.0; 3], Bootstrap::default()).unwrap();
        assert_eq!(found.interval, Some(Interval { low: 50.0, high: 50.0 }));
        assert_eq!(effect(&[-1.0], &[2.0], Bootstrap::default()).unwrap().percent, -150.0);
    }

    #[test]
    fn fewer_than_three_runs_on_a_side_have_no_interval() {
        let interval = |with: &[f64], without: &[f64]| {
            effect(with, without, Bootstrap::default()).unwrap().interval.is_some()
        };
        let (with, without) = ([3.0, 4.0, 5.0], [1.0, 2.0, 3.0]);
        assert!(interval(&with, &without));
        for few in 1..3 {
            assert!(!interval(&with[..few], &without) && !interval(&with, &without[..few]), "{few}");
        }
    }

    #[test]
    fn there_are_no_per_cents_of_nothing() {
        let bootstrap = Bootstrap::default();
        let error = effect(&[1.0], &[-3.0, 1.0], bootstrap).unwrap_err().to_string();
        assert!(error.contains("the mean without is -1.0000,"), "{error}");
        let error = effect(&[1.0], &[-15_684.677_921_634_633], bootstrap).unwrap_err().to_string();
        assert!(error.contains("the mean without is -15685,"), "{error}");
        assert!(effect(&[1.0], &[0.0], bootstrap).is_err());
        assert!(effect(&[1.0], &[1e-320], bootstrap).is_err());
        assert!(effect(&[], &[1.0], bootstrap).is_err());
        // Positive on average, but some replicates are not.
        assert_eq!(effect(&[1.0; 3], &[-1.0, 2.0, 2.0], bootstrap).unwrap().interval, None);
    }
}
