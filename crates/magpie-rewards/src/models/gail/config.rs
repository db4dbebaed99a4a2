//! Settings of GAIL.

use magpie_settings::{When, above_to, settings};

use crate::adversarial::{Inputs, Mix, RewardForm};

settings! {
    /// Settings of GAIL.
    pub struct GailConfig {
        /// Widths of the discriminator's hidden layers.
        hidden: Vec<usize> = vec![100, 100], in 1..=4096;
        /// What the discriminator sees of a step. Try `state` or `transition` if it tells expert and policy apart by the noise
        /// of the policy's actions.
        inputs: Inputs = Inputs::StateAction, since "0.1.0" before "state_action";
        /// Learning rate of Adam. Lower it if the discriminator's accuracies on expert and policy rows both stay near 1.
        learning_rate: f64 = 3e-4, in above_to(0.0, 1.0);
        /// Expert rows per minibatch; the same number of policy rows is added. The paper gives no value.
        batch_size: usize = 128, in 1..=1 << 20;
        /// Weight of the gradient penalty (‖gradient‖ − 1)²; 0 turns it off, and the published code uses 10. Raise it if the discriminator
        /// separates expert and policy perfectly.
        gradient_penalty: f32 = 10.0, in 0.0..;
        /// How expert and policy rows are interpolated for the gradient penalty.
        mix: Mix = Mix::Row, parity "the published code interpolates by entry";
        /// Reward as a function of the discriminator's logit d.
        reward: RewardForm = RewardForm::Softplus;
        /// Continue episodes that end early in an absorbing state until the horizon, and learn its reward too. Turn it on if the sign of the
        /// reward alone teaches the policy to survive or to fall.
        absorbing: bool = false;
    }
    retired { gamma => "search.train.gamma", when When::On("reward.gail.absorbing"); }
}
