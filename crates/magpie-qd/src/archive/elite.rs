//! What goes into an archive and what comes out of it.

use serde::{Deserialize, Serialize};

/// When and from what a solution was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The QD iteration.
    pub iteration: u64,
    /// Its number among the branches of that iteration; what was tried after them counts on. `None` is the search
    /// policy itself.
    pub branch: Option<u32>,
}

/// An evaluated solution offered to the archives.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The parameters.
    pub solution: &'a [f32],
    /// Whatever else is needed to run the solution again, such as its observation normaliser.
    pub extra: &'a [f64],
    /// The quality, to be maximised.
    pub objective: f64,
    /// The behaviour.
    pub measures: &'a [f64],
    /// Mean number of steps of the episodes it was evaluated on.
    pub length: f64,
    /// Where it came from.
    pub provenance: Provenance,
}

/// What an archive remembers of the solution in a cell, apart from the parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The quality.
    pub objective: f64,
    /// The behaviour.
    pub measures: Vec<f64>,
    /// Mean number of steps of the episodes it was evaluated on.
    pub length: f64,
    /// Where it came from.
    pub provenance: Provenance,
}

impl From<&Candidate<'_>> for Entry {
    fn from(candidate: &Candidate<'_>) -> Self {
        Entry {
            objective: candidate.objective,
            measures: candidate.measures.to_vec(),
            length: candidate.length,
            provenance: candidate.provenance,
        }
    }
}

/// The best solution of a cell with everything needed to run it again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elite<'a> {
    /// The cell.
    pub cell: usize,
    /// Quality, behaviour and origin.
    pub entry: &'a Entry,
    /// The parameters.
    pub solution: &'a [f32],
    /// What was stored beside the parameters.
    pub extra: &'a [f64],
}
