//! The reward of DiffAIL: an average over t that needs a pass through the network for each.
//!
//! Three things make it cheap. Ten evenly spaced t rank rows about as well as the paper's hundred, if neighbours have
//! opposite noise (`examples/reward_costs.rs` measures it). Noise that all rows share turns what the first layer makes
//! of it into a constant of t:
//!
//! ```text
//! W [x_t, time] + b = √ᾱ (Wₓ x) + k,   k = √(1 - ᾱ) Wₓ ε + Wₜ time + b
//! ```
//!
//! so that Wₓ x is computed once for all t. And all passes of a block of rows happen one after the other, in the cache.

use magpie_nn::parts::BLOCK_PANELS;
use magpie_nn::{Activation, Network, Shape, Trace};
use magpie_random::Stream;
use magpie_simd::{Isa, LANES, Lanes, Number, Pack, Simd, Task, Transcendental};

use super::predictor::{Predictor, TIME};
use super::{Average, DiffailConfig, Noise};

/// Keeps 1 - D away from 0. Public code: 1e-8.
const FLOOR: f32 = 1e-8;

/// What rewards are computed with between two updates.
#[derive(Debug)]
pub(super) struct Averager {
    average: Average,
    noise_kind: Noise,
    scale: f32,
    width: usize,
    isa: Isa,
    /// Which t, and √ᾱ and √(1 - ᾱ) there.
    timesteps: Vec<usize>,
    schedule: Vec<[f32; 2]>,
    /// ε: `[t][entry]` if shared, `[t][panel][entry]` if each row has its own.
    pub noise: Vec<Pack>,
    /// Wₓ without bias, and what comes after the first layer.
    first: Network,
    rest: Network,
    /// k, `[t][unit]`; without the noise's share if each row has its own.
    offsets: Vec<f32>,
}

/// Memory for a block.
#[derive(Debug)]
pub(crate) struct AveragerScratch {
    first: Trace,
    rest: Trace,
    noisy: Vec<Pack>,
    sums: Vec<Pack>,
    hidden: Vec<Pack>,
}

impl Averager {
    pub fn new(config: &DiffailConfig, predictor: &Predictor, isa: Isa) -> Averager {
        let count = config.reward_timesteps;
        let timesteps: Vec<usize> =
            (0..count).map(|i| (2 * i + 1) * config.timesteps / (2 * count)).collect();
        let width = predictor.width();
        let (units, sizes) = (config.hidden[0], [&config.hidden[..], &[width]].concat());
        // The configuration has been checked: no width is zero.
        let shape = |sizes: &[usize]| {
            Shape::new(sizes, Activation::Mish, Activation::Identity).unwrap_or_else(|e| unreachable!("{e}"))
        };
        Averager {
            average: config.average,
            noise_kind: config.reward_noise,
            scale: predictor.scale(),
            width,
            isa,
            schedule: timesteps.iter().map(|&t| predictor.schedule[t]).collect(),
            timesteps,
            noise: Vec::new(),
            first: Network::new(&shape(&[width, units]), isa, false),
            rest: Network::new(&shape(&sizes), isa, false),
            offsets: Vec::new(),
        }
    }

    /// Draws ε for the rewards after `steps` steps of learning.
    pub fn draw(&mut self, stream: Stream, steps: u64) {
        self.noise.clear();
        for (i, &t) in self.timesteps.iter().enumerate() {
            let mut draws = stream.draws(t as u32, steps);
            match self.noise_kind {
                // What is odd in ε cancels between neighbours.
                Noise::Shared if i % 2 == 1 => {
                    let before = (i - 1) * self.width..i * self.width;
                    let opposite: Vec<Pack> =
                        self.noise[before].iter().map(|noise| Pack(noise.0.map(|e| -e))).collect();
                    self.noise.extend(opposite);
                }
                Noise::Shared => {
                    self.noise.extend((0..self.width).map(|_| Pack([draws.normal(); LANES])));
                }
                Noise::Own => self.noise.extend((0..BLOCK_PANELS * self.width).map(|_| {
                    let mut pack = Pack::default();
                    pack.0.as_chunks_mut::<2>().0.iter_mut().for_each(|pair| *pair = draws.normal_pair());
                    pack
                })),
            }
        }
    }

    /// Takes over the parameters of the predictor, which must have been loaded.
    pub fn load(&mut self, predictor: &Predictor, parameters: &[f32]) {
        let [time, main] = predictor.shapes();
        let parameters = &parameters[time.parameters()..];
        let Some(layer) = main.layers().next() else { return };
        let stride = self.width + TIME;
        let (weight, bias) = (&parameters[layer.weight.clone()], &parameters[layer.bias.clone()]);
        let mut first: Vec<f32> =
            weight.chunks_exact(stride).flat_map(|w| w[..self.width].to_vec()).collect();
        first.resize(first.len() + layer.outputs, 0.0);
        self.first.load(&first);
        self.rest.load(&parameters[layer.bias.end..]);
        self.offsets.clear();
        for (i, time) in predictor.times(&self.timesteps).iter().enumerate() {
            let noise = &self.noise[i * self.width..];
            for (w, b) in weight.chunks_exact(stride).zip(bias) {
                let (w_x, w_t) = w.split_at(self.width);
                let mut k: f64 = w_t.iter().zip(time).map(|(w, t)| f64::from(w * t)).sum();
                if self.noise_kind == Noise::Shared {
                    let share: f64 = w_x.iter().zip(noise).map(|(w, e)| f64::from(w * e.0[0])).sum();
                    k += f64::from(self.schedule[i][1]) * share;
                }
                self.offsets.push((k + f64::from(*b)) as f32);
            }
        }
    }

