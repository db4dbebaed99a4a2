//! Settings of GIRIL.

use magpie_settings::{above_to, settings, words};

settings! {
    /// How GIRIL learns.
    pub struct GirilConfig {
        /// Widths of the hidden layers of encoder and decoder.
        hidden: Vec<usize> = vec![100, 100], in 1..=4096;
        /// How the three terms of the loss are weighed.
        loss: GirilLoss = GirilLoss::Row, parity "public code lets the KL outweigh the rest";
        /// What a prediction error is worth.
        reward: GirilReward = GirilReward::Norm, parity "public code pays a squashed mean";
        /// Passes over the thinned demonstrations before the search.
        epochs: usize = 10_000, in 1..;
        /// Learning rate of Adam.
        learning_rate: f64 = 3e-4, in above_to(0.0, 1.0);
        /// Rows of a step.
        batch_size: usize = 32, in 1..=1 << 20;
    }
    retired { scale = 1.0; }
}

words! {
    /// How the three terms of the loss are weighed.
    pub enum GirilLoss {
        /// All summed over entries and averaged over rows: the evidence bound.
        Row = "row",
        /// Errors averaged over rows and entries, KL summed over both. Public code: the KL outweighs the rest.
        Public = "public",
    }
}

words! {
    /// What a prediction error is worth.
    pub enum GirilReward {
        /// ‖ŝ' - s'‖². Paper.
        Norm = "norm",
        /// Its mean over entries.
        Mean = "mean",
        /// The mean after both were limited to ±1 and mapped to 0…1. Public code.
        Squashed = "squashed",
    }
}
