//! What a cloning run computes.

use std::path::{Path, PathBuf};

use magpie_learn::CloningConfig;
use magpie_settings::{Settings, settings};

use crate::driver::Plan;
use crate::error::RunError;
use crate::settings::{Fault, Origin, lay_over, layers, read_text};
use crate::train::{Demos, LARGEST_WHOLE, NO_TASK, Place, find_task};
use crate::world::{EnvOverrides, WorldChanges};

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

impl Plan for Config {
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

/// What is asked of a cloning run. What is not given is as the file says, or as the pairs say, or the default.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// The task, or a task file.
    pub task: Option<String>,
    /// A file of demonstrations.
    pub demos: Option<PathBuf>,
    /// Settings from a TOML file, such as the configuration of a run.
    pub file: Option<PathBuf>,
    /// Settings such as `cloning.batch=128`, over those of the file.
    pub sets: Vec<String>,
    /// The seed.
    pub seed: Option<u64>,
    /// The most epochs to make.
    pub epochs: Option<u64>,
    /// Changes to the world.
    pub world: WorldChanges,
}

impl Choices {
    /// The defaults, the file over them, the pairs over both, and what is named here over all. Beside it, what is likely to
    /// be a mistake, in sentences.
    pub fn resolve(&self) -> Result<(Config, Vec<String>), RunError> {
        let text = self.file.as_deref().map(read_text).transpose()?;
        let file = self.file.as_deref().zip(text.as_deref());
        let mut config = self.over_file(file).map_err(|fault| fault.into_error(file, &self.sets))?;
        config.seed = self.seed.unwrap_or(config.seed);
        config.cloning.epochs = self.epochs.unwrap_or(config.cloning.epochs);
        config.check_ranges()?;
        let warnings = config.world.examine(&config.task)?;
        Ok((config, warnings))
    }

    fn over_file(&self, file: Option<(&Path, &str)>) -> Result<Config, Fault> {
        let layers = layers(file, &self.sets)?;
        let of_file = layers.iter().rev().find_map(|layer| layer.get("task")).map(|layer| layer.at);
        let mut config = lay_over(&Config::default(), layers)?;
        // What the file names lies beside it, as in the folder of a run.
        let folder = file.map(|(file, _)| file.with_file_name("")).unwrap_or_default();
        config.world.lies_in(&folder);
        config.demos.file = config.demos.file.map(|demos| folder.join(demos));
        config.demos.file = self.demos.clone().or(config.demos.file);
        let chosen = Origin::Choice("task");
        let (task, at, folder) = match &self.task {
            Some(task) => (task.clone(), chosen, PathBuf::new()),
            None => (config.task.clone(), of_file.unwrap_or(chosen), folder),
        };
        if task.is_empty() {
            return Err(Fault { at, message: NO_TASK.to_owned() });
        }
        let place = Place { folder: &folder, world: &self.world };
        config.task = find_task(&task, &mut config.world, place, at)?;
        Ok(config)
    }
}
