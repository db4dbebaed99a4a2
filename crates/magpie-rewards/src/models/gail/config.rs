//! Settings of GAIL.

use magpie_settings::{When, above_to, settings};

use crate::adversarial::{Mix, RewardForm};

settings! {
    /// How GAIL learns.
    pub struct GailConfig {
        /// Widths of the hidden layers.
        hidden: Vec<usize> = vec![100, 100], in 1..=4096;
        /// Learning rate of Adam. Lower it if both accuracies sit near 1.
        learning_rate: f64 = 3e-4, in above_to(0.0, 1.0);
        /// Expert rows of a step, and as many policy rows. Not in the paper.
        batch_size: usize = 128, in 1..=1 << 20;
        /// Weight of the penalty on slopes, (slope − 1)²; 0 is none, and 10 public code's. More keeps a discriminator from knowing everything.
        gradient_penalty: f32 = 10.0, in 0.0..;
        /// How the rows at which slopes are penalised are mixed.
        mix: Mix = Mix::Row, parity "public code mixes by entry";
        /// From the logit d to the reward.
        reward: RewardForm = RewardForm::Softplus;
        /// Judge the steps that an early end costs too, as an absorbing state: where the sign of a reward teaches to live or to fall.
        absorbing: bool = false;
    }
    retired { gamma => "search.train.gamma", when When::On("reward.gail.absorbing"); }
}
