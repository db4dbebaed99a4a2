//! How an agent learns.

use magpie_nn::ppo::PpoConfig;
use magpie_settings::{SettingError, Settings, above, settings, words};

use crate::learner::LearnerName;

settings! {
    /// How an agent learns from rollouts. Defaults are the paper's.
    pub struct TrainConfig {
        /// How agents learn.
        learner: LearnerName = LearnerName::Ppo, since "0.1.0" before "ppo";
        /// Steps collected in every environment before an update.
        rollout_length: usize = 128, in 1..=100_000, unit "steps", was "window";
        /// Passes over a rollout.
        epochs: usize = 4, in 1..=1000;
        /// Minibatches of a pass; at most the rows of a rollout.
        minibatches: usize = 8, in 1..;
        /// γ, the discount of a step; that of learned rewards too, where they pay for states to come.
        gamma: f32 = 0.99, in 0.0..=1.0;
        /// λ of generalised advantage estimation.
        gae_lambda: f32 = 0.95, in 0.0..=1.0;
        /// An update ends when the policy has moved further than this. At the paper's 0.008 it uses about half of its minibatches (walker2d)
        /// and learns less in as many steps.
        target_kl: f64 = 0.008, magpie 0.02, in above(0.0), unit "nats";
        /// What is finished before an update ends that has moved the policy far enough.
        stop_after: StopAfter = StopAfter::Epoch, parity "public code stops after an epoch";
        /// Loss and optimiser.
        ppo: PpoConfig;
    }
}

words! {
    /// What is finished before an update that has moved the policy far enough ends.
    pub enum StopAfter {
        /// The epoch: each row is used at least once.
        Epoch = "epoch",
        /// The minibatch: the policy never moves much further than it may; takes less time and learns less.
        Minibatch = "minibatch",
    }
}

impl TrainConfig {
    /// Refuses what cannot be learned with in `environments` environments.
    pub fn check(&self, environments: usize) -> Result<(), SettingError> {
        self.check_ranges()?;
        let rows = environments.saturating_mul(self.rollout_length);
        let range = format!("from 1 to {rows}, the rows of a rollout");
        SettingError::unless(self.minibatches <= rows, "minibatches", self.minibatches, range)
    }
}
