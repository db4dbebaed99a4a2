//! Everything that lives from one iteration to the next: one record.

use std::borrow::Cow;

use magpie_qd::{Archive, ArchivePair, Cells, Solutions};
use serde::{Deserialize, Serialize};

use crate::error::SearchError;
use crate::rewards::RewardsRecord;

/// The state of a search between two iterations. With the same configuration and seed, it goes on from here to the same
/// bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Iterations made.
    pub iteration: u64,
    /// Environment steps made, evaluation included.
    pub env_steps: u64,
    /// Iterations that failed and were tried again.
    pub failures: u64,
    /// Both archives.
    pub archives: ArchivePair,
    /// The emitters' records, in the order of the configuration.
    pub emitters: Vec<EmitterRecord>,
    /// The reward model and the bonus, as far as they learn.
    pub rewards: RewardsRecord,
}

/// What an emitter carries from one iteration to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmitterRecord {
    /// Its name.
    pub name: String,
    /// As it writes itself down.
    pub state: Vec<u8>,
}

/// A state without its solutions, which are nearly all of its bytes and change one by one: what a checkpoint can afford to
/// write whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateHead<'a> {
    /// Iterations made.
    pub iteration: u64,
    env_steps: u64,
    failures: u64,
    cells: Cow<'a, Cells>,
    soft: Cow<'a, Archive>,
    result: Cow<'a, Archive>,
    emitters: Cow<'a, [EmitterRecord]>,
    rewards: Cow<'a, RewardsRecord>,
}

impl State {
    /// All but the solutions.
    pub fn head(&self) -> StateHead<'_> {
        StateHead {
            iteration: self.iteration,
            env_steps: self.env_steps,
            failures: self.failures,
            cells: Cow::Borrowed(self.archives.cells()),
            soft: Cow::Borrowed(self.archives.soft()),
            result: Cow::Borrowed(self.archives.result()),
            emitters: Cow::Borrowed(&self.emitters),
            rewards: Cow::Borrowed(&self.rewards),
        }
    }
}

impl StateHead<'_> {
    /// What is known of the elites without their solutions.
    pub fn result(&self) -> &Archive {
        &self.result
    }

    /// The state again, with the solutions it had.
    pub fn with(self, solutions: Solutions) -> Result<State, SearchError> {
        let StateHead { iteration, env_steps, failures, cells, soft, result, emitters, rewards } = self;
        let archives =
            ArchivePair::from_parts(cells.into_owned(), soft.into_owned(), result.into_owned(), solutions)?;
        let (emitters, rewards) = (emitters.into_owned(), rewards.into_owned());
        Ok(State { iteration, env_steps, failures, archives, emitters, rewards })
    }
}
