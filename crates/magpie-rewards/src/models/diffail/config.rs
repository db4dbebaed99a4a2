//! Settings of DiffAIL.

use magpie_settings::{SettingError, When, above_to, settings, words};

settings! {
    /// How DiffAIL learns.
    pub struct DiffailConfig {
        /// Widths of the hidden layers.
        hidden: Vec<usize> = vec![100, 100, 100], in 1..=4096;
        /// T, steps of diffusion.
        timesteps: usize = 100, in 1..=10_000;
        /// First and last β of the noise; the last one above 0.
        beta: [f64; 2] = [1e-4, 2e-2], in 0.0..1.0;
        /// How the errors of the entries make one number. The paper's sum makes all rewards 0 where there are many entries.
        error: Reduction = Reduction::Mean;
        /// What D = exp(−error) stands for in the loss.
        discriminator: Output = Output::Probability, parity "public code takes it for a logit";
        /// How the reward is averaged over t.
        average: Average = Average::MeanOfLogs, parity "public code averages before the logarithm";
        /// Over how many evenly spaced t the reward is averaged, at most all of them, as in the paper: time in proportion. Keep it even while
        /// noise is shared.
        reward_timesteps: usize = 10, in 1..;
        /// The noise with which rows are judged for their reward.
        reward_noise: Noise = Noise::Shared;
        /// Learning rate of Adam. Lower it if both accuracies sit near 1.
        learning_rate: f64 = 3e-4, in above_to(0.0, 1.0);
        /// Expert rows of a step, and as many policy rows. Not in the paper.
        batch_size: usize = 128, in 1..=1 << 20;
        /// Weight of the penalty on slopes, (slope − 1)²; 0 is none, and 10 public code's. More keeps a discriminator from knowing everything.
        gradient_penalty: f32 = 10.0, in 0.0..;
        /// Judge the steps that an early end costs too, as an absorbing state: where the sign of a reward teaches to live or to fall.
        absorbing: bool = false;
    }
    retired { gamma => "search.train.gamma", when When::On("reward.diffail.absorbing"); }
}

impl DiffailConfig {
    /// Refuses what no range can.
    pub(crate) fn check(&self) -> Result<(), SettingError> {
        let [first, last] = self.beta;
        SettingError::unless(
            last > 0.0,
            "beta",
            format!("[{first}, {last}]"),
            "two numbers, the last above 0",
        )?;
        let (some, all) = (self.reward_timesteps, self.timesteps);
        SettingError::unless(some <= all, "reward_timesteps", some, format!("from 1 to {all}, the timesteps"))
    }
}

words! {
    /// How the squared errors of the entries make one number.
    pub enum Reduction {
        /// Their mean. Public code.
        Mean = "mean",
        /// Their sum. Paper. D vanishes if there are many entries.
        Sum = "sum",
    }
}

words! {
    /// What D = exp(-E) stands for in the loss.
    pub enum Output {
        /// The probability of being expert. Paper.
        Probability = "probability",
        /// A logit, so that the probability lies between 0.5 and 0.73. Public code.
        Logit = "logit",
    }
}

words! {
    /// How the reward is averaged over t.
    pub enum Average {
        /// mean of -log(1 - D). Paper.
        MeanOfLogs = "mean_of_logs",
        /// -log(1 - mean of D).
        LogOfMean = "log_of_mean",
        /// -log(1 - mean of exp(-e) over t and entries). Public code.
        LogOfMeanOverEntries = "log_of_mean_over_entries",
    }
}

words! {
    /// The noise with which rows are judged for their reward.
    pub enum Noise {
        /// All rows with the same, and neighbouring t with opposite ones: cheaper, and rows differ only by what they are.
        Shared = "shared",
        /// Each row of a block with its own. Paper.
        Own = "own",
    }
}
