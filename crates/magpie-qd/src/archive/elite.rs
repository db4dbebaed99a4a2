//! The candidates and elites of an archive.

use serde::{Deserialize, Serialize};

/// The origin of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The iteration.
    pub iteration: u64,
    /// The number of the policy among those proposed in that iteration: branches first, then the others. `None` is the
    /// search policy itself.
    pub branch: Option<u32>,
}

/// An evaluated solution offered to the archives.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The parameters.
    pub solution: &'a [f32],
    /// Whatever else is needed to run the solution again, such as its observation normaliser.
    pub extra: &'a [f64],
    /// The objective, which is maximised.
    pub objective: f64,
    /// The measures.
    pub measures: &'a [f64],
    /// Mean number of steps in the evaluated episodes.
    pub length: f64,
    /// The origin.
    pub provenance: Provenance,
}

/// An archive's record of the solution in a cell, without the parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The objective.
    pub objective: f64,
    /// The measures.
    pub measures: Vec<f64>,
    /// Mean number of steps in the evaluated episodes.
    pub length: f64,
    /// The origin.
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

/// The best solution of a cell, with everything needed to run it again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elite<'a> {
    /// The cell.
    pub cell: usize,
    /// Objective, measures and origin.
    pub entry: &'a Entry,
    /// The parameters.
    pub solution: &'a [f32],
    /// The extra fields.
    pub extra: &'a [f64],
}
