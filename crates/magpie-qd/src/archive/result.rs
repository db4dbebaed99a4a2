//! The result archive: the elite of each cell, and the runners-up behind it.
//!
//! Solutions are ranked in a cell by a lower confidence bound of their objective: mean − `caution` · standard error. A cell
//! sees many candidates and keeps the best mean, which is high by luck as well as by merit; subtracting a standard error
//! makes luck, which is large only after few episodes, count less than evidence.
//!
//! When a solution has been evaluated again, its evaluations are pooled. If they now lie in another cell, it moves there
//! and competes; the runner-up of the cell that it leaves is promoted, or the cell becomes empty.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::Occupancy;
use super::elite::{Candidate, Entry};
use super::outcome::Outcome;
use super::solutions::Solutions;
use crate::cells::Cells;
use crate::error::{Error, Refusal};
use serde::{Deserialize, Serialize};

/// How many solutions a cell keeps, and how they are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The elite and its runners-up.
    pub depth: usize,
    /// Number of standard errors subtracted from a mean objective.
    pub caution: f64,
}

impl Ranking {
    /// One solution a cell, the one with the highest objective (MAP-Elites).
    pub const ELITE: Ranking = Ranking { depth: 1, caution: 0.0 };

    pub(super) fn check(self) -> Result<Self, Error> {
        let Ranking { depth, caution } = self;
        match depth >= 1 && caution >= 0.0 && caution.is_finite() {
            true => Ok(self),
            false => Err(Error::Ranking { depth, caution }),
        }
    }

    /// What solutions of a cell are ranked by.
    pub fn score(&self, entry: &Entry) -> f64 {
        match self.caution {
            0.0 => entry.objective,
            caution => entry.objective - caution * entry.standard_errors()[0],
        }
    }
}

/// A stored solution: its entry, and the slot of its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Contender {
    pub entry: Entry,
    pub slot: usize,
}

/// What the episodes of a re-evaluation changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pooled {
    /// Solutions that are in another cell now, those that lost there included.
    pub moved: usize,
    /// Cells with another elite than before, occupied before and now.
    pub replaced: usize,
    /// Cells that have become empty.
    pub emptied: usize,
}

/// The same, with what the soft archive has to know.
pub(super) struct Changes {
    pub pooled: Pooled,
    /// Cells that lost a solution, or one of whose solutions was evaluated again.
    pub cells: Vec<usize>,
    /// Solutions that moved, and where to.
    pub movers: Vec<(usize, Entry)>,
}

/// The solutions of each cell, best first; the parameters are stored separately.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultArchive {
    ranking: Ranking,
    cells: Vec<Vec<Contender>>,
}

/// Bytes of parameters beyond which the archive gives up runners-up: elites of a full humanoid archive take 490 MB, and a
/// search of its size is to fit in 1 GB.
const MOST_BYTES: usize = 768_000_000;

/// A solution that enters a cell.
enum Arrival<'a> {
    New(&'a Candidate<'a>),
    Stored(Contender),
}

impl ResultArchive {
    pub(super) fn new(cells: usize, ranking: Ranking) -> Result<Self, Error> {
        Ok(ResultArchive { ranking: ranking.check()?, cells: vec![Vec::new(); cells] })
    }

    /// Whether a restored archive can belong to `cells` cells with `measure_dim` measures.
    pub(super) fn check(&self, cells: usize, measure_dim: usize) -> Result<(), Error> {
        self.ranking.check()?;
        if self.cells.len() != cells {
            return Err(Error::Record("number of entries differs from the number of cells"));
        }
        let score = |contender: &Contender| self.ranking.score(&contender.entry);
        for cell in &self.cells {
            if cell.len() > self.ranking.depth || !cell.iter().all(|c| c.entry.is_sound(measure_dim)) {
                return Err(Error::Record("too many entries in a cell, or one that is not sound"));
            }
            if !cell.is_sorted_by(|a, b| score(a) >= score(b)) {
                return Err(Error::Record("entries of a cell in the wrong order"));
            }
        }
        Ok(())
    }

