//! GAIL with a diffusion model as discriminator (Wang et al., "DiffAIL", 2024).
//!
//! ```text
//! noisy     x_t = √ᾱ_t x + √(1 - ᾱ_t) ε,  ᾱ_t = Π (1 - β),  β linear from 1e-4 to 2e-2 over T steps
//! error     E = Σ or mean over entries of (ε̂(x_t, t) - ε)²
//! D         exp(-E): rows that the diffusion model has learnt are easy to denoise
//! loss      -log D(expert) - log(1 - D(policy)) + w mean (‖∇ₓ D(x̂)‖ - 1)², each row with its own t and ε
//! reward    -log(1 - D), averaged over t
//! ```
//!
//! `predictor.rs` is ε̂ with its derivatives, `reward.rs` the average over t made cheap.

mod predictor;
mod reward;

use magpie_random::{Draws, Stream};
use magpie_simd::{Isa, LANES, Pack};
use serde::{Deserialize, Serialize};

use crate::adversarial::{Adversarial, Docket, Judge, Mix, Rows};
use crate::config::{require, require_learning};
use crate::error::RewardError;
use crate::form::{Side, softplus};
use crate::health::Health;
use crate::penalty::{Penalty, Slopes};
use crate::trained::{Record, Trained};
use crate::transitions::Sizes;
use predictor::{Diffused, Predictor, PredictorWork};
use reward::{Averager, AveragerScratch};

/// How the squared errors of the entries make one number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Error {
    /// Their sum. Paper. D vanishes if there are many entries.
    Sum,
    /// Their mean. Public code.
    #[default]
    Mean,
}

/// What D = exp(-E) stands for in the loss.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Discriminator {
    /// The probability of being expert. Paper.
    #[default]
    Probability,
    /// A logit, so that the probability lies between 0.5 and 0.73. Public code.
    Logit,
}

/// How the reward is averaged over t.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Average {
    /// mean of -log(1 - D). Paper.
    #[default]
    MeanOfLogs,
    /// -log(1 - mean of D).
    LogOfMean,
    /// -log(1 - mean of exp(-e) over t and entries). Public code.
    LogOfMeanOverEntries,
}

/// The noise with which rows are judged for their reward.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// All rows with the same, and neighbouring t with opposite ones: cheaper, and rows differ only by what they are.
    #[default]
    Shared,
    /// Each row of a block with its own. Paper.
    Own,
}

/// How DiffAIL learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DiffailConfig {
    /// Widths of the hidden layers. Paper's public code: 100, 100, 100.
    pub hidden: Vec<usize>,
    /// T, steps of diffusion. Public code: 100.
    pub timesteps: usize,
    /// First and last β. Paper: 1e-4, 2e-2.
    pub beta: [f64; 2],
    /// How the errors of the entries make E. Paper: sum.
    pub error: Error,
    /// What D stands for in the loss. Paper: probability.
    pub discriminator: Discriminator,
    /// How the reward is averaged over t. Paper: mean of logs.
    pub average: Average,
    /// Over how many evenly spaced t the reward is averaged; an even number, if noise is shared. Paper: all, T.
    pub reward_timesteps: usize,
    /// The noise with which rows are judged for their reward. Paper: own.
    pub reward_noise: Noise,
    /// Learning rate of Adam. Paper: 3e-4.
    pub learning_rate: f64,
    /// Expert rows of a step, and as many policy rows. Not in the paper.
    pub batch_size: usize,
    /// Weight of the penalty on slopes. Public code: 10.
    pub gradient_penalty: f32,
    /// Judge the steps that an early end costs too, as an absorbing state. Paper: no.
    pub absorbing: bool,
    /// Discount of the rewards in the absorbing state; that of PPO.
    pub gamma: f32,
}

impl Default for DiffailConfig {
    fn default() -> DiffailConfig {
        DiffailConfig {
            hidden: vec![100, 100, 100],
            timesteps: 100,
            beta: [1e-4, 2e-2],
            error: Error::default(),
            discriminator: Discriminator::default(),
            average: Average::default(),
            reward_timesteps: 10,
            reward_noise: Noise::default(),
            learning_rate: 3e-4,
            batch_size: 128,
            gradient_penalty: 10.0,
            absorbing: false,
            gamma: 0.99,
        }
    }
}

