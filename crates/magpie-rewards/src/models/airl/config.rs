//! Settings of AIRL.

use magpie_settings::{above_to, settings, words};

settings! {
    /// How AIRL learns. Its γ is that of PPO.
    pub struct AirlConfig {
        /// Widths of the hidden layers of g and of h.
        hidden: Vec<usize> = vec![100, 100], in 1..=4096;
        /// What a row is worth.
        reward: AirlReward = AirlReward::LogOdds, parity "public code also pays f or g";
        /// Count h(s') as 0 where the episode ended by itself.
        mask_terminal: bool = true, parity "public code does not";
        /// Learning rate of Adam. Lower it if both accuracies sit near 1.
        learning_rate: f64 = 3e-4, in above_to(0.0, 1.0);
        /// Expert rows of a step, and as many policy rows. Not in the paper.
        batch_size: usize = 128, in 1..=1 << 20;
        /// Weight of the penalty on slopes, (slope − 1)²; 0 is none, and 10 public code's. More keeps a discriminator from knowing everything.
        gradient_penalty: f32 = 10.0, in 0.0..;
    }
    retired {
        gamma => "search.train.gamma";
        opponent = "policy";
    }
}

words! {
    /// What a row is worth.
    pub enum AirlReward {
        /// log D - log(1 - D). Paper.
        LogOdds = "log_odds",
        /// f: without the share of the policy.
        Advantage = "advantage",
        /// g: without shaping too.
        Reward = "reward",
    }
}
