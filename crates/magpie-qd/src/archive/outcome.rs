//! The result of adding a candidate.

use crate::error::Refusal;

/// The result of adding one candidate of a batch, compared with the archive as it was *before* the batch.
///
/// The number is the improvement value, objective − threshold of the cell; see [`Outcome::value`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// Better than the threshold of an empty cell.
    New(f64),
    /// Better than the threshold of an occupied cell.
    Improved(f64),
    /// Not better than the threshold.
    Rejected(f64),
    /// The candidate was refused.
    Refused(Refusal),
}

impl Outcome {
    /// Whether the candidate was accepted. Of several candidates accepted in one cell only the best is kept, but all of
    /// them move the threshold.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Outcome::New(_) | Outcome::Improved(_))
    }

    /// The improvement value by which candidates are ranked. A refused candidate ranks last, with −∞.
    pub fn value(&self) -> f64 {
        match *self {
            Outcome::New(value) | Outcome::Improved(value) | Outcome::Rejected(value) => value,
            Outcome::Refused(_) => f64::NEG_INFINITY,
        }
    }
}

/// The results of a batch in both archives, one outcome per candidate in the order of the batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Insertion {
    /// Outcomes in the soft archive, whose values rank the candidates.
    pub soft: Vec<Outcome>,
    /// Outcomes in the result archive.
    pub result: Vec<Outcome>,
    /// The number of cells of the result archive that were empty before.
    pub new_cells: usize,
}

impl Insertion {
    /// The improvement values of the soft archive, for ranking.
    pub fn values(&self) -> Vec<f64> {
        self.soft.iter().map(Outcome::value).collect()
    }

    /// The number of candidates that the soft archive accepted. If there are none, the search should restart.
    pub fn accepted(&self) -> usize {
        self.soft.iter().filter(|outcome| outcome.is_accepted()).count()
    }

    /// The number of candidates refused because they have NaN or infinite values.
    pub fn refused(&self) -> usize {
        self.soft.iter().filter(|outcome| matches!(outcome, Outcome::Refused(_))).count()
    }
}
