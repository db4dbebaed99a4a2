//! Generative adversarial imitation learning (Ho and Ermon, 2016), with a penalty on slopes.
//!
//! ```text
//! loss     mean softplus(-d(expert)) + mean softplus(d(policy)) + w mean (‖∇ₓ d(x̂)‖ - 1)²
//! x̂        α expert + (1 - α) policy, α uniform
//! reward   -log(1 - σ(d)) = softplus(d)
//! ```
//!
//! d is a network on (normalised observation, action).

use magpie_nn::{Gradient, Network, Shape, Tangent, Trace, init};
use magpie_random::Draws;
use magpie_simd::{Isa, LANES, Pack};
use serde::{Deserialize, Serialize};

use crate::adversarial::{Adversarial, Docket, Judge, Mix, Rows};
use crate::config::{require, require_learning};
use crate::error::RewardError;
use crate::form::{RewardForm, Side, cross_entropy, mean};
use crate::health::Health;
use crate::penalty::{Penalty, Slopes};
use crate::trained::{Record, Trained};
use crate::transitions::Sizes;

/// How GAIL learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GailConfig {
    /// Widths of the hidden layers. Paper: 100, 100.
    pub hidden: Vec<usize>,
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

impl Default for GailConfig {
    fn default() -> GailConfig {
        GailConfig {
            hidden: vec![100, 100],
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

impl GailConfig {
    fn check(&self) -> Result<(), RewardError> {
        let fields = ["gail.hidden", "gail.learning_rate", "gail.batch_size"];
        require_learning(fields, &self.hidden, self.learning_rate, self.batch_size)?;
        let weight = self.gradient_penalty;
        require(weight >= 0.0 && weight.is_finite(), "gail.gradient_penalty", weight, "0 or more")?;
        require((0.0..=1.0).contains(&self.gamma), "gail.gamma", self.gamma, "from 0 to 1")
    }
}

/// The model.
pub type Gail = Adversarial<GailJudge>;

impl Gail {
    /// A discriminator that has learnt nothing yet.
    pub fn from_config(
        config: &GailConfig,
        sizes: Sizes,
        isa: Isa,
        draws: &mut Draws,
    ) -> Result<Gail, RewardError> {
        config.check()?;
        let GailConfig { batch_size, mix, absorbing, gamma, .. } = *config;
        Adversarial::new(sizes, isa, Docket { batch_size, mix, absorbing, gamma }, |width| {
            let shape = scalar_shape("gail.hidden", width, &config.hidden)?;
            Ok(GailJudge::new(config, shape, isa, |shape| init::xavier(shape, draws)))
        })
    }
}

/// A tanh network with one output.
pub(crate) fn scalar_shape(
    field: &'static str,
    inputs: usize,
    hidden: &[usize],
) -> Result<Shape, RewardError> {
    let sizes: Vec<usize> = [inputs].into_iter().chain(hidden.iter().copied()).chain([1]).collect();
    Shape::tanh(&sizes).map_err(|_| RewardError::Config {
        field,
        value: format!("{hidden:?}"),
        range: "widths above 0",
    })
}

/// The discriminator.
#[derive(Debug)]
pub struct GailJudge {
    config: GailConfig,
    isa: Isa,
    state: Trained,
    network: Network,
}

/// Memory for a step.
#[derive(Debug)]
pub struct GailWork {
    trace: Trace,
    tangent: Tangent,
    gradient: Gradient,
    row: Vec<f32>,
    logits: Vec<Pack>,
    rewards: Vec<Pack>,
    slopes: Vec<Pack>,
    lengths: Slopes,
    ones: Vec<Pack>,
    zeros: Vec<Pack>,
}

impl GailJudge {
    fn new(config: &GailConfig, shape: Shape, isa: Isa, first: impl FnOnce(&Shape) -> Vec<f32>) -> GailJudge {
        let mut network = Network::new(&shape, isa, true);
        let state = Trained::new(first(&shape));
        network.load(&state.parameters);
        GailJudge { config: config.clone(), isa, state, network }
    }

    /// Losses of the rows; their parameter gradient is left in `work.row`.
    fn loss(&self, rows: &Rows, work: &mut GailWork) -> Health {
        let mut health = Health::default();
        work.gradient.clear();
        for (side, input) in [(Side::Expert, &rows.expert), (Side::Policy, &rows.policy)] {
            let GailWork { trace, gradient, logits, rewards, .. } = &mut *work;
            logits.clear();
            logits.extend_from_slice(self.network.forward(input, trace));
            rewards.clone_from(logits);
            self.config.reward.apply(self.isa, rewards);
            let (loss, accuracy) = cross_entropy(side, logits, rows.count);
            self.network.backward(input, trace, logits, Some(gradient), None);
            health.set_side(side, loss, accuracy, mean(rewards, rows.count));
        }
        if self.config.gradient_penalty > 0.0 {
            let penalty = self.penalise(rows, work);
            (health.gradient_penalty, health.slope) = (penalty.value, penalty.slope);
        }
        work.gradient.write(&mut work.row);
        health
    }

    fn penalise(&self, rows: &Rows, work: &mut GailWork) -> Penalty {
        let GailWork { trace, tangent, gradient, slopes, lengths, ones, zeros, .. } = work;
        let (input, panels) = (&rows.mixed, rows.panels());
        let (ones, zeros) = (&ones[..panels], &zeros[..panels]);
        slopes.resize(input.len(), Pack::default());
        self.network.forward(input, trace);
        self.network.backward(input, trace, ones, None, Some(slopes));
        lengths.clear(panels);
        lengths.add(slopes);
        let penalty = lengths.finish(rows.count, self.config.gradient_penalty);
        lengths.turn(slopes);
        self.network.tangent(trace, slopes, tangent);
        self.network.backward_tangent(input, trace, slopes, tangent, zeros, ones, gradient, None);
        penalty
    }
}

impl Judge for GailJudge {
    const NAME: &'static str = "gail";
    type Scratch = Trace;
    type Work = GailWork;

    fn scratch(&self, panels: usize) -> Trace {
        Trace::new(self.network.shape(), panels)
    }

    fn rewards(&self, block: &[Pack], trace: &mut Trace, out: &mut [Pack]) {
        out.copy_from_slice(self.network.forward(block, trace));
        self.config.reward.apply(self.isa, out);
    }

    fn work(&self, panels: usize) -> GailWork {
        let shape = self.network.shape();
        GailWork {
            trace: Trace::new(shape, panels),
            tangent: Tangent::new(shape, panels),
            gradient: Gradient::new(shape),
            row: vec![0.0; shape.parameters()],
            logits: Vec::new(),
            rewards: Vec::new(),
            slopes: Vec::new(),
            lengths: Slopes::default(),
            ones: vec![Pack([1.0; LANES]); panels],
            zeros: vec![Pack::default(); panels],
        }
    }

    fn learn(&mut self, rows: &Rows, work: &mut GailWork, _: &mut Draws) -> Result<Health, RewardError> {
        let health = self.loss(rows, work);
        self.state.step(self.isa, Self::NAME, self.config.learning_rate, health.loss(), &work.row)?;
        self.network.load(&self.state.parameters);
        Ok(health)
    }

    fn save(&self) -> Result<Record, RewardError> {
        Record::new(Self::NAME, &self.state)
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        let state: Trained = record.state(Self::NAME)?;
        state.fits(self.network.shape().parameters())?;
        self.network.load(&state.parameters);
        self.state = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{Golden, assert_close, mixed, panels};
    use magpie_random::Stream;

    /// Ten times what PyTorch's own float32 run deviates.
    const TOLERANCE: f32 = 7e-6;

    fn judge(golden: &mut Golden, config: &GailConfig, isa: Isa) -> GailJudge {
        let shape = golden.network("d");
        let parameters = golden.row("d", &shape);
        GailJudge::new(config, shape, isa, |_| parameters)
    }

    #[test]
    fn golden_losses_gradients_and_steps() {
        let mut golden = Golden::open("gail");
        for isa in Isa::available() {
            for mix in ["elem", "row"] {
                let (expert, policy) = (golden.array("expert"), golden.array("policy"));
                let alpha = golden.values(&format!("alpha_{mix}"));
                let rows = Rows {
                    count: expert.0[0],
                    mixed: panels(isa, &mixed(&expert.1, &policy.1, &alpha), expert.0[1]),
                    expert: panels(isa, &expert.1, expert.0[1]),
                    policy: panels(isa, &policy.1, policy.0[1]),
                };
                let mut judge = judge(&mut golden, &GailConfig::default(), isa);
                let mut work = judge.work(rows.panels());
                let health = judge.loss(&rows, &mut work);
                for (name, got) in [
                    ("expert_loss".to_owned(), health.expert_loss),
                    ("policy_loss".to_owned(), health.policy_loss),
                    (format!("gp_{mix}"), health.gradient_penalty),
                    (format!("total_{mix}"), health.loss()),
                ] {
                    assert_close(&name, &[got as f32], &golden.values(&name), TOLERANCE);
                }
                let shape = judge.network.shape().clone();
                golden.assert_row(&format!("grad_total_{mix}_d"), &shape, &work.row, TOLERANCE);

                if mix == "elem" {
                    let mut draws = Stream::new(1, "test").draws(0, 0);
                    let losses: Vec<f32> = (0..3)
                        .map(|_| judge.learn(&rows, &mut work, &mut draws).unwrap().loss() as f32)
                        .collect();
                    assert_close("step3_loss", &losses, &golden.values("step3_loss"), TOLERANCE);
                    golden.assert_row("step3_d", &shape, &judge.state.parameters, TOLERANCE);
                }
            }
        }
    }

    #[test]
    fn golden_rewards() {
        let mut golden = Golden::open("gail");
        let (shape, x) = golden.array("reward_x");
        for isa in Isa::available() {
            for (form, name) in [
                (RewardForm::Softplus, "reward_softplus"),
                (RewardForm::LogOdds, "reward_airl"),
                (RewardForm::LogD, "reward_logd"),
            ] {
                let config = GailConfig { reward: form, ..GailConfig::default() };
                let judge = judge(&mut golden, &config, isa);
                let mut out = vec![Pack::default(); shape[0].div_ceil(LANES)];
                judge.rewards(&panels(isa, &x, shape[1]), &mut judge.scratch(out.len()), &mut out);
                let got: Vec<f32> = out.iter().flat_map(|pack| pack.0).take(shape[0]).collect();
                assert_close(name, &got, &golden.values(name), TOLERANCE);
            }
        }
    }
}
