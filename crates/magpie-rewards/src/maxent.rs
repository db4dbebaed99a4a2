//! Deep maximum-entropy inverse reinforcement learning (Wulfmeier et al., 2015).
//!
//! ```text
//! loss     -(mean r(expert) - mean r(policy)) + ½ weight_l2 ‖θ‖² + ½ reward_l2 (mean r(expert)² + mean r(policy)²)
//! reward   r
//! ```
//!
//! The policy is trained on r while r is trained against the policy, so the policy's own rows stand for the expectation
//! under the current reward. The objective is linear in r and has no maximum without an L2 term. On weights it is a
//! poor one: a small weight lets rewards grow into the hundreds, a larger one pulls them to zero, with little
//! between. On rewards it bounds them, to ±1/`reward_l2`, where a row is surely the expert's or the policy's.

use magpie_nn::{Gradient, Network, Shape, Trace, init};
use magpie_random::Draws;
use magpie_simd::{Isa, Pack};
use serde::{Deserialize, Serialize};

use crate::adversarial::{Adversarial, Docket, Judge, Mix, Rows};
use crate::config::{require, require_learning};
use crate::error::RewardError;
use crate::form::{Side, mean};
use crate::gail::scalar_shape;
use crate::health::Health;
use crate::trained::{Record, Trained};
use crate::transitions::Sizes;

/// How the maximum-entropy model learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaxentConfig {
    /// Widths of the hidden layers. Paper: 100, 100.
    pub hidden: Vec<usize>,
    /// Learning rate of Adam. Paper: 3e-4.
    pub learning_rate: f64,
    /// Expert rows of a step, and as many policy rows. Not in the paper.
    pub batch_size: usize,
    /// Weight of ½ ‖θ‖². Not in the paper.
    pub weight_l2: f32,
    /// Weight of half the mean squared rewards. Not in the paper; without it rewards grow without bound.
    pub reward_l2: f32,
    /// Judge the steps that an early end costs too, as an absorbing state. Paper: no.
    pub absorbing: bool,
    /// Discount of the rewards in the absorbing state; that of PPO.
    pub gamma: f32,
}

impl Default for MaxentConfig {
    fn default() -> MaxentConfig {
        MaxentConfig {
            hidden: vec![100, 100],
            learning_rate: 3e-4,
            batch_size: 128,
            weight_l2: 0.0,
            reward_l2: 1.0,
            absorbing: false,
            gamma: 0.99,
        }
    }
}

impl MaxentConfig {
    fn check(&self) -> Result<(), RewardError> {
        let fields = ["maxent.hidden", "maxent.learning_rate", "maxent.batch_size"];
        require_learning(fields, &self.hidden, self.learning_rate, self.batch_size)?;
        for (field, weight) in [("maxent.weight_l2", self.weight_l2), ("maxent.reward_l2", self.reward_l2)] {
            require(weight >= 0.0 && weight.is_finite(), field, weight, "0 or more")?;
        }
        require((0.0..=1.0).contains(&self.gamma), "maxent.gamma", self.gamma, "from 0 to 1")
    }
}

/// The model.
pub type Maxent = Adversarial<MaxentJudge>;

impl Maxent {
    /// A reward that has learnt nothing yet.
    pub fn from_config(
        config: &MaxentConfig,
        sizes: Sizes,
        isa: Isa,
        draws: &mut Draws,
    ) -> Result<Maxent, RewardError> {
        config.check()?;
        let MaxentConfig { batch_size, absorbing, gamma, .. } = *config;
        let docket = Docket { batch_size, mix: Mix::Row, absorbing, gamma };
        Adversarial::new(sizes, isa, docket, |width| {
            let shape = scalar_shape("maxent.hidden", width, &config.hidden)?;
            Ok(MaxentJudge::new(config, shape, isa, |shape| init::xavier(shape, draws)))
        })
    }
}

/// The reward network.
#[derive(Debug)]
pub struct MaxentJudge {
    config: MaxentConfig,
    isa: Isa,
    state: Trained,
    network: Network,
}

/// Memory for a step.
#[derive(Debug)]
pub struct MaxentWork {
    trace: Trace,
    gradient: Gradient,
    row: Vec<f32>,
    derivatives: Vec<Pack>,
    rewards: [Vec<Pack>; 2],
}

impl MaxentJudge {
    fn new(
        config: &MaxentConfig,
        shape: Shape,
        isa: Isa,
        first: impl FnOnce(&Shape) -> Vec<f32>,
    ) -> MaxentJudge {
        let mut network = Network::new(&shape, isa, false);
        let state = Trained::new(first(&shape));
        network.load(&state.parameters);
        MaxentJudge { config: config.clone(), isa, state, network }
    }

