//! From a window to a better agent: advantages, then epochs of minibatches.

use magpie_nn::normaliser::Moments;
use magpie_nn::ppo::{Batch, Ppo, PpoConfig, PpoStats};
use magpie_random::Draws;
use serde::{Deserialize, Serialize};

use crate::agent::Agent;
use crate::gae::{self, Step};
use crate::setting::SettingError;
use crate::window::{End, Window};

/// Observations are limited to this many standard deviations.
pub(crate) const OBSERVATION_LIMIT: f32 = 10.0;
/// Returns, in the critic's units, likewise.
pub(crate) const RETURN_LIMIT: f32 = 5.0;

/// How an agent learns from windows. Defaults are the paper's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// Steps of a window. Paper: 128.
    pub window: usize,
    /// Times each row is used. Paper: 4.
    pub epochs: usize,
    /// Minibatches of an epoch. Paper: 8.
    pub minibatches: usize,
    /// γ: weight of the next step's reward. Paper: 0.99.
    pub gamma: f32,
    /// λ of advantage estimation. Paper: 0.95.
    pub gae_lambda: f32,
    /// An update ends when the policy has moved this far. Paper: 0.008.
    pub target_kl: f64,
    /// When an update may end. Public code: after an epoch.
    pub stop_after: StopAfter,
    /// Loss and optimiser.
    pub ppo: PpoConfig,
}

/// What is finished before an update that has moved the policy far enough ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopAfter {
    /// The epoch: each row is used at least once.
    #[default]
    Epoch,
    /// The minibatch: the policy never moves much further than it may.
    Minibatch,
}

impl Default for TrainConfig {
    fn default() -> TrainConfig {
        TrainConfig {
            window: 128,
            epochs: 4,
            minibatches: 8,
            gamma: 0.99,
            gae_lambda: 0.95,
            target_kl: 0.008,
            stop_after: StopAfter::default(),
            ppo: PpoConfig::default(),
        }
    }
}

impl TrainConfig {
    /// Refuses what cannot be learnt with in `environments` environments. Fields are named below `train`.
    pub fn check(&self, environments: usize) -> Result<(), SettingError> {
        let (ppo, adam) = (&self.ppo, &self.ppo.adam);
        SettingError::unless(
            "train.window",
            self.window,
            (1..=100_000).contains(&self.window),
            "from 1 to 100000",
        )?;
        SettingError::unless(
            "train.epochs",
            self.epochs,
            (1..=1000).contains(&self.epochs),
            "from 1 to 1000",
        )?;
        let rows = environments * self.window;
        let cut = (1..=rows).contains(&self.minibatches);
        SettingError::unless(
            "train.minibatches",
            self.minibatches,
            cut,
            format!("from 1 to {rows}, the rows of a window"),
        )?;
        for (field, value) in [("train.gamma", self.gamma), ("train.gae_lambda", self.gae_lambda)] {
            SettingError::unless(field, value, (0.0..=1.0).contains(&value), "from 0 to 1")?;
        }
        for (field, value) in [
            ("train.target_kl", self.target_kl),
            ("train.ppo.clip", ppo.clip.into()),
            ("train.ppo.value_clip", ppo.value_clip.into()),
            ("train.ppo.gradient_norm", ppo.gradient_norm.into()),
            ("train.ppo.adam.learning_rate", adam.learning_rate),
            ("train.ppo.adam.epsilon", adam.epsilon),
        ] {
            SettingError::unless(field, value, value > 0.0 && value.is_finite(), "above 0")?;
        }
        for (field, value) in
            [("train.ppo.value_weight", ppo.value_weight), ("train.ppo.entropy_weight", ppo.entropy_weight)]
        {
            SettingError::unless(field, value, value >= 0.0 && value.is_finite(), "at least 0")?;
        }
        for (field, value) in [("train.ppo.adam.beta1", adam.beta1), ("train.ppo.adam.beta2", adam.beta2)] {
            SettingError::unless(field, value, (0.0..1.0).contains(&value), "at least 0 and below 1")?;
        }
        Ok(())
    }
}

/// What an update did: means over its minibatches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct UpdateStats {
    /// Losses, divergences and norms.
    pub ppo: PpoStats,
    /// Minibatches used before the policy had moved far enough.
    pub minibatches: usize,
    /// Rows of these minibatches: a row that is used again counts again.
    pub rows: usize,
    /// Share of the returns' variance that the critic explained before the update.
    pub explained_variance: f64,
}

/// Numbers that are not finite. The agent is as it was before the minibatch that met them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// A reward.
    #[error("a reward is not finite (row {row} of the window); nothing was learnt from this window")]
    Reward {
        /// Row of the window.
        row: usize,
    },
    /// Loss or gradient.
    #[error(
        "the loss or a gradient of PPO is not finite (epoch {epoch}, minibatch {minibatch}); a smaller learning rate helps"
    )]
    Loss {
        /// Epoch.
        epoch: usize,
        /// Minibatch of the epoch.
        minibatch: usize,
    },
}

