//! An archive together with the place where it was found.

use std::path::{Path, PathBuf};

use magpie_envs::Environment;
use magpie_learn::Networks;
use magpie_nn::Shape;

use crate::archive::{SavedArchive, is_archive, load_archive};
use crate::error::RunError;
use crate::train::ARCHIVE;
use crate::world::EnvOverrides;

/// An archive, and the file that it was read from: its robot, if it has one of its own, lies beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenArchive {
    /// The file.
    pub path: PathBuf,
    /// What it holds.
    pub archive: SavedArchive,
}

impl OpenArchive {
    /// The archive of a run's folder, or of a file.
    pub fn open(run: &Path) -> Result<OpenArchive, RunError> {
        let path = archive_file(run);
        Ok(OpenArchive { archive: load_archive(&path)?, path })
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// The world that its elites were found in.
    pub fn world(&self) -> EnvOverrides {
        self.archive.world(self.folder())
    }

    /// Its task in a world: its own if not given.
    pub(super) fn environment(&self, world: Option<&EnvOverrides>) -> Result<Environment, RunError> {
        let about = &self.archive.about;
        let env = world.unwrap_or(&self.world()).environment(&about.task, Some(&about.measure))?;
        fits(&about.actor, &env)?;
        Ok(env)
    }
}

/// The archive's file: that of the folder of a run, or `run` itself.
fn archive_file(run: &Path) -> PathBuf {
    if run.is_dir() { run.join(ARCHIVE) } else { run.to_owned() }
}

/// Whether there is an archive to open, and not a single policy; a file that cannot be read is an error.
pub fn holds_archive(run: &Path) -> Result<bool, RunError> {
    if run.is_dir() { Ok(run.join(ARCHIVE).is_file()) } else { is_archive(run) }
}

/// Refuses an environment that an actor can not act in.
pub(super) fn fits(actor: &Shape, env: &Environment) -> Result<(), RunError> {
    let (found, expected) = ([actor.inputs(), actor.outputs()], [env.observation_size(), env.action_size()]);
    match found == expected {
        true => Ok(()),
        false => Err(RunError::OtherSizes { task: env.task().to_owned(), found, expected }),
    }
}

/// The networks of policies that act and do not learn: their critic, which nobody asks, is the smallest there is.
pub(crate) fn acting(actor: &Shape) -> Result<Networks, RunError> {
    Ok(Networks { actor: actor.clone(), critic: Shape::tanh(&[actor.inputs(), 1])? })
}
