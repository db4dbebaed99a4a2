//! Which methods differ: Tukey's test of honestly significant differences.
//!
//! With k groups of sizes n, N values in all and the pooled variance MSE = Σ Σ (x − x̄ᵢ)² / (N − k), a pair has
//!
//! ```text
//! q = |x̄ⱼ − x̄ᵢ| / SE      SE = √( MSE/2 · (1/nᵢ + 1/nⱼ) )        (Kramer 1956 for unequal sizes)
//! p = P(Q > q),           interval = x̄ⱼ − x̄ᵢ ± q* SE,    P(Q ≤ q*) = confidence
//! ```
//!
//! with Q of the [studentised range](super::studentised_range) of k groups and N − k degrees of freedom. The p-values are
//! adjusted for all pairs together: if no group differs, there is a significant pair in one test out of 1/(1 − confidence).
//!
//! The test pools the variance, so a group of one value, or of equal values, takes part as long as others vary. If
//! nothing varies the answer is an error: [`NoReplication`](StatisticsError::NoReplication) where every group has one
//! value, [`NoVariance`](StatisticsError::NoVariance) where all are constant.

use super::error::{StatisticsError, check_values};
use super::studentised_range::StudentisedRange;
use super::summary::{mean, sum_of_squares};

/// The values of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name, for messages and tables.
    pub name: String,
    /// One value a run.
    pub values: Vec<f64>,
}

/// Two groups compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Index of the one group.
    pub first: usize,
    /// Index of the other, greater than `first`.
    pub second: usize,
    /// Mean of the second minus mean of the first.
    pub difference: f64,
    /// Lower end of the simultaneous confidence interval of the difference.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability of a pair at least this far apart somewhere among the groups, if none differ.
    pub p: f64,
    /// Whether p is below 1 − confidence.
    pub significant: bool,
}

/// All pairs compared.
#[derive(Clone, Debug, PartialEq)]
pub struct TukeyHsd {
    /// Mean of each group.
    pub means: Vec<f64>,
    /// Pooled variance within the groups.
    pub mse: f64,
    /// Degrees of freedom, N − k.
    pub df: usize,
    /// The quantile q* behind the intervals.
    pub critical: f64,
    /// Every pair, ordered by the first group and then by the second.
    pub comparisons: Vec<Comparison>,
}

/// Compares all pairs of groups at a confidence such as 0.95.
pub fn tukey_hsd(groups: &[Group], confidence: f64) -> Result<TukeyHsd, StatisticsError> {
    if groups.len() < 2 {
        return Err(StatisticsError::TooFewGroups(groups.len()));
    }
    let (mut means, mut squares) = (Vec::new(), 0.0);
    for group in groups {
        check_values(&format!("group \"{}\"", group.name), &group.values)?;
        means.extend(mean(&group.values));
        squares += sum_of_squares(&group.values).unwrap_or_default();
    }
    let df = groups.iter().map(|group| group.values.len() - 1).sum::<usize>();
    if df == 0 {
        return Err(StatisticsError::NoReplication);
    }
    let mse = squares / df as f64;
    if mse == 0.0 {
        return Err(StatisticsError::NoVariance);
    }
    let distribution = StudentisedRange::new(groups.len() as u32, df as f64)?;
    let critical = distribution.quantile(confidence)?;
    let compare = |first: usize, second: usize| {
        let size = |i: usize| groups[i].values.len() as f64;
        let difference = means[second] - means[first];
        let error = (0.5 * mse * (1.0 / size(first) + 1.0 / size(second))).sqrt();
        let p = distribution.sf(difference.abs() / error);
        let half = critical * error;
        let (low, high) = (difference - half, difference + half);
        Comparison { first, second, difference, low, high, p, significant: p < 1.0 - confidence }
    };
    let pairs = (0..groups.len()).flat_map(|i| (i + 1..groups.len()).map(move |j| (i, j)));
    let comparisons: Vec<Comparison> = pairs.map(|(i, j)| compare(i, j)).collect();
    if comparisons.iter().any(|pair| !(pair.low.is_finite() && pair.high.is_finite() && pair.p.is_finite())) {
        return Err(StatisticsError::Overflow);
    }
    Ok(TukeyHsd { means, mse, df, critical, comparisons })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn groups(values: &[&[f64]]) -> Vec<Group> {
        let group = |(i, values): (usize, &&[f64])| Group { name: format!("g{i}"), values: values.to_vec() };
        values.iter().enumerate().map(group).collect()
    }

    #[test]
    fn two_groups_are_the_t_test() {
        // t = 2 / √(1 · 2/3) on 4 degrees of freedom: p = 0.0704840 (scipy's ttest_ind).
        let result = tukey_hsd(&groups(&[&[1.0, 2.0, 3.0], &[3.0, 4.0, 5.0]]), 0.95).unwrap();
        let pair = result.comparisons[0];
        assert_eq!((result.mse, result.df, pair.difference, pair.significant), (1.0, 4, 2.0, false));
        assert!((pair.p - 0.070_483_996_9).abs() < 1e-10, "{}", pair.p);
        // The interval and the p-value agree on significance.
        assert!(pair.low < 0.0 && pair.high > 4.0);
    }

    #[test]
    fn a_group_of_one_or_of_equal_values_takes_part_while_others_vary() {
        let result = tukey_hsd(&groups(&[&[5.0], &[2.0, 2.0, 2.0], &[1.0, 2.0, 3.0]]), 0.95).unwrap();
        assert_eq!((result.df, result.mse, result.comparisons.len()), (4, 0.5, 3));
        assert!(result.comparisons.iter().all(|pair| pair.p > 0.0 && pair.p <= 1.0));
    }

    #[test]
    fn what_cannot_be_tested_is_an_error() {
        use StatisticsError::*;
        let error = |values: &[&[f64]], confidence| tukey_hsd(&groups(values), confidence).unwrap_err();
        assert_eq!(error(&[&[1.0, 2.0]], 0.95), TooFewGroups(1));
        assert_eq!(error(&[&[1.0, 2.0], &[]], 0.95), Empty("group \"g1\"".to_owned()));
        assert_eq!(error(&[&[1.0], &[2.0]], 0.95), NoReplication);
        assert_eq!(error(&[&[0.1, 0.1, 0.1], &[0.7, 0.7, 0.7]], 0.95), NoVariance);
        assert!(matches!(error(&[&[1.0, f64::NAN], &[2.0]], 0.95), NotFinite { position: 1, .. }));
        assert_eq!(error(&[&[1e200, -1e200], &[0.0]], 0.95), Overflow);
        assert_eq!(error(&[&[f64::MAX, f64::MIN], &[0.0]], 0.95), Overflow);
        for confidence in [0.0, 1.0, f64::NAN] {
            assert!(matches!(error(&[&[1.0, 2.0], &[2.0]], confidence), Parameter { .. }));
        }
    }

    proptest! {
        #[test]
        fn significance_is_an_interval_without_zero(
            values in proptest::collection::vec(proptest::collection::vec(-3.0..3.0f64, 2..5), 2..5),
        ) {
            let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
            let result = tukey_hsd(&groups(&values), 0.9).unwrap();
            for pair in &result.comparisons {
                // Not where the two can differ by rounding.
                if (pair.p - 0.1).abs() > 1e-9 {
                    prop_assert_eq!(pair.significant, pair.low > 0.0 || pair.high < 0.0);
                }
            }
        }
    }
}
