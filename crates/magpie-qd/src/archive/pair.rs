//! The two archives of a search, which share one set of solutions.
//!
//! The *soft* archive guides the search: its improvement values rank the candidates, its empty cells attract the
//! search, and the search restarts when it accepts nothing. The *result* archive keeps the best solution of each cell
//! and is what is reported.
//!
//! **Parameters are kept for the result archive only.** With α < 1 the two can hold different solutions in one cell, so
//! that keeping both would take up to twice the memory: 960 MB instead of 480 MB for 2,500 cells × 48,000 parameters.
//! That is the normal case: in the simulated search of `examples/archive_costs.rs` they differ in nine cells of ten at
//! α = 0.1. Therefore the soft archive keeps only thresholds and entries, and a restart selects a cell that the *soft*
//! archive occupies, at random or for its surroundings, and then takes the *result* elite of that cell. PPGA would take
//! the last accepted solution of the same cell, which is never ranked better. The elite always exists: the result archive
//! sees everything that the soft archive accepts, and a cell that it loses to a re-evaluation is emptied in both.
//!
//! **Re-evaluation** ([`ArchivePair::pool`]) changes what the result archive knows. The soft archive keeps its thresholds, so
//! that improvement values mean what they did, and forgets the entries of cells that have become empty. A solution that
//! moves is offered to the soft archive in its new cell like any other.

use std::collections::BTreeMap;

use super::elite::{Candidate, Elite, Entry};
use super::outcome::Insertion;
use super::result::{Changes, Pooled, Ranking, ResultArchive};
use super::solutions::Solutions;
use super::{Acceptance, Archive};
use crate::cells::Cells;
use crate::error::{Error, Refusal};
use crate::metrics::{Metrics, QdOffset};
use magpie_random::Draws;
use serde::{Deserialize, Serialize};

/// Soft archive, result archive, and the solutions they share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PairRecord")]
pub struct ArchivePair {
    cells: Cells,
    soft: Archive,
    result: ResultArchive,
    solutions: Solutions,
}

#[derive(Deserialize)]
struct PairRecord {
    cells: Cells,
    soft: Archive,
    result: ResultArchive,
    solutions: Solutions,
}

impl TryFrom<PairRecord> for ArchivePair {
    type Error = Error;
    fn try_from(record: PairRecord) -> Result<Self, Error> {
        ArchivePair::from_parts(record.cells, record.soft, record.result, record.solutions)
    }
}

impl ArchivePair {
    /// Empty archives over `cells` for solutions of `solution_len` parameters and `extra_len` extra fields.
    pub fn new(
        cells: impl Into<Cells>,
        soft: Acceptance,
        solution_len: usize,
        extra_len: usize,
    ) -> Result<Self, Error> {
        let cells = cells.into();
        Ok(ArchivePair {
            soft: Archive::new(cells.count(), soft)?,
            result: ResultArchive::new(cells.count(), Ranking::ELITE)?,
            solutions: Solutions::new(0, solution_len, extra_len),
            cells,
        })
    }

    /// The same with an empty result archive that ranks solutions in another way.
    pub fn ranked(self, ranking: Ranking) -> Result<Self, Error> {
        let solutions = Solutions::new(0, self.solutions.solution_len(), self.solutions.extra_len());
        Ok(ArchivePair { result: ResultArchive::new(self.cells.count(), ranking)?, solutions, ..self })
    }

    /// Assembles the archives from the parts that the accessors return, for checkpoints that store the parameters in a
    /// separate file.
    pub fn from_parts(
        cells: Cells,
        soft: Archive,
        result: ResultArchive,
        mut solutions: Solutions,
    ) -> Result<Self, Error> {
        soft.check(cells.count(), cells.measure_dim())?;
        result.check(cells.count(), cells.measure_dim())?;
        solutions.check(result.places().map(|(_, _, slot)| slot))?;
        if soft.entries().any(|(cell, _)| result.entry(cell).is_none()) {
            return Err(Error::Record("the soft archive occupies a cell that the result archive does not"));
        }
        Ok(ArchivePair { cells, soft, result, solutions })
    }