    /// How solutions are ranked.
    pub fn ranking(&self) -> Ranking {
        self.ranking
    }

    /// The entry of the elite of `cell`, if it is occupied.
    pub fn entry(&self, cell: usize) -> Option<&Entry> {
        self.contender(cell, 0).map(|contender| &contender.entry)
    }

    pub(super) fn contender(&self, cell: usize, rank: usize) -> Option<&Contender> {
        self.cells.get(cell)?.get(rank)
    }

    /// The occupied cells with the entries of their elites, in ascending order of cells.
    pub fn entries(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.cells.iter().enumerate().filter_map(|(cell, all)| Some((cell, &all.first()?.entry)))
    }

    /// All stored solutions: cell, rank from 0 and slot, in ascending order.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let of_cell = |(cell, all): (usize, &Vec<Contender>)| {
            let slots: Vec<usize> = all.iter().map(|contender| contender.slot).collect();
            slots.into_iter().enumerate().map(move |(rank, slot)| (cell, rank, slot))
        };
        self.cells.iter().enumerate().flat_map(of_cell)
    }

    /// The number of occupied cells.
    pub fn len(&self) -> usize {
        self.cells.iter().filter(|all| !all.is_empty()).count()
    }

    /// Whether no cell is occupied.
    pub fn is_empty(&self) -> bool {
        self.cells.iter().all(Vec::is_empty)
    }

    /// Whether a candidate for `cell` would be stored.
    pub(super) fn keeps(&self, cell: usize, entry: &Entry) -> bool {
        let all = &self.cells[cell];
        let score = self.ranking.score(entry);
        all.len() < self.ranking.depth
            || all.last().is_some_and(|last| score > self.ranking.score(&last.entry))
    }

    /// The outcome of a candidate that competes with the elite of `cell`.
    fn outcome_of(&self, cell: usize, entry: &Entry) -> Outcome {
        let score = self.ranking.score(entry);
        match self.entry(cell).map(|elite| score - self.ranking.score(elite)) {
            // Without an elite there is nothing to subtract.
            None => Outcome::New(score),
            Some(value) if value > 0.0 => Outcome::Improved(value),
            Some(value) => Outcome::Rejected(value),
        }
    }

    /// Inserts a batch; `cells[row]` is the cell of `batch[row]`, or why it is refused.
    pub(super) fn add(
        &mut self,
        cells: &[Result<usize, Refusal>],
        batch: &[Candidate<'_>],
        solutions: &mut Solutions,
    ) -> Result<Vec<Outcome>, Error> {
        let (mut outcomes, mut arrivals) = (Vec::with_capacity(batch.len()), Vec::new());
        for (cell, candidate) in cells.iter().zip(batch) {
            outcomes.push(match *cell {
                Err(refusal) => Outcome::Refused(refusal),
                Ok(cell) => {
                    let entry = Entry::from(candidate);
                    if self.keeps(cell, &entry) {
                        arrivals.push((cell, Arrival::New(candidate)));
                    }
                    self.outcome_of(cell, &entry)
                }
            });
        }
        self.admit(arrivals, solutions)?;
        Ok(outcomes)
    }

    /// Lets solutions compete in their cells. On a tie those that are there already come first, then the first to arrive.
    fn admit(
        &mut self,
        mut arrivals: Vec<(usize, Arrival<'_>)>,
        solutions: &mut Solutions,
    ) -> Result<(), Error> {
        // The sort is stable: within a cell, arrivals keep their order.
        arrivals.sort_by_key(|(cell, _)| *cell);
        let mut arrivals = arrivals.into_iter().peekable();
        while let Some(&(cell, _)) = arrivals.peek() {
            let stored = std::mem::take(&mut self.cells[cell]).into_iter().map(Arrival::Stored);
            let here = std::iter::from_fn(|| arrivals.next_if(|(other, _)| *other == cell));
            let mut rivals: Vec<(f64, Arrival<'_>)> = stored
                .chain(here.map(|(_, arrival)| arrival))
                .map(|arrival| (self.score_of(&arrival), arrival))
                .collect();
            rivals.sort_by(|(a, _), (b, _)| b.partial_cmp(a).unwrap_or(Ordering::Equal));
            for (_, beaten) in rivals.drain(self.ranking.depth.min(rivals.len())..) {
                if let Arrival::Stored(contender) = beaten {
                    solutions.remove(contender.slot);
                }
            }
            let kept = rivals.into_iter().map(|(_, arrival)| match arrival {
                Arrival::Stored(contender) => Ok(contender),
                Arrival::New(candidate) => {
                    let slot = solutions.insert(candidate.solution, candidate.extra)?;
                    Ok(Contender { entry: Entry::from(candidate), slot })
                }
            });
            self.cells[cell] = kept.collect::<Result<_, Error>>()?;
        }
        self.thin(solutions);
        Ok(())
    }

    fn score_of(&self, arrival: &Arrival<'_>) -> f64 {
        match arrival {
            Arrival::New(candidate) => self.ranking.score(&Entry::from(*candidate)),
            Arrival::Stored(contender) => self.ranking.score(&contender.entry),
        }
    }

    /// Gives up runners-up, those furthest behind their elites first, as long as the parameters take too much memory.
    fn thin(&mut self, solutions: &mut Solutions) {
        let most = MOST_BYTES / solutions.row_bytes();
        if solutions.len() <= most {
            return;
        }
        let score = |contender: &Contender| self.ranking.score(&contender.entry);
        let mut behind: Vec<(f64, usize, usize)> = Vec::new();
        for (cell, all) in self.cells.iter().enumerate() {
            let gap = |(rank, contender)| (score(&all[0]) - score(contender), cell, rank);
            behind.extend(all.iter().enumerate().skip(1).map(gap));
        }
        behind.sort_by(|(a, cell, rank), (b, other, than)| {
            b.total_cmp(a).then(cell.cmp(other)).then(than.cmp(rank))
        });
        for (_, cell, _) in behind.into_iter().take(solutions.len() - most) {
            if let Some(last) = self.cells[cell].pop() {
                solutions.remove(last.slot);
            }
        }
    }

    /// Pools further evaluations, given by slot, and lets every solution compete where it lies now.
    pub(super) fn pool(
        &mut self,
        cells: &Cells,
        more: &BTreeMap<usize, Entry>,
        solutions: &mut Solutions,
    ) -> Result<Changes, Error> {
        let (mut arrivals, mut movers, mut before) = (Vec::new(), Vec::new(), Vec::new());
        let mut pooled = Pooled::default();
        for (cell, all) in self.cells.iter_mut().enumerate() {
            if !all.iter().any(|contender| more.contains_key(&contender.slot)) {
                continue;
            }
            before.push((cell, all[0].slot));
            let again = |contender: &mut Contender| more.contains_key(&contender.slot);
            for mut contender in all.extract_if(.., again) {
                contender.entry.pool(&more[&contender.slot]);
                let sound = contender.entry.is_sound(cells.measure_dim());
                match cells.index_of(&contender.entry.measures) {
                    Ok(now) if sound => {
                        if now != cell {
                            movers.push((now, contender.entry.clone()));
                        }
                        arrivals.push((now, Arrival::Stored(contender)));
                    }
                    _ => solutions.remove(contender.slot),
                }
            }
        }
        pooled.moved = movers.len();
        self.admit(arrivals, solutions)?;
        for &(cell, elite) in &before {
            match self.contender(cell, 0) {
                None => pooled.emptied += 1,
                Some(now) if now.slot != elite => pooled.replaced += 1,
                Some(_) => {}
            }
        }
        Ok(Changes { pooled, cells: before.into_iter().map(|(cell, _)| cell).collect(), movers })
    }
}

impl Occupancy for ResultArchive {
    fn entry(&self, cell: usize) -> Option<&Entry> {
        ResultArchive::entry(self, cell)
    }
}
