//! Settings of the maximum-entropy model.

use magpie_settings::{When, above_to, settings};

settings! {
    /// How the maximum-entropy model learns.
    pub struct MaxentConfig {
        /// Widths of the hidden layers.
        hidden: Vec<usize> = vec![100, 100], in 1..=4096;
        /// Learning rate of Adam.
        learning_rate: f64 = 3e-4, in above_to(0.0, 1.0);
        /// Expert rows of a step, and as many policy rows. Not in the paper.
        batch_size: usize = 128, in 1..=1 << 20;
        /// Weight of half the mean squared rewards, which bounds rewards to ±1/`reward_l2`. Not in the paper; with 0 they grow without end.
        reward_l2: f32 = 1.0, in 0.0..;
        /// Judge the steps that an early end costs too, as an absorbing state: where the sign of a reward teaches to live or to fall.
        absorbing: bool = false;
    }
    retired {
        gamma => "search.train.gamma", when When::On("reward.maxent.absorbing");
        weight_l2 = 0.0;
    }
}
