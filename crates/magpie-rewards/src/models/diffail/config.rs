//! Settings of DiffAIL.

use magpie_settings::{SettingError, When, above_to, settings, words};

use crate::adversarial::Inputs;

settings! {
    /// Settings of DiffAIL.
    pub struct DiffailConfig {
        /// Widths of the hidden layers of the diffusion model.
        hidden: Vec<usize> = vec![100, 100, 100], in 1..=4096;
        /// Number of diffusion steps (T). The paper gives no value; DiffAIL's authors use 10.
        timesteps: usize = 100, in 1..=10_000;
        /// First and last noise variance β of the diffusion; the last one must be above 0.
        beta: [f64; 2] = [1e-4, 2e-2], in 0.0..1.0;
        /// How squared errors are reduced over the entries of a row. Use `sum` only to reproduce the paper: with many
        /// entries all rewards are then 0.
        error: Reduction = Reduction::Mean;
        /// How D = exp(−error) enters the loss.
        discriminator: Output = Output::Probability, parity "the published code uses it as a logit";
        /// How the reward is averaged over diffusion steps.
        average: Average = Average::MeanOfLogs, parity "the published code averages before taking the logarithm";
        /// Number of evenly spaced diffusion steps over which the reward is averaged, up to all of them as in the
        /// paper. Time grows in proportion; use an even number with shared noise.
        reward_timesteps: usize = 10, in 1..;
        /// Noise used when computing rewards.
        reward_noise: Noise = Noise::Shared;
        /// What the discriminator sees of a step. Try `state` or `transition` if it tells expert and policy apart by the noise
        /// of the policy's actions.
        inputs: Inputs = Inputs::StateAction, since "0.1.0" before "state_action";
        /// Learning rate of Adam. Lower it if the discriminator's accuracies on expert and policy rows both stay near 1.
        learning_rate: f64 = 3e-4, in above_to(0.0, 1.0);
        /// Expert rows per minibatch; the same number of policy rows is added. The paper gives no value.
        batch_size: usize = 128, in 1..=1 << 20;
        /// Passes over the thinned demonstrations after every rollout. Raise it if rewards of expert and policy hardly
        /// differ: DiffAIL's authors make 1000 steps of 256 rows for each 1000 steps of the environment. Time grows in
        /// proportion.
        passes: usize = 1, in 1..=10_000, since "0.1.0" before 1;
        /// Weight of the gradient penalty (‖gradient‖ − 1)²; 0 turns it off. The published code uses 10, DiffAIL's authors
        /// 0.001. Raise it if the discriminator separates expert and policy perfectly.
        gradient_penalty: f32 = 10.0, in 0.0..;
        /// Continue episodes that end early in an absorbing state until the horizon, and learn its reward too. Turn it on if the sign of the
        /// reward alone teaches the policy to survive or to fall.
        absorbing: bool = false;
    }
    retired { gamma => "search.train.gamma", when When::On("reward.diffail.absorbing"); }
}

impl DiffailConfig {
    /// Checks what ranges cannot express.
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
    /// How squared errors are reduced over the entries of a row.
    pub enum Reduction {
        /// Their mean, as in the published code.
        Mean = "mean",
        /// Their sum, as in the paper. D vanishes if there are many entries.
        Sum = "sum",
    }
}

words! {
    /// How D = exp(-E) enters the loss.
    pub enum Output {
        /// As the probability of being expert, as in the paper.
        Probability = "probability",
        /// As a logit, so that the probability lies between 0.5 and 0.73, as in the published code.
        Logit = "logit",
    }
}

words! {
    /// How the reward is averaged over diffusion steps t.
    pub enum Average {
        /// mean of -log(1 - D), as in the paper.
        MeanOfLogs = "mean_of_logs",
        /// -log(1 - mean of D).
        LogOfMean = "log_of_mean",
        /// -log(1 - mean of exp(-e) over t and entries), as in the published code.
        LogOfMeanOverEntries = "log_of_mean_over_entries",
    }
}

words! {
    /// Noise used when computing rewards.
    pub enum Noise {
        /// All rows share the same noise, with opposite signs for neighbouring t. This takes less time, and rewards
        /// differ only because rows do.
        Shared = "shared",
        /// Each row of a block has its own noise, as in the paper.
        Own = "own",
    }
}
