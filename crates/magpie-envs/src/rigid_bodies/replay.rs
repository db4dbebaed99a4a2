//! Replaying recorded actions from given states, in either precision, without resets: for comparisons with other
//! simulators and for looking at a recorded motion again.

use magpie_physics::robot::Robot;
use magpie_physics::{BodyState, Model, Perturbation, World, set_pose, step};
use magpie_simd::{Isa, Lanes, Number, PackOf, Scalar, Simd, SimdTask};
use rayon::prelude::*;

use super::stage::Stage;
use crate::measure::Quantity;

/// States of N worlds, row-major `[N, B, ·]`. B includes the ground as the last body, as in published data.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct States<T> {
    /// Centres of mass `[N, B, 3]`.
    pub pos: Vec<T>,
    /// Rotations (w, x, y, z) `[N, B, 4]`.
    pub rot: Vec<T>,
    /// Velocities `[N, B, 3]`.
    pub vel: Vec<T>,
    /// Angular velocities `[N, B, 3]`.
    pub ang: Vec<T>,
}

/// The results after every step of a replay, row-major `[N, T, ·]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Replayed<T> {
    /// States `[N·T, B, ·]`.
    pub states: States<T>,
    /// Observations, not clipped.
    pub obs: Vec<T>,
    /// Rewards, not clipped.
    pub reward: Vec<T>,
    /// 1 if the task would have ended the episode.
    pub done: Vec<T>,
    /// The feet that touched something.
    pub feet_contact: Vec<T>,
    /// Height of the lowest foot.
    pub jump: Vec<T>,
    /// Cosine and sine of the heading.
    pub angle: Vec<T>,
    /// Velocity changes by contacts `[N·T, B, 3]`.
    pub contact_vel: Vec<T>,
    /// Angular velocity changes by contacts `[N·T, B, 3]`.
    pub contact_ang: Vec<T>,
}

/// The quantities measured in a replay, in the order of [`Replayed`].
const MEASURED: [Quantity; 3] = [Quantity::FootContacts, Quantity::LowestFoot, Quantity::Heading];

/// Replays in double precision, one world at a time.
pub fn replay_f64(stage: &Stage<f64>, start: &States<f64>, actions: &[f64], steps: usize) -> Replayed<f64> {
    replay_with(stage, start, actions, steps, 1, |start, actions| {
        replay_group::<f64>((), stage, start, actions, steps)
    })
}

/// Replays in single precision, sixteen worlds at a time.
pub fn replay_f32(
    isa: Isa,
    stage: &Stage<f32>,
    start: &States<f32>,
    actions: &[f32],
    steps: usize,
) -> Replayed<f32> {
    struct Replay<'a>(&'a Stage<f32>, &'a States<f32>, &'a [f32], usize);
    impl SimdTask for Replay<'_> {
        type Output = Replayed<f32>;
        #[inline(always)]
        fn run<S: Simd>(self, token: S) -> Replayed<f32> {
            let Replay(stage, start, actions, steps) = self;
            replay_group::<Lanes<S>>(token, stage, start, actions, steps)
        }
    }
    replay_with(stage, start, actions, steps, magpie_simd::LANES, |start, actions| {
        isa.run(Replay(stage, start, actions, steps))
    })
}

/// Divides the worlds into groups of `lanes`, replays them on all cores and concatenates the results in order.
fn replay_with<T: Scalar>(
    stage: &Stage<T>,
    start: &States<T>,
    actions: &[T],
    steps: usize,
    lanes: usize,
    group: impl Fn(&States<T>, &[T]) -> Replayed<T> + Sync,
) -> Replayed<T> {
    let bodies = stage.model.body_count() + 1;
    let count = start.pos.len() / (3 * bodies);
    let action_width = steps * stage.action_size();
    let groups: Vec<_> = (0..count)
        .step_by(lanes)
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|first| {
            let size = lanes.min(count - first);
            let cut = |values: &[T], width: usize| values[first * width..][..size * width].to_vec();
            let start = States {
                pos: cut(&start.pos, bodies * 3),
                rot: cut(&start.rot, bodies * 4),
                vel: cut(&start.vel, bodies * 3),
                ang: cut(&start.ang, bodies * 3),
            };
            group(&start, &cut(actions, action_width))
        })
        .collect();
    let mut all = Replayed::default();
    for group in &groups {
        all.append(group);
    }
    all
}

