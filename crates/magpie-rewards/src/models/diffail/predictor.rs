//! ε̂(x_t, t), the network that predicts noise, with the derivatives that a discriminator needs.
//!
//! ```text
//! clock     [sin(t fᵢ), cos(t fᵢ)],  fᵢ = 10000^(-i/7), i = 0…7
//! time      clock → 32 → 16, Mish between
//! main      [x_t, time] → hidden layers with Mish → ε̂
//! E         s Σ (ε̂ - ε)²,  s = 1 (sum) or 1/entries (mean);  D = e^-E
//! ```
//!
//! With e = ε̂ - ε and y = ε̂: ∂D/∂y = c = -2 s D e, and the slope of D at x is √ᾱ times the x part of Jᵀ c. The penalty's
//! gradient along v sends (√ᾱ v, 0) through the network, ẏ = J (√ᾱ v, 0), and goes back with c for ẏ and with
//! (∂c/∂y)ᵀ ẏ = -2 s D (ẏ - 2 s e (e · ẏ)) for y.

use magpie_nn::{Activation, Gradient, Network, Shape, Tangent, Trace, init};
use magpie_random::Draws;
use magpie_simd::{Isa, LANES, Pack};

use super::{DiffailConfig, Reduction};
use crate::error::RewardError;
use crate::shape::bad_widths;

/// Entries of a clock, and of what the time network makes of it.
pub(super) const TIME: usize = 16;
/// Width of the time network's hidden layer.
const TIME_HIDDEN: usize = 32;

/// The network and the schedule of the noise.
#[derive(Debug)]
pub(super) struct Predictor {
    width: usize,
    /// s.
    scale: f32,
    /// √ᾱ and √(1 - ᾱ) for each t.
    pub schedule: Vec<[f32; 2]>,
    clocks: Vec<[f32; TIME]>,
    time: Network,
    main: Network,
}

/// t and ε of the rows of a block: `[row]`, and panels `[panel][entry]`.
#[derive(Debug, Default)]
pub(super) struct Diffused {
    pub timesteps: Vec<u32>,
    pub noise: Vec<Pack>,
}

/// Memory for a block on its way through the network and back.
#[derive(Debug)]
pub(super) struct PredictorWork {
    time_parameters: usize,
    time: Trace,
    main: Trace,
    tangent: Tangent,
    time_gradient: Gradient,
    main_gradient: Gradient,
    clocks: Vec<Pack>,
    /// [x_t, time].
    input: Vec<Pack>,
    d_input: Vec<Pack>,
    d_time: Vec<Pack>,
    /// e, then derivatives with respect to y.
    residuals: Vec<Pack>,
    d_output: Vec<Pack>,
    bend: Vec<Pack>,
    slopes: Vec<Pack>,
    direction: Vec<Pack>,
}

impl Predictor {
    pub fn new(config: &DiffailConfig, width: usize, isa: Isa) -> Result<Predictor, RewardError> {
        let mish = |sizes: &[usize]| {
            Shape::new(sizes, Activation::Mish, Activation::Identity)
                .map_err(|_| bad_widths("diffail.hidden", &config.hidden))
        };
        let time = mish(&[TIME, TIME_HIDDEN, TIME])?;
        let main = mish(&[&[width + TIME][..], &config.hidden, &[width]].concat())?;
        let steps = config.timesteps;
        let [first, last] = config.beta;
        let mut product = 1.0_f64;
        let schedule = (0..steps)
            .map(|t| {
                let share = t as f64 / (steps - 1).max(1) as f64;
                product *= 1.0 - (first + (last - first) * share);
                [product.sqrt() as f32, (1.0 - product).sqrt() as f32]
            })
            .collect();
        let clocks = (0..steps)
            .map(|t| {
                std::array::from_fn(|i| {
                    let half = TIME / 2;
                    let frequency = 10_000_f64.powf(-((i % half) as f64) / (half - 1) as f64);
                    let angle = t as f64 * frequency;
                    if i < half { angle.sin() as f32 } else { angle.cos() as f32 }
                })
            })
            .collect();
        Ok(Predictor {
            width,
            scale: match config.error {
                Reduction::Sum => 1.0,
                Reduction::Mean => 1.0 / width as f32,
            },
            schedule,
            clocks,
            time: Network::new(&time, isa, false),
            main: Network::new(&main, isa, true),
        })
    }

    /// Entries of x.
    pub fn width(&self) -> usize {
        self.width
    }

