//! What an iteration gave, and where its time went.

use magpie_qd::Metrics;

use crate::error::Trouble;
use crate::phase::Course;

/// Where the time of an iteration went.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seconds {
    /// Gradient phase.
    pub gradients: f64,
    /// Making branches, and the episodes of search policy, branches and waypoints; those of the walk are inserted in it.
    pub evaluation: f64,
    /// Insertion of what was tried before the walk, and xNES.
    pub archive: f64,
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

/// What an iteration gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Iterations made, this one included.
    pub iteration: u64,
    /// Of the result archive.
    pub metrics: Metrics,
    /// Cells that were empty before.
    pub new_cells: usize,
    /// Branches that the soft archive accepted.
    pub accepted: usize,
    /// Candidates that were not considered because something about them is not finite.
    pub refused: usize,
    /// Restarts since the beginning.
    pub restarts: u64,
    /// Environment steps since the beginning.
    pub env_steps: u64,
    /// How the search policy did before it walked.
    pub search_policy: SearchPolicy,
    /// What the walk was to be paid for: weights of the objective and of each measure.
    pub walk_coefficients: Vec<f64>,
    /// Training of the copy that serves the objective.
    pub gradients: Course,
    /// Training of the walk; `None` if the search restarted instead. A walk that failed has left the search policy and
    /// the reward model where they were; what the branches found is kept.
    pub walk: Option<Result<Course, Trouble>>,
    /// Where the time went.
    pub seconds: Seconds,
}
