//! Settings of VAIL.

use magpie_settings::{When, above_to, settings, words};

use crate::adversarial::{Mix, RewardForm};

settings! {
    /// How VAIL learns.
    pub struct VailConfig {
        /// Widths of the encoder's hidden layers.
        hidden: Vec<usize> = vec![100], in 1..=4096;
        /// Entries of the code.
        code_size: usize = 50, in 1..=2048;
        /// Which code the discriminator learns on.
        code: Code = Code::Sampled, parity "public code learns on the mean";
        /// I_c: what may pass the bottleneck; see reward_kl in metrics.csv.
        information: f64 = 0.5, in 0.0.., unit "nats";
        /// First β, the price of a nat. Not in the paper.
        beta: f64 = 0.0, in 0.0..;
        /// How fast the price follows (Peng et al.: 1e-5); 0 keeps it. Raise it if reward_kl stays above `information`.
        beta_step: f64 = 1e-5, in 0.0..;
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
    retired { gamma => "search.train.gamma", when When::On("reward.vail.absorbing"); }
}

words! {
    /// Which code the discriminator learns on.
    pub enum Code {
        /// z = μ + σ noise. Paper.
        Sampled = "sampled",
        /// z = μ. Public code.
        Mean = "mean",
    }
}
