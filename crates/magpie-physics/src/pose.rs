//! From joint angles and rates to bodies: the start of an episode.

use magpie_simd::Number;

use crate::model::Model;
use crate::vector::{Quat, Vec3};
use crate::world::{BodyState, World};

/// Poses all bodies by joint `angles` and `velocities` (one pack per degree of freedom), with the root upright and at
/// rest, and places the robot as its file specifies.
#[inline(always)]
pub fn set_pose<N: Number>(
    token: N::Token,
    model: &Model<N::Scalar>,
    angles: &[N::Pack],
    velocities: &[N::Pack],
    bodies: &mut [BodyState<N::Pack>],
) {
    let zero = Vec3::<N>::zero(token);
    let one = zero.x.constant(1.0);
    let root = &mut bodies[model.root];
    let start = match &model.placement {
        Some(position) => Vec3::splat(token, position),
        None => zero,
    };
    start.store(&mut root.pos);
    Quat { w: one, v: zero }.store(&mut root.rot);
    zero.store(&mut root.vel);
    zero.store(&mut root.ang);

    for &index in &model.traversal {
        let joint = &model.joints[index];
        let mut turn = Quat::<N>::splat(token, &joint.reference);
        let mut rate = zero;
        for i in 0..joint.dof {
            let dof = joint.first_dof + i;
            let axis = Vec3::splat(token, &joint.child_axes[i]);
            turn = Quat::about(turn.rotate(axis), N::load(token, &angles[dof])).product(turn);
            rate = axis.scale_add(N::load(token, &velocities[dof]), rate);
        }
        let parent = &bodies[joint.parent];
        let parent_rot = Quat::<N>::load(token, &parent.rot);
        let offset =
            Vec3::splat(token, &joint.parent_anchor) - turn.rotate(Vec3::splat(token, &joint.child_anchor));
        let pos = Vec3::load(token, &parent.pos) + parent_rot.rotate(offset);
        let child = &mut bodies[joint.child];
        pos.store(&mut child.pos);
        parent_rot.product(turn).store(&mut child.rot);
        zero.store(&mut child.vel);
        // The parent's angular velocity is not added.
        parent_rot.rotate(rate).store(&mut child.ang);
    }
    if model.placement.is_none() {
        put_on_ground::<N>(token, model, bodies);
    }
}

/// Raises or lowers all bodies until the lowest point of all colliders is at z = 0.
#[inline(always)]
fn put_on_ground<N: Number>(token: N::Token, model: &Model<N::Scalar>, bodies: &mut [BodyState<N::Pack>]) {
    let mut lowest = Vec3::<N>::zero(token).x.constant(f64::INFINITY);
    for end in &model.ends {
        let state = &bodies[end.body];
        let arm = Quat::<N>::load(token, &state.rot).rotate(Vec3::splat(token, &end.centre));
        lowest = lowest.min(N::load(token, &state.pos[2]) + arm.z - N::splat(token, end.radius));
    }
    for state in bodies {
        (N::load(token, &state.pos[2]) - lowest).store(&mut state.pos[2]);
    }
}

/// Height of the lowest point of the colliders of `body`, over both ends of every capsule. Frames must be up to date.
#[inline(always)]
pub fn lowest_point<N: Number>(
    token: N::Token,
    model: &Model<N::Scalar>,
    world: &World<N::Pack>,
    body: usize,
) -> N {
    let height = N::load(token, &world.bodies[body].pos[2]);
    let up = Vec3::<N>::load(token, &world.work[body].frame[2]);
    let mut lowest = height.constant(f64::INFINITY);
    for end in model.ends.iter().filter(|end| end.body == body) {
        let arm_z = up.dot(Vec3::splat(token, &end.centre));
        lowest = lowest.min(height + arm_z - N::splat(token, end.radius));
    }
    lowest
}

/// Copies the bodies of `from` to `to` in the lanes whose bit is set.
#[inline(always)]
pub fn replace<N: Number>(
    token: N::Token,
    lanes: u32,
    from: &[BodyState<N::Pack>],
    to: &mut [BodyState<N::Pack>],
) {
    let mask = N::mask(token, lanes);
    for (from, to) in from.iter().zip(to) {
        for (from, to) in from.components().zip(to.components_mut()) {
            N::select(mask, N::load(token, from), N::load(token, to)).store(to);
        }
    }
}
