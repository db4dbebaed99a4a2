//! The diagonal Gaussian whose standard deviation does not depend on the state.
//!
//! ```text
//! z = (a - μ)/σ,  log π(a) = Σ -½ z² - log σ - ½ log 2π,  H = Σ ½ + ½ log 2π + log σ
//! ∂log π/∂μ = z/σ = -∂log π/∂a,  ∂log π/∂log σ = z² - 1,  ∂H/∂log σ = 1
//! ```
//!
//! Means and actions are panels, one pack per dimension.

use magpie_random::Stream;
use magpie_simd::{Isa, LANES, Lanes, Number, Pack, Simd, SimdTask, Transcendental};

/// ½ log 2π.
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_7;

/// What all rows share: log σ and values derived from it.
#[derive(Debug, Clone)]
pub struct Gaussian {
    log_std: Vec<f32>,
    std: Vec<f64>,
    inverse: Vec<f64>,
    /// Σ log σ + ½ log 2π.
    constant: f64,
}

impl Gaussian {
    /// Creates the distribution from log σ, one per dimension.
    pub fn new(log_std: &[f32]) -> Gaussian {
        let mut gaussian = Gaussian { log_std: vec![], std: vec![], inverse: vec![], constant: 0.0 };
        gaussian.set(log_std);
        gaussian
    }

    /// Replaces log σ; does not allocate unless there are more dimensions than before.
    pub fn set(&mut self, log_std: &[f32]) {
        self.log_std.clear();
        self.log_std.extend_from_slice(log_std);
        self.std.clear();
        self.std.extend(log_std.iter().map(|&l| f64::from(l).exp()));
        self.inverse.clear();
        self.inverse.extend(self.std.iter().map(|s| 1.0 / s));
        self.constant = log_std.iter().map(|&l| f64::from(l) + HALF_LOG_TAU).sum();
    }

    /// The number of action dimensions.
    pub fn dimensions(&self) -> usize {
        self.log_std.len()
    }

    /// The entropy H, summed over dimensions.
    pub fn entropy(&self) -> f64 {
        self.constant + 0.5 * self.dimensions() as f64
    }

    /// log π of an action, for all lanes of a panel.
    #[inline(always)]
    pub fn log_prob<N: Transcendental>(&self, token: N::Token, mean: &[N::Pack], action: &[N::Pack]) -> N {
        let mut squares = N::splat(token, N::Scalar::default());
        for ((mean, action), &inverse) in mean.iter().zip(action).zip(&self.inverse) {
            let z = scaled::<N>(token, mean, action, inverse);
            squares = z.mul_add(z, squares);
        }
        squares.mul_add(squares.constant(-0.5), squares.constant(-self.constant))
    }

    /// The derivatives of `weight` · log π: writes the one with respect to the mean, and adds the one with respect to
    /// log σ, lane by lane.
    #[inline(always)]
    pub fn backward<N: Transcendental>(
        &self,
        mean: &[N::Pack],
        action: &[N::Pack],
        weight: N,
        d_mean: &mut [N::Pack],
        d_log_std: &mut [N::Pack],
    ) {
        let token = weight.token();
        let one = weight.constant(1.0);
        let given = mean.iter().zip(action).zip(&self.inverse);
        for (((mean, action), &inverse), (d_mean, d_log_std)) in
            given.zip(d_mean.iter_mut().zip(d_log_std.iter_mut()))
        {
            let z = scaled::<N>(token, mean, action, inverse);
            (weight * z * weight.constant(inverse)).store(d_mean);
            let sum = weight.mul_add(z * z - one, N::load(token, d_log_std));
            sum.store(d_log_std);
        }
    }

    /// Samples the actions of a panel: μ + σ · noise. Returns log π of each lane.
    pub fn sample(&self, isa: Isa, mean: &[Pack], noise: &[Pack], action: &mut [Pack]) -> Pack {
        isa.run(Sample { gaussian: self, mean, noise, action })
    }
}

/// z.
#[inline(always)]
fn scaled<N: Transcendental>(token: N::Token, mean: &N::Pack, action: &N::Pack, inverse: f64) -> N {
    let difference = N::load(token, action) - N::load(token, mean);
    difference * difference.constant(inverse)
}

struct Sample<'a> {
    gaussian: &'a Gaussian,
    mean: &'a [Pack],
    noise: &'a [Pack],
    action: &'a mut [Pack],
}

impl SimdTask for Sample<'_> {
    type Output = Pack;
    #[inline(always)]
    fn run<S: Simd>(self, token: S) -> Pack {
        let Sample { gaussian, mean, noise, action } = self;
        for (((action, noise), mean), &std) in action.iter_mut().zip(noise).zip(mean).zip(&gaussian.std) {
            let noise = Lanes::load(token, noise);
            noise.mul_add(noise.constant(std), Lanes::load(token, mean)).store(action);
        }
        // From the rounded action, not from the noise: training recomputes it from the stored action.
        let mut log_prob = Pack::default();
        gaussian.log_prob::<Lanes<S>>(token, mean, action).store(&mut log_prob);
        log_prob
    }
}

