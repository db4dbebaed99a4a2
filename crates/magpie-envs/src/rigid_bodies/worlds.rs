//! The worlds of a chunk: resets and steps, sixteen environments per pass through the physics.

use std::sync::Arc;

use magpie_physics::{BodyState, World, refresh, replace, set_pose, step, touch};
use magpie_simd::{Isa, Lanes, Mask, Number, Pack, Simd, SimdTask};

use super::Setting;
use crate::group::{Group, LaneSet, members};
use crate::simulator::{ResetDraws, Simulation};
use crate::task::ObservationPart;

/// The number of values in the state of a body: position, rotation, velocity, angular velocity.
pub(super) const BODY: usize = 13;

/// The worlds of one chunk.
pub(super) struct Worlds {
    setting: Arc<Setting>,
    isa: Isa,
    groups: Vec<World<Pack>>,
    fresh: Fresh,
}

/// Memory in which a reset poses and observes a whole group before the requested lanes are copied.
struct Fresh {
    angles: Vec<Pack>,
    velocities: Vec<Pack>,
    bodies: Vec<BodyState<Pack>>,
    observation: Vec<Pack>,
}

impl Worlds {
    pub fn new(setting: Arc<Setting>, groups: usize, isa: Isa) -> Worlds {
        let stage = &setting.stage;
        let packs = |n| vec![Pack::default(); n];
        let world: World<Pack> = World::new(&stage.model);
        let fresh = Fresh {
            angles: packs(stage.model.dof()),
            velocities: packs(stage.model.dof()),
            bodies: world.bodies.clone(),
            observation: packs(stage.observation_size()),
        };
        Worlds { isa, groups: vec![world; groups], fresh, setting }
    }
}

impl Simulation for Worlds {
    fn reset(&mut self, lanes: &[LaneSet], draws: ResetDraws, out: &mut [Group]) {
        struct Reset<'a>(&'a mut Worlds, &'a [LaneSet], ResetDraws, &'a mut [Group]);
        impl SimdTask for Reset<'_> {
            type Output = ();
            #[inline(always)]
            fn run<S: Simd>(self, token: S) {
                let Reset(Worlds { setting, groups, fresh, .. }, lanes, draws, out) = self;
                for (index, (world, out)) in groups.iter_mut().zip(out).enumerate() {
                    if lanes[index] != 0 {
                        fresh.draw(setting, index, lanes[index], draws);
                        setting.reset(token, world, fresh, lanes[index], out);
                    }
                }
            }
        }
        self.isa.run(Reset(self, lanes, draws, out));
    }

    fn step(&mut self, actions: &[Pack], out: &mut [Group]) {
        struct Step<'a>(&'a Setting, &'a mut [World<Pack>], &'a [Pack], &'a mut [Group]);
        impl SimdTask for Step<'_> {
            type Output = ();
            #[inline(always)]
            fn run<S: Simd>(self, token: S) {
                let Step(setting, worlds, actions, out) = self;
                let width = setting.stage.action_size();
                for (index, (world, out)) in worlds.iter_mut().zip(out).enumerate() {
                    setting.step(token, world, &actions[index * width..][..width], out);
                }
            }
        }
        self.isa.run(Step(&self.setting, &mut self.groups, actions, out));
    }

    fn top_speed(&self, (group, lane): (usize, usize)) -> Option<f32> {
        let bodies = &self.groups[group].bodies;
        let speed = |body: &BodyState<Pack>| {
            let [x, y, z] = [0, 1, 2].map(|axis| body.vel[axis].0[lane]);
            (x * x + y * y + z * z).sqrt()
        };
        Some(fastest(bodies.iter().map(speed)))
    }

    fn save(&self, (group, lane): (usize, usize), state: &mut Vec<f32>) {
        let bodies = &self.groups[group].bodies;
        state.extend(bodies.iter().flat_map(|body| body.components()).map(|pack| pack.0[lane]));
    }

    fn restore(&mut self, (group, lane): (usize, usize), state: &[f32]) {
        let bodies = &mut self.groups[group].bodies;
        for (pack, &value) in bodies.iter_mut().flat_map(|body| body.components_mut()).zip(state) {
            pack.0[lane] = value;
        }
    }
}

/// The largest of these speeds; NaN if one of them is NaN.
pub(super) fn fastest(speeds: impl Iterator<Item = f32>) -> f32 {
    speeds.fold(0.0, |top: f32, speed| if speed.is_nan() || top.is_nan() { f32::NAN } else { top.max(speed) })
}

impl Fresh {
    /// Draws joint angles and velocities for new episodes.
    #[inline(always)]
    fn draw(&mut self, setting: &Setting, group: usize, lanes: LaneSet, draws: ResetDraws) {
        let width = setting.stage.task.reset_noise as f32;
        for lane in members(lanes) {
            let mut draws = draws.of(group, lane);
            for (angle, rest) in self.angles.iter_mut().zip(&setting.rest_angles) {
                angle.0[lane] = rest + draws.uniform(-width, width);
            }
            for velocity in &mut self.velocities {
                velocity.0[lane] = draws.uniform(-width, width);
            }
        }
    }
}

impl Setting {
    /// Steps sixteen worlds.
    #[inline(always)]
    fn step<S: Simd>(&self, token: S, world: &mut World<Pack>, action: &[Pack], out: &mut Group) {
        let stage = &self.stage;
        let before = stage.forward_position::<Lanes<S>>(token, world);
        step::<Lanes<S>>(token, &stage.model, world, action);

        let mut reward = stage.reward::<Lanes<S>>(token, world, action, before);
        if let Some(clip) = self.clip {
            let clip = Lanes::splat(token, clip);
            reward = Number::clamp(reward, -clip, clip);
        }
        reward.store(&mut out.reward);
        self.measure.write::<Lanes<S>>(token, stage, world, action, &mut out.measure);
        stage.observe::<Lanes<S>>(token, world, action, &mut out.observation);
        if let Some(clip) = self.clip {
            limit(token, &mut out.observation, clip);
        }
        out.terminated = stage.fallen::<Lanes<S>>(token, world).bits();
    }

    /// Poses the robots in `lanes`.
    #[inline(always)]
    fn reset<S: Simd>(
        &self,
        token: S,
        world: &mut World<Pack>,
        fresh: &mut Fresh,
        lanes: LaneSet,
        out: &mut Group,
    ) {
        let stage = &self.stage;
        set_pose::<Lanes<S>>(token, &stage.model, &fresh.angles, &fresh.velocities, &mut fresh.bodies);
        replace::<Lanes<S>>(token, lanes, &fresh.bodies, &mut world.bodies);
        refresh::<Lanes<S>>(token, &stage.model, world);
        if stage.task.observation.contains(&ObservationPart::Contacts) {
            touch::<Lanes<S>>(token, &stage.model, world);
        }
        stage.observe::<Lanes<S>>(token, world, &[], &mut fresh.observation);
        if let Some(clip) = self.clip {
            limit(token, &mut fresh.observation, clip);
        }
        let mask = Lanes::mask(token, lanes);
        for (old, new) in out.observation.iter_mut().zip(&fresh.observation) {
            Number::select(mask, Lanes::load(token, new), Lanes::load(token, old)).store(old);
        }
    }
}

#[inline(always)]
fn limit<S: Simd>(token: S, packs: &mut [Pack], clip: f32) {
    let clip = Lanes::splat(token, clip);
    for pack in packs {
        Number::clamp(Lanes::load(token, pack), -clip, clip).store(pack);
    }
}
