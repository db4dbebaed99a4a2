//! What an iteration gave, and where its time went.

use magpie_qd::Metrics;

use crate::error::TrainingError;
use crate::phase::PhaseStats;

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

/// What PPGA did in an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct PpgaReport {
    /// Branches that the soft archive accepted.
    pub accepted: usize,
    /// Restarts since the beginning.
    pub restarts: u64,
    /// How the search policy did before it walked.
    pub search_policy: SearchPolicy,
    /// What the walk was to be paid for: weights of the objective and of each measure.
    pub walk_coefficients: Vec<f64>,
    /// Training of the copy that serves the objective.
    pub gradients: PhaseStats,
    /// Training of the walk; `None` if the search restarted instead. A walk that failed has left the search policy and
    /// the reward model where they were; what the branches found is kept.
    pub walk: Option<Result<PhaseStats, TrainingError>>,
    /// Where its time went.
    pub seconds: PpgaSeconds,
}

/// Where the time of PPGA went.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PpgaSeconds {
    /// Evaluating the search policy.
    pub evaluation: f64,
    /// Gradients, and making branches.
    pub gradients: f64,
    /// Walk.
    pub walk: f64,
}

/// How the search policy does.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchPolicy {
    /// Mean true return.
    pub objective: f64,
    /// Mean length of its episodes.
    pub length: f64,
}

impl Report {
    /// What the first PPGA did, if there is one.
    pub fn ppga(&self) -> Option<&PpgaReport> {
        self.emitters.iter().find_map(|emitter| emitter.ppga.as_ref())
    }

    /// Restarts of all emitters since the beginning.
    pub fn restarts(&self) -> u64 {
        self.emitters.iter().filter_map(|emitter| emitter.ppga.as_ref()).map(|ppga| ppga.restarts).sum()
    }

    /// Why training failed, if it did.
    pub fn failed_walk(&self) -> Option<&TrainingError> {
        let walks = self.emitters.iter().filter_map(|emitter| emitter.ppga.as_ref()?.walk.as_ref());
        walks.filter_map(|walk| walk.as_ref().err()).next()
    }
}