    /// The loss of both sides; its parameter gradient, with that of the weights' L2 term, is left in `work.row`.
    fn loss(&self, rows: &Rows, work: &mut MaxentWork) -> Health {
        let MaxentWork { trace, gradient, row, derivatives, rewards } = work;
        let mut health = Health::default();
        gradient.clear();
        let sides = [(Side::Expert, -1.0, &rows.expert), (Side::Policy, 1.0, &rows.policy)];
        for ((side, sign, input), rewards) in sides.into_iter().zip(&mut *rewards) {
            rewards.clear();
            rewards.extend_from_slice(self.network.forward(input, trace));
            derivatives.clear();
            derivatives.resize(rows.panels(), Pack::default());
            let (mut square, n) = (0.0, rows.count as f32);
            let places = derivatives.iter_mut().flat_map(|pack| pack.0.iter_mut());
            for (derivative, reward) in places.zip(rewards.iter().flat_map(|pack| pack.0)).take(rows.count) {
                *derivative = (sign + self.config.reward_l2 * reward) / n;
                square += f64::from(reward * reward) / f64::from(n);
            }
            self.network.backward(input, trace, derivatives, Some(gradient), None);
            let reward = mean(rewards, rows.count);
            let loss = f64::from(sign) * reward + 0.5 * f64::from(self.config.reward_l2) * square;
            health.set_side(side, loss, 0.0, reward);
        }
        // There is no border between expert and policy; half way between their means serves.
        let border = (health.expert_reward + health.policy_reward) / 2.0;
        let share = |rewards: &[Pack], above: bool| {
            let rows = rewards.iter().flat_map(|pack| pack.0).take(rows.count);
            rows.filter(|&r| (f64::from(r) > border) == above).count() as f64
        };
        let n = rows.count.max(1) as f64;
        health.expert_accuracy = share(&rewards[0], true) / n;
        health.policy_accuracy = share(&rewards[1], false) / n;
        gradient.write(row);
        for (derivative, parameter) in row.iter_mut().zip(&self.state.parameters) {
            *derivative += self.config.weight_l2 * parameter;
        }
        health
    }
}

impl Judge for MaxentJudge {
    const NAME: &'static str = "maxent";
    type Scratch = Trace;
    type Work = MaxentWork;

    fn scratch(&self, panels: usize) -> Trace {
        Trace::new(self.network.shape(), panels)
    }

    fn rewards(&self, block: &[Pack], trace: &mut Trace, out: &mut [Pack]) {
        out.copy_from_slice(self.network.forward(block, trace));
    }

    fn work(&self, panels: usize) -> MaxentWork {
        let shape = self.network.shape();
        MaxentWork {
            trace: Trace::new(shape, panels),
            gradient: Gradient::new(shape),
            row: vec![0.0; shape.parameters()],
            derivatives: Vec::new(),
            rewards: [Vec::new(), Vec::new()],
        }
    }

    fn learn(&mut self, rows: &Rows, work: &mut MaxentWork, _: &mut Draws) -> Result<Health, RewardError> {
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
    use crate::golden::{Golden, assert_close, panels};

    /// Ten times what PyTorch's own float32 run deviates.
    const TOLERANCE: f32 = 1.1e-5;

    #[test]
    fn golden_difference_of_means() {
        let mut golden = Golden::open("maxent");
        let shape = golden.network("r");
        let parameters = golden.row("r", &shape);
        let (expert, policy) = (golden.array("expert"), golden.array("policy"));
        for isa in Isa::available() {
            let config = MaxentConfig { weight_l2: 0.0, reward_l2: 0.0, ..MaxentConfig::default() };
            let mut judge = MaxentJudge::new(&config, shape.clone(), isa, |_| parameters.clone());
            let rows = Rows {
                count: expert.0[0],
                expert: panels(isa, &expert.1, expert.0[1]),
                policy: panels(isa, &policy.1, policy.0[1]),
                mixed: Vec::new(),
            };
            let mut work = judge.work(rows.panels());
            let health = judge.loss(&rows, &mut work);
            assert_close("avg_loss", &[health.loss() as f32], &golden.values("avg_loss"), TOLERANCE);
            // The last bias cancels: its gradient is rounding noise around zero.
            let last = work.row.len() - 1;
            assert!(work.row[last].abs() < 1e-6);
            let (row, mut golden_row) = (work.row.clone(), golden.row("avg_grad_r", &shape));
            golden_row[last] = row[last];
            for layer in shape.layers() {
                for range in [layer.weight, layer.bias] {
                    assert_close("avg_grad", &row[range.clone()], &golden_row[range], TOLERANCE);
                }
            }
            let mut out = vec![Pack::default(); rows.panels()];
            judge.rewards(&rows.policy, &mut judge.scratch(rows.panels()), &mut out);
            let got: Vec<f32> = out.iter().flat_map(|pack| pack.0).collect();
            assert_close("r_policy", &got[..rows.count], &golden.values("r_policy"), TOLERANCE);

            judge.config.weight_l2 = 0.5;
            judge.loss(&rows, &mut work);
            for ((with, without), parameter) in work.row.iter().zip(&row).zip(&parameters) {
                assert!((with - without - 0.5 * parameter).abs() < 1e-6);
            }

            // The gradient of the rewards' L2 term against differences along itself.
            (judge.config.weight_l2, judge.config.reward_l2) = (0.0, 0.7);
            judge.loss(&rows, &mut work);
            let gradient = work.row.clone();
            let length = gradient.iter().map(|g| g * g).sum::<f32>();
            let mut at = |step: f32| {
                let moved: Vec<f32> = parameters.iter().zip(&gradient).map(|(p, g)| p + step * g).collect();
                judge.network.load(&moved);
                judge.loss(&rows, &mut work).loss()
            };
            let step = 1e-2 / length.sqrt();
            let slope = (at(step) - at(-step)) / f64::from(2.0 * step);
            assert!((slope / f64::from(length) - 1.0).abs() < 5e-3, "{slope} {length}");
        }
    }
}
