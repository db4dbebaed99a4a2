//! Running means and variances, and normalisation by them.
//!
//! A batch with mean b, variance s and n rows is merged by the rule of Chan, Golub and LeVeque:
//!
//! ```text
//! δ = b - mean,  N = count + n,  mean += δ n/N,  var = (var·count + s·n + δ²·count·n/N) / N,  count = N
//! ```
//!
//! [`Moments`] collects a batch, in pieces and in any order of nesting; [`RunningMeanStd`] is the persistent state;
//! [`Frozen`] normalises rows while the state does not change. All state is `f64`.

use magpie_simd::{Isa, LANES, Lanes, Number, Pack, Simd, SimdTask};
use serde::{Deserialize, Serialize};

/// Added to the variance before taking the square root.
pub const VARIANCE_FLOOR: f64 = 1e-8;

/// Count, mean and summed squared deviation of the rows of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    count: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    /// Moments of no rows.
    pub fn new(width: usize) -> Moments {
        Moments { count: 0.0, mean: vec![0.0; width], squares: vec![0.0; width] }
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.count = 0.0;
        self.mean.fill(0.0);
        self.squares.fill(0.0);
    }

    /// The number of rows.
    pub fn count(&self) -> f64 {
        self.count
    }

    /// Mean of each feature.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Σ (x - mean)² of each feature.
    pub fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// Adds contiguous rows.
    pub fn add_rows(&mut self, rows: &[f32]) {
        let width = self.mean.len();
        let n = (rows.len() / width) as f64;
        for feature in 0..width {
            let values = || rows.iter().skip(feature).step_by(width).map(|&v| f64::from(v));
            let mean = values().sum::<f64>() / n.max(1.0);
            let squares = values().map(|v| (v - mean).powi(2)).sum();
            self.merge_feature(feature, n, mean, squares);
        }
        self.count += n;
    }

    /// Adds `[panel][feature]`, using the first `live` lanes of each panel: the steps of sixteen environments.
    pub fn add_panels(&mut self, isa: Isa, panels: &[Pack], live: usize) {
        let (width, live) = (self.mean.len(), live.min(LANES));
        let steps = (panels.len() / width) as f64;
        let n = steps * live as f64;
        if n == 0.0 {
            return;
        }
        for feature in 0..width {
            // Lane by lane in f32 over the steps, then over the lanes in f64.
            let [means, squares] = isa.run(LaneMoments { panels, width, feature });
            let mean = means.0[..live].iter().map(|&m| f64::from(m)).sum::<f64>() / live as f64;
            let within: f64 = squares.0[..live].iter().map(|&s| f64::from(s)).sum();
            let between: f64 = means.0[..live].iter().map(|&m| (f64::from(m) - mean).powi(2)).sum();
            self.merge_feature(feature, n, mean, within + steps * between);
        }
        self.count += n;
    }

    /// Adds the rows of `other`.
    pub fn merge(&mut self, other: &Moments) {
        for feature in 0..self.mean.len() {
            self.merge_feature(feature, other.count, other.mean[feature], other.squares[feature]);
        }
        self.count += other.count;
    }

    fn merge_feature(&mut self, feature: usize, n: f64, mean: f64, squares: f64) {
        if n > 0.0 {
            let total = self.count + n;
            let delta = mean - self.mean[feature];
            self.mean[feature] += delta * n / total;
            self.squares[feature] += squares + delta * delta * self.count * n / total;
        }
    }
}

struct LaneMoments<'a> {
    panels: &'a [Pack],
    width: usize,
    feature: usize,
}

