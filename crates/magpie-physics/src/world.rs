//! The state of worlds, one per lane of a number, and how an environment step advances it.
//!
//! All worlds of a [`World`] have the same robot. Memory is one pack (one value per world) for each component of a
//! body, so that a step reads and writes whole registers. The state of sixteen humanoids is 10 kB and stays in the
//! first-level cache through all substeps.

use magpie_simd::{Number, PackOf, Scalar};

use crate::contacts::{self, Place};
use crate::joints;
use crate::model::{BodyModel, Model};
use crate::vector::{Quat, Vec3};

/// Position, rotation and velocities of one body, one pack per component.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct BodyState<P> {
    /// Centre of mass.
    pub pos: [P; 3],
    /// Rotation (w, x, y, z).
    pub rot: [P; 4],
    /// Velocity.
    pub vel: [P; 3],
    /// Angular velocity, world axes.
    pub ang: [P; 3],
}

/// Change of a body's velocities by contacts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub struct Impact<P> {
    /// Change of the velocity.
    pub vel: [P; 3],
    /// Change of the angular velocity.
    pub ang: [P; 3],
}

/// Intermediate results of a substep, per body.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Work<P> {
    /// Rotation matrix.
    pub frame: [[P; 3]; 3],
    /// Sum of the forces of all joints.
    pub force: [P; 3],
    /// Sum of the torques of all joints and actuators.
    pub torque: [P; 3],
}

/// Parallel worlds.
#[derive(Debug, Clone)]
pub struct World<P> {
    /// The moving bodies.
    pub bodies: Vec<BodyState<P>>,
    /// Velocity changes by contacts, summed over the substeps of the last step (not masked).
    pub impacts: Vec<Impact<P>>,
    /// Angle of each degree of freedom at the current rotations.
    pub angles: Vec<P>,
    pub(crate) work: Vec<Work<P>>,
    /// Torque on each degree of freedom: minus strength times action.
    pub(crate) drive: Vec<P>,
    /// Contacts between bodies in the current substep.
    pub(crate) pair_impacts: Vec<PairImpact<P>>,
}

/// Changes of one body by contacts with other bodies: their sum and their number.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct PairImpact<P> {
    pub sum: Impact<P>,
    pub count: P,
}

impl<P: Copy + Default> World<P> {
    /// Memory for worlds of this model, zero until a pose or a state is set.
    pub fn new<T: Scalar>(model: &Model<T>) -> World<P>
    where
        P: PackOf<T>,
    {
        let bodies = model.bodies.len();
        World {
            bodies: vec![BodyState::default(); bodies],
            impacts: vec![Impact::default(); bodies],
            angles: vec![P::default(); model.dof()],
            work: vec![Work::default(); bodies],
            drive: vec![P::default(); model.dof()],
            pair_impacts: vec![PairImpact::default(); bodies],
        }
    }
}

/// One environment step: all substeps with a constant action (one pack per entry, already clipped).
#[inline(always)]
pub fn step<N: Number>(
    token: N::Token,
    model: &Model<N::Scalar>,
    world: &mut World<N::Pack>,
    action: &[N::Pack],
) {
    begin::<N>(token, model, world, action);
    for _ in 0..model.substeps {
        substep::<N>(token, model, world);
    }
}

/// Sets the action and clears earlier contacts; the substeps follow.
#[inline(always)]
pub fn begin<N: Number>(
    token: N::Token,
    model: &Model<N::Scalar>,
    world: &mut World<N::Pack>,
    action: &[N::Pack],
) {
    for (&(dof, strength), entry) in model.actuators.iter().zip(action) {
        (-(N::splat(token, strength) * N::load(token, entry))).store(&mut world.drive[dof]);
    }
    clear_impacts::<N>(token, world);
}

/// One substep with the action of the last [`begin`].
#[inline(always)]
pub fn substep<N: Number>(token: N::Token, model: &Model<N::Scalar>, world: &mut World<N::Pack>) {
    drift::<N>(token, model, world);
    joints::act::<N>(token, model, world);
    integrate::<N>(token, model, world);
}

/// The contacts of the current state, without moving anything, which a reset reports as touching. Frames must be up to
/// date.
#[inline(always)]
pub fn touch<N: Number>(token: N::Token, model: &Model<N::Scalar>, world: &mut World<N::Pack>) {
    clear_impacts::<N>(token, world);
    let World { bodies, work, impacts, pair_impacts, .. } = world;
    contacts::between_bodies(
        token,
        model,
        bodies,
        work,
        pair_impacts,
        #[inline(always)]
        |b| motion_of::<N>(token, &bodies[b]),
    );
    for (index, body) in model.bodies.iter().enumerate() {
        let place = Place::load(token, &bodies[index], &work[index]);
        let motion = motion_of(token, &bodies[index]);
        contacts::collide::<N>(model, body, place, motion, &pair_impacts[index], &mut impacts[index]);
    }
}

