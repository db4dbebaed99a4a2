//! Learning curves of several runs, combined.
//!
//! Runs differ in length, and on axes such as hours no two of them have a position in common. A curve is therefore a
//! function on the stretch from its first to its last position, linear between its points, and nothing outside. At each
//! position of a common axis the statistics are over the runs that reach it, and say how many those are: a curve made
//! of fewer and fewer runs must be seen to be so.

use super::bootstrap::{Bootstrap, Estimate};
use super::error::StatisticsError;
use super::summary::{DDOF, mean, std};

/// One metric of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Positions in ascending order, each once.
    x: Vec<f64>,
    y: Vec<f64>,
}

/// The runs at one position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point<T> {
    /// The position.
    pub x: f64,
    /// Over how many runs.
    pub runs: usize,
    /// The statistic.
    pub value: T,
}

/// Mean and spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanStd {
    /// Mean.
    pub mean: f64,
    /// Standard deviation with the divisor n − 1; `None` of a single run.
    pub std: Option<f64>,
}

impl Curve {
    /// A curve through the points (x, y). A y that is NaN or infinite is missing, as in an empty field of a metrics
    /// file; of two points at one position the later counts.
    pub fn new(x: &[f64], y: &[f64]) -> Result<Curve, StatisticsError> {
        if x.len() != y.len() {
            return Err(StatisticsError::CurveLength { x: x.len(), y: y.len() });
        }
        let mut curve = Curve { x: Vec::new(), y: Vec::new() };
        let mut before = f64::NEG_INFINITY;
        for (index, (&found, &value)) in x.iter().zip(y).enumerate() {
            if !found.is_finite() || found < before {
                return Err(StatisticsError::CurveOrder { index, found, before });
            }
            before = found;
            if !value.is_finite() {
                continue;
            }
            if curve.x.last() == Some(&found) {
                curve.x.pop();
                curve.y.pop();
            }
            curve.x.push(found);
            curve.y.push(value);
        }
        Ok(curve)
    }

    /// The value at `x`; `None` before the first and after the last point.
    pub fn at(&self, x: f64) -> Option<f64> {
        let after = self.x.partition_point(|&position| position < x);
        if self.x.get(after) == Some(&x) {
            return Some(self.y[after]);
        }
        if after == 0 || after == self.x.len() || x.is_nan() {
            return None;
        }
        let (x0, x1) = (self.x[after - 1], self.x[after]);
        // Weights of both ends, so that a value never leaves the range of its neighbours.
        let share = (x - x0) / (x1 - x0);
        Some(self.y[after - 1] * (1.0 - share) + self.y[after] * share)
    }

    fn ends(&self) -> Option<(f64, f64)> {
        Some((*self.x.first()?, *self.x.last()?))
    }
}

/// Every position of any curve: the axis for runs that log at the same iterations.
pub fn shared_axis(curves: &[Curve]) -> Vec<f64> {
    let mut axis: Vec<f64> = curves.iter().flat_map(|curve| curve.x.iter().copied()).collect();
    axis.sort_by(f64::total_cmp);
    axis.dedup();
    axis
}

/// `points` evenly spaced positions from the earliest to the latest of all curves: the axis for hours, or for steps that
/// differ between seeds.
pub fn even_axis(curves: &[Curve], points: usize) -> Vec<f64> {
    let mut ends = curves.iter().filter_map(Curve::ends);
    let Some(first) = ends.next() else { return Vec::new() };
    let (low, high) = ends.fold(first, |(low, high), end| (low.min(end.0), high.max(end.1)));
    evenly(low, high, points)
}

/// `points` numbers from `low` to `high`, only `low` if that is all there is.
pub(super) fn evenly(low: f64, high: f64, points: usize) -> Vec<f64> {
    if points < 2 || low == high {
        return vec![low];
    }
    let last = (points - 1) as f64;
    // Weights of both ends, which are then hit exactly.
    (0..points).map(|i| low * (1.0 - i as f64 / last) + high * (i as f64 / last)).collect()
}

