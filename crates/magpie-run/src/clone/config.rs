//! What a cloning run computes.

use std::path::PathBuf;

use magpie_demos::Demonstrations;
use magpie_envs::Environment;
use magpie_learn::CloningConfig;
use magpie_settings::{Settings, settings};

use crate::choices::RunChoices;
use crate::driver::Plan;
use crate::error::RunError;
use crate::train::{Demos, LARGEST_WHOLE};
use crate::world::EnvOverrides;

settings! {
    /// What a cloning run computes.
    pub struct Config {
        /// The task, such as walker2d; `magpie envs` lists them. Always to be named.
        task: String = String::new();
        /// Of everything random; give each repetition of an experiment its own.
        seed: u64 = 0, in 0..=LARGEST_WHOLE;
        /// Units in each of the two hidden layers of the actor.
        actor: u32 = 128, in 1..=4096;
        /// What is cloned.
        demos: Demos;
        /// The robot, and what it has to cope with.
        world: EnvOverrides;
        /// How.
        cloning: CloningConfig;
    }
}

impl Config {
    /// All demonstrations of the file.
    pub(crate) fn demonstrations(&self) -> Result<Demonstrations, RunError> {
        self.demonstrations_in(&self.world.environment(&self.task, None)?)
    }

    pub(super) fn demonstrations_in(&self, env: &Environment) -> Result<Demonstrations, RunError> {
        self.demos.required(env, "behaviour cloning")
    }
}

impl Plan for Config {
    const LENGTH: &'static str = "cloning.epochs";

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
        self.cloning.epochs
    }

    fn set_length(&mut self, length: u64) {
        self.cloning.epochs = length;
    }
}

/// A user's choices for a cloning run.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Those that all runs have.
    pub run: RunChoices,
    /// A file of demonstrations.
    pub demos: Option<PathBuf>,
    /// The most epochs to make.
    pub epochs: Option<u64>,
}

impl Choices {
    /// The configuration, and what is likely to be a mistake, in sentences.
    pub fn resolve(&self) -> Result<(Config, Vec<String>), RunError> {
        let usual = |world, task| Ok(Config { task, world, ..Config::default() });
        let mut config: Config = self.run.resolve(usual)?;
        let of_file = config.demos.file.map(|demos| self.run.folder().join(demos));
        config.demos.file = self.demos.clone().or(of_file);
        config.cloning.epochs = self.epochs.unwrap_or(config.cloning.epochs);
        config.check_ranges()?;
        let warnings = config.world.examine(&config.task)?;
        Ok((config, warnings))
    }
}
