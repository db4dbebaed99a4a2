//! What a PPO run computes.

use std::path::{Path, PathBuf};

use magpie_learn::{StopAfter, TrainConfig};
use magpie_settings::{SettingError, Settings, settings};

use crate::driver::Plan;
use crate::error::RunError;
use crate::settings::{Fault, Origin, lay_over, layers, read_text};
use crate::train::{LARGEST_WHOLE, NO_TASK, Place, find_task};
use crate::world::{EnvOverrides, WorldChanges};

settings! {
    /// What a PPO run computes.
    pub struct Config {
        /// The task, such as walker2d; `magpie envs` lists them. Always to be named.
        task: String = String::new();
        /// Of everything random; give each repetition of an experiment its own.
        seed: u64 = 0, in 0..=LARGEST_WHOLE;
        /// Environment steps to train for; rounded up to whole rollouts.
        steps: u64 = 30_000_000, in 1..=LARGEST_WHOLE, unit "steps";
        /// Environments side by side.
        environments: u32 = 256, in 1..=1_000_000;
        /// Where.
        world: EnvOverrides;
        /// How the agent learns.
        train: TrainConfig;
    }
}

impl Config {
    /// Defaults found by experiment (`docs/results/ppo.md`): shorter rollouts, smaller minibatches and a lower learning
    /// rate than the search uses learn most from a few million steps.
    pub fn new(task: &str, seed: u64, steps: u64) -> Result<Config, RunError> {
        Config::in_world(&EnvOverrides::default(), task, seed, steps)
    }

    fn in_world(world: &EnvOverrides, task: &str, seed: u64, steps: u64) -> Result<Config, RunError> {
        let dt = world.robot(&world.task(task)?)?.control_dt;
        let mut train = TrainConfig { rollout_length: 64, target_kl: 0.02, ..TrainConfig::default() };
        train.stop_after = StopAfter::Minibatch;
        // By the robot's time step: with steps of 8 ms, 0.99 looks less than a second ahead, and a walker learns to dive instead of to walk.
        train.gamma = if dt < 0.02 { 0.995 } else { 0.99 };
        train.ppo.adam.learning_rate = 3e-4;
        Ok(Config { task: task.to_owned(), seed, steps, train, ..Config::default() })
    }

    /// Refuses what cannot be run.
    pub fn check(&self) -> Result<(), RunError> {
        self.check_ranges()?;
        let learning = self.train.check(self.environments as usize);
        Ok(learning.map_err(|error: SettingError| error.under("train"))?)
    }
}

impl Plan for Config {
    fn world_mut(&mut self) -> &mut EnvOverrides {
        &mut self.world
    }

    fn length(&self) -> u64 {
        self.steps
    }

    fn set_length(&mut self, length: u64) {
        self.steps = length;
    }
}

/// What somebody asks of a run. What is not given is as the file says, or as the pairs say, or as usual.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// The task.
    pub task: Option<String>,
    /// Settings from a TOML file, such as the configuration of a run.
    pub file: Option<PathBuf>,
    /// Settings such as `train.gamma=0.98`, over those of the file.
    pub sets: Vec<String>,
    /// Environment steps.
    pub steps: Option<u64>,
    /// The seed.
    pub seed: Option<u64>,
    /// Environments side by side.
    pub environments: Option<u32>,
    /// Learning rate of Adam.
    pub learning_rate: Option<f64>,
    /// Changes to the world.
    pub world: WorldChanges,
}

impl Choices {
    /// The usual configuration, the file over it, the pairs over both, and what is named here over all. Beside it,
    /// what is likely to be a mistake, in sentences.
    pub fn resolve(&self) -> Result<(Config, Vec<String>), RunError> {
        let text = self.file.as_deref().map(read_text).transpose()?;
        let file = self.file.as_deref().zip(text.as_deref());
        let mut config = self.over_file(file).map_err(|fault| fault.into_error(file, &self.sets))?;
        config.seed = self.seed.unwrap_or(config.seed);
        config.steps = self.steps.unwrap_or(config.steps);
        config.environments = self.environments.unwrap_or(config.environments);
        let rate = &mut config.train.ppo.adam.learning_rate;
        *rate = self.learning_rate.unwrap_or(*rate);
        let warnings = config.world.examine(&config.task)?;
        Ok((config, warnings))
    }

    fn over_file(&self, file: Option<(&Path, &str)>) -> Result<Config, Fault> {
        let layers = layers(file, &self.sets)?;
        // What is usual depends on the task, so that the task has to be known first.
        let known = lay_over(&Config::default(), layers.clone())?;
        let of_file = layers.iter().rev().find_map(|layer| layer.get("task")).map(|layer| layer.at);
        let folder = file.map(|(file, _)| file.with_file_name("")).unwrap_or_default();
        let mut world = known.world;
        world.lies_in(&folder);
        let chosen = Origin::Choice("task");
        let (task, at, folder) = match &self.task {
            Some(task) => (task.clone(), chosen, PathBuf::new()),
            None => (known.task, of_file.unwrap_or(chosen), folder),
        };
        if task.is_empty() {
            return Err(Fault { at, message: NO_TASK.to_owned() });
        }
        let task = find_task(&task, &mut world, Place { folder: &folder, world: &self.world }, at)?;
        let usual = Config::in_world(&world, &task, 0, Config::default().steps).map_err(Fault::of_world)?;
        Ok(Config { task, world, ..lay_over(&usual, layers)? })
    }
}
