//! Saving a batch in mid-episode and going on from there as if nothing had happened.

use magpie_simd::{LANES, Pack};

use crate::batch::Batch;
use crate::chunk::CHUNK;
use crate::group::Group;

/// Everything about a batch that changes, one row an environment. Does not depend on how the batch was cut.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Snapshot {
    /// The seed and the number of the first environment: what random draws depend on, besides the clock.
    pub seed: u64,
    /// See above.
    pub first: u32,
    /// Steps and resets that each environment has made, `[N]`; chunks that were driven alone differ.
    pub clock: Vec<u64>,
    /// Position, rotation, velocity and angular velocity of every body, `[N, bodies, 13]`.
    pub bodies: Vec<f32>,
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
            bodies: Vec::new(),
            observation: Vec::new(),
            steps: Vec::new(),
        };
        for chunk in self.chunks() {
            for i in 0..chunk.len() {
                let (group, lane) = (&chunk.groups()[i / LANES], i % LANES);
                snapshot.bodies.extend(body_packs(group).map(|pack| pack.0[lane]));
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
        let body_width = 13 * self.environment().robot.bodies.len();
        let observation_width = self.environment().observation_size();
        let fits = |field, found, width: usize| {
            let expected = self.len() * width;
            if found == expected { Ok(()) } else { Err(SnapshotMismatch::Size { field, expected, found }) }
        };
        fits("bodies", snapshot.bodies.len(), body_width)?;
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
                let (group, lane) = (&mut chunk.groups_mut()[i / LANES], i % LANES);
                let bodies = &snapshot.bodies[row * body_width..][..body_width];
                let components = group.world.bodies.iter_mut().flat_map(|body| body.components_mut());
                for (pack, &value) in components.zip(bodies) {
                    pack.0[lane] = value;
                }
                let observation = &snapshot.observation[row * observation_width..][..observation_width];
                for (pack, &value) in group.observation.iter_mut().zip(observation) {
                    pack.0[lane] = value;
                }
                group.steps[lane] = snapshot.steps[row];
            }
        }
        Ok(())
    }
}

fn body_packs(group: &Group) -> impl Iterator<Item = &Pack> {
    group.world.bodies.iter().flat_map(|body| body.components())
}