    /// Other entries for the same cells and solutions; solutions that they do not name are given up.
    pub fn with(&self, soft: Archive, result: ResultArchive) -> Result<ArchivePair, Error> {
        let mut solutions = self.solutions.clone();
        solutions.keep(result.places().map(|(_, _, slot)| slot));
        ArchivePair::from_parts(self.cells.clone(), soft, result, solutions)
    }

    /// The cells of both archives.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The archive that guides the search.
    pub fn soft(&self) -> &Archive {
        &self.soft
    }

    /// The archive that is reported.
    pub fn result(&self) -> &ResultArchive {
        &self.result
    }

    /// The parameters of the solutions in the result archive.
    pub fn solutions(&self) -> &Solutions {
        &self.solutions
    }

    /// Offers a batch to both archives. If it returns an error, nothing was inserted.
    pub fn add(&mut self, batch: &[Candidate<'_>]) -> Result<Insertion, Error> {
        for (row, candidate) in batch.iter().enumerate() {
            self.solutions.check_candidate(row, candidate)?;
            let (expected, found) = (self.cells.measure_dim(), candidate.measures.len());
            if expected != found {
                return Err(Error::Length { what: "measures", row, expected, found });
            }
            let squares = candidate.evidence.squares.len();
            if squares != 0 && squares != expected + 1 {
                let what = "squared deviations";
                return Err(Error::Length { what, row, expected: expected + 1, found: squares });
            }
        }
        let placed: Vec<_> = batch.iter().map(|candidate| self.place(candidate)).collect();
        let occupied_before = self.result.len();
        let soft = self.soft.add(&placed, batch);
        let result = self.result.add(&placed, batch, &mut self.solutions)?;
        Ok(Insertion { soft, result, new_cells: self.result.len() - occupied_before })
    }

    /// Offers a candidate to a cell that must be empty: of several in one cell the first stays, whatever its objective.
    /// Returns whether it has entered.
    pub fn add_first(&mut self, candidate: Candidate<'_>) -> Result<bool, Error> {
        let taken =
            self.cells.index_of(candidate.measures).is_ok_and(|cell| self.result.entry(cell).is_some());
        Ok(!taken && self.add(&[candidate])?.new_cells == 1)
    }

    /// The cell of a candidate, or why it is refused. Because parameters are many, they are only checked if the
    /// objective suffices for an archive.
    fn place(&self, candidate: &Candidate<'_>) -> Result<usize, Refusal> {
        let cell = self.cells.index_of(candidate.measures)?;
        let objective = candidate.objective;
        if !objective.is_finite() || !candidate.evidence.squares.iter().all(|x| x.is_finite()) {
            return Err(Refusal::Objective);
        }
        if !candidate.length.is_finite() {
            return Err(Refusal::Length);
        }
        if self.soft.accepts(cell, objective) || self.result.keeps(cell, &Entry::from(candidate)) {
            if !all_finite(candidate.solution) {
                return Err(Refusal::Solution);
            }
            if !candidate.extra.iter().all(|x| x.is_finite()) {
                return Err(Refusal::Extra);
            }
        }
        Ok(cell)
    }

    /// Pools further evaluations of stored solutions, given by their slots ([`Elite::slot`]). A solution whose pooled
    /// measures lie in another cell moves there and competes; one that loses, or has no cell, is removed.
    pub fn pool(&mut self, more: &BTreeMap<usize, Entry>) -> Result<Pooled, Error> {
        if more.is_empty() {
            return Ok(Pooled::default());
        }
        let Changes { pooled, cells, movers } = self.result.pool(&self.cells, more, &mut self.solutions)?;
        cells
            .into_iter()
            .filter(|&cell| self.result.entry(cell).is_none())
            .for_each(|cell| self.soft.vacate(cell));
        let places: Vec<_> = movers.iter().map(|(cell, _)| Ok(*cell)).collect();
        let offered: Vec<_> = movers.iter().map(|(_, entry)| entry.as_candidate()).collect();
        self.soft.add(&places, &offered);
        Ok(pooled)
    }

    /// The best solution of `cell`.
    pub fn elite(&self, cell: usize) -> Option<Elite<'_>> {
        self.solution(cell, 0)
    }