impl DiffailConfig {
    fn check(&self) -> Result<(), RewardError> {
        let fields = ["diffail.hidden", "diffail.learning_rate", "diffail.batch_size"];
        require_learning(fields, &self.hidden, self.learning_rate, self.batch_size)?;
        require(
            (1..=10_000).contains(&self.timesteps),
            "diffail.timesteps",
            self.timesteps,
            "from 1 to 10000",
        )?;
        let betas = self.beta.iter().all(|b| (0.0..1.0).contains(b)) && self.beta[1] > 0.0;
        require(betas, "diffail.beta", self.beta, "two numbers from 0 to 1, the last above 0")?;
        let some = (1..=self.timesteps).contains(&self.reward_timesteps);
        require(some, "diffail.reward_timesteps", self.reward_timesteps, "from 1 to diffail.timesteps")?;
        let weight = self.gradient_penalty;
        require(weight >= 0.0 && weight.is_finite(), "diffail.gradient_penalty", weight, "0 or more")?;
        require((0.0..=1.0).contains(&self.gamma), "diffail.gamma", self.gamma, "from 0 to 1")
    }
}

/// The model.
pub type Diffail = Adversarial<DiffailJudge>;

impl Diffail {
    /// A diffusion model that has learnt nothing yet.
    pub fn from_config(
        config: &DiffailConfig,
        sizes: Sizes,
        isa: Isa,
        draws: &mut Draws,
    ) -> Result<Diffail, RewardError> {
        config.check()?;
        let DiffailConfig { batch_size, absorbing, gamma, .. } = *config;
        let docket = Docket { batch_size, mix: Mix::Row, absorbing, gamma };
        Adversarial::new(sizes, isa, docket, |width| {
            let seed = u64::from(draws.bits()) << 32 | u64::from(draws.bits());
            let predictor = Predictor::new(config, width, isa)?;
            let first = predictor.first_parameters(draws);
            Ok(DiffailJudge::new(config, predictor, isa, seed, first))
        })
    }
}

/// The diffusion model as a judge.
#[derive(Debug)]
pub struct DiffailJudge {
    config: DiffailConfig,
    isa: Isa,
    state: DiffailState,
    predictor: Predictor,
    averager: Averager,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct DiffailState {
    trained: Trained,
    /// Of the noise that rewards are judged with.
    seed: u64,
}

/// Memory for a step.
#[derive(Debug)]
pub struct DiffailWork {
    predictor: PredictorWork,
    /// Of expert, policy and mixed rows.
    diffused: [Diffused; 3],
    row: Vec<f32>,
    /// E of each row, then what the loss makes of it.
    errors: Vec<Pack>,
    d_errors: Vec<Pack>,
    lengths: Slopes,
}

impl DiffailJudge {
    fn new(
        config: &DiffailConfig,
        predictor: Predictor,
        isa: Isa,
        seed: u64,
        first: Vec<f32>,
    ) -> DiffailJudge {
        let averager = Averager::new(config, &predictor, isa);
        let state = DiffailState { trained: Trained::new(first), seed };
        let mut judge = DiffailJudge { config: config.clone(), isa, state, predictor, averager };
        judge.load();
        judge
    }

    /// Takes over the parameters of the state, and draws the noise of rewards anew: no policy can learn one by heart.
    fn load(&mut self) {
        self.predictor.load(&self.state.trained.parameters);
        let stream = Stream::new(self.state.seed, "diffail reward noise");
        self.averager.draw(stream, self.state.trained.steps());
        self.averager.load(&self.predictor, &self.state.trained.parameters);
    }

    /// Losses of the rows with the t and ε in `work`; their parameter gradient is left in `work.row`.
    fn loss(&self, rows: &Rows, work: &mut DiffailWork) -> Health {
        let DiffailWork { predictor, diffused, errors, d_errors, .. } = &mut *work;
        let mut health = Health::default();
        predictor.clear();
        for (side, input, at) in [(Side::Expert, &rows.expert, 0), (Side::Policy, &rows.policy, 1)] {
            self.predictor.forward(input, &diffused[at], predictor, errors);
            d_errors.clear();
            d_errors.resize(errors.len(), Pack::default());
            let (mut loss, mut right, mut reward) = (0.0, 0.0, 0.0);
            let pairs = errors.iter().flat_map(|e| e.0).zip(d_errors.iter_mut().flat_map(|d| d.0.iter_mut()));
            for (error, derivative) in pairs.take(rows.count) {
                let verdict = Verdict::new(side, self.config.discriminator, error.into());
                loss += verdict.loss;
                right += f64::from(u8::from((verdict.d > 0.5) == (side == Side::Expert)));
                reward -= log_of_rest(error.into());
                *derivative = (verdict.derivative / rows.count as f64) as f32;
            }
            let n = rows.count.max(1) as f64;
            health.set_side(side, loss / n, right / n, reward / n);
            self.predictor.backward(d_errors, predictor);
        }
        if self.config.gradient_penalty > 0.0 {
            let penalty = self.penalise(rows, work);
            (health.gradient_penalty, health.slope) = (penalty.value, penalty.slope);
        }
        work.predictor.write(&mut work.row);
        health
    }