/// Updates rotation matrices and joint angles after rotations were set from outside.
#[inline(always)]
pub fn refresh<N: Number>(token: N::Token, model: &Model<N::Scalar>, world: &mut World<N::Pack>) {
    for (state, work) in world.bodies.iter().zip(&mut world.work) {
        Quat::<N>::load(token, &state.rot).to_matrix().store(&mut work.frame);
    }
    joints::measure::<N>(token, model, world);
}

#[inline(always)]
fn clear_impacts<N: Number>(token: N::Token, world: &mut World<N::Pack>) {
    for impact in &mut world.impacts {
        Vec3::<N>::zero(token).store(&mut impact.vel);
        Vec3::<N>::zero(token).store(&mut impact.ang);
    }
}

/// Part (a) of the substep: positions and rotations follow the velocities; also clears the sums of forces.
#[inline(always)]
pub(crate) fn drift<N: Number>(token: N::Token, model: &Model<N::Scalar>, world: &mut World<N::Pack>) {
    for ((body, state), work) in model.bodies.iter().zip(&mut world.bodies).zip(&mut world.work) {
        let vel = Vec3::<N>::load(token, &state.vel);
        let pos = Vec3::load(token, &state.pos);
        vel.mul_add(Vec3::splat(token, &body.drift), pos).store(&mut state.pos);

        let spin = Vec3::<N>::load(token, &state.ang).componentwise(Vec3::splat(token, &body.half_spin));
        let q = Quat::<N>::load(token, &state.rot);
        let turned =
            Quat { w: q.w - spin.dot(q.v), v: spin.scale_add(q.w, spin.cross(q.v)) + q.v }.normalized();
        turned.store(&mut state.rot);
        turned.to_matrix().store(&mut work.frame);

        Vec3::<N>::zero(token).store(&mut work.force);
        Vec3::<N>::zero(token).store(&mut work.torque);
    }
}

/// Velocity and angular velocity of a body.
#[derive(Clone, Copy)]
pub(crate) struct Motion<N> {
    pub vel: Vec3<N>,
    pub ang: Vec3<N>,
}

#[inline(always)]
pub(crate) fn motion_of<N: Number>(token: N::Token, state: &BodyState<N::Pack>) -> Motion<N> {
    Motion { vel: Vec3::load(token, &state.vel), ang: Vec3::load(token, &state.ang) }
}

/// Part (c): the velocities of a body after forces, gravity and damping, before contacts.
#[inline(always)]
fn accelerated<N: Number>(
    token: N::Token,
    body: &BodyModel<N::Scalar>,
    state: &BodyState<N::Pack>,
    work: &Work<N::Pack>,
) -> Motion<N> {
    let Motion { vel, ang } = motion_of::<N>(token, state);
    let vel = vel.mul_add(Vec3::splat(token, &body.keep_linear), Vec3::splat(token, &body.fall));
    let ang = ang.componentwise(Vec3::splat(token, &body.keep_angular));
    Motion {
        vel: Vec3::load(token, &work.force).mul_add(Vec3::splat(token, &body.push), vel),
        ang: Vec3::load(token, &work.torque).mul_add(Vec3::splat(token, &body.twist), ang),
    }
}

/// Parts (c) to (e): velocities change by forces and then by contacts, which all use the state before any contact.
#[inline(always)]
pub(crate) fn integrate<N: Number>(token: N::Token, model: &Model<N::Scalar>, world: &mut World<N::Pack>) {
    let World { bodies, work, impacts, pair_impacts, .. } = world;
    contacts::between_bodies(
        token,
        model,
        bodies,
        work,
        pair_impacts,
        #[inline(always)]
        |b| accelerated::<N>(token, &model.bodies[b], &bodies[b], &work[b]),
    );
    for (index, body) in model.bodies.iter().enumerate() {
        let (state, work) = (&mut bodies[index], &work[index]);
        let before = accelerated::<N>(token, body, state, work);
        let place = Place::load(token, state, work);
        let change = contacts::collide(model, body, place, before, &pair_impacts[index], &mut impacts[index]);
        let after = match change {
            Some(change) => Motion {
                vel: change.vel.mul_add(Vec3::splat(token, &body.moves), before.vel),
                ang: change.ang.mul_add(Vec3::splat(token, &body.turns), before.ang),
            },
            None => before,
        };
        after.vel.store(&mut state.vel);
        after.ang.store(&mut state.ang);
    }
}

impl<P> BodyState<P> {
    /// All 13 components: position, rotation, velocity, angular velocity.
    pub fn components(&self) -> impl Iterator<Item = &P> {
        self.pos.iter().chain(&self.rot).chain(&self.vel).chain(&self.ang)
    }

    /// All 13 components: position, rotation, velocity, angular velocity.
    pub fn components_mut(&mut self) -> impl Iterator<Item = &mut P> {
        self.pos.iter_mut().chain(&mut self.rot).chain(&mut self.vel).chain(&mut self.ang)
    }
}
