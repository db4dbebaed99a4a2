//! Settings of GIRIL.

use magpie_settings::{above_to, settings, words};

settings! {
    /// Settings of GIRIL.
    pub struct GirilConfig {
        /// Widths of the hidden layers of the encoder and the decoder.
        hidden: Vec<usize> = vec![100, 100], in 1..=4096;
        /// How the three terms of the loss are weighted.
        loss: GirilLoss = GirilLoss::Row, parity "the published code gives the KL divergence far more weight";
        /// How a prediction error becomes a reward.
        reward: GirilReward = GirilReward::Norm;
        /// Passes over the thinned demonstrations; the model is trained before the search starts. Lower it to start
        /// sooner.
        epochs: usize = 10_000, in 1..;
        /// Learning rate of Adam.
        learning_rate: f64 = 3e-4, in above_to(0.0, 1.0);
        /// Rows per minibatch.
        batch_size: usize = 32, in 1..=1 << 20;
    }
    retired { scale = 1.0; }
}

words! {
    /// How the three terms of the loss are weighted.
    pub enum GirilLoss {
        /// All are summed over entries and averaged over rows, which gives the evidence lower bound.
        Row = "row",
        /// Errors are averaged over rows and entries, the KL divergence is summed over both, as in the published code.
        /// The KL divergence then outweighs the other terms.
        Public = "public",
    }
}

words! {
    /// How a prediction error becomes a reward.
    pub enum GirilReward {
        /// ‖ŝ' - s'‖², as in the paper. It has no bound.
        Norm = "norm",
        /// The mean squared error over entries.
        Mean = "mean",
        /// The mean squared error of values limited to ±1 and mapped to 0…1, as in the published code.
        Squashed = "squashed",
    }
}
