//! Location and spread of a handful of values.
//!
//! ```text
//! mean   x̄ = Σ x / n
//! std    √( Σ (x − x̄)² / (n − ddof) )      ddof 1: of the population that the runs are drawn from; 0: of these runs
//! sem    std₁ / √n                          the standard error of the mean
//! IQM    mean of what is left after dropping ⌊n/4⌋ values at each end (Agarwal et al. 2021; scipy's `trim_mean`)
//! ```
//!
//! Everything answers `None` where the formula has nothing to divide by. Values are finite; those that read files check.

/// How many of n − ddof tables and curves divide by: one less than there are runs, as few runs stand for many.
pub const DDOF: usize = 1;

/// Mean, or `None` of no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    // Distances from the first value: equal values have exactly that mean, and a spread of exactly zero.
    let first = *values.first()?;
    Some(first + values.iter().map(|value| value - first).sum::<f64>() / values.len() as f64)
}

/// Σ (x − x̄)², or `None` of no values.
pub(crate) fn sum_of_squares(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    Some(values.iter().map(|value| (value - mean).powi(2)).sum())
}

/// Standard deviation with the divisor n − `ddof`; `None` if that is not positive.
pub fn std(values: &[f64], ddof: usize) -> Option<f64> {
    let divisor = values.len().checked_sub(ddof).filter(|&n| n > 0)?;
    Some((sum_of_squares(values)? / divisor as f64).sqrt())
}

/// Standard error of the mean; `None` of fewer than two values.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    Some(std(values, 1)? / (values.len() as f64).sqrt())
}

/// The value in the middle, or the mean of the two there; `None` of no values.
pub fn median(values: &[f64]) -> Option<f64> {
    percentile(&ascending(values), 50.0)
}

/// Inter-quartile mean; `None` of no values.
pub fn iqm(values: &[f64]) -> Option<f64> {
    let sorted = ascending(values);
    let dropped = sorted.len() / 4;
    mean(&sorted[dropped..sorted.len() - dropped])
}

/// The point below which `percent` of the `ascending` values lie, interpolated linearly between the values as numpy
/// does by default; `None` of no values.
pub fn percentile(ascending: &[f64], percent: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let place = (percent / 100.0).clamp(0.0, 1.0) * last as f64;
    let below = place as usize;
    let above = (below + 1).min(last);
    Some(ascending[below] + (ascending[above] - ascending[below]) * (place - below as f64))
}

/// The values in ascending order.
pub(crate) fn ascending(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_no_spread_at_all() {
        let equal = [0.1; 3];
        assert_ne!(equal.iter().sum::<f64>() / 3.0, 0.1, "the naive mean is off");
        assert_eq!((mean(&equal), std(&equal, 1), iqm(&equal)), (Some(0.1), Some(0.0), Some(0.1)));
    }

    #[test]
    fn too_few_values_have_no_answer() {
        assert_eq!(
            (mean(&[]), median(&[]), iqm(&[]), std(&[], 0), percentile(&[], 5.0)),
            (None, None, None, None, None)
        );
        assert_eq!((std(&[3.0], 1), std(&[3.0], 0), standard_error(&[3.0])), (None, Some(0.0), None));
        assert_eq!(std(&[3.0], 2), None);
    }

    #[test]
    fn the_median_and_percentiles_interpolate() {
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0])), (Some(2.0), Some(2.5)));
        let values = [0.0, 10.0, 20.0];
        let at = |percent| percentile(&values, percent).unwrap();
        assert_eq!([at(0.0), at(2.5), at(75.0), at(100.0)], [0.0, 0.5, 15.0, 20.0]);
        assert_eq!([at(-1.0), at(101.0)], [0.0, 20.0]);
    }

    #[test]
    fn the_iqm_drops_a_quarter_at_each_end() {
        assert_eq!(iqm(&[100.0, 1.0, 2.0, -50.0]), Some(1.5));
        assert_eq!(iqm(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(iqm(&[100.0, 1.0, 2.0, -50.0, 6.0, 3.0, 9.0]), Some(4.2));
    }
}