    /// s.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The shapes of the time and the main network; parameters lie in this order.
    pub fn shapes(&self) -> [&Shape; 2] {
        [self.time.shape(), self.main.shape()]
    }

    pub fn first_parameters(&self, draws: &mut Draws) -> Vec<f32> {
        self.shapes().into_iter().flat_map(|shape| init::torch_default(shape, draws)).collect()
    }

    pub fn load(&mut self, parameters: &[f32]) {
        let (time, main) = parameters.split_at(self.time.shape().parameters());
        self.time.load(time);
        self.main.load(main);
    }

    /// What the time network makes of each t that is asked for.
    pub fn times(&self, timesteps: &[usize]) -> Vec<[f32; TIME]> {
        let mut trace = Trace::new(self.time.shape(), 1);
        timesteps
            .iter()
            .map(|&t| {
                let clock = self.clocks[t].map(|value| Pack([value; LANES]));
                let out = self.time.forward(&clock, &mut trace);
                std::array::from_fn(|i| out[i].0[0])
            })
            .collect()
    }

    pub fn work(&self, panels: usize) -> PredictorWork {
        let [time, main] = self.shapes();
        PredictorWork {
            time_parameters: time.parameters(),
            time: Trace::new(time, panels),
            main: Trace::new(main, panels),
            tangent: Tangent::new(main, panels),
            time_gradient: Gradient::new(time),
            main_gradient: Gradient::new(main),
            clocks: Vec::new(),
            input: Vec::new(),
            d_input: Vec::new(),
            d_time: Vec::new(),
            residuals: Vec::new(),
            d_output: Vec::new(),
            bend: Vec::new(),
            slopes: Vec::new(),
            direction: Vec::new(),
        }
    }

    /// E of each row of `x`, panels `[panel][entry]`.
    pub fn forward(&self, x: &[Pack], diffused: &Diffused, work: &mut PredictorWork, errors: &mut Vec<Pack>) {
        let PredictorWork { time, main, clocks, input, residuals, .. } = work;
        let panels = x.len() / self.width;
        clocks.resize(panels * TIME, Pack::default());
        for (panel, clocks) in clocks.chunks_exact_mut(TIME).enumerate() {
            for lane in 0..LANES {
                let clock = &self.clocks[diffused.timesteps[panel * LANES + lane] as usize];
                clocks.iter_mut().zip(clock).for_each(|(pack, value)| pack.0[lane] = *value);
            }
        }
        let times = self.time.forward(clocks, time);
        let stride = self.width + TIME;
        input.resize(panels * stride, Pack::default());
        for (panel, input) in input.chunks_exact_mut(stride).enumerate() {
            let (noisy, rest) = input.split_at_mut(self.width);
            let place = panel * self.width..(panel + 1) * self.width;
            for lane in 0..LANES {
                let [keep, add] = self.schedule[diffused.timesteps[panel * LANES + lane] as usize];
                let sources = x[place.clone()].iter().zip(&diffused.noise[place.clone()]);
                for (noisy, (x, noise)) in noisy.iter_mut().zip(sources) {
                    noisy.0[lane] = keep * x.0[lane] + add * noise.0[lane];
                }
            }
            rest.copy_from_slice(&times[panel * TIME..(panel + 1) * TIME]);
        }
        let predicted = self.main.forward(input, main);
        residuals.clear();
        residuals.extend(
            predicted
                .iter()
                .zip(&diffused.noise)
                .map(|(y, noise)| Pack(std::array::from_fn(|lane| y.0[lane] - noise.0[lane]))),
        );
        errors.clear();
        errors.extend(residuals.chunks_exact(self.width).map(|panel| {
            let mut sum = Pack::default();
            for e in panel {
                sum.0.iter_mut().zip(e.0).for_each(|(sum, e)| *sum = e.mul_add(e, *sum));
            }
            Pack(sum.0.map(|sum| self.scale * sum))
        }));
    }

    /// Adds the parameter gradient of Σ `d_errors` · E to the sums.
    pub fn backward(&self, d_errors: &[Pack], work: &mut PredictorWork) {
        let PredictorWork { main, main_gradient, input, d_input, residuals, d_output, .. } = work;
        d_output.resize(residuals.len(), Pack::default());
        for ((d_panel, e_panel), d) in
            d_output.chunks_exact_mut(self.width).zip(residuals.chunks_exact(self.width)).zip(d_errors)
        {
            for (d_output, e) in d_panel.iter_mut().zip(e_panel) {
                *d_output = Pack(std::array::from_fn(|lane| 2.0 * self.scale * d.0[lane] * e.0[lane]));
            }
        }
        d_input.resize(input.len(), Pack::default());
        self.main.backward(input, main, d_output, Some(main_gradient), Some(d_input));
        self.backward_time(work);
    }

