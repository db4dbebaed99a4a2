//! Learners: they improve an agent from a rollout whose rewards are final.
//!
//! To add one, add a file beside [`ppo`](self) and its entry in [`LearnerName`] and [`build`].

pub mod gae;
mod ppo;

use std::fmt::Debug;
use std::sync::Arc;

use magpie_nn::Kernel;
use magpie_nn::ppo::PpoStats;
use magpie_random::Draws;
use magpie_settings::words;
use serde::{Deserialize, Serialize};

use crate::agent::{Agent, Networks};
use crate::config::TrainConfig;
use crate::rollout_buffer::RolloutBuffer;
use ppo::PpoLearner;

/// Improves an agent from its rollouts.
///
/// A learner lives as long as the [`Trainer`](crate::Trainer) that owns it, possibly shorter than the agent. State that
/// must outlive it belongs in the agent.
pub trait Learner: Send + Debug {
    /// Learns from a rollout with final rewards. The same inputs give the same result, bit for bit, on any number of
    /// threads. If it fails, the agent keeps the state it had before the step that failed.
    fn learn(
        &mut self,
        agent: &mut Agent,
        rollout: &mut RolloutBuffer,
        draws: &mut Draws,
    ) -> Result<UpdateStats, UpdateError>;
}

/// Creates a learner for each agent to be trained.
pub type LearnerFactory = Arc<dyn Fn(&TrainConfig, &Networks) -> Box<dyn Learner> + Send + Sync>;

words! {
    /// The built-in learners.
    pub enum LearnerName {
        /// Proximal policy optimisation, as in the paper.
        Ppo = "ppo",
    }
}

/// Builds the configured learner, with `kernel` for matrix products.
pub(crate) fn build(config: &TrainConfig, networks: &Networks, kernel: Kernel) -> Box<dyn Learner> {
    match config.learner {
        LearnerName::Ppo => Box::new(PpoLearner::new(config, networks, kernel)),
    }
}

/// Statistics of an update: means over its minibatches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct UpdateStats {
    /// Losses, divergences and norms.
    pub ppo: PpoStats,
    /// Minibatches used before the update ended.
    pub minibatches: usize,
    /// Rows in these minibatches; a row counts each time it is used.
    pub rows: usize,
    /// Share of the returns' variance that the critic explained before the update.
    pub explained_variance: f64,
}

/// A value is not finite. The agent keeps the state it had before that minibatch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// A reward.
    #[error("a reward is not finite (row {row} of the rollout); nothing was learned from this rollout")]
    Reward {
        /// Row of the rollout.
        row: usize,
    },
    /// Loss or gradient.
    #[error(
        "the loss or a gradient of PPO is not finite (epoch {epoch}, minibatch {minibatch}); try a smaller learning rate"
    )]
    Loss {
        /// Epoch.
        epoch: usize,
        /// Minibatch of the epoch.
        minibatch: usize,
    },
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
        // The entropy does not depend on the rows, so the last value is the current one.
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
