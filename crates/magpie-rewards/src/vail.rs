//! GAIL behind a variational bottleneck (Peng et al., 2019).
//!
//! ```text
//! code     h = encoder(x), μ = first half of h, σ = sigmoid(second half), z = μ + σ noise (or z = μ)
//! logit    d = w · z + b
//! loss     GAIL's, with d(z), + β (mean KL - I_c),  KL = ½ Σ (μ² + σ² - log(σ² + 1e-8) - 1)
//! β        ← max(0, β + step (mean KL - I_c)) after each step
//! reward   from d at z = μ
//! ```
//!
//! The last layer of the encoder is a tanh layer too, as in public code, so that μ lies within ±1.

use magpie_nn::{Activation, Gradient, Network, Shape, Tangent, Trace, init};
use magpie_random::Draws;
use magpie_simd::{Isa, LANES, Lanes, Number, Pack, Simd, Task, Transcendental};
use serde::{Deserialize, Serialize};

use crate::adversarial::{Adversarial, Docket, Judge, Mix, Rows};
use crate::config::{require, require_learning};
use crate::error::RewardError;
use crate::form::{RewardForm, Side, cross_entropy, mean};
use crate::health::{Bottleneck, Health};
use crate::penalty::{Penalty, Slopes};
use crate::trained::{Record, Trained};
use crate::transitions::Sizes;

/// Added to σ² under the logarithm.
const VARIANCE_FLOOR: f32 = 1e-8;

/// Which code the discriminator learns on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// z = μ + σ noise. Paper.
    #[default]
    Sampled,
    /// z = μ. Public code.
    Mean,
}

/// How VAIL learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VailConfig {
    /// Widths of the encoder's hidden layers. Paper: 100.
    pub hidden: Vec<usize>,
    /// Entries of the code. Paper: 50.
    pub code_size: usize,
    /// Which code the discriminator learns on. Paper: sampled.
    pub code: Code,
    /// I_c, in nats. Paper: 0.5.
    pub information: f64,
    /// First β. Not in the paper.
    pub beta: f64,
    /// Step of the dual ascent on β; 0 keeps β as it is. Peng et al.: 1e-5.
    pub beta_step: f64,
    /// Learning rate of Adam. Paper: 3e-4.
    pub learning_rate: f64,
    /// Expert rows of a step, and as many policy rows. Not in the paper.
    pub batch_size: usize,
    /// Weight of the penalty on slopes. Public code: 10.
    pub gradient_penalty: f32,
    /// How the rows at which slopes are penalised are mixed. Public code: by entry.
    pub mix: Mix,
    /// From logit to reward. Paper: softplus.
    pub reward: RewardForm,
    /// Judge the steps that an early end costs too, as an absorbing state. Paper: no.
    pub absorbing: bool,
    /// Discount of the rewards in the absorbing state; that of PPO.
    pub gamma: f32,
}

impl Default for VailConfig {
    fn default() -> VailConfig {
        VailConfig {
            hidden: vec![100],
            code_size: 50,
            code: Code::default(),
            information: 0.5,
            beta: 0.0,
            beta_step: 1e-5,
            learning_rate: 3e-4,
            batch_size: 128,
            gradient_penalty: 10.0,
            mix: Mix::default(),
            reward: RewardForm::default(),
            absorbing: false,
            gamma: 0.99,
        }
    }
}

impl VailConfig {
    fn check(&self) -> Result<(), RewardError> {
        let fields = ["vail.hidden", "vail.learning_rate", "vail.batch_size"];
        require_learning(fields, &self.hidden, self.learning_rate, self.batch_size)?;
        require((1..=2048).contains(&self.code_size), "vail.code_size", self.code_size, "from 1 to 2048")?;
        for (field, value) in [
            ("vail.information", self.information),
            ("vail.beta", self.beta),
            ("vail.beta_step", self.beta_step),
            ("vail.gradient_penalty", self.gradient_penalty.into()),
        ] {
            require(value >= 0.0 && value.is_finite(), field, value, "0 or more")?;
        }
        require((0.0..=1.0).contains(&self.gamma), "vail.gamma", self.gamma, "from 0 to 1")
    }
}

/// The model.
pub type Vail = Adversarial<VailJudge>;

