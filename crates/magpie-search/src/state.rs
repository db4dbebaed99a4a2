//! Everything that lives from one iteration to the next: one record.

use magpie_qd::ArchivePair;
use serde::{Deserialize, Serialize};

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
