//! Sixteen environments that share one pass through the physics.

use magpie_physics::{BodyState, World, refresh, replace, set_pose, step, touch};
use magpie_random::Stream;
use magpie_simd::{LANES, Lanes, Mask, Number, Pack, Simd};

use crate::environment::Environment;
use crate::task::{EPISODE_STEPS, Observation};

/// Lane i of a set of environments is bit i.
pub type LaneSet = u32;

/// State of sixteen environments and what their last step gave.
#[derive(Debug, Clone)]
pub struct Group {
    pub(crate) world: World<Pack>,
    /// Steps made in the current episode.
    pub(crate) steps: [u32; LANES],
    /// What to act on next: after a finished episode, the first observation of the next one.
    pub observation: Vec<Pack>,
    /// In the lanes of [`Group::done`], the last observation of the episode that has just finished; not written by
    /// steps without reset, after which [`Group::observation`] is that observation itself.
    pub final_observation: Vec<Pack>,
    /// Reward of the last step.
    pub reward: Pack,
    /// Measure of the last step, one pack a dimension.
    pub measure: Vec<Pack>,
    /// Episodes that ended by themselves in the last step.
    pub terminated: LaneSet,
    /// Episodes that were cut off in the last step because they had lasted long enough.
    pub truncated: LaneSet,
    /// Where a reset builds poses before they are copied, and its joint angles and velocities.
    fresh: Vec<BodyState<Pack>>,
    angles: Vec<Pack>,
    velocities: Vec<Pack>,
    fresh_observation: Vec<Pack>,
    /// The action as it reaches the simulator.
    action: Vec<Pack>,
}

/// What a reset draws from: `who` is the environment, `when` the clock.
#[derive(Clone, Copy)]
pub(crate) struct ResetNoise {
    pub stream: Stream,
    pub first_environment: u32,
    pub clock: u64,
}

impl Group {
    pub(crate) fn new(env: &Environment) -> Group {
        let stage = &env.stage;
        let packs = |n| vec![Pack::default(); n];
        let world = World::new(&stage.model);
        Group {
            fresh: world.bodies.clone(),
            angles: packs(stage.model.dof()),
            velocities: packs(stage.model.dof()),
            world,
            steps: [0; LANES],
            observation: packs(stage.observation_size()),
            final_observation: packs(stage.observation_size()),
            fresh_observation: packs(stage.observation_size()),
            reward: Pack::default(),
            measure: packs(env.measure_size()),
            terminated: 0,
            truncated: 0,
            action: packs(stage.action_size()),
        }
    }

    /// Lanes whose episode has just finished.
    pub fn done(&self) -> LaneSet {
        self.terminated | self.truncated
    }

    /// Moves by one step under `action` (limited to ±1 here), then, given noise, starts finished episodes anew.
    #[inline(always)]
    pub(crate) fn step<S: Simd>(
        &mut self,
        token: S,
        env: &Environment,
        action: &[Pack],
        noise: Option<ResetNoise>,
    ) {
        let stage = &env.stage;
        for (limited, entry) in self.action.iter_mut().zip(action) {
            let entry = Lanes::load(token, entry);
            Number::clamp(entry, entry.constant(-1.0), entry.constant(1.0)).store(limited);
        }
        let before = stage.forward_position::<Lanes<S>>(token, &self.world);
        step::<Lanes<S>>(token, &stage.model, &mut self.world, &self.action);

        let mut reward = stage.reward::<Lanes<S>>(token, &self.world, &self.action, before);
        if let Some(clip) = env.clip {
            let clip = Lanes::splat(token, clip);
            reward = Number::clamp(reward, -clip, clip);
        }
        reward.store(&mut self.reward);
        env.measure.write::<Lanes<S>>(token, stage, &self.world, &mut self.measure);
        stage.observe::<Lanes<S>>(token, &self.world, &self.action, &mut self.observation);
        if let Some(clip) = env.clip {
            limit(token, &mut self.observation, clip);
        }

        self.terminated = stage.fallen::<Lanes<S>>(token, &self.world).bits();
        self.truncated = 0;
        for (lane, steps) in self.steps.iter_mut().enumerate() {
            *steps += 1;
            if *steps >= EPISODE_STEPS {
                self.truncated |= 1 << lane;
            }
        }
        self.truncated &= !self.terminated;
        if self.done() != 0
            && let Some(noise) = noise
        {
            self.final_observation.copy_from_slice(&self.observation);
            self.reset(token, env, self.done(), noise);
        }
    }

    /// Starts new episodes in `lanes`.
    #[inline(always)]
    pub(crate) fn reset<S: Simd>(&mut self, token: S, env: &Environment, lanes: LaneSet, noise: ResetNoise) {
        let stage = &env.stage;
        let width = stage.task.reset_noise as f32;
        for lane in members(lanes) {
            let mut draws =
                noise.stream.draws(noise.first_environment.wrapping_add(lane as u32), noise.clock);
            for (angle, rest) in self.angles.iter_mut().zip(&env.rest_angles) {
                angle.0[lane] = rest + draws.uniform(-width, width);
            }
            for velocity in &mut self.velocities {
                velocity.0[lane] = draws.uniform(-width, width);
            }
            self.steps[lane] = 0;
        }
        set_pose::<Lanes<S>>(token, &stage.model, &self.angles, &self.velocities, &mut self.fresh);
        replace::<Lanes<S>>(token, lanes, &self.fresh, &mut self.world.bodies);
        refresh::<Lanes<S>>(token, &stage.model, &mut self.world);
        if stage.task.observation == Observation::Contacts {
            touch::<Lanes<S>>(token, &stage.model, &mut self.world);
        }
        stage.observe::<Lanes<S>>(token, &self.world, &[], &mut self.fresh_observation);
        if let Some(clip) = env.clip {
            limit(token, &mut self.fresh_observation, clip);
        }
        let mask = Lanes::mask(token, lanes);
        for (old, new) in self.observation.iter_mut().zip(&self.fresh_observation) {
            Number::select(mask, Lanes::load(token, new), Lanes::load(token, old)).store(old);
        }
    }
}

/// Copies state and observation of environment `from` (group, lane) over environment `to` in another group.
///
/// # Panics
/// If the groups are the same or not there.
pub(crate) fn move_lane(groups: &mut [Group], from: (usize, usize), to: (usize, usize)) {
    let [source, target] = groups.get_disjoint_mut([from.0, to.0]).expect("two different groups");
    target.steps[to.1] = source.steps[from.1];
    let bodies = source.world.bodies.iter().zip(&mut target.world.bodies);
    let components = bodies.flat_map(|(a, b)| a.components().zip(b.components_mut()));
    for (a, b) in components.chain(source.observation.iter().zip(&mut target.observation)) {
        b.0[to.1] = a.0[from.1];
    }
}

/// The lanes of a set.
pub fn members(mut lanes: LaneSet) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = lanes.trailing_zeros() as usize;
        lanes &= lanes.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

#[inline(always)]
fn limit<S: Simd>(token: S, packs: &mut [Pack], clip: f32) {
    let clip = Lanes::splat(token, clip);
    for pack in packs {
        Number::clamp(Lanes::load(token, pack), -clip, clip).store(pack);
    }
}
