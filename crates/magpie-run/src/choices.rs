//! What every run of a single policy can be asked for: task, world, seed, and settings from a file or in pairs.

use std::path::{Path, PathBuf};

use crate::driver::Plan;
use crate::error::RunError;
use crate::settings::{Fault, Origin, lay_over, layers, read_text};
use crate::train::{NO_TASK, Place, find_task};
use crate::world::{EnvOverrides, WorldChanges};

/// A user's choices for a run. What is not given is as the pairs say, or as the file says, or as usual.
#[derive(Debug, Clone, Default)]
pub struct RunChoices {
    /// Name of the task, or a task file.
    pub task: Option<String>,
    /// A TOML file with settings, such as the configuration of a run.
    pub file: Option<PathBuf>,
    /// Settings such as `train.gamma=0.98`, which override the file.
    pub sets: Vec<String>,
    /// The seed.
    pub seed: Option<u64>,
    /// Changes to the world.
    pub world: WorldChanges,
}

impl RunChoices {
    /// What is `usual` for the task in its world, the file over it, the pairs over both, and what is named here over all.
    pub(crate) fn resolve<C: Plan + Default>(
        &self,
        usual: impl FnOnce(EnvOverrides, String) -> Result<C, RunError>,
    ) -> Result<C, RunError> {
        let text = self.file.as_deref().map(read_text).transpose()?;
        let file = self.file.as_deref().zip(text.as_deref());
        let mut config = self.over_file(file, usual).map_err(|fault| fault.into_error(file, &self.sets))?;
        if let Some(seed) = self.seed {
            *config.seed_mut() = seed;
        }
        Ok(config)
    }

    /// What the file names lies beside it, as in the folder of a run.
    pub(crate) fn folder(&self) -> PathBuf {
        self.file.as_ref().map(|file| file.with_file_name("")).unwrap_or_default()
    }

    fn over_file<C: Plan + Default>(
        &self,
        file: Option<(&Path, &str)>,
        usual: impl FnOnce(EnvOverrides, String) -> Result<C, RunError>,
    ) -> Result<C, Fault> {
        let layers = layers(file, &self.sets)?;
        // What is usual depends on the task, so that the task has to be known first.
        let mut known = lay_over(&C::default(), layers.clone())?;
        let of_file = layers.iter().rev().find_map(|layer| layer.get("task")).map(|layer| layer.at);
        let beside = self.folder();
        let mut world = std::mem::take(known.world_mut());
        world.lies_in(&beside);
        let chosen = Origin::Choice("task");
        let (task, at, folder) = match &self.task {
            Some(task) => (task.clone(), chosen, PathBuf::new()),
            None => (std::mem::take(known.task_mut()), of_file.unwrap_or(chosen), beside),
        };
        if task.is_empty() {
            return Err(Fault { at, message: NO_TASK.to_owned() });
        }
        let task = find_task(&task, &mut world, Place { folder: &folder, world: &self.world }, at)?;
        let usual = usual(world.clone(), task.clone()).map_err(Fault::of_world)?;
        let mut config = lay_over(&usual, layers)?;
        (*config.task_mut(), *config.world_mut()) = (task, world);
        Ok(config)
    }
}