    /// The solution of a rank in `cell`: 0 is the elite, then come the runners-up.
    fn solution(&self, cell: usize, rank: usize) -> Option<Elite<'_>> {
        let contender = self.result.contender(cell, rank)?;
        let (solution, extra) = self.solutions.get(contender.slot)?;
        Some(Elite { cell, slot: contender.slot, entry: &contender.entry, solution, extra })
    }

    /// The runners-up of `cell`, best first.
    pub fn runners_up(&self, cell: usize) -> impl Iterator<Item = Elite<'_>> {
        (1..).map_while(move |rank| self.solution(cell, rank))
    }

    /// All elites of the result archive, in ascending order of cells.
    pub fn elites(&self) -> impl Iterator<Item = Elite<'_>> {
        self.result.entries().filter_map(|(cell, _)| self.elite(cell))
    }

    /// All stored solutions, elites and runners-up, in ascending order of cells.
    pub fn stored(&self) -> impl Iterator<Item = Elite<'_>> {
        self.result.places().filter_map(|(cell, rank, _)| self.solution(cell, rank))
    }

    /// The elite with the highest objective, in the lowest cell on a tie.
    pub fn best_elite(&self) -> Option<Elite<'_>> {
        let objective = |(_, entry): &(usize, &Entry)| entry.objective;
        let better = |best, next| if objective(&next) > objective(&best) { next } else { best };
        let (cell, _) = self.result.entries().reduce(better)?;
        self.elite(cell)
    }

    /// An elite drawn uniformly from the cells that the soft archive occupies; `None` if that archive is empty.
    pub fn random_elite(&self, draws: &mut Draws) -> Option<Elite<'_>> {
        let nth = draws.below(self.soft.len() as u32);
        let (cell, _) = self.soft.entries().nth(nth as usize)?;
        self.elite(cell)
    }

    /// The metrics of the result archive.
    pub fn metrics(&self, offset: QdOffset) -> Metrics {
        let scores = self.result.entries().map(|(_, entry)| (entry.objective, entry.length));
        Metrics::of(scores, self.cells.count(), offset)
    }
}

/// Branch-free, so that it runs at memory speed: an exponent with all bits set is infinite or NaN.
fn all_finite(row: &[f32]) -> bool {
    const EXPONENT: u32 = 0x7f80_0000;
    row.chunks(1024).all(|chunk| {
        let non_finite = chunk.iter().map(|x| u32::from(x.to_bits() & EXPONENT == EXPONENT)).sum::<u32>();
        non_finite == 0
    })
}

#[cfg(test)]
mod tests {
    use super::super::elite::{Evidence, Provenance};
    use super::super::outcome::Outcome;
    use super::*;
    use crate::cells::Grid;
    use magpie_random::Stream;

    const SOFT: Acceptance = Acceptance::Soft { learning_rate: 0.1, threshold_min: 0.0 };

    fn pair() -> ArchivePair {
        ArchivePair::new(Grid::new(vec![10], vec![0.0], vec![1.0]).unwrap(), SOFT, 2, 1).unwrap()
    }

    fn candidate<'a>(solution: &'a [f32], objective: f64, measures: &'a [f64]) -> Candidate<'a> {
        let provenance = Provenance { iteration: 0, branch: None };
        let evidence = Evidence::ONE;
        Candidate { solution, extra: &[0.0], objective, measures, length: 10.0, evidence, provenance }
    }