impl SimdTask for LaneMoments<'_> {
    type Output = [Pack; 2];
    #[inline(always)]
    fn run<S: Simd>(self, token: S) -> [Pack; 2] {
        let values = || {
            self.panels.chunks_exact(self.width).map(
                #[inline(always)]
                |panel| Lanes::load(token, &panel[self.feature]),
            )
        };
        let steps = Lanes::splat(token, (self.panels.len() / self.width) as f32);
        let (mut sum, mut squares) = (Lanes::splat(token, 0.0), Lanes::splat(token, 0.0));
        for value in values() {
            sum += value;
        }
        let mean = sum / steps;
        for value in values() {
            squares = (value - mean).mul_add(value - mean, squares);
        }
        let mut out = [Pack::default(); 2];
        mean.store(&mut out[0]);
        squares.store(&mut out[1]);
        out
    }
}

/// Mean and variance of all rows so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunningMeanStd {
    count: f64,
    mean: Vec<f64>,
    variance: Vec<f64>,
}

impl RunningMeanStd {
    /// Mean 0 and variance 1, with the weight of 1e-4 rows.
    pub fn new(width: usize) -> RunningMeanStd {
        RunningMeanStd::with_prior(width, 0.0, 1.0, 1e-4)
    }

    /// Starts with a mean and variance that have the weight of `count` rows.
    pub fn with_prior(width: usize, mean: f64, variance: f64, count: f64) -> RunningMeanStd {
        RunningMeanStd { count, mean: vec![mean; width], variance: vec![variance; width] }
    }

    /// Exactly these statistics, as read from another instance.
    pub fn from_parts(mean: Vec<f64>, variance: Vec<f64>, count: f64) -> RunningMeanStd {
        RunningMeanStd { mean, variance, count }
    }

    /// The number of rows so far, including the prior.
    pub fn count(&self) -> f64 {
        self.count
    }

    /// Mean of each feature.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Variance of each feature.
    pub fn variance(&self) -> &[f64] {
        &self.variance
    }

    /// Merges a batch with its population variance. A batch without rows changes nothing.
    pub fn update(&mut self, batch: &Moments) {
        if batch.count > 0.0 {
            let variance: Vec<f64> = batch.squares.iter().map(|s| s / batch.count).collect();
            self.merge(&batch.mean, &variance, batch.count);
        }
    }

    /// Merges a batch of `n` rows given by mean and variance.
    pub fn merge(&mut self, mean: &[f64], variance: &[f64], n: f64) {
        let total = self.count + n;
        for (feature, (&b, &s)) in mean.iter().zip(variance).enumerate() {
            let delta = b - self.mean[feature];
            self.mean[feature] += delta * n / total;
            self.variance[feature] =
                (self.variance[feature] * self.count + s * n + delta * delta * self.count * n / total)
                    / total;
        }
        self.count = total;
    }

    /// A normaliser with the current statistics; results are clipped to ±`limit`.
    ///
    /// The paper uses 10 for observations and 5 for returns.
    pub fn freeze(&self, limit: f32) -> Frozen {
        let scale: Vec<f32> =
            self.variance.iter().map(|v| (1.0 / (v + VARIANCE_FLOOR).sqrt()) as f32).collect();
        let mean = self.mean.iter().map(|&m| m as f32).collect();
        Frozen { mean, scale, spread: self.variance.iter().map(|v| v.sqrt() as f32).collect(), limit }
    }
}

/// Normalises: (x - mean) / √(var + 1e-8), clipped.
#[derive(Debug, Clone, PartialEq)]
pub struct Frozen {
    mean: Vec<f32>,
    scale: Vec<f32>,
    spread: Vec<f32>,
    limit: f32,
}

impl Frozen {
    /// Normalises `[panel][feature]`.
    pub fn panels(&self, isa: Isa, raw: &[Pack], out: &mut [Pack]) {
        isa.run(Normalise { frozen: self, raw, out });
    }

    /// Normalises one value of feature `feature`.
    #[inline]
    pub fn value(&self, feature: usize, raw: f32) -> f32 {
        ((raw - self.mean[feature]) * self.scale[feature]).clamp(-self.limit, self.limit)
    }

    /// The raw value of a normalised one, which is clipped first: clamp(x) · √var + mean. For critics, which predict
    /// normalised returns.
    #[inline]
    pub fn raw(&self, feature: usize, normalised: f32) -> f32 {
        normalised.clamp(-self.limit, self.limit).mul_add(self.spread[feature], self.mean[feature])
    }
}

