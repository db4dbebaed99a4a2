//! Driving a search: its iterations and its pictures, until it is finished or somebody wants it to stop.

use std::ops::ControlFlow;

use magpie_search::SettlingProgress;

use super::run::{Progress, TrainRun};
use crate::error::RunError;
use crate::operations::instability_of_search;

/// Who watches a search, and may end it.
pub trait Watch {
    /// Whether to save now and end.
    fn wants_stop(&self) -> bool;

    /// An iteration has been made.
    fn iteration(&mut self, run: &TrainRun, progress: &Progress);

    /// Solutions have been evaluated again, to settle the archive.
    fn settling(&mut self, progress: SettlingProgress);

    /// Something is likely to be a mistake, in a sentence.
    fn warning(&mut self, warning: &str);
}

impl TrainRun {
    /// Iterates until the run is finished, or `watch` wants it to stop. What was found is then saved, drawn and, at the end
    /// of a run, settled. Returns whether the run has come to its end.
    pub fn drive(&mut self, watch: &mut dyn Watch) -> Result<bool, RunError> {
        let (mut drawn, mut warned) = (false, false);
        while !self.is_finished() && !watch.wants_stop() {
            let progress = self.iterate()?;
            watch.iteration(self, &progress);
            // The first picture at once, so that there is something to look at.
            if progress.saved || !drawn {
                self.draw()?;
                self.warn_once(&mut warned, watch)?;
                drawn = true;
            }
        }
        if !self.is_finished() {
            self.warn_once(&mut warned, watch)?;
        }
        self.finish_with(&mut |progress| {
            watch.settling(progress);
            if watch.wants_stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }

    /// Warns if the best elite owes its return to unstable physics.
    fn warn_once(&self, warned: &mut bool, watch: &mut dyn Watch) -> Result<(), RunError> {
        if !*warned && let Some(warning) = instability_of_search(self)? {
            *warned = true;
            watch.warning(&warning);
        }
        Ok(())
    }
}
