//! How far a run of a sweep is, and whether its folder holds what the sweep file describes.

use std::ops::ControlFlow;
use std::path::Path;

use magpie_rewards::Progress as Preparation;

use super::Run;
use crate::archive::iteration_of;
use crate::compare::Difference;
use crate::directory::CONFIG;
use crate::error::RunError;
use crate::train::{ARCHIVE, TrainRun};

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing has been kept yet.
    ToDo,
    /// So many iterations have been kept.
    HalfDone(u64),
    /// All iterations have been made.
    Done,
}

impl Run {
    /// Looks into the folder of the run. How long to run may change, as with `magpie train --resume`; if the folder holds
    /// a run that differs in anything else, it is refused.
    pub fn state(&self, folder: &Path) -> Result<State, RunError> {
        let file = folder.join(CONFIG);
        if !file.exists() {
            return Ok(State::ToDo);
        }
        let other = |Difference { key, saved, wanted }| RunError::OtherRun {
            path: folder.to_owned(),
            key,
            saved,
            wanted,
        };
        if let Some(found) = self.config.difference_from(folder)? {
            return Err(other(found));
        }
        // The archive is written just after the checkpoint, so that it may be behind, but never ahead.
        let made = iteration_of(&folder.join(ARCHIVE)).unwrap_or(0);
        match made.cmp(&self.config.iterations) {
            std::cmp::Ordering::Less => Ok(State::HalfDone(made)),
            std::cmp::Ordering::Equal => Ok(State::Done),
            std::cmp::Ordering::Greater => {
                let (saved, wanted) = (made.to_string(), self.config.iterations.to_string());
                Err(other(Difference { key: "iterations".to_owned(), saved, wanted }))
            }
        }
    }

    /// Starts the run in its folder, or goes on with it. A reward model that has to learn from the demonstrations first
    /// tells `progress` how far it is, and is stopped by it.
    pub fn open(
        &self,
        folder: &Path,
        progress: &mut dyn FnMut(Preparation) -> ControlFlow<()>,
    ) -> Result<TrainRun, RunError> {
        if self.state(folder)? == State::ToDo {
            match TrainRun::start(self.config.clone(), folder, progress) {
                // Somebody else has started it a moment ago.
                Err(RunError::Exists { .. }) => drop(self.state(folder)?),
                started => return started,
            }
        }
        TrainRun::resume(folder, Some(self.config.iterations))
    }
}
