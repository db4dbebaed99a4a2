//! From joint angles and rates to bodies: how an episode starts (section 7 of the physics).

use magpie_simd::{Number, PackOf, Scalar};

use crate::model::Model;
use crate::vector::{Quat, Vec3};
use crate::world::{BodyState, World};

/// Poses all bodies by joint `angles` and `velocities` (one pack a degree of freedom), the root upright and at rest,
/// and places the robot as its file says.
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
    let start = model.placement.as_ref().map_or(zero, |position| Vec3::splat(token, position));
    start.store(&mut root.pos);
    Quat { w: one, v: zero }.store(&mut root.rot);
    zero.store(&mut root.vel);
    zero.store(&mut root.ang);

    for joint in model.traversal.iter().map(|&i| &model.joints[i]) {
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

/// Lifts or lowers everything until the lowest point of any collider is at z = 0.
#[inline(always)]
fn put_on_ground<N: Number>(token: N::Token, model: &Model<N::Scalar>, bodies: &mut [BodyState<N::Pack>]) {
    let lowest = model
        .ends
        .iter()
        .map(|end| {
            let state = &bodies[end.body];
            let arm = Quat::<N>::load(token, &state.rot).rotate(Vec3::splat(token, &end.centre));
            N::load(token, &state.pos[2]) + arm.z - N::splat(token, end.radius)
        })
        .reduce(|a, b| a.min(b));
    let Some(lowest) = lowest else { return };
    for state in bodies {
        (N::load(token, &state.pos[2]) - lowest).store(&mut state.pos[2]);
    }
}

/// Height of the lowest point of the colliders of `body`, both ends of every capsule. Needs up-to-date frames.
#[inline(always)]
pub fn lowest_point<N: Number>(
    token: N::Token,
    model: &Model<N::Scalar>,
    world: &World<N::Pack>,
    body: usize,
) -> N {
    let height = N::load(token, &world.bodies[body].pos[2]);
    let up = Vec3::<N>::load(token, &world.work[body].frame[2]);
    model
        .ends
        .iter()
        .filter(|end| end.body == body)
        .map(|end| height + up.dot(Vec3::splat(token, &end.centre)) - N::splat(token, end.radius))
        .reduce(|a, b| a.min(b))
        .unwrap_or(height)
}

/// Copies lane `lane` of `from` into lane `lane` of `to`.
pub fn copy_lane<T: Scalar, P: PackOf<T>>(from: &[BodyState<P>], to: &mut [BodyState<P>], lane: usize) {
    for (from, to) in from.iter().zip(to) {
        for (a, b) in from.components().zip(to.components_mut()) {
            b.lanes_mut()[lane] = a.lanes()[lane];
        }
    }
}