impl Vail {
    /// A discriminator that has learnt nothing yet.
    pub fn from_config(
        config: &VailConfig,
        sizes: Sizes,
        isa: Isa,
        draws: &mut Draws,
    ) -> Result<Vail, RewardError> {
        config.check()?;
        let VailConfig { batch_size, mix, absorbing, gamma, .. } = *config;
        Adversarial::new(sizes, isa, Docket { batch_size, mix, absorbing, gamma }, |width| {
            let head = Shape::new(&[config.code_size, 1], Activation::Identity, Activation::Identity);
            let head = head.map_err(|_| bad_widths(config))?;
            VailJudge::new(config, width, isa, |encoder| {
                let mut row = init::torch_default(encoder, draws);
                row.extend(init::torch_default(&head, draws));
                row
            })
        })
    }
}

fn bad_widths(config: &VailConfig) -> RewardError {
    RewardError::Config {
        field: "vail.hidden",
        value: format!("{:?}", config.hidden),
        range: "widths above 0",
    }
}

/// Encoder and discriminator: parameters are those of the encoder, then w, then b.
#[derive(Debug)]
pub struct VailJudge {
    config: VailConfig,
    isa: Isa,
    state: VailState,
    encoder: Network,
    /// The way from x to d at z = μ: the encoder without its second half, and w and b as a last layer.
    to_mean: Network,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct VailState {
    trained: Trained,
    beta: f64,
}

/// Memory for a step.
#[derive(Debug)]
pub struct VailWork {
    trace: Trace,
    tangent: Tangent,
    gradient: Gradient,
    row: Vec<f32>,
    /// Of w and b.
    head: Vec<f32>,
    /// σ, for every entry of the code.
    spreads: Vec<Pack>,
    noise: [Vec<Pack>; 3],
    logits: Vec<Pack>,
    rewards: Vec<Pack>,
    d_code: Vec<Pack>,
    bend: Vec<Pack>,
    slopes: Vec<Pack>,
    lengths: Slopes,
}

impl VailJudge {
    fn new(
        config: &VailConfig,
        width: usize,
        isa: Isa,
        first: impl FnOnce(&Shape) -> Vec<f32>,
    ) -> Result<VailJudge, RewardError> {
        let sizes = |last: &[usize]| -> Vec<usize> { [&[width][..], &config.hidden, last].concat() };
        let encoder = Shape::new(&sizes(&[2 * config.code_size]), Activation::Tanh, Activation::Tanh);
        let encoder = encoder.map_err(|_| bad_widths(config))?;
        let to_mean = Shape::tanh(&sizes(&[config.code_size, 1])).map_err(|_| bad_widths(config))?;
        let trained = Trained::new(first(&encoder));
        let mut judge = VailJudge {
            config: config.clone(),
            isa,
            state: VailState { trained, beta: config.beta },
            encoder: Network::new(&encoder, isa, true),
            to_mean: Network::new(&to_mean, isa, false),
        };
        judge.load();
        Ok(judge)
    }

    /// Takes over the parameters of the state.
    fn load(&mut self) {
        let parameters = &self.state.trained.parameters;
        let (encoder, head) = parameters.split_at(self.encoder.shape().parameters());
        self.encoder.load(encoder);
        let mut row = Vec::with_capacity(self.to_mean.shape().parameters());
        for layer in self.encoder.shape().layers() {
            let last = layer.bias.end == encoder.len();
            let outputs = if last { self.config.code_size } else { layer.outputs };
            row.extend_from_slice(&encoder[layer.weight][..outputs * layer.inputs]);
            row.extend_from_slice(&encoder[layer.bias][..outputs]);
        }
        row.extend_from_slice(head);
        self.to_mean.load(&row);
    }

    fn head(&self) -> (&[f32], f32) {
        let size = self.config.code_size;
        let head = &self.state.trained.parameters[self.encoder.shape().parameters()..];
        (&head[..size], head[size])
    }

    /// Losses of the rows with the noise in `work`; their parameter gradient is left in `work.row`.
    fn loss(&self, rows: &Rows, work: &mut VailWork) -> Health {
        let mut health = Health::default();
        work.gradient.clear();
        work.head.fill(0.0);
        let mut kl = 0.0;
        for (side, input) in [(Side::Expert, &rows.expert), (Side::Policy, &rows.policy)] {
            kl += self.side_loss(side, input, rows.count, work, &mut health);
        }
        kl /= (2 * rows.count) as f64;
        health.bottleneck = Some(Bottleneck { kl, beta: self.state.beta });
        if self.config.gradient_penalty > 0.0 {
            let penalty = self.penalise(rows, work);
            (health.gradient_penalty, health.slope) = (penalty.value, penalty.slope);
        }
        let (encoder, head) = work.row.split_at_mut(self.encoder.shape().parameters());
        work.gradient.write(encoder);
        head.copy_from_slice(&work.head);
        health
    }

