//! Saving a batch in mid-episode and continuing from there without any difference.

use magpie_simd::LANES;

use crate::batch::Batch;
use crate::chunk::CHUNK;

/// Everything about a batch that changes, one row per environment. It does not depend on the division into chunks.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Snapshot {
    /// The seed and the number of the first environment, which determine random draws together with the clock.
    pub seed: u64,
    /// See [`Snapshot::seed`].
    pub first: u32,
    /// The number of steps and resets of each environment, `[N]`; it differs between chunks that were stepped
    /// independently.
    pub clock: Vec<u64>,
    /// The states of the worlds as saved by their simulator, `[N, state]`.
    pub state: Vec<f32>,
    /// The observation that each environment will act on next, `[N, observation]`.
    pub observation: Vec<f32>,
    /// The number of steps in the current episode, `[N]`.
    pub steps: Vec<u32>,
}

/// The snapshot does not belong to the batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotMismatch {
    /// A table has the wrong length.
    #[error(
        "snapshot: {field} has {found} numbers, but this batch needs {expected}; it was taken from another task, robot or number of environments"
    )]
    Size {
        /// The table.
        field: &'static str,
        /// The length required by the batch.
        expected: usize,
        /// The length in the snapshot.
        found: usize,
    },
    /// Random draws would differ.
    #[error("snapshot: {field} is {found}, but that of this batch is {expected}")]
    Identity {
        /// Seed or first environment.
        field: &'static str,
        /// The value of the batch.
        expected: u64,
        /// The value in the snapshot.
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

    /// Restores a snapshot of a batch of the same kind and size. Rewards, measures and flags of the last step are not
    /// part of it.
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
