//! Settings of the maximum-entropy IRL model.

use magpie_settings::{When, above_to, settings};

settings! {
    /// Settings of maximum-entropy IRL.
    pub struct MaxentConfig {
        /// Widths of the hidden layers of the reward network.
        hidden: Vec<usize> = vec![100, 100], in 1..=4096;
        /// Learning rate of Adam.
        learning_rate: f64 = 3e-4, in above_to(0.0, 1.0);
        /// Expert rows per minibatch; the same number of policy rows is added. The paper gives no value.
        batch_size: usize = 128, in 1..=1 << 20;
        /// Weight of half the mean squared reward, which limits rewards to ±1/`reward_l2`. Lower it for larger rewards;
        /// with 0 they grow without limit. The paper has no such term.
        reward_l2: f32 = 1.0, in 0.0..;
        /// Continue episodes that end early in an absorbing state until the horizon, and learn its reward too. Turn it on if the sign of the
        /// reward alone teaches the policy to survive or to fall.
        absorbing: bool = false;
    }
    retired {
        gamma => "search.train.gamma", when When::On("reward.maxent.absorbing");
        weight_l2 = 0.0;
    }
}