    /// From the derivative of [x_t, time] on to the time network's parameters.
    fn backward_time(&self, work: &mut PredictorWork) {
        let PredictorWork { time, time_gradient, clocks, d_input, d_time, .. } = work;
        d_time.clear();
        for panel in d_input.chunks_exact(self.width + TIME) {
            d_time.extend_from_slice(&panel[self.width..]);
        }
        self.time.backward(clocks, time, d_time, Some(time_gradient), None);
    }

    /// ∂D/∂x of the rows that went through last, `[panel][entry]`.
    pub fn slopes<'w>(
        &self,
        errors: &[Pack],
        diffused: &Diffused,
        work: &'w mut PredictorWork,
    ) -> &'w [Pack] {
        let PredictorWork { main, input, d_input, residuals, d_output, slopes, .. } = work;
        d_output.resize(residuals.len(), Pack::default());
        for ((c_panel, e_panel), error) in
            d_output.chunks_exact_mut(self.width).zip(residuals.chunks_exact(self.width)).zip(errors)
        {
            let d = error.0.map(|error| -2.0 * self.scale * (-error).exp());
            for (c, e) in c_panel.iter_mut().zip(e_panel) {
                *c = Pack(std::array::from_fn(|lane| d[lane] * e.0[lane]));
            }
        }
        d_input.resize(input.len(), Pack::default());
        self.main.backward(input, main, d_output, None, Some(d_input));
        slopes.clear();
        for (panel, d_input) in d_input.chunks_exact(self.width + TIME).enumerate() {
            let keep: [f32; LANES] = std::array::from_fn(|lane| {
                self.schedule[diffused.timesteps[panel * LANES + lane] as usize][0]
            });
            slopes.extend(
                d_input[..self.width]
                    .iter()
                    .map(|d| Pack(std::array::from_fn(|lane| keep[lane] * d.0[lane]))),
            );
        }
        slopes
    }

    /// Adds the parameter gradient of v · slope to the sums, where v is the slope times `factors`. After
    /// [`Predictor::slopes`], which left c in `d_output`.
    pub fn backward_slopes(
        &self,
        errors: &[Pack],
        factors: &[Pack],
        diffused: &Diffused,
        work: &mut PredictorWork,
    ) {
        let PredictorWork {
            main,
            tangent,
            main_gradient,
            input,
            d_input,
            residuals,
            d_output,
            bend,
            slopes,
            direction,
            ..
        } = work;
        direction.clear();
        for (panel, slopes) in slopes.chunks_exact(self.width).enumerate() {
            let weight: [f32; LANES] = std::array::from_fn(|lane| {
                let keep = self.schedule[diffused.timesteps[panel * LANES + lane] as usize][0];
                keep * factors[panel].0[lane]
            });
            direction
                .extend(slopes.iter().map(|g| Pack(std::array::from_fn(|lane| weight[lane] * g.0[lane]))));
            direction.extend([Pack::default(); TIME]);
        }
        let along = self.main.tangent(main, direction, tangent);
        bend.resize(along.len(), Pack::default());
        for (panel, (bend, along)) in
            bend.chunks_exact_mut(self.width).zip(along.chunks_exact(self.width)).enumerate()
        {
            let residuals = &residuals[panel * self.width..][..self.width];
            for lane in 0..LANES {
                let dot: f32 = residuals.iter().zip(along).map(|(e, y)| e.0[lane] * y.0[lane]).sum();
                let d = -2.0 * self.scale * (-errors[panel].0[lane]).exp();
                for ((bend, e), y) in bend.iter_mut().zip(residuals).zip(along) {
                    bend.0[lane] = d * (y.0[lane] - 2.0 * self.scale * e.0[lane] * dot);
                }
            }
        }
        self.main.backward_tangent(
            input,
            main,
            direction,
            tangent,
            bend,
            d_output,
            main_gradient,
            Some(d_input),
        );
        self.backward_time(work);
    }
}

impl PredictorWork {
    pub fn clear(&mut self) {
        self.time_gradient.clear();
        self.main_gradient.clear();
    }

    /// The sums as a row of parameters.
    pub fn write(&self, row: &mut [f32]) {
        let (time, main) = row.split_at_mut(self.time_parameters);
        self.time_gradient.write(time);
        self.main_gradient.write(main);
    }
}