struct Normalise<'a> {
    frozen: &'a Frozen,
    raw: &'a [Pack],
    out: &'a mut [Pack],
}

impl SimdTask for Normalise<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let Normalise { frozen, raw, out } = self;
        let width = frozen.mean.len();
        let (low, high) = (Lanes::splat(token, -frozen.limit), Lanes::splat(token, frozen.limit));
        for (raw, out) in raw.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
            for (((raw, out), &mean), &scale) in raw.iter().zip(out).zip(&frozen.mean).zip(&frozen.scale) {
                let value =
                    (Lanes::load(token, raw) - Lanes::splat(token, mean)) * Lanes::splat(token, scale);
                // The value is the second operand: x86 returns the second operand if one is NaN, and a NaN must not be
                // hidden.
                high.min(low.max(value)).store(out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_random::Stream;

    fn close(a: &[f64], b: &[f64], limit: f64) {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= limit * b.abs().max(1.0), "{a} {b}");
        }
    }

    #[test]
    fn pieces_add_up_to_the_whole() {
        let mut draws = Stream::new(1, "test").draws(0, 0);
        let (width, steps, live) = (5, 40, 11);
        let panels: Vec<Pack> =
            (0..steps * width).map(|_| Pack(std::array::from_fn(|_| 3.0 + draws.normal()))).collect();
        let rows: Vec<f32> = (0..steps * live)
            .flat_map(|r| (0..width).map(move |f| (r / live * width + f, r % live)))
            .map(|(pack, lane)| panels[pack].0[lane])
            .collect();
        let mut whole = Moments::new(width);
        whole.add_rows(&rows);
        for isa in Isa::available() {
            let (mut pieces, mut other) = (Moments::new(width), Moments::new(width));
            pieces.add_panels(isa, &panels[..7 * width], live);
            other.add_panels(isa, &panels[7 * width..], live);
            pieces.merge(&other);
            assert_eq!(pieces.count(), whole.count());
            close(pieces.mean(), whole.mean(), 1e-6);
            close(pieces.squares(), whole.squares(), 1e-5);
        }
    }

    #[test]
    fn an_empty_batch_changes_nothing() {
        let (mut running, before) = (RunningMeanStd::new(3), RunningMeanStd::new(3));
        running.update(&Moments::new(3));
        let mut empty = Moments::new(3);
        empty.add_rows(&[]);
        empty.add_panels(Isa::best(), &[], 16);
        running.update(&empty);
        assert_eq!(running, before);
    }

    #[test]
    fn a_nan_is_not_hidden_by_the_limit() {
        let frozen = RunningMeanStd::new(1).freeze(10.0);
        for isa in Isa::available() {
            let mut out = [Pack::default()];
            frozen.panels(isa, &[Pack([f32::NAN; 16])], &mut out);
            assert!(out[0].0.iter().all(|v| v.is_nan()), "{isa}");
        }
        assert!(frozen.value(0, f32::NAN).is_nan());
    }

    #[test]
    fn panels_and_values_are_normalised_alike_and_limited() {
        let mut running = RunningMeanStd::new(2);
        let mut batch = Moments::new(2);
        batch.add_rows(&[1.0, 50.0, 3.0, 50.0, 5.0, 50.0]);
        running.update(&batch);
        let frozen = running.freeze(10.0);
        let raw = [Pack(std::array::from_fn(|i| i as f32)), Pack([51.0; 16])];
        let mut out = [Pack::default(); 2];
        frozen.panels(Isa::best(), &raw, &mut out);
        for feature in 0..2 {
            for lane in 0..16 {
                let value = frozen.value(feature, raw[feature].0[lane]);
                assert!((out[feature].0[lane] - value).abs() < 1e-6);
                if feature == 0 {
                    assert!((frozen.raw(0, value) - raw[0].0[lane]).abs() < 1e-4);
                }
            }
        }
    }
}