    fn penalise(&self, rows: &Rows, work: &mut DiffailWork) -> Penalty {
        let DiffailWork { predictor, diffused, errors, lengths, .. } = work;
        let diffused = &diffused[2];
        self.predictor.forward(&rows.mixed, diffused, predictor, errors);
        let slopes = self.predictor.slopes(errors, diffused, predictor);
        lengths.clear(rows.panels());
        lengths.add(slopes);
        let penalty = lengths.finish(rows.count, self.config.gradient_penalty);
        self.predictor.backward_slopes(errors, lengths.factors(), diffused, predictor);
        penalty
    }

    /// One step with the t and ε in `work`.
    fn step(&mut self, rows: &Rows, work: &mut DiffailWork) -> Result<Health, RewardError> {
        let health = self.loss(rows, work);
        let rate = self.config.learning_rate;
        self.state.trained.step(self.isa, Self::NAME, rate, health.loss(), &work.row)?;
        self.predictor.load(&self.state.trained.parameters);
        Ok(health)
    }
}

/// log(1 - e^-E), with E kept away from 0, where it is infinite.
fn log_of_rest(error: f64) -> f64 {
    (-(-error.max(ERROR_FLOOR)).exp_m1()).ln()
}

/// Public code adds this to 1 - D.
const ERROR_FLOOR: f64 = 1e-8;

/// What the loss makes of one E.
struct Verdict {
    d: f64,
    loss: f64,
    /// With respect to E.
    derivative: f64,
}

impl Verdict {
    fn new(side: Side, discriminator: Discriminator, error: f64) -> Verdict {
        let d = (-error).exp();
        let (loss, derivative) = match (discriminator, side) {
            (Discriminator::Probability, Side::Expert) => (error, 1.0),
            (Discriminator::Probability, Side::Policy) => {
                (-log_of_rest(error), -1.0 / error.max(ERROR_FLOOR).exp_m1())
            }
            (Discriminator::Logit, Side::Expert) => (softplus(-d), (1.0 - sigmoid(d)) * d),
            (Discriminator::Logit, Side::Policy) => (softplus(d), -sigmoid(d) * d),
        };
        Verdict { d, loss, derivative }
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Judge for DiffailJudge {
    const NAME: &'static str = "diffail";
    type Scratch = AveragerScratch;
    type Work = DiffailWork;

    fn scratch(&self, panels: usize) -> AveragerScratch {
        self.averager.scratch(panels)
    }

    fn rewards(&self, block: &[Pack], scratch: &mut AveragerScratch, out: &mut [Pack]) {
        self.averager.rewards(block, scratch, out);
    }

    fn work(&self, panels: usize) -> DiffailWork {
        DiffailWork {
            predictor: self.predictor.work(panels),
            diffused: std::array::from_fn(|_| Diffused::default()),
            row: vec![0.0; self.state.trained.parameters.len()],
            errors: Vec::new(),
            d_errors: Vec::new(),
            lengths: Slopes::default(),
        }
    }

    fn learn(
        &mut self,
        rows: &Rows,
        work: &mut DiffailWork,
        draws: &mut Draws,
    ) -> Result<Health, RewardError> {
        let width = rows.expert.len() / rows.panels();
        for diffused in &mut work.diffused {
            diffused.timesteps.clear();
            let steps = (0..rows.panels() * LANES).map(|_| draws.below(self.config.timesteps as u32));
            diffused.timesteps.extend(steps);
            diffused.noise.resize(rows.panels() * width, Pack::default());
            for pair in diffused.noise.iter_mut().flat_map(|pack| pack.0.as_chunks_mut::<2>().0) {
                *pair = draws.normal_pair();
            }
        }
        self.step(rows, work)
    }

    fn finish(&mut self) {
        self.load();
    }

    fn save(&self) -> Result<Record, RewardError> {
        Record::new(Self::NAME, &self.state)
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        let state: DiffailState = record.state(Self::NAME)?;
        state.trained.fits(self.state.trained.parameters.len())?;
        self.state = state;
        self.load();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
