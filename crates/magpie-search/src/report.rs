//! The report of an iteration.

use magpie_qd::{Metrics, Pooled};

use crate::emitter::ppga::PpgaReport;
use crate::error::TrainingError;

/// The report of an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The number of completed iterations, including this one.
    pub iteration: u64,
    /// Metrics of the result archive.
    pub metrics: Metrics,
    /// The number of cells that were empty before.
    pub new_cells: usize,
    /// The number of candidates rejected because a value is not finite.
    pub refused: usize,
    /// What re-evaluation of elites has changed.
    pub reevaluation: Pooled,
    /// Environment steps since the beginning.
    pub env_steps: u64,
    /// The report of each emitter.
    pub emitters: Vec<EmitterReport>,
    /// Seconds spent on evaluating the proposed policies.
    pub evaluation_seconds: f64,
    /// Seconds spent on insertion.
    pub archive_seconds: f64,
}

/// The report of an emitter for an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct EmitterReport {
    /// Its name.
    pub name: &'static str,
    /// The number of policies it proposed.
    pub proposed: usize,
    /// The number of cells that these occupied for the first time.
    pub new_cells: usize,
    /// PPGA's own report, if this is a PPGA emitter.
    pub ppga: Option<PpgaReport>,
}

impl Report {
    /// The reports of all PPGA emitters.
    pub fn ppgas(&self) -> impl DoubleEndedIterator<Item = &PpgaReport> {
        self.emitters.iter().filter_map(|emitter| emitter.ppga.as_ref())
    }

    /// Restarts of all emitters since the beginning.
    pub fn restarts(&self) -> u64 {
        self.ppgas().map(|ppga| ppga.restarts).sum()
    }

    /// Why a walk failed, if one did.
    pub fn failed_walk(&self) -> Option<&TrainingError> {
        self.ppgas().filter_map(|ppga| ppga.walk.as_ref()).filter_map(|walk| walk.as_ref().err()).next()
    }
}
