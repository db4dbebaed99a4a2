//! What a search computes, with the paper's values.

use magpie_envs::Environment;
use magpie_learn::{Networks, SettingError, TrainConfig};
use magpie_nn::ShapeError;
use magpie_qd::{Acceptance, Grid, QdOffset};
use serde::{Deserialize, Serialize};

use crate::curiosity::Curiosity;
use crate::novelty::Novelty;

/// Everything that decides the course of a search, besides task, reward and seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchConfig {
    /// E: environments side by side. Paper: 3000.
    pub environments: u32,
    /// λ: branches tried in an iteration. Paper: 300.
    pub branches: u32,
    /// Whole episodes by which each branch is judged. Paper: E/λ = 10.
    pub episodes: u32,
    /// Whether each copy, and the search policy on its walk, is tried like a branch after each window. Paper: no.
    pub waypoints: bool,
    /// Whether measures are steered away from the ends of their ranges, and paid so that they never cost anything. Paper:
    /// no.
    pub inward: bool,
    /// N1: PPO iterations of each copy from which gradients are taken. Paper: 10.
    pub gradient_iterations: u32,
    /// N2: PPO iterations of the walk. Paper: 10.
    pub walk_iterations: u32,
    /// Iterations of slow growth after which the search starts elsewhere; 0 waits until no branch is accepted. Paper: 0.
    pub patience: u32,
    /// σ0: spread of the coefficients at the start and after a restart. Paper: 1; humanoid 0.5.
    pub sigma0: f64,
    /// Whether log σ of the actions goes back to 0 at the start of every iteration. Paper: yes, except halfcheetah.
    /// Ant, which is not in the paper, goes on with it too.
    pub reset_log_std: bool,
    /// The archives.
    pub archive: ArchiveConfig,
    /// What draws the search to behaviour that nobody in the archive shows.
    pub curiosity: Curiosity,
    /// Units in each of the two hidden layers of a critic, which is most of what learning costs. Paper: 256.
    pub critic: u32,
    /// How copies and search policy learn.
    pub train: TrainConfig,
}

/// Cells that an archive may have.
const MOST_CELLS: f64 = 1e7;

/// Episodes that an iteration may evaluate; each has a number of its own.
const MOST_EPISODES: u64 = 1_000_000_000;

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
    /// Patience is measured by that score.
    pub qd_offset: f64,
}

impl SearchConfig {
    /// The paper's configuration of a task, curiosity off. Ant and hopper are not in the paper. Hopper has walker2d's
    /// values; ant, whose reward can be negative, has the threshold of halfcheetah and like it goes on with the log σ
    /// that it has learnt: with σ = 1 the control costs are so high that it learns to fall at once.
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
            episodes: 10,
            waypoints: false,
            inward: false,
            gradient_iterations: 10,
            walk_iterations: 10,
            patience: 0,
            sigma0: if humanoid { 0.5 } else { 1.0 },
            reset_log_std: !may_lose,
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
            critic: 256,
            train,
        }
    }

    /// Policies that an iteration tries: the search policy, branches, and waypoints of one copy for the objective, of one
    /// for each of the `measures` and of the walk.
    pub fn candidates(&self, measures: usize) -> u64 {
        let (n1, n2) = (u64::from(self.gradient_iterations), u64::from(self.walk_iterations));
        let waypoints = if self.waypoints { (measures as u64 + 1) * n1 + n2 } else { 0 };
        1 + u64::from(self.branches) + waypoints
    }

    /// Actor and critics of policies of `env`.
    pub fn networks(&self, env: &Environment) -> Result<Networks, ShapeError> {
        Networks::with_critic(env.observation_size(), env.action_size(), self.critic as usize)
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

    /// Cells whose visits are counted: all of them or, unless curiosity asks, none.
    pub(crate) fn counted_cells(&self, env: &Environment) -> Result<usize, magpie_qd::Error> {
        match self.curiosity.pays_for() {
            Novelty::Visits => Ok(self.grid(env)?.count()),
            Novelty::Empty | Novelty::Density => Ok(0),
        }
    }

    pub(crate) fn acceptance(&self) -> Acceptance {
        let ArchiveConfig { learning_rate, threshold_min, .. } = self.archive;
        Acceptance::Soft { learning_rate, threshold_min }
    }

    pub(crate) fn qd_offset(&self) -> QdOffset {
        QdOffset::PerStep(self.archive.qd_offset)
    }

    /// Refuses what cannot be run on a task with `measures` dimensions of measure.
    pub fn check(&self, measures: usize) -> Result<(), SettingError> {
        let copies = measures as u32 + 1;
        let e = self.environments;
        let enough = (copies..=1_000_000).contains(&e);
        let range = format!("{copies}, one for each gradient, to 1,000,000");
        SettingError::unless("environments", e, enough, range)?;
        let few = |n: u32| (1..=10_000).contains(&n);
        SettingError::unless("branches", self.branches, few(self.branches), "1 to 10,000")?;
        SettingError::unless("episodes", self.episodes, few(self.episodes), "1 to 10,000")?;
        let (n1, n2) = (self.gradient_iterations, self.walk_iterations);
        SettingError::unless("gradient_iterations", n1, few(n1), "1 to 10,000")?;
        SettingError::unless("walk_iterations", n2, few(n2), "1 to 10,000")?;
        let patience = self.patience;
        SettingError::unless("patience", patience, patience <= 10_000, "0 to 10,000")?;
        let all = self.candidates(measures).saturating_mul(self.episodes.into());
        let countable = all <= MOST_EPISODES;
        let range =
            format!("so few that an iteration has at most {MOST_EPISODES} episodes, waypoints included");
        SettingError::unless("episodes", self.episodes, countable, range)?;
        let positive = |x: f64| x > 0.0 && x.is_finite();
        SettingError::unless("sigma0", self.sigma0, positive(self.sigma0), "above 0")?;
        let ArchiveConfig { resolution, learning_rate, threshold_min, qd_offset } = self.archive;
        let most = (MOST_CELLS.powf(1.0 / measures as f64) + 1e-6).floor() as u32;
        SettingError::unless(
            "archive.resolution",
            resolution,
            (1..=most).contains(&resolution),
            format!("1 to {most}: at most {MOST_CELLS} cells in all"),
        )?;
        let share = learning_rate > 0.0 && learning_rate <= 1.0;
        SettingError::unless("archive.learning_rate", learning_rate, share, "above 0, at most 1")?;
        SettingError::unless(
            "archive.threshold_min",
            threshold_min,
            threshold_min.is_finite(),
            "a finite number",
        )?;
        SettingError::unless("archive.qd_offset", qd_offset, qd_offset.is_finite(), "a finite number")?;
        let Curiosity { weight, base, width, credit, .. } = self.curiosity;
        SettingError::unless("curiosity.weight", weight, weight >= 0.0 && weight.is_finite(), "0 or above")?;
        SettingError::unless("curiosity.base", base, base.is_finite(), "a finite number")?;
        SettingError::unless("curiosity.width", width, (0.1..=100.0).contains(&width), "0.1 to 100")?;
        SettingError::unless("curiosity.credit", credit, (0.0..=1.0).contains(&credit), "0 to 1")?;
        SettingError::unless("critic", self.critic, (1..=4096).contains(&self.critic), "1 to 4096")?;
        // The smallest batch is that of a copy.
        self.train.check((e / copies) as usize)
    }
}
