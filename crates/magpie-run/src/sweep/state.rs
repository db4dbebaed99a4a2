//! How far a run of a sweep is, and whether its folder holds what the sweep file describes.

use std::ops::ControlFlow;
use std::path::Path;

use magpie_rewards::Progress as Preparation;

use super::Run;
use crate::archive::{iteration_of, load_archive};
use crate::checkpoint;
use crate::compare::Difference;
use crate::directory::{CONFIG, write_whole};
use crate::driver::METRICS;
use crate::error::RunError;
use crate::finished;
use crate::settings::read_text;
use crate::train::{ARCHIVE, CHECKPOINT, PICTURE, TrainRun};

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing has been kept yet.
    ToDo,
    /// This many iterations have been kept. Where that is all of them, a picture or another file is still to be written.
    HalfDone(u64),
    /// All iterations have been made, and all files are there.
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
        let (made, finished) = made(folder);
        match made > self.config.iterations {
            true => {
                let (saved, wanted) = (made.to_string(), self.config.iterations.to_string());
                Err(other(Difference { key: "iterations".to_owned(), saved, wanted }))
            }
            false if finished && made == self.config.iterations => Ok(State::Done),
            false => Ok(State::HalfDone(made)),
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
                // Another process has started it a moment ago.
                Err(RunError::Exists { .. }) => drop(self.state(folder)?),
                started => return started,
            }
        }
        TrainRun::resume(folder, Some(self.config.iterations))
    }
}

/// Why the run failed when it was made last.
pub(crate) const FAILED: &str = "failed";

/// Leaves a note for whoever asks how the sweep stands. The run is no better or worse for it.
pub(super) fn keep_failure(folder: &Path, reason: &RunError) {
    if folder.is_dir() {
        let _ = write_whole(&folder.join(FAILED), reason.in_full().as_bytes());
    }
}

pub(super) fn forget_failure(folder: &Path) {
    let _ = std::fs::remove_file(folder.join(FAILED));
}

/// Why the run in a folder failed, if it did when it was made last.
pub(super) fn failure(folder: &Path) -> Option<String> {
    read_text(&folder.join(FAILED)).ok()
}

/// How many iterations the run in a folder has made, and whether all that it writes after the last one is there.
fn made(folder: &Path) -> (u64, bool) {
    let archive = folder.join(ARCHIVE);
    if let Some(made) = finished::iterations(folder).filter(|&made| iteration_of(&archive) == Some(made)) {
        return (made, true);
    }
    if let Some(made) = checkpoint::iteration_of(&folder.join(CHECKPOINT)) {
        return (made, false);
    }
    // Runs of earlier versions, which marked nothing.
    let made = iteration_of(&archive).unwrap_or(0);
    (made, folder.join(PICTURE).is_file() && load_archive(&archive).is_ok())
}

/// The same without reading the archive: the last row of the table, and whether the run was marked as finished and its files
/// still have their lengths.
pub(super) fn made_at_a_glance(folder: &Path) -> (u64, bool) {
    if let Some(made) = finished::iterations_at_a_glance(folder) {
        return (made, true);
    }
    let table = read_text(&folder.join(METRICS)).unwrap_or_default();
    // The last line may be one that is being written.
    let whole = table.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let last = whole.lines().last().and_then(|line| line.split(',').next()?.parse().ok());
    (last.unwrap_or(0), false)
}
