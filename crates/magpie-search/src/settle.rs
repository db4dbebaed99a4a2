//! Settling: the last evaluations of a search, after which its archive can be trusted.
//!
//! Solutions are evaluated again in rounds: those first of which least is known, then those that lie near the border of
//! their cell, or whose rival in the cell is close. Their evaluations are pooled, and each moves to the cell where it lies.
//! Then the archive is *verified*: every elite is evaluated in fresh episodes, which change nothing. Binned by these alone,
//! as if the archive had just been found, the elites give the verified metrics.
//!
//! The search itself is not touched: it goes on as if it had never been settled.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use magpie_learn::full_lanes;
use magpie_qd::{Acceptance, Archive, ArchivePair, Elite, Entry, Metrics, QdOffset, ResultArchive};
use magpie_random::Stream;
use serde::{Deserialize, Serialize};

use crate::error::SearchError;
use crate::evaluator::Evaluator;
use crate::reevaluation::{AT_ONCE, ENOUGH_EPISODES, entry};

/// How much to evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Effort {
    /// At most so many environment steps: half of them to settle, half to verify. Every elite is verified with at least
    /// one episode.
    Steps(u64),
    /// Until every elite has so many episodes; then as many to verify each.
    Episodes(u32),
}

/// Everything that is kept while an archive is settled. The solutions are those of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettlingRecord<'a> {
    /// How much to evaluate.
    pub effort: Effort,
    /// Completed iterations of the search.
    pub iteration: u64,
    soft: Cow<'a, Archive>,
    result: Cow<'a, ResultArchive>,
    work: Cow<'a, Work>,
}

/// What is being evaluated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Work {
    /// Completed rounds.
    round: u32,
    /// Environment steps so far.
    steps: u64,
    /// Episodes of each elite that verify the archive, once it has settled.
    verifying: Option<u32>,
    /// Slots of the solutions that are evaluated in this round or verified, and the results so far, in the same order.
    queue: Vec<usize>,
    results: Vec<Entry>,
}

/// An archive being settled.
pub struct Settling {
    evaluator: Evaluator,
    qd_offset: QdOffset,
    seed: u64,
    effort: Effort,
    iteration: u64,
    archives: ArchivePair,
    work: Work,
}

/// How far settling is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SettlingProgress {
    /// The round, from 1.
    pub round: u32,
    /// Whether the archive is being verified.
    pub verifying: bool,
    /// Solutions evaluated in this round.
    pub done: usize,
    /// Solutions to evaluate in this round.
    pub of: usize,
    /// Environment steps so far.
    pub steps: u64,
}

/// Metrics of an archive's elites in fresh episodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verified {
    /// Of the archive that they make.
    pub metrics: Metrics,
    /// Episodes of each elite.
    pub episodes: u32,
    /// Seed of the episodes.
    pub seed: u64,
}

/// Fewer episodes say little about the spread.
const LEAST_EPISODES: u32 = 32;

/// At least so many episodes a round, which then take a full group of lanes.
const ROUND: u32 = 1;

impl Settling {
    pub(crate) fn start(
        evaluator: Evaluator,
        qd_offset: QdOffset,
        (seed, iteration): (u64, u64),
        archives: ArchivePair,
        effort: Effort,
    ) -> Settling {
        Settling { evaluator, qd_offset, seed, effort, iteration, archives, work: Work::default() }
    }

    /// Goes on from a record of the same search; an error if it is of another one.
    pub fn restore(&mut self, record: SettlingRecord<'_>) -> Result<(), SearchError> {
        if (record.effort, record.iteration) != (self.effort, self.iteration) {
            return Err(SearchError::Foreign("archive being settled"));
        }
        let archives = self.archives.with(record.soft.into_owned(), record.result.into_owned())?;
        let work = record.work.into_owned();
        let slots: BTreeSet<usize> = archives.stored().map(|elite| elite.slot).collect();
        if work.results.len() > work.queue.len() || !work.queue.iter().all(|slot| slots.contains(slot)) {
            return Err(SearchError::Foreign("solutions being evaluated"));
        }
        (self.archives, self.work) = (archives, work);
        Ok(())
    }

