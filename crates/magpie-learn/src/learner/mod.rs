//! Learners: from a rollout, whose rewards have been decided, to a better agent.
//!
//! To add one: a file beside [`ppo`](self), and its place in the list [`LearnerName`] with [`build`].

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

/// Improves an agent on what it did.
///
/// A learner lives as long as the [`Trainer`](crate::Trainer) that owns it, which may be shorter than the agent:
/// what has to outlive it belongs into the agent's record.
pub trait Learner: Send + Debug {
    /// Learns from a rollout with final rewards. The same inputs give the same bytes, on any number of threads. If it
    /// fails, the agent is as it was before the step that failed.
    fn learn(
        &mut self,
        agent: &mut Agent,
        rollout: &mut RolloutBuffer,
        draws: &mut Draws,
    ) -> Result<UpdateStats, UpdateError>;
}

/// Makes a learner for each agent that is to be trained.
pub type LearnerFactory = Arc<dyn Fn(&TrainConfig, &Networks) -> Box<dyn Learner> + Send + Sync>;

words! {
    /// The learners that a configuration can name.
    pub enum LearnerName {
        /// Proximal policy optimisation: the paper's.
        Ppo = "ppo",
    }
}

/// The learner that the configuration names, multiplying with `kernel`.
pub(crate) fn build(config: &TrainConfig, networks: &Networks, kernel: Kernel) -> Box<dyn Learner> {
    match config.learner {
        LearnerName::Ppo => Box::new(PpoLearner::new(config, networks, kernel)),
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
    #[error("a reward is not finite (row {row} of the rollout); nothing was learned from this rollout")]
    Reward {
        /// Row of the rollout.
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