    pub fn scratch(&self, panels: usize) -> AveragerScratch {
        AveragerScratch {
            first: Trace::new(self.first.shape(), panels),
            rest: Trace::new(self.rest.shape(), panels),
            noisy: vec![Pack::default(); panels * self.width],
            sums: vec![Pack::default(); panels * self.first.shape().outputs()],
            hidden: vec![Pack::default(); panels * self.first.shape().outputs()],
        }
    }

    /// The reward of each row of a block.
    pub fn rewards(&self, block: &[Pack], scratch: &mut AveragerScratch, out: &mut [Pack]) {
        let AveragerScratch { first, rest, noisy, sums, hidden } = scratch;
        let (units, panels) = (self.first.shape().outputs(), out.len());
        let (sums, hidden) = (&mut sums[..panels * units], &mut hidden[..panels * units]);
        if self.noise_kind == Noise::Shared {
            sums.copy_from_slice(self.first.forward(block, first));
        }
        out.fill(Pack::default());
        for (i, &[keep, add]) in self.schedule.iter().enumerate() {
            let offsets = &self.offsets[i * units..][..units];
            let (scale, noise, repeat) = match self.noise_kind {
                Noise::Shared => (keep, &self.noise[i * self.width..][..self.width], true),
                Noise::Own => {
                    let table = BLOCK_PANELS * self.width;
                    let noise = &self.noise[i * table..][..block.len()];
                    let noisy = &mut noisy[..block.len()];
                    self.isa.run(Diffuse { keep, add, x: block, noise, out: noisy });
                    sums.copy_from_slice(self.first.forward(noisy, first));
                    (1.0, noise, false)
                }
            };
            self.isa.run(FirstUnits { scale, sums, offsets, out: hidden });
            let predicted = self.rest.forward(hidden, rest);
            let judged = Judged { averager: self, predicted, noise, repeat, out };
            self.isa.run(judged);
        }
        if self.average != Average::MeanOfLogs {
            self.isa.run(LogOfRest(out));
        }
    }
}

/// √ᾱ x + √(1 - ᾱ) ε.
struct Diffuse<'a> {
    keep: f32,
    add: f32,
    x: &'a [Pack],
    noise: &'a [Pack],
    out: &'a mut [Pack],
}

impl Task for Diffuse<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let (keep, add) = (Lanes::splat(token, self.keep), Lanes::splat(token, self.add));
        for ((x, noise), out) in self.x.iter().zip(self.noise).zip(self.out) {
            keep.mul_add(Lanes::load(token, x), add * Lanes::load(token, noise)).store(out);
        }
    }
}

/// Mish(scale · sum + k).
struct FirstUnits<'a> {
    scale: f32,
    sums: &'a [Pack],
    offsets: &'a [f32],
    out: &'a mut [Pack],
}

impl Task for FirstUnits<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let units = self.offsets.len();
        let scale = Lanes::splat(token, self.scale);
        for (sums, out) in self.sums.chunks_exact(units).zip(self.out.chunks_exact_mut(units)) {
            for ((sum, &k), out) in sums.iter().zip(self.offsets).zip(out) {
                let z = scale.mul_add(Lanes::load(token, sum), Lanes::splat(token, k));
                Activation::Mish.value(z).store(out);
            }
        }
    }
}

/// Adds what one t says to the average.
struct Judged<'a> {
    averager: &'a Averager,
    predicted: &'a [Pack],
    noise: &'a [Pack],
    /// One noise for all panels.
    repeat: bool,
    out: &'a mut [Pack],
}

impl Task for Judged<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let Judged { averager, predicted, noise, repeat, out } = self;
        let width = averager.width;
        let constant = |value: f32| Lanes::splat(token, value);
        let share = constant(1.0 / averager.timesteps.len() as f32);
        for (panel, (predicted, out)) in predicted.chunks_exact(width).zip(out).enumerate() {
            let noise = if repeat { noise } else { &noise[panel * width..][..width] };
            let residuals = predicted.iter().zip(noise).map(
                #[inline(always)]
                |(y, noise)| Lanes::load(token, y) - Lanes::load(token, noise),
            );
            let mut sum = constant(0.0);
            if averager.average == Average::LogOfMeanOverEntries {
                for e in residuals {
                    sum += (-(e * e)).exp();
                }
                sum /= constant(width as f32);
            } else {
                for e in residuals {
                    sum = e.mul_add(e, sum);
                }
                let error = constant(averager.scale) * sum;
                sum = match averager.average {
                    Average::MeanOfLogs => -rest_of(error).ln(),
                    _ => (-error).exp(),
                };
            }
            sum.mul_add(share, Lanes::load(token, out)).store(out);
        }
    }
}

/// 1 - e^-E, by its series where the difference would lose its digits.
#[inline(always)]
fn rest_of<N: Transcendental>(error: N) -> N {
    let (one, half, sixth) = (error.constant(1.0), error.constant(0.5), error.constant(1.0 / 6.0));
    let series = error * (one - error * (half - error * sixth));
    let rest = N::select(error.lt(error.constant(0.01)), series, one - (-error).exp());
    error.constant(f64::from(FLOOR)).max(rest)
}

/// -log(1 - mean D + 1e-8).
struct LogOfRest<'a>(&'a mut [Pack]);

impl Task for LogOfRest<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let (one, floor) = (Lanes::splat(token, 1.0), Lanes::splat(token, FLOOR));
        for pack in self.0 {
            // The mean of numbers below 1 can be rounded to 1, never beyond, or the logarithm would be NaN.
            let rest = Lanes::splat(token, 0.0).max(one - Lanes::load(token, pack));
            (-(rest + floor).ln()).store(pack);
        }
    }
}