/// Replays at most as many worlds as a number has lanes.
#[inline(always)]
fn replay_group<N: Number>(
    token: N::Token,
    stage: &Stage<N::Scalar>,
    start: &States<N::Scalar>,
    actions: &[N::Scalar],
    steps: usize,
) -> Replayed<N::Scalar> {
    let moving = stage.model.body_count();
    let count = start.pos.len() / (3 * (moving + 1));
    let mut world: World<N::Pack> = World::new(&stage.model);
    // Unused lanes repeat the first world.
    for lane in 0..N::Pack::LANES {
        start.write(if lane < count { lane } else { 0 }, lane, &mut world);
    }
    let mut action = vec![N::Pack::default(); stage.action_size()];
    let mut obs = vec![N::Pack::default(); stage.observation_size()];
    let mut measures = MEASURED.map(|q| vec![N::Pack::default(); q.size(stage.feet.len())]);
    let (mut reward, mut done) = (N::Pack::default(), N::Pack::default());
    let mut lanes = vec![Replayed::default(); count];
    for t in 0..steps {
        for (entry, pack) in action.iter_mut().enumerate() {
            for (lane, value) in pack.lanes_mut().iter_mut().enumerate().take(count) {
                *value = actions[(lane * steps + t) * stage.action_size() + entry];
            }
            let value = N::load(token, pack);
            value.clamp(value.constant(-1.0), value.constant(1.0)).store(pack);
        }
        let before = stage.forward_position::<N>(token, &world);
        step::<N>(token, &stage.model, &mut world, &action);
        stage.reward::<N>(token, &world, &action, before).store(&mut reward);
        stage.observe::<N>(token, &world, &action, &mut obs);
        let fallen = stage.fallen::<N>(token, &world);
        before.constant(1.0).masked(fallen).store(&mut done);
        for (quantity, out) in MEASURED.into_iter().zip(&mut measures) {
            quantity.write::<N>(token, stage, &world, &action, out);
        }
        let [feet, jump, angle] = &measures;
        for (lane, out) in lanes.iter_mut().enumerate() {
            let one = |pack: &N::Pack| pack.lanes()[lane];
            out.states.read(lane, &world, start);
            out.obs.extend(obs.iter().map(one));
            out.reward.push(one(&reward));
            out.done.push(one(&done));
            out.feet_contact.extend(feet.iter().map(one));
            out.jump.extend(jump.iter().map(one));
            out.angle.extend(angle.iter().map(one));
            for (sums, part) in [(&mut out.contact_vel, 0), (&mut out.contact_ang, 1)] {
                for impact in &world.impacts {
                    sums.extend([&impact.vel, &impact.ang][part].iter().map(one));
                }
                sums.extend([N::Scalar::default(); 3]);
            }
        }
    }
    let mut all = Replayed::default();
    for lane in &lanes {
        all.append(lane);
    }
    all
}

impl<T: Scalar> States<T> {
    /// `worlds` copies of the robot in its default pose.
    pub fn at_rest(robot: &Robot, worlds: usize) -> States<T> {
        let model: Model<f64> = Model::new(robot, &Perturbation::default());
        let mut world = World::new(&model);
        let rates = vec![0.0; model.dof()];
        set_pose::<f64>((), &model, &model.rest_angles(), &rates, &mut world.bodies);
        let ground = BodyState { rot: [1.0, 0.0, 0.0, 0.0], ..BodyState::default() };
        let mut start = States::default();
        for body in (0..worlds).flat_map(|_| world.bodies.iter().chain([&ground])) {
            start.pos.extend(body.pos.map(T::from_f64));
            start.rot.extend(body.rot.map(T::from_f64));
            start.vel.extend(body.vel.map(T::from_f64));
            start.ang.extend(body.ang.map(T::from_f64));
        }
        start
    }

    /// Writes world `index` of these states into a lane.
    pub fn write<P: PackOf<T>>(&self, index: usize, lane: usize, world: &mut World<P>) {
        let with_ground = world.bodies.len() + 1;
        for (b, body) in world.bodies.iter_mut().enumerate() {
            let at = index * with_ground + b;
            let values = self.pos[at * 3..][..3]
                .iter()
                .chain(&self.rot[at * 4..][..4])
                .chain(&self.vel[at * 3..][..3])
                .chain(&self.ang[at * 3..][..3]);
            for (pack, &value) in body.components_mut().zip(values) {
                pack.lanes_mut()[lane] = value;
            }
        }
    }

    /// Appends the state of a lane; the ground keeps its state from `start`.
    fn read<P: PackOf<T>>(&mut self, lane: usize, world: &World<P>, start: &States<T>) {
        let one = |pack: &P| pack.lanes()[lane];
        for body in &world.bodies {
            self.pos.extend(body.pos.iter().map(one));
            self.rot.extend(body.rot.iter().map(one));
            self.vel.extend(body.vel.iter().map(one));
            self.ang.extend(body.ang.iter().map(one));
        }
        let ground = (lane + 1) * (world.bodies.len() + 1) - 1;
        self.pos.extend_from_slice(&start.pos[ground * 3..][..3]);
        self.rot.extend_from_slice(&start.rot[ground * 4..][..4]);
        self.vel.extend([T::default(); 3]);
        self.ang.extend([T::default(); 3]);
    }
}

impl<T: Scalar> Replayed<T> {
    fn append(&mut self, other: &Replayed<T>) {
        let States { pos, rot, vel, ang } = &other.states;
        for (all, more) in [
            (&mut self.states.pos, pos),
            (&mut self.states.rot, rot),
            (&mut self.states.vel, vel),
            (&mut self.states.ang, ang),
            (&mut self.obs, &other.obs),
            (&mut self.reward, &other.reward),
            (&mut self.done, &other.done),
            (&mut self.feet_contact, &other.feet_contact),
            (&mut self.jump, &other.jump),
            (&mut self.angle, &other.angle),
            (&mut self.contact_vel, &other.contact_vel),
            (&mut self.contact_ang, &other.contact_ang),
        ] {
            all.extend_from_slice(more);
        }
    }
}