    /// Cross-entropy and bottleneck of one side; gives its sum of KL.
    fn side_loss(
        &self,
        side: Side,
        input: &[Pack],
        count: usize,
        work: &mut VailWork,
        health: &mut Health,
    ) -> f64 {
        let VailWork { trace, gradient, head, spreads, noise, logits, rewards, d_code, .. } = work;
        let noise = &noise[usize::from(side == Side::Policy)];
        let (w, b) = self.head();
        let size = w.len();
        let codes = self.encoder.forward(input, trace);
        spreads_of(self.isa, codes, size, spreads);
        let panels = codes.len() / (2 * size);
        logits.clear();
        logits.resize(panels, Pack([b; LANES]));
        let mut kl = 0.0;
        for (panel, logit) in logits.iter_mut().enumerate() {
            for (j, &w) in w.iter().enumerate() {
                let (mu, s) = (&codes[panel * 2 * size + j], &spreads[panel * size + j]);
                let noise = &noise[panel * size + j];
                for lane in 0..LANES {
                    let (mu, s) = (mu.0[lane], s.0[lane]);
                    logit.0[lane] += w * (mu + s * noise.0[lane]);
                    if panel * LANES + lane < count {
                        let square = s * s;
                        kl += 0.5 * f64::from(mu * mu + square - (square + VARIANCE_FLOOR).ln() - 1.0);
                    }
                }
            }
        }
        rewards.clone_from(logits);
        self.config.reward.apply(self.isa, rewards);
        let reward = mean(rewards, count);
        let (loss, accuracy) = cross_entropy(side, logits, count);
        health.set_side(side, loss, accuracy, reward);

        let price = (self.state.beta / (2 * count) as f64) as f32;
        d_code.resize(codes.len(), Pack::default());
        for (panel, d) in logits.iter().enumerate() {
            for (j, &w) in w.iter().enumerate() {
                let (at, spread) = (panel * 2 * size + j, &spreads[panel * size + j]);
                let noise = &noise[panel * size + j];
                for lane in 0..LANES {
                    let (d, s, noise) = (d.0[lane], spread.0[lane], noise.0[lane]);
                    let mu = codes[at].0[lane];
                    let price = if panel * LANES + lane < count { price } else { 0.0 };
                    head[j] += d * (mu + s * noise);
                    d_code[at].0[lane] = d * w + price * mu;
                    let d_spread = d * w * noise + price * (s - s / (s * s + VARIANCE_FLOOR));
                    d_code[at + size].0[lane] = d_spread * s * (1.0 - s);
                }
            }
            head[size] += d.0.iter().sum::<f32>();
        }
        self.encoder.backward(input, trace, d_code, Some(gradient), None);
        kl
    }

    /// The slope of d is c · J with c = ∂d/∂h, and c depends on h through σ.
    fn penalise(&self, rows: &Rows, work: &mut VailWork) -> Penalty {
        let VailWork {
            trace, tangent, gradient, head, spreads, noise, d_code, bend, slopes, lengths, ..
        } = work;
        let (input, noise) = (&rows.mixed, &noise[2]);
        let (w, _) = self.head();
        let size = w.len();
        let codes = self.encoder.forward(input, trace);
        spreads_of(self.isa, codes, size, spreads);
        let length = codes.len();
        d_code.resize(length, Pack::default());
        bend.clear();
        bend.resize(length, Pack::default());
        for panel in 0..rows.panels() {
            for (j, &w) in w.iter().enumerate() {
                let at = panel * 2 * size + j;
                d_code[at] = Pack([w; LANES]);
                for lane in 0..LANES {
                    let (s, noise) = (spreads[panel * size + j].0[lane], noise[panel * size + j].0[lane]);
                    d_code[at + size].0[lane] = w * noise * s * (1.0 - s);
                }
            }
        }
        slopes.resize(input.len(), Pack::default());
        self.encoder.backward(input, trace, d_code, None, Some(slopes));
        lengths.clear(rows.panels());
        lengths.add(slopes);
        let penalty = lengths.finish(rows.count, self.config.gradient_penalty);
        lengths.turn(slopes);
        let along = self.encoder.tangent(trace, slopes, tangent);
        for panel in 0..rows.panels() {
            for (j, &w) in w.iter().enumerate() {
                let at = panel * 2 * size + j;
                for lane in 0..LANES {
                    let (s, noise) = (spreads[panel * size + j].0[lane], noise[panel * size + j].0[lane]);
                    let slope = s * (1.0 - s);
                    head[j] += along[at].0[lane] + noise * slope * along[at + size].0[lane];
                    bend[at + size].0[lane] = w * noise * slope * (1.0 - 2.0 * s) * along[at + size].0[lane];
                }
            }
        }
        self.encoder.backward_tangent(input, trace, slopes, tangent, bend, d_code, gradient, None);
        penalty
    }

