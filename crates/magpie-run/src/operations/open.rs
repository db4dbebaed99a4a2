//! An archive together with the place where it was found.

use std::path::{Path, PathBuf};

use magpie_envs::Environment;
use magpie_learn::Networks;
use magpie_nn::Shape;

use crate::archive::{ArchiveOutline, SavedArchive, is_archive, load_archive, load_outline};
use crate::error::RunError;
use crate::train::{ARCHIVE, CHECKPOINT, newer_archive, newer_outline};
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
    /// The archive of a run's folder, or of a file. While a run goes on, and if it was killed, its checkpoint may be newer
    /// than the file in its folder; then it is the one that is read.
    pub fn open(run: &Path) -> Result<OpenArchive, RunError> {
        let path = archive_file(run);
        let archive = match if run.is_dir() { newer_archive(run)? } else { None } {
            Some(newer) => newer,
            None => load_archive(&path)?,
        };
        Ok(OpenArchive { archive, path })
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
    pub(crate) fn environment(&self, world: Option<&EnvOverrides>) -> Result<Environment, RunError> {
        let about = &self.archive.about;
        let env = world.unwrap_or(&self.world()).environment(&about.task, Some(&about.measure))?;
        fits(&about.actor, &env)?;
        Ok(env)
    }
}

/// The same without policies, of which not a byte is read from an archive's file: megabytes become kilobytes.
pub fn open_outline(run: &Path) -> Result<ArchiveOutline, RunError> {
    match if run.is_dir() { newer_outline(run)? } else { None } {
        Some(newer) => Ok(newer),
        None => load_outline(&archive_file(run)),
    }
}

/// The archive's file: that of the folder of a run, or `run` itself.
fn archive_file(run: &Path) -> PathBuf {
    if run.is_dir() { run.join(ARCHIVE) } else { run.to_owned() }
}

/// Whether there is an archive to open, and not a single policy; a file that cannot be read is an error.
pub fn holds_archive(run: &Path) -> Result<bool, RunError> {
    match run.is_dir() {
        true => Ok([ARCHIVE, CHECKPOINT].iter().any(|file| run.join(file).is_file())),
        false => is_archive(run),
    }
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
