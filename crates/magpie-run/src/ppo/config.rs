//! What a PPO run computes.

use magpie_envs::Environment;
use magpie_learn::{StopAfter, TrainConfig};
use magpie_settings::{SettingError, Settings, settings};

use crate::choices::RunChoices;
use crate::driver::Plan;
use crate::error::RunError;
use crate::memory;
use crate::train::LARGEST_WHOLE;
use crate::world::EnvOverrides;

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
        Config::in_world(EnvOverrides::default(), task, seed, steps)
    }

    fn in_world(world: EnvOverrides, task: &str, seed: u64, steps: u64) -> Result<Config, RunError> {
        let dt = world.robot(&world.task(task)?)?.control_dt;
        let mut train = TrainConfig { rollout_length: 64, target_kl: 0.02, ..TrainConfig::default() };
        train.stop_after = StopAfter::Minibatch;
        // By the robot's time step: with steps of 8 ms, 0.99 looks less than a second ahead, and a walker learns to dive instead of to walk.
        train.gamma = if dt < 0.02 { 0.995 } else { 0.99 };
        train.ppo.adam.learning_rate = 3e-4;
        Ok(Config { task: task.to_owned(), seed, steps, world, train, ..Config::default() })
    }

    /// Refuses what does not fit into the memory of this machine.
    pub(super) fn check_memory(&self, env: &Environment) -> Result<(), RunError> {
        memory::check(env, "environments", self.environments, self.train.rollout_length)
    }

    /// Refuses what cannot be run.
    pub fn check(&self) -> Result<(), RunError> {
        self.check_ranges()?;
        let learning = self.train.check(self.environments as usize);
        Ok(learning.map_err(|error: SettingError| error.under("train"))?)
    }
}

impl Plan for Config {
    const LENGTH: &'static str = "steps";

    fn task_mut(&mut self) -> &mut String {
        &mut self.task
    }

    fn seed_mut(&mut self) -> &mut u64 {
        &mut self.seed
    }

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

/// A user's choices for a PPO run.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Those that all runs have.
    pub run: RunChoices,
    /// Environment steps.
    pub steps: Option<u64>,
    /// Environments side by side.
    pub environments: Option<u32>,
    /// Learning rate of Adam.
    pub learning_rate: Option<f64>,
}

impl Choices {
    /// The configuration, and what is likely to be a mistake, in sentences.
    pub fn resolve(&self) -> Result<(Config, Vec<String>), RunError> {
        let usual = |world, task: String| Config::in_world(world, &task, 0, Config::default().steps);
        let mut config: Config = self.run.resolve(usual)?;
        config.steps = self.steps.unwrap_or(config.steps);
        config.environments = self.environments.unwrap_or(config.environments);
        let rate = &mut config.train.ppo.adam.learning_rate;
        *rate = self.learning_rate.unwrap_or(*rate);
        let warnings = config.world.examine(&config.task)?;
        Ok((config, warnings))
    }
}
