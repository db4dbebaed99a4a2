//! Settings of AIRL.

use magpie_settings::{above_to, settings, words};

settings! {
    /// Settings of AIRL. Its discount γ is that of PPO.
    pub struct AirlConfig {
        /// Widths of the hidden layers of the reward network g and of the shaping network h.
        hidden: Vec<usize> = vec![100, 100], in 1..=4096;
        /// Output that serves as the reward.
        reward: AirlReward = AirlReward::LogOdds, magpie AirlReward::Softplus;
        /// What g sees of a step; h always sees states.
        inputs: AirlInputs = AirlInputs::StateAction, since "0.1.0" before "state_action";
        /// Set h(s') to 0 at true terminations.
        mask_terminal: bool = true, parity "the published code does not";
        /// Learning rate of Adam. Lower it if the discriminator's accuracies on expert and policy rows both stay near 1.
        learning_rate: f64 = 3e-4, in above_to(0.0, 1.0);
        /// Expert rows per minibatch; the same number of policy rows is added. The paper gives no value.
        batch_size: usize = 128, in 1..=1 << 20;
        /// Weight of the gradient penalty (‖gradient‖ − 1)²; 0 turns it off, and the published code uses 10. Raise it if the discriminator
        /// separates expert and policy perfectly.
        gradient_penalty: f32 = 10.0, in 0.0..;
    }
    retired {
        gamma => "search.train.gamma";
        opponent = "policy";
    }
}

words! {
    /// The output that serves as the reward.
    pub enum AirlReward {
        /// log D - log(1 - D) = f - log π, as in the paper. With σ near 1, log π adds several nats of noise to every step.
        LogOdds = "log_odds",
        /// f, which leaves out the policy's log-probability. It settles near log π, far below 0 for a noisy policy, so that
        /// falling pays: the library imitation, which pays f, subtracts its running mean.
        Advantage = "advantage",
        /// g, which leaves out the shaping as well.
        Reward = "reward",
        /// log(1 + e^(f − mean log π)), with the mean over the rollout: log odds without the noise of log π, and never negative.
        Softplus = "softplus",
    }
}

words! {
    /// What the reward network g of AIRL sees of a step.
    pub enum AirlInputs {
        /// Observation and action.
        StateAction = "state_action",
        /// The observation.
        State = "state",
    }
}
