//! Settings of training.

use magpie_nn::ppo::PpoConfig;
use magpie_settings::{SettingError, Settings, above, settings, words};

use crate::learner::LearnerName;

settings! {
    /// How an agent is trained on rollouts. The defaults are the paper's.
    pub struct TrainConfig {
        /// Learning algorithm.
        learner: LearnerName = LearnerName::Ppo, since "0.1.0" before "ppo";
        /// Steps collected in each environment before an update.
        rollout_length: usize = 128, in 1..=100_000, unit "steps", was "window";
        /// Passes over the data of a rollout.
        epochs: usize = 4, in 1..=1000;
        /// Minibatches per pass; at most the number of steps in a rollout.
        minibatches: usize = 8, in 1..;
        /// Discount per step (γ), also used by reward models that depend on future states. Raise it for tasks with
        /// short time steps.
        gamma: f32 = 0.99, in 0.0..=1.0;
        /// λ of generalised advantage estimation. Lower it to reduce the variance of advantages at the cost of bias.
        gae_lambda: f32 = 0.95, in 0.0..=1.0;
        /// Stop an update when the approximate KL divergence from the old policy exceeds this. With the paper's 0.008,
        /// about half of the minibatches of walker2d are used, and the policy learns less in the same number of steps.
        target_kl: f64 = 0.008, magpie 0.02, in above(0.0), unit "nats";
        /// What an update completes before it stops at `target_kl`.
        stop_after: StopAfter = StopAfter::Epoch, parity "the published code stops after an epoch";
        /// Loss and optimiser.
        ppo: PpoConfig;
    }
}

words! {
    /// What an update completes before it stops because the policy has moved far enough.
    pub enum StopAfter {
        /// The current epoch: each row is used at least once.
        Epoch = "epoch",
        /// The current minibatch: the policy never moves much beyond the target. This takes less time and learns less.
        Minibatch = "minibatch",
    }
}

impl TrainConfig {
    /// Checks the configuration for training in this many environments.
    pub fn check(&self, environments: usize) -> Result<(), SettingError> {
        self.check_ranges()?;
        let rows = environments.saturating_mul(self.rollout_length);
        let range = format!("from 1 to {rows} (the number of steps in a rollout)");
        SettingError::unless(self.minibatches <= rows, "minibatches", self.minibatches, range)
    }
}
