//! What an iteration gave, and where its time went.

use magpie_qd::Metrics;

use crate::emitter::ppga::PpgaReport;
use crate::error::TrainingError;

/// What an iteration gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Iterations made, this one included.
    pub iteration: u64,
    /// Of the result archive.
    pub metrics: Metrics,
    /// Cells that were empty before.
    pub new_cells: usize,
    /// Candidates that were not considered because something about them is not finite.
    pub refused: usize,
    /// Environment steps since the beginning.
    pub env_steps: u64,
    /// What each emitter did.
    pub emitters: Vec<EmitterReport>,
    /// Seconds of evaluating what emitters proposed.
    pub evaluation_seconds: f64,
    /// Seconds of insertion.
    pub archive_seconds: f64,
}

/// What an emitter did in an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct EmitterReport {
    /// Its name.
    pub name: &'static str,
    /// Policies that it proposed.
    pub proposed: usize,
    /// Cells that they filled for the first time.
    pub new_cells: usize,
    /// What PPGA has to say, if it is one.
    pub ppga: Option<PpgaReport>,
}

impl Report {
    /// What each PPGA did.
    pub fn ppgas(&self) -> impl DoubleEndedIterator<Item = &PpgaReport> {
        self.emitters.iter().filter_map(|emitter| emitter.ppga.as_ref())
    }

    /// Restarts of all emitters since the beginning.
    pub fn restarts(&self) -> u64 {
        self.ppgas().map(|ppga| ppga.restarts).sum()
    }

    /// Why training failed, if it did.
    pub fn failed_walk(&self) -> Option<&TrainingError> {
        self.ppgas().filter_map(|ppga| ppga.walk.as_ref()).filter_map(|walk| walk.as_ref().err()).next()
    }
}