    /// β after a step whose rows had this mean KL.
    fn next_beta(&self, kl: f64) -> f64 {
        (self.state.beta + self.config.beta_step * (kl - self.config.information)).max(0.0)
    }

    /// One step with the noise in `work`.
    fn step(&mut self, rows: &Rows, work: &mut VailWork) -> Result<Health, RewardError> {
        let mut health = self.loss(rows, work);
        let kl = health.bottleneck.map_or(0.0, |bottleneck| bottleneck.kl);
        let loss = health.loss() + self.state.beta * (kl - self.config.information);
        let rate = self.config.learning_rate;
        self.state.trained.step(self.isa, Self::NAME, rate, loss, &work.row)?;
        self.state.beta = self.next_beta(kl);
        health.bottleneck = Some(Bottleneck { kl, beta: self.state.beta });
        self.load();
        Ok(health)
    }
}

impl Judge for VailJudge {
    const NAME: &'static str = "vail";
    type Scratch = Trace;
    type Work = VailWork;

    fn scratch(&self, panels: usize) -> Trace {
        Trace::new(self.to_mean.shape(), panels)
    }

    fn rewards(&self, block: &[Pack], trace: &mut Trace, out: &mut [Pack]) {
        out.copy_from_slice(self.to_mean.forward(block, trace));
        self.config.reward.apply(self.isa, out);
    }

    fn work(&self, panels: usize) -> VailWork {
        let shape = self.encoder.shape();
        let size = self.config.code_size;
        VailWork {
            trace: Trace::new(shape, panels),
            tangent: Tangent::new(shape, panels),
            gradient: Gradient::new(shape),
            row: vec![0.0; self.state.trained.parameters.len()],
            head: vec![0.0; size + 1],
            spreads: Vec::new(),
            noise: std::array::from_fn(|_| vec![Pack::default(); panels * size]),
            logits: Vec::new(),
            rewards: Vec::new(),
            d_code: Vec::new(),
            bend: Vec::new(),
            slopes: Vec::new(),
            lengths: Slopes::default(),
        }
    }

    fn learn(&mut self, rows: &Rows, work: &mut VailWork, draws: &mut Draws) -> Result<Health, RewardError> {
        if self.config.code == Code::Sampled {
            for pack in work.noise.iter_mut().flatten() {
                for pair in pack.0.as_chunks_mut::<2>().0 {
                    *pair = draws.normal_pair();
                }
            }
        }
        self.step(rows, work)
    }

    fn save(&self) -> Result<Record, RewardError> {
        Record::new(Self::NAME, &self.state)
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        let state: VailState = record.state(Self::NAME)?;
        state.trained.fits(self.state.trained.parameters.len())?;
        if !(state.beta.is_finite() && state.beta >= 0.0) {
            return Err(RewardError::Record { problem: format!("its β is {}", state.beta) });
        }
        self.state = state;
        self.load();
        Ok(())
    }
}

/// σ = sigmoid of the second half of each code.
fn spreads_of(isa: Isa, codes: &[Pack], size: usize, spreads: &mut Vec<Pack>) {
    spreads.resize(codes.len() / 2, Pack::default());
    isa.run(Spreads { codes, size, spreads });
}

struct Spreads<'a> {
    codes: &'a [Pack],
    size: usize,
    spreads: &'a mut [Pack],
}

impl Task for Spreads<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let panels = self.codes.chunks_exact(2 * self.size).zip(self.spreads.chunks_exact_mut(self.size));
        for (code, spread) in panels {
            for (h, s) in code[self.size..].iter().zip(spread) {
                Lanes::load(token, h).sigmoid().store(s);
            }
        }
    }
}

#[cfg(test)]
mod tests;
