//! Settings of the maximum-entropy IRL model.

use magpie_settings::{When, above_to, settings, words};

settings! {
    /// Settings of maximum-entropy IRL.
    pub struct MaxentConfig {
        /// Widths of the hidden layers of the reward network.
        hidden: Vec<usize> = vec![100, 100], in 1..=4096;
        /// The reward of a step as a function of the network's output r.
        reward: MaxentReward = MaxentReward::Plain, magpie MaxentReward::Softplus, since "0.1.0" before "plain";
        /// Learning rate of Adam.
        learning_rate: f64 = 3e-4, in above_to(0.0, 1.0);
        /// Expert rows per minibatch; the same number of policy rows is added. The paper gives no value.
        batch_size: usize = 128, in 1..=1 << 20;
        /// Weight of half the mean squared output, which limits it to ±1/`reward_l2`. Lower it for larger rewards;
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

words! {
    /// The reward of a step as a function of the network's output r.
    pub enum MaxentReward {
        /// r, as in the paper. The steps of a policy that is unlike the expert cost something, which pays it to fall.
        Plain = "plain",
        /// log(1 + eʳ), which is never negative, so that ending an episode never pays.
        Softplus = "softplus",
    }
}