/// Turns the rewards of a window into advantages and targets, in the order: values into the units of rewards,
/// estimation, merge of the returns into the agent's statistics, targets into the critic's units. Returns the share of
/// the returns' variance that the critic explained.
pub fn estimate(agent: &mut Agent, window: &mut Window, config: &TrainConfig) -> Result<f64, UpdateError> {
    if let Some(row) = window.rewards.iter().position(|r| !r.is_finite()) {
        return Err(UpdateError::Reward { row });
    }
    let units = agent.returns.freeze(RETURN_LIMIT);
    let mut moments = Moments::new(1);
    let mut surprise = Moments::new(1);
    for environment in 0..window.environments() {
        let rows: Vec<usize> = window.rows_of(environment).collect();
        let steps: Vec<Step> = rows
            .iter()
            .map(|&row| Step {
                reward: window.rewards[row],
                value: units.raw(0, window.values[row]),
                done: window.ends[row] != End::Continues,
                bootstrap: match window.ends[row] {
                    End::Terminated => 0.0,
                    End::Continues | End::Truncated => units.raw(0, window.bootstrap[row]),
                },
            })
            .collect();
        gae::advantages(steps.iter().copied(), config.gamma, config.gae_lambda, |t, advantage, value| {
            window.advantages[rows[t]] = advantage;
            window.returns[rows[t]] = value;
        });
        let returns: Vec<f32> = rows.iter().map(|&row| window.returns[row]).collect();
        let misses: Vec<f32> = rows.iter().map(|&row| window.advantages[row]).collect();
        moments.add_rows(&returns);
        surprise.add_rows(&misses);
    }
    let explained = 1.0 - surprise.squares()[0] / moments.squares()[0].max(1e-12);
    agent.returns.update(&moments);
    let units = agent.returns.freeze(RETURN_LIMIT);
    for value in &mut window.returns {
        *value = units.value(0, *value);
    }
    Ok(explained)
}

/// Epochs of shuffled minibatches, until the policy has moved far enough.
pub fn learn(
    ppo: &mut Ppo,
    agent: &mut Agent,
    window: &Window,
    config: &TrainConfig,
    draws: &mut Draws,
) -> Result<UpdateStats, UpdateError> {
    let mut order: Vec<u32> = (0..window.rows() as u32).collect();
    let mut stats = UpdateStats::default();
    let mut too_far = false;
    for epoch in 0..config.epochs {
        draws.shuffle(&mut order);
        let size = order.len().div_ceil(config.minibatches.max(1));
        for (minibatch, rows) in order.chunks(size.max(1)).enumerate() {
            let batch = Batch {
                rows,
                observations: &window.observations,
                actions: &window.actions,
                log_probs: &window.log_probs,
                advantages: &window.advantages,
                returns: &window.returns,
                values: &window.values,
            };
            let step = ppo.step(&config.ppo, &mut agent.learner, &batch);
            if !(step.loss.is_finite() && step.policy_norm.is_finite() && step.critic_norm.is_finite()) {
                return Err(UpdateError::Loss { epoch, minibatch });
            }
            stats.add(&step, rows.len());
            too_far = step.approx_kl > config.target_kl;
            if too_far && config.stop_after == StopAfter::Minibatch {
                break;
            }
        }
        if too_far {
            break;
        }
    }
    stats.finish();
    Ok(stats)
}

impl UpdateStats {
    fn add(&mut self, step: &PpoStats, rows: usize) {
        let sum = &mut self.ppo;
        sum.loss += step.loss;
        sum.policy_loss += step.policy_loss;
        sum.value_loss += step.value_loss;
        sum.approx_kl += step.approx_kl;
        sum.old_approx_kl += step.old_approx_kl;
        sum.clip_fraction += step.clip_fraction;
        sum.policy_norm += step.policy_norm;
        sum.critic_norm += step.critic_norm;
        // The spread does not depend on the rows: the last one is how it is now.
        sum.entropy = step.entropy;
        self.minibatches += 1;
        self.rows += rows;
    }

    fn finish(&mut self) {
        let n = self.minibatches.max(1) as f64;
        let sum = &mut self.ppo;
        for total in [
            &mut sum.loss,
            &mut sum.policy_loss,
            &mut sum.value_loss,
            &mut sum.approx_kl,
            &mut sum.old_approx_kl,
            &mut sum.clip_fraction,
        ] {
            *total /= n;
        }
        sum.policy_norm /= n as f32;
        sum.critic_norm /= n as f32;
    }
}
