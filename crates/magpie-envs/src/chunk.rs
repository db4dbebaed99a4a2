//! A few dozen environments that one core drives, alone and for as many steps as its caller likes.

use std::sync::Arc;

use magpie_random::Stream;
use magpie_simd::{Isa, LANES, Pack, Simd, Task, pack_rows, unpack_rows};

use crate::environment::Environment;
use crate::group::{Group, LaneSet, ResetNoise, members, move_lane};

/// Environments in one chunk: enough rows to fill a matrix kernel, few enough that state, policy and activations
/// stay in the second-level cache. Part of how work is cut, so results must not depend on it, and do not.
pub const CHUNK: usize = 64;

/// Up to [`CHUNK`] environments, in groups of sixteen lanes.
///
/// Actions go in and observations come out as packs (one pack an entry, one lane an environment), the layout in which
/// both physics and small networks are fastest; a [`Batch`](crate::Batch) speaks rows.
#[derive(Debug, Clone)]
pub struct Chunk {
    env: Arc<Environment>,
    isa: Isa,
    noise: Stream,
    /// Number of the first environment; its random draws depend on it and on nothing else.
    first: u32,
    count: usize,
    /// Steps and resets made so far.
    clock: u64,
    groups: Vec<Group>,
}

impl Chunk {
    /// `count` environments numbered from `first`; reset them before the first step.
    pub(crate) fn new(env: Arc<Environment>, isa: Isa, seed: u64, first: u32, count: usize) -> Chunk {
        let groups = vec![Group::new(&env); count.div_ceil(LANES)];
        Chunk { env, isa, noise: Stream::new(seed, "reset"), first, count, clock: 0, groups }
    }

    /// Number of environments.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of the first environment.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Steps and resets made so far.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// The groups of sixteen; lanes of the last one beyond [`Chunk::len`] are idle company.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Starts new episodes everywhere.
    pub fn reset(&mut self) {
        self.clock += 1;
        struct Reset<'a>(&'a mut Chunk);
        impl Task for Reset<'_> {
            type Output = ();
            #[inline(always)]
            fn run<S: Simd>(self, token: S) {
                let Chunk { env, groups, noise, first, clock, .. } = self.0;
                for (index, group) in groups.iter_mut().enumerate() {
                    let noise = noise_of(*noise, *first, index, *clock);
                    (group.terminated, group.truncated) = (0, 0);
                    group.reset(token, env, LaneSet::MAX >> (LaneSet::BITS as usize - LANES), noise);
                }
            }
        }
        self.isa.run(Reset(self));
    }

    /// One step of every environment; finished episodes start anew. `actions` holds `action_size` packs a group.
    ///
    /// # Panics
    /// If `actions` has another length.
    pub fn step(&mut self, actions: &[Pack]) {
        self.step_groups(self.groups.len(), actions, true);
    }

    /// One step of the first `groups` groups, without new episodes: what happens in finished ones has no meaning.
    ///
    /// # Panics
    /// If `actions` does not hold `action_size` packs for each of the groups.
    pub fn step_without_reset(&mut self, groups: usize, actions: &[Pack]) {
        self.step_groups(groups, actions, false);
    }

    fn step_groups(&mut self, groups: usize, actions: &[Pack], reset: bool) {
        assert!(groups <= self.groups.len(), "groups");
        assert_eq!(actions.len(), groups * self.env.action_size(), "packs of actions");
        self.clock += 1;
        struct Step<'a>(&'a mut Chunk, &'a [Pack], bool, usize);
        impl Task for Step<'_> {
            type Output = ();
            #[inline(always)]
            fn run<S: Simd>(self, token: S) {
                let Chunk { env, groups, noise, first, clock, .. } = self.0;
                let width = env.action_size();
                for (index, group) in groups.iter_mut().enumerate().take(self.3) {
                    let noise = self.2.then_some(noise_of(*noise, *first, index, *clock));
                    group.step(token, env, &self.1[index * width..][..width], noise);
                }
            }
        }
        self.isa.run(Step(self, actions, reset, groups));
    }

    /// Copies state and observation of the environment in (group, lane) `from` over the one in `to`, which lies in
    /// another group: so that unfinished episodes can share fewer groups.
    ///
    /// # Panics
    /// If the groups are the same or not there.
    pub fn move_lane(&mut self, from: (usize, usize), to: (usize, usize)) {
        move_lane(&mut self.groups, from, to);
    }

    /// Turns rows of actions into packs.
    pub fn pack_actions(&self, rows: &[f32], packs: &mut [Pack]) {
        struct PackRows<'a>(usize, &'a [f32], &'a mut [Pack]);
        impl Task for PackRows<'_> {
            type Output = ();
            #[inline(always)]
            fn run<S: Simd>(self, token: S) {
                let PackRows(width, rows, packs) = self;
                for (rows, packs) in rows.chunks(width * LANES).zip(packs.chunks_exact_mut(width)) {
                    pack_rows(token, rows, packs);
                }
            }
        }
        if self.env.action_size() > 0 {
            self.isa.run(PackRows(self.env.action_size(), rows, packs));
        }
    }

    /// Writes one kind of packs of every group as rows.
    pub(crate) fn unpack(&self, width: usize, rows: &mut [f32], select: fn(&Group) -> &[Pack]) {
        struct Unpack<'a>(&'a Chunk, usize, &'a mut [f32], fn(&Group) -> &[Pack]);
        impl Task for Unpack<'_> {
            type Output = ();
            #[inline(always)]
            fn run<S: Simd>(self, token: S) {
                let Unpack(chunk, width, rows, select) = self;
                for (group, rows) in chunk.groups.iter().zip(rows.chunks_mut(width * LANES)) {
                    unpack_rows(token, select(group), rows);
                }
            }
        }
        if width > 0 {
            self.isa.run(Unpack(self, width, rows, select));
        }
    }

    /// Writes the final observations of episodes that have just finished; other rows are left alone.
    pub(crate) fn unpack_final(&self, width: usize, rows: &mut [f32]) {
        for (group, rows) in self.groups.iter().zip(rows.chunks_mut(width * LANES)) {
            for lane in members(group.done()) {
                let Some(row) = rows.chunks_exact_mut(width).nth(lane) else { break };
                for (value, pack) in row.iter_mut().zip(&group.final_observation) {
                    *value = pack.0[lane];
                }
            }
        }
    }

    pub(crate) fn groups_mut(&mut self) -> &mut [Group] {
        &mut self.groups
    }

    pub(crate) fn set_clock(&mut self, clock: u64) {
        self.clock = clock;
    }
}

#[inline(always)]
fn noise_of(stream: Stream, first: u32, group: usize, clock: u64) -> ResetNoise {
    ResetNoise { stream, first_environment: first.wrapping_add((group * LANES) as u32), clock }
}