/// Mean and standard deviation along an axis, over the runs that reach each position. Positions that none reaches are
/// left out.
pub fn mean_curve(curves: &[Curve], axis: &[f64]) -> Vec<Point<MeanStd>> {
    let point = |&x: &f64| {
        let values = reached(curves, x);
        let value = MeanStd { mean: mean(&values)?, std: std(&values, DDOF) };
        Some(Point { x, runs: values.len(), value })
    };
    axis.iter().filter_map(point).collect()
}

/// Inter-quartile mean and its bootstrap interval along an axis, as [`mean_curve`].
pub fn iqm_curve(
    curves: &[Curve],
    axis: &[f64],
    bootstrap: Bootstrap,
) -> Result<Vec<Point<Estimate>>, StatisticsError> {
    let mut points = Vec::new();
    for &x in axis {
        let values = reached(curves, x);
        if !values.is_empty() {
            let runs = values.len();
            points.push(Point { x, runs, value: bootstrap.iqm(&[values])? });
        }
    }
    Ok(points)
}

/// The values at `x` of the curves that reach it.
fn reached(curves: &[Curve], x: f64) -> Vec<f64> {
    curves.iter().filter_map(|curve| curve.at(x)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(x: &[f64], y: &[f64]) -> Curve {
        Curve::new(x, y).unwrap()
    }

    #[test]
    fn runs_count_only_where_they_reach() {
        let curves = [
            curve(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]),
            curve(&[1.0, 2.0], &[14.0, 26.0]),
            curve(&[], &[]),
        ];
        let axis = shared_axis(&curves);
        assert_eq!(axis, [1.0, 2.0, 3.0]);
        let points = mean_curve(&curves, &axis);
        let runs: Vec<usize> = points.iter().map(|point| point.runs).collect();
        assert_eq!(runs, [2, 2, 1]);
        assert_eq!(points[0].value, MeanStd { mean: 12.0, std: Some(8f64.sqrt()) });
        assert_eq!(points[2].value, MeanStd { mean: 30.0, std: None });
        let iqm = iqm_curve(&curves, &axis, Bootstrap { replicates: 100, seed: 0 }).unwrap();
        assert_eq!(
            (iqm[0].value.value, iqm[0].value.interval.low, iqm[0].value.interval.high),
            (12.0, 10.0, 14.0)
        );
        assert_eq!((iqm[2].runs, iqm[2].value.interval.low), (1, 30.0));
    }

    #[test]
    fn axes_that_differ_are_interpolated() {
        let curves = [curve(&[0.0, 2.0], &[0.0, 4.0]), curve(&[1.0, 5.0], &[10.0, 30.0])];
        let axis = even_axis(&curves, 6);
        assert_eq!(axis, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let points = mean_curve(&curves, &axis);
        let means: Vec<f64> = points.iter().map(|point| point.value.mean).collect();
        assert_eq!(means, [0.0, 6.0, 9.5, 20.0, 25.0, 30.0]);
        assert_eq!(mean_curve(&curves, &[-1.0, 6.0, f64::NAN]), []);
        assert_eq!((even_axis(&[], 5), even_axis(&curves, 1)), (vec![], vec![0.0]));
    }

    #[test]
    fn missing_values_are_bridged_and_later_points_win() {
        let bridged = curve(&[0.0, 1.0, 2.0, 3.0], &[0.0, f64::NAN, 8.0, f64::INFINITY]);
        assert_eq!((bridged.at(1.0), bridged.at(2.5)), (Some(4.0), None));
        assert_eq!(curve(&[1.0, 1.0, 2.0], &[5.0, 7.0, 9.0]).at(1.0), Some(7.0));
        assert_eq!(curve(&[1.0], &[5.0]).at(1.0), Some(5.0));
    }

    #[test]
    fn a_curve_that_goes_back_is_refused() {
        let error = Curve::new(&[1.0, 3.0, 2.0], &[0.0; 3]).unwrap_err().to_string();
        assert!(error.contains("position 2 of a curve is 2 after 3"), "{error}");
        assert!(Curve::new(&[1.0, f64::NAN], &[0.0; 2]).is_err());
        assert!(Curve::new(&[1.0], &[]).is_err());
    }
}
