//! One archive: the elite of each cell and the threshold for new solutions.
//!
//! A batch is compared with the archive as it is before the batch. A candidate with objective f is accepted in a cell
//! with threshold t iff f > t; its improvement value is f − t. Of the n candidates accepted in a cell, with mean
//! objective f̄, the best is kept (the first on a tie) and the threshold moves by the batch rule of CMA-MAE (Fontaine &
//! Nikolaidis 2023):
//!
//! ```text
//! t ← (1−α)ⁿ t + (1 − (1−α)ⁿ) f̄
//! ```
//!
//! Surprising but intended: with α < 1 the threshold lags behind the elite, so that a new solution can replace an elite
//! that is better than itself. The elitist archive never does that: its threshold *is* the elite's objective.

pub mod elite;
pub mod outcome;
pub mod pair;
pub mod result;
pub mod solutions;

use crate::error::{Error, Refusal};
use elite::{Candidate, Entry};
use outcome::Outcome;
use serde::{Deserialize, Serialize};

/// The rule by which a cell accepts candidates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Acceptance {
    /// Accepts what is better than the elite of the cell; an empty cell accepts anything (MAP-Elites).
    Elitist,
    /// Accepts what is better than a threshold that slowly follows the accepted objectives (CMA-MAE).
    Soft {
        /// α in (0, 1]: with 1 the threshold follows at once; towards 0 the search becomes plain optimisation.
        learning_rate: f64,
        /// The threshold of an empty cell, in units of the objective.
        threshold_min: f64,
    },
}

impl Acceptance {
    fn check(self) -> Result<Self, Error> {
        match self {
            Acceptance::Soft { learning_rate, .. } if !(learning_rate > 0.0 && learning_rate <= 1.0) => {
                Err(Error::LearningRate(learning_rate))
            }
            Acceptance::Soft { threshold_min, .. } if !threshold_min.is_finite() => {
                Err(Error::ThresholdMin(threshold_min))
            }
            _ => Ok(self),
        }
    }
}

/// What an archive holds in its cells, whatever its rules.
pub trait Occupancy {
    /// The entry of `cell`, if it is occupied.
    fn entry(&self, cell: usize) -> Option<&Entry>;
}

impl Occupancy for Archive {
    fn entry(&self, cell: usize) -> Option<&Entry> {
        Archive::entry(self, cell)
    }
}

/// The entries and thresholds of all cells; the parameters are stored separately
/// ([`ArchivePair`](crate::ArchivePair)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Archive {
    acceptance: Acceptance,
    entries: Vec<Option<Entry>>,
    /// One per cell for the soft rule; empty for the elitist rule, whose thresholds follow from the entries.
    thresholds: Vec<f64>,
}

/// A row of a batch that a cell accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Accepted {
    cell: usize,
    row: usize,
}

impl Archive {
    fn new(cells: usize, acceptance: Acceptance) -> Result<Self, Error> {
        let thresholds = match acceptance.check()? {
            Acceptance::Elitist => Vec::new(),
            Acceptance::Soft { threshold_min, .. } => vec![threshold_min; cells],
        };
        Ok(Archive { acceptance, entries: vec![None; cells], thresholds })
    }

    /// Whether a restored archive can belong to `cells` cells with `measure_dim` measures.
    fn check(&self, cells: usize, measure_dim: usize) -> Result<(), Error> {
        self.acceptance.check()?;
        let thresholds = match self.acceptance {
            Acceptance::Elitist => 0,
            Acceptance::Soft { .. } => cells,
        };
        if self.entries.len() != cells || self.thresholds.len() != thresholds {
            return Err(Error::Record("number of entries or thresholds differs from the number of cells"));
        }
        let sound = |entry: &Entry| entry.is_sound(measure_dim);
        if !self.entries.iter().flatten().all(sound) || !self.thresholds.iter().all(|t| t.is_finite()) {
            return Err(Error::Record("entry of wrong size, or number that is not finite"));
        }
        Ok(())
    }

    /// The acceptance rule of this archive.
    pub fn acceptance(&self) -> Acceptance {
        self.acceptance
    }

    /// The entry of `cell`, if it is occupied.
    pub fn entry(&self, cell: usize) -> Option<&Entry> {
        self.entries.get(cell)?.as_ref()
    }

    /// The occupied cells with their entries, in ascending order of cells.
    pub fn entries(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter_map(|(cell, entry)| Some((cell, entry.as_ref()?)))
    }

    /// The number of occupied cells.
    pub fn len(&self) -> usize {
        self.entries.iter().flatten().count()
    }

    /// Whether no cell is occupied.
    pub fn is_empty(&self) -> bool {
        self.entries.iter().all(Option::is_none)
    }

    /// The threshold that a candidate for `cell` must exceed; −∞ for an empty cell of an elitist archive, NaN beyond
    /// the last cell.
    pub fn threshold(&self, cell: usize) -> f64 {
        match (self.acceptance, self.entries.get(cell)) {
            (_, None) => f64::NAN,
            (Acceptance::Elitist, Some(entry)) => entry.as_ref().map_or(f64::NEG_INFINITY, |e| e.objective),
            (Acceptance::Soft { .. }, Some(_)) => self.thresholds[cell],
        }
    }