/// Standard normals for sixteen rows: lane l holds draws of `first + l` at time `when`.
///
/// Box–Muller transform in lanes, from 24 bits each: absolute values stay below 6.
pub fn normals(isa: Isa, stream: Stream, first: u32, when: u64, out: &mut [Pack]) {
    let mut draws: [_; LANES] =
        std::array::from_fn(|lane| stream.draws(first.wrapping_add(lane as u32), when));
    for pair in out.chunks_mut(2) {
        let mut uniform = [Pack::default(); 2];
        for (lane, draws) in draws.iter_mut().enumerate() {
            uniform.iter_mut().for_each(|pack| pack.0[lane] = draws.unit());
        }
        isa.run(BoxMuller { uniform, pair });
    }
}

struct BoxMuller<'a> {
    uniform: [Pack; 2],
    pair: &'a mut [Pack],
}

impl SimdTask for BoxMuller<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let constant = |value| Lanes::splat(token, value);
        let [radius, angle] = self.uniform.map(|pack| Lanes::load(token, &pack));
        // Shifting by half a step keeps 0 away from the logarithm.
        let radius = ((radius + constant(0.5 / 16_777_216.0)).ln() * constant(-2.0)).sqrt();
        let (sin, cos) = ((angle - constant(0.5)) * constant(std::f32::consts::TAU)).sin_cos();
        for (pack, value) in self.pair.iter_mut().zip([radius * cos, radius * sin]) {
            value.store(pack);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_differences() {
        let log_std = [0.3_f32, -0.7, 0.1];
        let (mean, action) = ([0.2, -1.0, 0.5], [0.9, -1.4, 0.45]);
        let gaussian = Gaussian::new(&log_std);
        let (mut d_mean, mut d_log_std) = ([0.0; 3], [0.0; 3]);
        gaussian.backward::<f64>(&mean, &action, 1.0, &mut d_mean, &mut d_log_std);
        for i in 0..3 {
            let h = 1e-3_f32;
            let moved = |h: f32| {
                let (mut log_std, mut mean) = (log_std, mean);
                mean[i] += f64::from(h);
                let by_mean = gaussian.log_prob::<f64>((), &mean, &action);
                mean[i] -= f64::from(h);
                log_std[i] += h;
                let step = f64::from(log_std[i]);
                (by_mean, Gaussian::new(&log_std).log_prob::<f64>((), &mean, &action), step)
            };
            let (up, down) = (moved(h), moved(-h));
            let by_mean = (up.0 - down.0) / (2.0 * f64::from(h));
            let by_log_std = (up.1 - down.1) / (up.2 - down.2);
            assert!((d_mean[i] - by_mean).abs() < 1e-6, "{} {by_mean}", d_mean[i]);
            // The third derivative times h²/6 bounds the error of a difference of this width.
            assert!((d_log_std[i] - by_log_std).abs() < 5e-6, "{} {by_log_std}", d_log_std[i]);
        }
    }

    #[test]
    fn samples_have_the_moments_asked_for_and_their_log_prob() {
        let gaussian = Gaussian::new(&[0.5, -1.0, 0.0]);
        let mean = [Pack([1.0; 16]), Pack([-2.0; 16]), Pack([0.0; 16])];
        let stream = Stream::new(3, "action noise");
        let (mut sum, mut squares, mut log_prob) = ([0.0; 3], [0.0; 3], 0.0);
        let n = 4000;
        for step in 0..n {
            let (mut noise, mut action) = ([Pack::default(); 3], [Pack::default(); 3]);
            normals(Isa::best(), stream, 0, step, &mut noise);
            let lp = gaussian.sample(Isa::best(), &mean, &noise, &mut action);
            log_prob += lp.0.iter().map(|&l| f64::from(l)).sum::<f64>();
            for d in 0..3 {
                sum[d] += action[d].0.iter().map(|&a| f64::from(a)).sum::<f64>();
                squares[d] += action[d].0.iter().map(|&a| f64::from(a).powi(2)).sum::<f64>();
            }
        }
        let rows = (16 * n) as f64;
        for (d, (mean, log_std)) in [(1.0, 0.5_f64), (-2.0, -1.0), (0.0, 0.0)].into_iter().enumerate() {
            let (m, std) = (sum[d] / rows, (squares[d] / rows - (sum[d] / rows).powi(2)).sqrt());
            assert!((m - mean).abs() < 0.03 && (std / log_std.exp() - 1.0).abs() < 0.02, "{d}: {m} {std}");
        }
        // The mean of -log π is the entropy.
        assert!((log_prob / rows + gaussian.entropy()).abs() < 0.03);
    }

    #[test]
    fn normals_belong_to_their_row() {
        let stream = Stream::new(3, "action noise");
        let draw = |first| {
            let mut out = [Pack::default(); 3];
            normals(Isa::best(), stream, first, 9, &mut out);
            out
        };
        let (a, b) = (draw(0), draw(4));
        for d in 0..3 {
            assert_eq!(a[d].0[4..], b[d].0[..12]);
        }
        assert_ne!(a[0].0[0], a[1].0[0]);
    }
}
