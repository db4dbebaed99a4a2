//! Many environments, stepped by all cores.

use std::ops::Range;
use std::sync::Arc;

use magpie_simd::{Isa, LANES, Pack};
use rayon::prelude::*;

use crate::chunk::{CHUNK, Chunk};
use crate::environment::Environment;
use crate::group::Group;

/// N environments of one kind. Environment i depends only on the seed, on i and on its actions: not on N, on the number
/// of threads or on its neighbours.
///
/// Work runs on the current rayon pool. No step allocates.
#[derive(Debug)]
pub struct Batch {
    env: Arc<Environment>,
    chunks: Vec<Chunk>,
    /// One buffer of packed actions per chunk.
    actions: Vec<Vec<Pack>>,
    first: u32,
    count: usize,
    seed: u64,
}

/// The results of a step, one row per environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// The observation to act on: for a finished episode, the first one of the next episode.
    pub observation: Vec<f32>,
    /// In rows whose episode has just finished: its final observation. Other rows keep old values.
    pub final_observation: Vec<f32>,
    /// Reward.
    pub reward: Vec<f32>,
    /// Measures of the step.
    pub measure: Vec<f32>,
    /// The episode terminated: nothing follows the final observation.
    pub terminated: Vec<bool>,
    /// The episode was truncated: what would have followed the final observation is unknown.
    pub truncated: Vec<bool>,
}

/// Where a step writes its results: the columns of [`Rows`], wherever they are stored.
#[derive(Debug)]
pub struct RowsMut<'a> {
    /// See [`Rows::observation`].
    pub observation: &'a mut [f32],
    /// See [`Rows::final_observation`].
    pub final_observation: &'a mut [f32],
    /// See [`Rows::reward`].
    pub reward: &'a mut [f32],
    /// See [`Rows::measure`].
    pub measure: &'a mut [f32],
    /// See [`Rows::terminated`].
    pub terminated: &'a mut [bool],
    /// See [`Rows::truncated`].
    pub truncated: &'a mut [bool],
}

impl<'a> From<&'a mut Rows> for RowsMut<'a> {
    fn from(rows: &'a mut Rows) -> RowsMut<'a> {
        let Rows { observation, final_observation, reward, measure, terminated, truncated } = rows;
        RowsMut { observation, final_observation, reward, measure, terminated, truncated }
    }
}

impl Batch {
    /// Environments `ids` under `seed`, on the fastest instruction set. Reset them before the first step.
    pub fn new(env: Arc<Environment>, ids: Range<u32>, seed: u64) -> Batch {
        Batch::with_isa(env, ids, seed, Isa::best())
    }

    /// The same on a chosen instruction set.
    pub fn with_isa(env: Arc<Environment>, ids: Range<u32>, seed: u64, isa: Isa) -> Batch {
        let count = ids.len();
        let chunks: Vec<_> = (0..count)
            .step_by(CHUNK)
            .map(|start| {
                let size = CHUNK.min(count - start);
                Chunk::new(Arc::clone(&env), isa, seed, ids.start + start as u32, size)
            })
            .collect();
        let actions = chunks
            .iter()
            .map(|chunk| vec![Pack::default(); chunk.groups().len() * env.action_size()])
            .collect();
        Batch { env, chunks, actions, first: ids.start, count, seed }
    }

    /// Number of environments.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number of the first environment, and the seed.
    pub(crate) fn identity(&self) -> (u32, u64) {
        (self.first, self.seed)
    }

    /// The environment that all of them share.
    pub fn environment(&self) -> &Arc<Environment> {
        &self.env
    }

    /// The chunks, which can be stepped independently: policy and physics of a chunk stay in cache, without a barrier
    /// per step.
    pub fn chunks_mut(&mut self) -> &mut [Chunk] {
        &mut self.chunks
    }

    /// The chunks.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// The chunks, for callers that step each on its own.
    pub fn into_chunks(self) -> Vec<Chunk> {
        self.chunks
    }

    /// Rows of the right size for this batch.
    pub fn rows(&self) -> Rows {
        let zeros = |width: usize| vec![0.0; self.count * width];
        Rows {
            observation: zeros(self.env.observation_size()),
            final_observation: zeros(self.env.observation_size()),
            reward: zeros(1),
            measure: zeros(self.env.measure_size()),
            terminated: vec![false; self.count],
            truncated: vec![false; self.count],
        }
    }

    /// Starts new episodes in all environments and writes their first observations.
    ///
    /// # Panics
    /// If `rows` was not made by [`Batch::rows`] of a batch of this size.
    pub fn reset(&mut self, rows: &mut Rows) {
        let width = self.env.observation_size();
        self.check(&rows.into());
        rows.terminated.fill(false);
        rows.truncated.fill(false);
        (&mut self.chunks, rows.observation.par_chunks_mut((CHUNK * width).max(1))).into_par_iter().for_each(
            |(chunk, observation)| {
                chunk.reset();
                chunk.unpack(width, observation, |group| &group.observation);
            },
        );
    }

