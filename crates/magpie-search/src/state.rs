//! All state that is kept between iterations, in one record.

use magpie_qd::ArchivePair;
use serde::{Deserialize, Serialize};

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
