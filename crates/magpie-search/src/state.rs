//! All state that is kept between iterations, in one record.

use std::borrow::Cow;

use magpie_qd::{Archive, ArchivePair, Cells, ResultArchive, Solutions};
use serde::{Deserialize, Serialize};

use crate::error::SearchError;
use crate::rewards::RewardsRecord;

/// The state of a search between two iterations. With the same configuration and seed, a search continues from here
/// exactly as if it had not been interrupted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The number of completed iterations.
    pub iteration: u64,
    /// The number of environment steps, including evaluation.
    pub env_steps: u64,
    /// The number of iterations that failed and were repeated.
    pub failures: u64,
    /// Both archives.
    pub archives: ArchivePair,
    /// The emitters' records, in the order of the configuration.
    pub emitters: Vec<EmitterRecord>,
    /// The state of the reward model and the bonus, if they learn.
    pub rewards: RewardsRecord,
}

/// The state that an emitter keeps between iterations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EmitterRecord {
    /// Its name.
    pub name: String,
    /// Its encoded state.
    pub state: Vec<u8>,
}

/// A state without its solutions, which make up nearly all of its bytes and change one by one. A checkpoint can afford to
/// write this part as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StateHead<'a> {
    /// The number of completed iterations.
    pub iteration: u64,
    env_steps: u64,
    failures: u64,
    cells: Cow<'a, Cells>,
    soft: Cow<'a, Archive>,
    result: Cow<'a, ResultArchive>,
    emitters: Cow<'a, [EmitterRecord]>,
    rewards: Cow<'a, RewardsRecord>,
}

impl State {
    /// Everything but the solutions.
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
    /// The elites without their solutions.
    pub fn result(&self) -> &ResultArchive {
        &self.result
    }

    /// The complete state, given its solutions.
    pub fn with(self, solutions: Solutions) -> Result<State, SearchError> {
        let StateHead { iteration, env_steps, failures, cells, soft, result, emitters, rewards } = self;
        let archives =
            ArchivePair::from_parts(cells.into_owned(), soft.into_owned(), result.into_owned(), solutions)?;
        let (emitters, rewards) = (emitters.into_owned(), rewards.into_owned());
        Ok(State { iteration, env_steps, failures, archives, emitters, rewards })
    }
}