    #[test]
    fn non_finite_candidates_are_refused_and_the_rest_goes_in() {
        let mut pair = pair();
        let good = candidate(&[1.0, 2.0], 5.0, &[0.25]);
        let batch = [
            Candidate { objective: f64::NAN, ..good },
            Candidate { objective: f64::INFINITY, ..good },
            Candidate { measures: &[f64::NAN], ..good },
            Candidate { measures: &[f64::NEG_INFINITY], ..good },
            Candidate { length: f64::NAN, ..good },
            Candidate { solution: &[f32::NAN, 0.0], objective: 9.0, ..good },
            Candidate { extra: &[f64::INFINITY], objective: 9.0, ..good },
            good,
        ];
        let insertion = pair.add(&batch).unwrap();
        let refusals: Vec<_> = insertion
            .soft
            .iter()
            .filter_map(|outcome| if let Outcome::Refused(why) = outcome { Some(*why) } else { None })
            .collect();
        use Refusal::*;
        assert_eq!(refusals, [Objective, Objective, Measures, Measures, Length, Solution, Extra]);
        assert_eq!((insertion.accepted(), insertion.refused(), insertion.new_cells), (1, 7, 1));
        assert_eq!(pair.elite(2).unwrap().solution, [1.0, 2.0]);
    }

    #[test]
    fn wrong_shapes_insert_nothing() {
        let mut pair = pair();
        let good = candidate(&[1.0, 2.0], 5.0, &[0.25]);
        for bad in [
            Candidate { solution: &[1.0], ..good },
            Candidate { extra: &[], ..good },
            Candidate { measures: &[0.1, 0.2], ..good },
        ] {
            assert!(matches!(pair.add(&[good, bad]), Err(Error::Length { row: 1, .. })));
        }
        assert!(pair.soft().is_empty() && pair.result().is_empty());
    }

    #[test]
    fn restart_draws_from_soft_cells_and_returns_their_best() {
        let mut pair = pair();
        let mut draws = Stream::new(0, "test").draws(0, 0);
        assert_eq!(pair.random_elite(&mut draws), None);
        // Below threshold_min: only in the result archive, and therefore never drawn.
        pair.add(&[candidate(&[9.0, 9.0], -1.0, &[0.05])]).unwrap();
        assert_eq!(pair.random_elite(&mut draws), None);
        pair.add(&[candidate(&[1.0, 1.0], 8.0, &[0.35]), candidate(&[2.0, 2.0], 4.0, &[0.95])]).unwrap();
        pair.add(&[candidate(&[3.0, 3.0], 5.0, &[0.35])]).unwrap();
        assert_eq!(pair.soft().entry(3).unwrap().objective, 5.0);
        let drawn: Vec<_> = (0..100).map(|_| pair.random_elite(&mut draws).unwrap().solution[0]).collect();
        assert!(drawn.iter().all(|&first| first == 1.0 || first == 2.0));
        let from_cell_3 = drawn.iter().filter(|&&first| first == 1.0).count();
        assert!((30..=70).contains(&from_cell_3), "{from_cell_3} of 100");
        assert_eq!(pair.best_elite().unwrap().cell, 3);
    }

    #[test]
    fn contradictory_records_are_refused() {
        let mut pair = pair();
        pair.add(&[candidate(&[1.0, 2.0], 5.0, &[0.25])]).unwrap();
        let ArchivePair { cells, soft, result, solutions } = pair;
        let rebuilt = |cells: &Cells, soft: &Archive, result: &ResultArchive, solutions: &Solutions| {
            ArchivePair::from_parts(cells.clone(), soft.clone(), result.clone(), solutions.clone())
        };
        assert!(rebuilt(&cells, &soft, &result, &solutions).is_ok());
        assert!(rebuilt(&cells, &soft, &result, &Solutions::new(10, 2, 1)).is_err());
        let smaller = Grid::new(vec![9], vec![0.0], vec![1.0]).unwrap().into();
        assert!(rebuilt(&smaller, &soft, &result, &solutions).is_err());
        let empty = ResultArchive::new(10, Ranking::ELITE).unwrap();
        assert!(rebuilt(&cells, &soft, &empty, &solutions).is_err());
        assert!(rebuilt(&cells, &soft, &empty, &Solutions::new(10, 2, 1)).is_err());
    }
}
