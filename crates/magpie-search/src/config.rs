//! What a search computes, with the paper's values.

use magpie_envs::Environment;
use magpie_learn::TrainConfig;
use magpie_qd::{Acceptance, Grid, QdOffset};
use serde::{Deserialize, Serialize};

use crate::curiosity::Curiosity;

/// Everything that decides the course of a search, besides task, reward and seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchConfig {
    /// E: environments side by side. Paper: 3000.
    pub environments: u32,
    /// λ: branches tried in an iteration; each is evaluated in E/λ environments. Paper: 300.
    pub branches: u32,
    /// N1: PPO iterations of each copy from which gradients are taken. Paper: 10.
    pub gradient_iterations: u32,
    /// N2: PPO iterations of the walk. Paper: 10.
    pub walk_iterations: u32,
    /// σ0: spread of the coefficients at the start and after a restart. Paper: 1; humanoid 0.5.
    pub sigma0: f64,
    /// Whether log σ of the actions goes back to 0 at the start of every iteration. Paper: yes, except halfcheetah.
    pub reset_log_std: bool,
    /// The archives.
    pub archive: ArchiveConfig,
    /// The bonus for behaviour that nobody in the archive shows.
    pub curiosity: Curiosity,
    /// How copies and search policy learn.
    pub train: TrainConfig,
}

/// The archives' cells and the rule of the soft one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchiveConfig {
    /// Cells along each dimension of the measure. Paper: 50; here 10 for measures of more than two dimensions.
    pub resolution: u32,
    /// α: how fast a cell's threshold follows what it accepts. Paper: 0.5; humanoid 0.1.
    pub learning_rate: f64,
    /// What a solution must surpass to enter an empty cell of the soft archive, in units of return. Paper: walker2d and
    /// humanoid 200, halfcheetah -500.
    pub threshold_min: f64,
    /// What the offset QD-Score adds for each step of an elite's episodes, so that filling a cell never lowers it.
    pub qd_offset: f64,
}

/// A value that makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field} is {value}, but must be {range}")]
pub struct ConfigError {
    /// Key of the configuration.
    pub field: &'static str,
    /// What was given.
    pub value: String,
    /// What is allowed.
    pub range: &'static str,
}

impl SearchConfig {
    /// The paper's configuration of a task, curiosity off. Ant and hopper are not in the paper: they have
    /// halfcheetah's and walker2d's values, which suit their rewards.
    pub fn paper(env: &Environment) -> SearchConfig {
        let task = env.stage.task.name;
        let humanoid = task == "humanoid";
        let may_lose = matches!(task, "halfcheetah" | "ant");
        let mut train = TrainConfig::default();
        if humanoid {
            train.ppo.adam.learning_rate = 3e-4;
        }
        SearchConfig {
            environments: 3000,
            branches: 300,
            gradient_iterations: 10,
            walk_iterations: 10,
            sigma0: if humanoid { 0.5 } else { 1.0 },
            reset_log_std: task != "halfcheetah",
            archive: ArchiveConfig {
                resolution: if env.measure_size() > 2 { 10 } else { 50 },
                learning_rate: if humanoid { 0.1 } else { 0.5 },
                threshold_min: if may_lose { -500.0 } else { 200.0 },
                // Those of QDax and PPGA: the most that a step of the task can cost.
                qd_offset: match task {
                    "halfcheetah" => 9.231,
                    "walker2d" => 1.413,
                    "hopper" => 0.9,
                    "ant" => 3.24,
                    _ => 0.0,
                },
            },
            curiosity: Curiosity::default(),
            train,
        }
    }

    /// Episodes of each evaluated policy.
    pub fn episodes(&self) -> u32 {
        (self.environments / self.branches.max(1)).max(1)
    }

    /// The grid over the measures of `env`.
    pub fn grid(&self, env: &Environment) -> Result<Grid, magpie_qd::Error> {
        let dimensions = env.measure_dimensions();
        Grid::new(
            vec![self.archive.resolution as usize; dimensions.len()],
            dimensions.iter().map(|d| d.range[0]).collect(),
            dimensions.iter().map(|d| d.range[1]).collect(),
        )
    }

    pub(crate) fn acceptance(&self) -> Acceptance {
        let ArchiveConfig { learning_rate, threshold_min, .. } = self.archive;
        Acceptance::Soft { learning_rate, threshold_min }
    }

    pub(crate) fn qd_offset(&self) -> QdOffset {
        QdOffset::PerStep(self.archive.qd_offset)
    }

    /// Refuses what cannot be run on a task with `measures` dimensions of measure.
    pub fn check(&self, measures: usize) -> Result<(), ConfigError> {
        fn within<T: ToString>(
            field: &'static str,
            value: T,
            ok: bool,
            range: &'static str,
        ) -> Result<(), ConfigError> {
            if ok { Ok(()) } else { Err(ConfigError { field, value: value.to_string(), range }) }
        }
        let copies = measures as u32 + 1;
        let e = self.environments;
        let enough = (copies..=1_000_000).contains(&e);
        within("environments", e, enough, "at least one for each gradient, at most 1,000,000")?;
        let some = (1..=e).contains(&self.branches);
        within("branches", self.branches, some, "1 to the number of environments")?;
        let few = |n: u32| (1..=10_000).contains(&n);
        let (n1, n2) = (self.gradient_iterations, self.walk_iterations);
        within("gradient_iterations", n1, few(n1), "1 to 10,000")?;
        within("walk_iterations", n2, few(n2), "1 to 10,000")?;
        let positive = |x: f64| x > 0.0 && x.is_finite();
        within("sigma0", self.sigma0, positive(self.sigma0), "above 0")?;
        let ArchiveConfig { resolution, learning_rate, threshold_min, qd_offset } = self.archive;
        let cells = f64::from(resolution).powi(measures as i32);
        within("archive.resolution", resolution, (1.0..=1e7).contains(&cells), "1 to 10⁷ cells in all")?;
        let share = learning_rate > 0.0 && learning_rate <= 1.0;
        within("archive.learning_rate", learning_rate, share, "above 0, at most 1")?;
        within("archive.threshold_min", threshold_min, threshold_min.is_finite(), "a finite number")?;
        within("archive.qd_offset", qd_offset, qd_offset.is_finite(), "a finite number")?;
        let Curiosity { weight, base, .. } = self.curiosity;
        within("curiosity.weight", weight, weight >= 0.0 && weight.is_finite(), "0 or above")?;
        within("curiosity.base", base, base.is_finite(), "a finite number")?;
        let t = &self.train;
        within("train.window", t.window, (1..=100_000).contains(&t.window), "1 to 100,000")?;
        within("train.epochs", t.epochs, (1..=1000).contains(&t.epochs), "1 to 1000")?;
        let rows = (e / copies) as usize * t.window;
        let cut = t.minibatches >= 1 && t.minibatches <= rows;
        within("train.minibatches", t.minibatches, cut, "1 to the rows of a copy's window")?;
        within("train.gamma", t.gamma, (0.0..=1.0).contains(&t.gamma), "0 to 1")?;
        within("train.gae_lambda", t.gae_lambda, (0.0..=1.0).contains(&t.gae_lambda), "0 to 1")?;
        within("train.target_kl", t.target_kl, t.target_kl > 0.0, "above 0")?;
        let rate = t.ppo.adam.learning_rate;
        within("train.ppo.adam.learning_rate", rate, positive(rate), "above 0")
    }
}
