//! What became of a candidate.

use crate::error::Refusal;

/// What an archive did with one candidate of a batch, judged against the archive as it was *before* the
/// batch.
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
    /// Not considered.
    Refused(Refusal),
}

impl Outcome {
    /// Whether the candidate was accepted. Of several accepted into one cell only the best is kept, but all
    /// of them move the threshold.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Outcome::New(_) | Outcome::Improved(_))
    }

    /// The improvement value by which candidates are ranked. A refused candidate ranks behind all others: −∞.
    pub fn value(&self) -> f64 {
        match *self {
            Outcome::New(value) | Outcome::Improved(value) | Outcome::Rejected(value) => value,
            Outcome::Refused(_) => f64::NEG_INFINITY,
        }
    }
}

/// What became of a batch in both archives, one outcome for each candidate in the order of the batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Insertion {
    /// In the soft archive: these values rank the candidates.
    pub soft: Vec<Outcome>,
    /// In the result archive.
    pub result: Vec<Outcome>,
    /// Cells of the result archive that were empty before.
    pub new_cells: usize,
}

impl Insertion {
    /// The improvement values of the soft archive, for ranking.
    pub fn values(&self) -> Vec<f64> {
        self.soft.iter().map(Outcome::value).collect()
    }

    /// How many candidates the soft archive accepted. None at all is the signal to restart the search.
    pub fn accepted(&self) -> usize {
        self.soft.iter().filter(|outcome| outcome.is_accepted()).count()
    }

    /// How many candidates were not considered because they hold NaN or infinite values.
    pub fn refused(&self) -> usize {
        self.soft.iter().filter(|outcome| matches!(outcome, Outcome::Refused(_))).count()
    }
}
