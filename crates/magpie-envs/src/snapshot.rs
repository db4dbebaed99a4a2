//! Saving a batch in mid-episode and going on from there as if nothing had happened.

use magpie_simd::LANES;

use crate::batch::Batch;
use crate::chunk::CHUNK;

/// Everything about a batch that changes, one row an environment. Does not depend on how the batch was cut.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Snapshot {
    /// The seed and the number of the first environment: what random draws depend on, besides the clock.
    pub seed: u64,
    /// See above.
    pub first: u32,
    /// Steps and resets that each environment has made, `[N]`; chunks that were driven alone differ.
    pub clock: Vec<u64>,
    /// State of the worlds as their simulator saves it, `[N, state]`.
    pub state: Vec<f32>,
    /// What each environment was about to act on, `[N, observation]`.
    pub observation: Vec<f32>,
    /// Steps made in the current episode, `[N]`.
    pub steps: Vec<u32>,
}

/// A snapshot that does not belong to the batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotMismatch {
    /// Another number of numbers.
    #[error(
        "snapshot: {field} has {found} numbers, but this batch needs {expected}; it was taken from another task, robot or number of environments"
    )]
    Size {
        /// Which table.
        field: &'static str,
        /// What the batch needs.
        expected: usize,
        /// What the snapshot has.
        found: usize,
    },
    /// Other random draws would follow.
    #[error("snapshot: {field} is {found}, but that of this batch is {expected}")]
    Identity {
        /// Seed or first environment.
        field: &'static str,
        /// What the batch has.
        expected: u64,
        /// What the snapshot has.
        found: u64,
    },
}

impl Batch {
    /// Takes a snapshot.
    pub fn save(&self) -> Snapshot {
        let (first, seed) = self.identity();
        let mut snapshot = Snapshot {
            seed,
            first,
            clock: Vec::new(),
            state: Vec::new(),
            observation: Vec::new(),
            steps: Vec::new(),
        };
        for chunk in self.chunks() {
            for i in 0..chunk.len() {
                let (group, lane) = (&chunk.groups()[i / LANES], i % LANES);
                chunk.save_state(i, &mut snapshot.state);
                snapshot.observation.extend(group.observation.iter().map(|pack| pack.0[lane]));
                snapshot.steps.push(group.steps[lane]);
                snapshot.clock.push(chunk.clock());
            }
        }
        snapshot
    }

    /// Goes back to a snapshot of a batch of the same kind and size. The last step's rewards, measures and flags are
    /// not part of it.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotMismatch> {
        let state_width = self.environment().simulator().state_size();
        let observation_width = self.environment().observation_size();
        let fits = |field, found, width: usize| {
            let expected = self.len() * width;
            if found == expected { Ok(()) } else { Err(SnapshotMismatch::Size { field, expected, found }) }
        };
        fits("state", snapshot.state.len(), state_width)?;
        fits("observation", snapshot.observation.len(), observation_width)?;
        fits("steps", snapshot.steps.len(), 1)?;
        fits("clock", snapshot.clock.len(), 1)?;
        let (first, seed) = self.identity();
        for (field, found, expected) in
            [("seed", snapshot.seed, seed), ("first", snapshot.first.into(), first.into())]
        {
            if found != expected {
                return Err(SnapshotMismatch::Identity { field, expected, found });
            }
        }
        for (index, chunk) in self.chunks_mut().iter_mut().enumerate() {
            chunk.set_clock(snapshot.clock[index * CHUNK]);
            for i in 0..chunk.len() {
                let row = index * CHUNK + i;
                chunk.restore(
                    i,
                    &snapshot.state[row * state_width..][..state_width],
                    &snapshot.observation[row * observation_width..][..observation_width],
                    snapshot.steps[row],
                );
            }
        }
        Ok(())
    }
}