    /// What has to be saved to go on from here.
    pub fn record(&self) -> SettlingRecord<'_> {
        SettlingRecord {
            effort: self.effort,
            iteration: self.iteration,
            soft: Cow::Borrowed(self.archives.soft()),
            result: Cow::Borrowed(self.archives.result()),
            work: Cow::Borrowed(&self.work),
        }
    }

    /// The archives as they are now; settled once they are being verified.
    pub fn archives(&self) -> &ArchivePair {
        &self.archives
    }

    /// How far it is.
    pub fn progress(&self) -> SettlingProgress {
        let Work { round, steps, verifying, queue, results, .. } = &self.work;
        SettlingProgress {
            round: round + 1,
            verifying: verifying.is_some(),
            done: results.len(),
            of: queue.len(),
            steps: *steps,
        }
    }

    /// Whether the archive is settled and verified.
    pub fn is_done(&self) -> bool {
        self.work.verifying.is_some() && self.work.results.len() == self.work.queue.len()
    }

    /// Evaluates a few solutions.
    pub fn step(&mut self) -> Result<(), SearchError> {
        if self.is_done() {
            return Ok(());
        }
        if self.work.results.len() == self.work.queue.len() {
            self.next_round()?;
        }
        let (first, queue) = (self.work.results.len(), &self.work.queue);
        let slots = &queue[first..queue.len().min(first + AT_ONCE)];
        let by_slot: BTreeMap<usize, Elite<'_>> = self
            .archives
            .stored()
            .filter(|elite| slots.contains(&elite.slot))
            .map(|elite| (elite.slot, elite))
            .collect();
        let elites: Vec<Elite<'_>> = slots.iter().filter_map(|slot| by_slot.get(slot).copied()).collect();
        let episodes = self.work.verifying.unwrap_or(full_lanes(ROUND));
        let evaluator = Evaluator { episodes, ..self.evaluator.clone() };
        let results = evaluator.episodes_of(&elites, first, self.seed_of_round());
        let steps: u64 = results.iter().map(magpie_learn::Evaluation::steps).sum();
        let entries: Vec<Entry> =
            elites.iter().zip(&results).map(|(elite, result)| entry(elite, result)).collect();
        self.work.results.extend(entries);
        self.work.steps += steps;
        Ok(())
    }

    /// Ends a round, and begins the next one or the verification.
    fn next_round(&mut self) -> Result<(), SearchError> {
        let queue = std::mem::take(&mut self.work.queue);
        let results = std::mem::take(&mut self.work.results);
        if !queue.is_empty() {
            self.archives.pool(&queue.into_iter().zip(results).collect())?;
            self.work.round += 1;
        }
        self.work.queue = self.undecided();
        if self.work.queue.is_empty() {
            self.work.queue = self.archives.elites().map(|elite| elite.slot).collect();
            self.work.verifying = Some(self.verification_episodes());
        }
        Ok(())
    }

    /// The slots of the solutions to evaluate in the next round; none if the archive has settled.
    fn undecided(&self) -> Vec<usize> {
        let half = match self.effort {
            Effort::Episodes(episodes) => {
                let few = |elite: &Elite<'_>| elite.entry.episodes < episodes;
                return self.archives.elites().filter(few).map(|elite| elite.slot).collect();
            }
            Effort::Steps(steps) => steps / 2,
        };
        let mut doubtful: Vec<Elite<'_>> =
            self.archives.elites().flat_map(|elite| self.doubtful(elite)).collect();
        // The sort is stable: cells in ascending order among equals.
        doubtful.sort_by_key(|elite| elite.entry.episodes);
        let mut left = half.saturating_sub(self.work.steps) as f64;
        let affordable = doubtful.into_iter().take_while(|elite| {
            left -= elite.entry.length * f64::from(full_lanes(ROUND));
            left >= 0.0
        });
        affordable.map(|elite| elite.slot).collect()
    }

    /// The elite of a cell and its first runner-up, as far as more episodes may change what is known of them.
    fn doubtful<'a>(&'a self, elite: Elite<'a>) -> Vec<Elite<'a>> {
        let bound = |elite: &Elite<'_>, sign: f64| {
            elite.entry.objective + sign * elite.entry.standard_errors().first().copied().unwrap_or(0.0)
        };
        let rival = self.archives.runners_up(elite.cell).next();
        let rival = rival.filter(|rival| bound(rival, 1.0) > bound(&elite, -1.0));
        let doubt = elite.entry.episodes < LEAST_EPISODES || rival.is_some() || self.is_near_border(&elite);
        let known = |elite: &Elite<'_>| elite.entry.episodes >= ENOUGH_EPISODES;
        let elite = Some(elite).filter(|elite| doubt && !known(elite));
        elite.into_iter().chain(rival.filter(|rival| !known(rival))).collect()
    }

    /// Whether a standard error along one of the measures leads out of the cell.
    fn is_near_border(&self, elite: &Elite<'_>) -> bool {
        let errors = elite.entry.standard_errors();
        let mut measures = elite.entry.measures.clone();
        (0..measures.len()).any(|j| {
            let here = measures[j];
            let leaves = [-1.0, 1.0].iter().any(|sign| {
                measures[j] = here + sign * errors[j + 1];
                self.archives.cells().index_of(&measures) != Ok(elite.cell)
            });
            measures[j] = here;
            leaves
        })
    }

    /// Episodes of each elite that the rest of the steps allows.
    fn verification_episodes(&self) -> u32 {
        match self.effort {
            Effort::Episodes(episodes) => episodes,
            Effort::Steps(steps) => {
                let length: f64 = self.archives.elites().map(|elite| elite.entry.length).sum();
                let left = steps.saturating_sub(self.work.steps) as f64;
                (left / length.max(1.0)).clamp(1.0, f64::from(ENOUGH_EPISODES)) as u32
            }
        }
    }

    /// Seed of the episodes of this round. The search, each round and the verification have seeds of their own, so that no
    /// episode that chose an elite is reported.
    fn seed_of_round(&self) -> u64 {
        let (purpose, round) = match self.work.verifying {
            Some(_) => ("verification", 0),
            None => ("settling", self.work.round),
        };
        Stream::new(self.seed, purpose).draws(round, self.iteration).seed()
    }

    /// What the elites are worth in fresh episodes; `None` before all of these have been made.
    pub fn verified(&self) -> Result<Option<Verified>, SearchError> {
        let Some(episodes) = self.work.verifying.filter(|_| self.is_done()) else { return Ok(None) };
        let rule = Acceptance::Elitist;
        let mut archives = ArchivePair::new(self.archives.cells().clone(), rule, 0, 0)?;
        // Fresh episodes choose nothing: of elites that fall in one cell, that with the best stored objective stays.
        let stored: Vec<f64> = self.archives.elites().map(|elite| elite.entry.objective).collect();
        let mut order: Vec<usize> = (0..self.work.results.len()).collect();
        order.sort_by(|&a, &b| stored[b].total_cmp(&stored[a]));
        for place in order {
            archives.add_first(self.work.results[place].as_candidate())?;
        }
        let metrics = archives.metrics(self.qd_offset);
        Ok(Some(Verified { metrics, episodes, seed: self.seed_of_round() }))
    }
}