    /// Forgets the entry of a cell that turned out to be empty. The threshold stays: it is the memory of what was accepted
    /// there, and a hole among known cells is no reason for the search to turn back.
    fn vacate(&mut self, cell: usize) {
        self.entries[cell] = None;
    }

    fn accepts(&self, cell: usize, objective: f64) -> bool {
        objective > self.threshold(cell)
    }

    fn outcome_of(&self, cell: usize, objective: f64) -> Outcome {
        let threshold = self.threshold(cell);
        // Without a threshold there is nothing to subtract: the value of a first elite is its objective.
        let value = if threshold == f64::NEG_INFINITY { objective } else { objective - threshold };
        match (self.accepts(cell, objective), &self.entries[cell]) {
            (true, None) => Outcome::New(value),
            (true, Some(_)) => Outcome::Improved(value),
            (false, _) => Outcome::Rejected(value),
        }
    }

    /// Inserts a batch; `cells[row]` is the cell of `batch[row]`, or why it is refused. Returns the outcomes.
    fn add(&mut self, cells: &[Result<usize, Refusal>], batch: &[Candidate<'_>]) -> Vec<Outcome> {
        let outcomes: Vec<Outcome> = cells
            .iter()
            .zip(batch)
            .map(|(cell, candidate)| match *cell {
                Ok(cell) => self.outcome_of(cell, candidate.objective),
                Err(refusal) => Outcome::Refused(refusal),
            })
            .collect();

        let mut accepted: Vec<Accepted> = outcomes
            .iter()
            .zip(cells)
            .enumerate()
            .filter(|(_, (outcome, _))| outcome.is_accepted())
            .filter_map(|(row, (_, cell))| Some(Accepted { cell: cell.ok()?, row }))
            .collect();
        // The sort is stable: within a cell, rows keep the order of the batch.
        accepted.sort_by_key(|row| row.cell);

        for rivals in accepted.chunk_by(|a, b| a.cell == b.cell) {
            let objective = |rival: &Accepted| batch[rival.row].objective;
            let first_best = rivals.iter().fold(rivals[0], |best, rival| {
                if objective(rival) > objective(&best) { *rival } else { best }
            });
            if let Acceptance::Soft { learning_rate, .. } = self.acceptance {
                let mean = rivals.iter().map(objective).sum::<f64>() / rivals.len() as f64;
                let kept = (1.0 - learning_rate).powi(rivals.len() as i32);
                let threshold = &mut self.thresholds[first_best.cell];
                *threshold = kept * *threshold + (1.0 - kept) * mean;
            }
            self.entries[first_best.cell] = Some(Entry::from(&batch[first_best.row]));
        }
        outcomes
    }
}

#[cfg(test)]
mod tests {
    use super::elite::{Evidence, Provenance};
    use super::*;

    fn candidates(objectives: &[f64]) -> Vec<Candidate<'static>> {
        let provenance = |row| Provenance { iteration: 0, branch: Some(row as u32) };
        let candidate = |(row, &objective)| Candidate {
            solution: &[],
            extra: &[],
            objective,
            measures: &[0.5],
            length: 1.0,
            evidence: Evidence::ONE,
            provenance: provenance(row),
        };
        objectives.iter().enumerate().map(candidate).collect()
    }

    #[test]
    fn soft_threshold_lets_a_worse_newcomer_replace_the_elite() {
        let soft = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        let mut archive = Archive::new(1, soft).unwrap();
        archive.add(&[Ok(0)], &candidates(&[8.0]));
        assert_eq!(archive.threshold(0), 4.0);
        let outcomes = archive.add(&[Ok(0)], &candidates(&[5.0]));
        assert_eq!(outcomes, [Outcome::Improved(1.0)]);
        assert_eq!(archive.entry(0).unwrap().objective, 5.0);
    }

    #[test]
    fn batch_rule_counts_all_accepted_and_keeps_the_first_best() {
        let soft = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        let mut archive = Archive::new(2, soft).unwrap();
        let cells = [Ok(1), Ok(1), Err(Refusal::Objective), Ok(1), Ok(1)];
        let outcomes = archive.add(&cells, &candidates(&[2.0, 6.0, f64::NAN, -1.0, 6.0]));
        assert_eq!(outcomes[0], Outcome::New(2.0));
        assert_eq!(outcomes[2].value(), f64::NEG_INFINITY);
        assert_eq!(outcomes[3], Outcome::Rejected(-1.0));
        assert_eq!(archive.entry(1).unwrap().provenance.branch, Some(1));
        // n = 3 accepted with mean 14/3.
        assert!((archive.threshold(1) - (1.0 - 0.125) * 14.0 / 3.0).abs() < 1e-15);
        assert_eq!(archive.threshold(0), 0.0);
    }

    #[test]
    fn impossible_acceptances_are_refused() {
        for learning_rate in [0.0, -0.1, 1.1, f64::NAN] {
            let soft = Acceptance::Soft { learning_rate, threshold_min: 0.0 };
            assert!(matches!(Archive::new(1, soft), Err(Error::LearningRate(_))));
        }
        let endless = Acceptance::Soft { learning_rate: 0.5, threshold_min: f64::NEG_INFINITY };
        assert_eq!(Archive::new(1, endless), Err(Error::ThresholdMin(f64::NEG_INFINITY)));
    }
}
