//! A few dozen environments that one core steps, independently of all others.

use std::fmt;
use std::sync::Arc;

use magpie_random::Stream;
use magpie_simd::{Isa, LANES, Lanes, Number, Pack, Simd, SimdTask, pack_rows, unpack_rows};

use crate::environment::Environment;
use crate::group::{ALL_LANES, Group, LaneSet, members};
use crate::simulator::{ResetDraws, Simulation};

/// The number of environments in a chunk: enough rows to fill a matrix kernel, few enough that state, policy and
/// activations stay in the second-level cache. Results do not depend on it.
pub const CHUNK: usize = 64;

/// Up to [`CHUNK`] environments, in groups of sixteen lanes.
///
/// Actions and observations are packs (one pack per entry, one lane per environment), the layout in which both physics
/// and small networks are fastest; a [`Batch`](crate::Batch) uses rows.
pub struct Chunk {
    env: Arc<Environment>,
    isa: Isa,
    noise: Stream,
    /// The number of the first environment, which alone determines its random draws.
    first: u32,
    count: usize,
    /// The number of steps and resets so far.
    clock: u64,
    groups: Vec<Group>,
    simulation: Box<dyn Simulation>,
    /// The actions of a step, clipped to ±1.
    limited: Vec<Pack>,
    /// The state of an environment that is being moved to another lane.
    state: Vec<f32>,
}

impl Chunk {
    /// `count` environments numbered from `first`; reset them before the first step.
    pub(crate) fn new(env: Arc<Environment>, isa: Isa, seed: u64, first: u32, count: usize) -> Chunk {
        let groups = count.div_ceil(LANES);
        Chunk {
            isa,
            noise: Stream::new(seed, "reset"),
            first,
            count,
            clock: 0,
            groups: vec![Group::new(env.observation_size(), env.measure_size()); groups],
            simulation: env.simulator().simulate(groups, isa),
            limited: vec![Pack::default(); groups * env.action_size()],
            state: Vec::with_capacity(env.simulator().state_size()),
            env,
        }
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

    /// The number of steps and resets so far.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// The groups of sixteen lanes; lanes of the last group beyond [`Chunk::len`] are not used.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Starts new episodes in all environments.
    pub fn reset(&mut self) {
        self.clock += 1;
        for group in &mut self.groups {
            (group.terminated, group.truncated) = (0, 0);
        }
        self.start(&[ALL_LANES; CHUNK / LANES]);
    }

    /// Starts new episodes in the environments that `which` names; its length is that of the chunk.
    pub(crate) fn reset_where(&mut self, which: &[bool]) {
        self.clock += 1;
        let mut lanes = [0; CHUNK / LANES];
        for (lanes, which) in lanes.iter_mut().zip(which.chunks(LANES)) {
            *lanes = which.iter().enumerate().fold(0, |set, (lane, &reset)| set | u32::from(reset) << lane);
        }
        for (group, lanes) in self.groups.iter_mut().zip(lanes) {
            group.terminated &= !lanes;
            group.truncated &= !lanes;
        }
        self.start(&lanes);
    }

    /// Starts new episodes in these lanes of each group.
    fn start(&mut self, lanes: &[LaneSet; CHUNK / LANES]) {
        for (group, &lanes) in self.groups.iter_mut().zip(lanes) {
            members(lanes).for_each(|lane| group.steps[lane] = 0);
        }
        let draws = ResetDraws { stream: self.noise, first: self.first, clock: self.clock };
        self.simulation.reset(&lanes[..self.groups.len()], draws, &mut self.groups);
    }

    /// Steps every environment; finished episodes are reset. `actions` holds `action_size` packs per group.
    ///
    /// # Panics
    /// If `actions` has another length.
    pub fn step(&mut self, actions: &[Pack]) {
        self.step_groups(self.groups.len(), actions, true);
    }

    /// Steps the first `groups` groups without resets; the results of finished episodes are meaningless.
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
        let limited = &mut self.limited[..actions.len()];
        self.isa.run(Limit(actions, limited));
        self.simulation.step(limited, &mut self.groups[..groups]);
        let mut finished = [0; CHUNK / LANES];
        for (group, finished) in self.groups[..groups].iter_mut().zip(&mut finished) {
            group.count_step(self.env.episode_steps());
            *finished = group.done();
            if reset && *finished != 0 {
                group.final_observation.copy_from_slice(&group.observation);
            }
        }
        if reset && finished != [0; CHUNK / LANES] {
            self.start(&finished);
        }
    }