    /// Starts new episodes in the environments that `which` names, all of which have been reset before, and writes the
    /// observations that all environments act on next.
    ///
    /// # Panics
    /// If `which` or `observation` have the wrong size.
    pub fn reset_where(&mut self, which: &[bool], observation: &mut [f32]) {
        let width = self.env.observation_size();
        assert_eq!(which.len(), self.count, "flags");
        assert_eq!(observation.len(), self.count * width, "observation rows");
        let rows = observation.par_chunks_mut((CHUNK * width).max(1));
        (&mut self.chunks, which.par_chunks(CHUNK), rows).into_par_iter().for_each(
            |(chunk, which, observation)| {
                chunk.reset_where(which);
                chunk.unpack(width, observation, |group| &group.observation);
            },
        );
    }

    fn check(&self, rows: &RowsMut<'_>) {
        let (width, dims) = (self.env.observation_size(), self.env.measure_size());
        assert_eq!(rows.observation.len(), self.count * width, "observation rows");
        assert_eq!(rows.final_observation.len(), self.count * width, "final observation rows");
        assert_eq!(rows.measure.len(), self.count * dims, "measure rows");
        for len in [rows.reward.len(), rows.terminated.len(), rows.truncated.len()] {
            assert_eq!(len, self.count, "rows of rewards and flags");
        }
    }

    /// Steps every environment with `actions` (a row each, clipped to ±1). An action that is not a number makes the
    /// state of its environment not finite, which ends the episode.
    ///
    /// # Panics
    /// If `actions` or `rows` have the wrong size.
    pub fn step(&mut self, actions: &[f32], rows: &mut Rows) {
        self.step_into(actions, rows.into());
    }

    /// The same with rows that are stored elsewhere.
    ///
    /// # Panics
    /// If `actions` or `rows` have the wrong size.
    pub fn step_into(&mut self, actions: &[f32], rows: RowsMut<'_>) {
        self.advance(actions, rows, true);
    }

    /// The same without resets: the observation of a finished episode is its final one, and final observations are not
    /// written. The results of further steps are meaningless until the environment is reset ([`Batch::reset_where`]).
    ///
    /// # Panics
    /// If `actions` or `rows` have the wrong size.
    pub fn step_without_reset(&mut self, actions: &[f32], rows: RowsMut<'_>) {
        self.advance(actions, rows, false);
    }

    fn advance(&mut self, actions: &[f32], rows: RowsMut<'_>, reset: bool) {
        let (width, act, dims) =
            (self.env.observation_size(), self.env.action_size(), self.env.measure_size());
        assert_eq!(actions.len(), self.count * act, "action rows");
        self.check(&rows);
        let split = |width: usize| (CHUNK * width).max(1);
        let inputs = (&mut self.chunks, &mut self.actions).into_par_iter().enumerate();
        let outputs = (
            rows.observation.par_chunks_mut(split(width)),
            rows.final_observation.par_chunks_mut(split(width)),
            rows.reward.par_chunks_mut(CHUNK),
            rows.measure.par_chunks_mut(split(dims)),
            rows.terminated.par_chunks_mut(CHUNK),
            rows.truncated.par_chunks_mut(CHUNK),
        );
        inputs.zip(outputs.into_par_iter()).for_each(
            |((index, (chunk, packs)), (observation, last, reward, measure, terminated, truncated))| {
                // Sliced rather than zipped: a robot without actuators has empty rows and is stepped all the same.
                chunk.pack_actions(&actions[index * CHUNK * act..][..chunk.len() * act], packs);
                if reset {
                    chunk.step(packs);
                    chunk.unpack_final(width, last);
                } else {
                    chunk.step_without_reset(chunk.groups().len(), packs);
                }
                chunk.unpack(width, observation, |group| &group.observation);
                chunk.unpack(1, reward, |group| std::slice::from_ref(&group.reward));
                chunk.unpack(dims, measure, |group| &group.measure);
                for (group, (terminated, truncated)) in
                    chunk.groups().iter().zip(terminated.chunks_mut(LANES).zip(truncated.chunks_mut(LANES)))
                {
                    flags(group, terminated, truncated);
                }
            },
        );
    }
}

fn flags(group: &Group, terminated: &mut [bool], truncated: &mut [bool]) {
    for (lane, (terminated, truncated)) in terminated.iter_mut().zip(truncated).enumerate() {
        *terminated = group.terminated >> lane & 1 == 1;
        *truncated = group.truncated >> lane & 1 == 1;
    }
}