    /// Speed of the fastest body of environment (group, lane), in m/s; NaN if a velocity is not a number. `None` if the
    /// simulator does not say.
    pub fn top_speed(&self, environment: (usize, usize)) -> Option<f32> {
        self.simulation.top_speed(environment)
    }

    /// Copies state and observation of the environment in (group, lane) `from` over the one in `to`, which must be in
    /// another group. This lets unfinished episodes share fewer groups.
    ///
    /// # Panics
    /// If the groups are the same or do not exist.
    pub fn move_lane(&mut self, from: (usize, usize), to: (usize, usize)) {
        let [source, target] = self.groups.get_disjoint_mut([from.0, to.0]).expect("two different groups");
        target.steps[to.1] = source.steps[from.1];
        for (a, b) in source.observation.iter().zip(&mut target.observation) {
            b.0[to.1] = a.0[from.1];
        }
        self.state.clear();
        self.simulation.save(from, &mut self.state);
        self.simulation.restore(to, &self.state);
    }

    /// Converts rows of actions to packs.
    pub fn pack_actions(&self, rows: &[f32], packs: &mut [Pack]) {
        struct PackRows<'a>(usize, &'a [f32], &'a mut [Pack]);
        impl SimdTask for PackRows<'_> {
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

    /// Writes one kind of packs of all groups as rows.
    pub(crate) fn unpack(&self, width: usize, rows: &mut [f32], select: fn(&Group) -> &[Pack]) {
        struct Unpack<'a>(&'a Chunk, usize, &'a mut [f32], fn(&Group) -> &[Pack]);
        impl SimdTask for Unpack<'_> {
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

    /// Writes the final observations of episodes that have just finished; other rows are not changed.
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

    /// Appends the state of an environment's world.
    pub(crate) fn save_state(&self, environment: usize, state: &mut Vec<f32>) {
        self.simulation.save((environment / LANES, environment % LANES), state);
    }

    /// The state of an environment's world, as its simulator writes it.
    pub fn state(&self, environment: usize) -> Vec<f32> {
        let mut state = Vec::with_capacity(self.env.simulator().state_size());
        self.save_state(environment, &mut state);
        state
    }

    /// Changes the state of an environment's world from outside, such as by a push. Its observation stays what it was
    /// until the next step.
    pub fn edit_state(&mut self, environment: usize, edit: impl FnOnce(&mut [f32])) {
        let mut state = self.state(environment);
        edit(&mut state);
        self.simulation.restore((environment / LANES, environment % LANES), &state);
    }

    /// Restores environment `environment`: the state of its world, its observation, and the steps made in the episode.
    pub(crate) fn restore(&mut self, environment: usize, state: &[f32], observation: &[f32], steps: u32) {
        let (index, lane) = (environment / LANES, environment % LANES);
        self.simulation.restore((index, lane), state);
        let group = &mut self.groups[index];
        for (pack, &value) in group.observation.iter_mut().zip(observation) {
            pack.0[lane] = value;
        }
        group.steps[lane] = steps;
    }

    pub(crate) fn set_clock(&mut self, clock: u64) {
        self.clock = clock;
    }
}

impl fmt::Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunk")
            .field("first", &self.first)
            .field("count", &self.count)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

/// Clips actions for the simulator.
struct Limit<'a>(&'a [Pack], &'a mut [Pack]);

impl SimdTask for Limit<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        for (entry, limited) in self.0.iter().zip(self.1) {
            let entry = Lanes::load(token, entry);
            Number::clamp(entry, entry.constant(-1.0), entry.constant(1.0)).store(limited);
        }
    }
}
