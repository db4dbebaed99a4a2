//! Spring joints: forces that hold two anchors together, torques that keep axes aligned and angles within their limits,
//! damping, and actuators.

use magpie_simd::Number;

use crate::model::{JointModel, Model};
use crate::vector::{Mat3, Vec3, signed_angle};
use crate::world::{BodyState, Work, World};

/// One end of a joint.
struct Side<N> {
    pos: Vec3<N>,
    vel: Vec3<N>,
    ang: Vec3<N>,
    frame: Mat3<N>,
}

impl<N: Number> Side<N> {
    #[inline(always)]
    fn load(token: N::Token, state: &BodyState<N::Pack>, work: &Work<N::Pack>) -> Self {
        Side {
            pos: Vec3::load(token, &state.pos),
            vel: Vec3::load(token, &state.vel),
            ang: Vec3::load(token, &state.ang),
            frame: Mat3::load(token, &work.frame),
        }
    }
}

/// A degree of freedom: the axis that torques and rates refer to, and the angle about it.
#[derive(Clone, Copy)]
struct Freedom<N> {
    axis: Vec3<N>,
    angle: N,
}

/// Part (b) of the substep: adds the forces and torques of all joints and actuators to the sums of their bodies.
#[inline(always)]
pub(crate) fn act<N: Number>(token: N::Token, model: &Model<N::Scalar>, world: &mut World<N::Pack>) {
    let (hinges, rest) = model.joints.split_at(model.kinds[0]);
    let (two_axis, three_axis) = rest.split_at(model.kinds[1]);
    for joint in hinges {
        act_as::<N, Hinge, 1>(token, joint, world);
    }
    for joint in two_axis {
        act_as::<N, TwoAxes, 2>(token, joint, world);
    }
    for joint in three_axis {
        act_as::<N, ThreeAxes, 3>(token, joint, world);
    }
}

/// Computes the angles of all degrees of freedom, without forces.
#[inline(always)]
pub(crate) fn measure<N: Number>(token: N::Token, model: &Model<N::Scalar>, world: &mut World<N::Pack>) {
    for joint in &model.joints {
        let parent = Mat3::<N>::load(token, &world.work[joint.parent].frame);
        let child = Mat3::<N>::load(token, &world.work[joint.child].frame);
        let angles = &mut world.angles[joint.first_dof..][..joint.dof];
        match joint.dof {
            1 => store_angles(&Hinge::geometry(token, joint, parent, child).0, angles),
            2 => store_angles(&TwoAxes::geometry(token, joint, parent, child).0, angles),
            _ => store_angles(&ThreeAxes::geometry(token, joint, parent, child).0, angles),
        }
    }
}

/// Calls `visit` with each degree of freedom and its rate: `(w_parent - w_child) · axis`, the negative of the time
/// derivative of its angle. Frames must be up to date.
#[inline(always)]
pub fn rates<N: Number>(
    token: N::Token,
    model: &Model<N::Scalar>,
    world: &World<N::Pack>,
    mut visit: impl FnMut(usize, N),
) {
    for joint in &model.joints {
        let relative = Vec3::<N>::load(token, &world.bodies[joint.parent].ang)
            - Vec3::load(token, &world.bodies[joint.child].ang);
        for i in 0..joint.dof {
            // The first axis is fixed in the parent, the others in the child.
            let (body, axis) = if i == 0 {
                (joint.parent, &joint.parent_axes[0])
            } else {
                (joint.child, &joint.child_axes[i])
            };
            let axis = Mat3::load(token, &world.work[body].frame).rotate(Vec3::splat(token, axis));
            visit(joint.first_dof + i, relative.dot(axis));
        }
    }
}

#[inline(always)]
fn store_angles<N: Number>(freedoms: &[Freedom<N>], angles: &mut [N::Pack]) {
    for (freedom, angle) in freedoms.iter().zip(angles) {
        freedom.angle.store(angle);
    }
}

/// A kind of joint, by its number of axes.
trait Kind<const DOF: usize> {
    /// The degrees of freedom, and the torque that keeps the axes aligned if there is one.
    fn geometry<N: Number>(
        token: N::Token,
        joint: &JointModel<N::Scalar>,
        parent: Mat3<N>,
        child: Mat3<N>,
    ) -> ([Freedom<N>; DOF], Option<Vec3<N>>);
}

/// Everything about a joint that does not depend on its kind.
#[inline(always)]
fn act_as<N: Number, K: Kind<DOF>, const DOF: usize>(
    token: N::Token,
    joint: &JointModel<N::Scalar>,
    world: &mut World<N::Pack>,
) {
    let (p, c) = (joint.parent, joint.child);
    let parent = Side::<N>::load(token, &world.bodies[p], &world.work[p]);
    let child = Side::<N>::load(token, &world.bodies[c], &world.work[c]);

    // The spring between the anchors.
    let parent_arm = parent.frame.rotate(Vec3::splat(token, &joint.parent_anchor));
    let child_arm = child.frame.rotate(Vec3::splat(token, &joint.child_anchor));
    // Bodies are close to each other and may be far from the origin: their difference is exact or nearly so, whereas
    // adding the arms first would round at the magnitude of the positions, and the stiffness would amplify that error.
    let gap = (parent.pos - child.pos) + (parent_arm - child_arm);
    let speed = (parent.vel - child.vel) + (parent.ang.cross(parent_arm) - child.ang.cross(child_arm));
    let force =
        speed.scale_add(N::splat(token, joint.spring_damping), gap * N::splat(token, joint.stiffness));

    // Alignment, damping, limits and actuators.
    let (freedoms, alignment) = K::geometry(token, joint, parent.frame, child.frame);
    let mut torque = (child.ang - parent.ang) * N::splat(token, joint.angular_damping);
    if let Some(alignment) = alignment {
        torque = torque + alignment;
    }
    for (i, freedom) in freedoms.iter().enumerate() {
        let [low, high] = joint.limits[i];
        let (low, high) = (N::splat(token, low), N::splat(token, high));
        // Beyond a limit the actuator is off and the limit pushes back; at most one of the two is not zero.
        let excess = (low - freedom.angle).max(freedom.angle.zero())
            + (high - freedom.angle).min(freedom.angle.zero());
        let inside = !(freedom.angle.lt(low) | freedom.angle.gt(high));
        let drive = N::load(token, &world.drive[joint.first_dof + i]).masked(inside);
        torque = freedom.axis.scale_add(drive - excess * N::splat(token, joint.limit_strength), torque);
    }
    store_angles(&freedoms, &mut world.angles[joint.first_dof..][..DOF]);

    let work = &mut world.work[p];
    (Vec3::load(token, &work.force) - force).store(&mut work.force);
    (Vec3::load(token, &work.torque) + (torque - parent_arm.cross(force))).store(&mut work.torque);
    let work = &mut world.work[c];
    (Vec3::load(token, &work.force) + force).store(&mut work.force);
    (Vec3::load(token, &work.torque) + (child_arm.cross(force) - torque)).store(&mut work.torque);
}

/// One axis. The alignment torque has the stiffness of the anchor spring.
struct Hinge;

impl Kind<1> for Hinge {
    #[inline(always)]
    fn geometry<N: Number>(
        token: N::Token,
        joint: &JointModel<N::Scalar>,
        parent: Mat3<N>,
        child: Mat3<N>,
    ) -> ([Freedom<N>; 1], Option<Vec3<N>>) {
        let axis = parent.rotate(Vec3::splat(token, &joint.parent_axes[0]));
        let parent_side = parent.rotate(Vec3::splat(token, &joint.parent_axes[2]));
        let child_axis = child.rotate(Vec3::splat(token, &joint.child_axes[0]));
        let child_side = child.rotate(Vec3::splat(token, &joint.child_axes[2]));
        let angle = signed_angle(axis, parent_side, child_side);
        let alignment = axis.cross(child_axis) * N::splat(token, joint.stiffness);
        ([Freedom { axis, angle }], Some(alignment))
    }
}

/// The line of nodes and the first two angles, common to joints with two and three axes.
struct Nodes<N> {
    first: Freedom<N>,
    second: Freedom<N>,
    third_axis: Vec3<N>,
    line: Vec3<N>,
}

#[inline(always)]
fn nodes<N: Number>(
    token: N::Token,
    joint: &JointModel<N::Scalar>,
    parent: Mat3<N>,
    child: Mat3<N>,
) -> Nodes<N> {
    let a1 = parent.rotate(Vec3::splat(token, &joint.parent_axes[0]));
    let a2 = parent.rotate(Vec3::splat(token, &joint.parent_axes[1]));
    let c1 = child.rotate(Vec3::splat(token, &joint.child_axes[0]));
    let c2 = child.rotate(Vec3::splat(token, &joint.child_axes[1]));
    let c3 = child.rotate(Vec3::splat(token, &joint.child_axes[2]));
    let one = a1.x.constant(1.0);
    let tiny = a1.x.constant(1e-10);
    let line = c3.cross(a1);
    let line = line * (one / (tiny + line.guarded_norm()));
    // The angle between a1 and its projection G onto the plane of c1 and c2, with the sign of a1·c3. It is defined as
    // the arc cosine of |G|² / (|G| + ε) with ε = 1e-10, which in single precision resolves small angles only to 3e-4.
    // Up to terms in ε², the cosine is |G| - ε and the squared sine (a1·c3)² + 2ε |G|; computed from both, the angle is
    // accurate.
    let (x, y, z) = (a1.dot(c1), a1.dot(c2), a1.dot(c3));
    let shadow = x.mul_add(x, y * y).sqrt();
    let sine = z.mul_add(z, shadow * (tiny + tiny)).sqrt();
    let theta = sine.atan2(shadow - tiny) * z.signum_or_zero();
    Nodes {
        first: Freedom { axis: a1, angle: signed_angle(a1, a2, line) },
        second: Freedom { axis: c2, angle: theta },
        third_axis: c3,
        line,
    }
}

/// Two axes. The alignment torque has a fifth of the strength of the limits.
struct TwoAxes;

impl Kind<2> for TwoAxes {
    #[inline(always)]
    fn geometry<N: Number>(
        token: N::Token,
        joint: &JointModel<N::Scalar>,
        parent: Mat3<N>,
        child: Mat3<N>,
    ) -> ([Freedom<N>; 2], Option<Vec3<N>>) {
        let Nodes { first, second, .. } = nodes(token, joint, parent, child);
        let (a1, c2) = (first.axis, second.axis);
        let across = a1.scale_add(-c2.dot(a1), c2);
        // The floor only matters if the two axes coincide: then no direction is defined, and there is no torque.
        let length = across.guarded_norm().max(a1.x.constant(1e-30));
        let strength = N::splat(token, joint.alignment_strength);
        let alignment = across.cross(c2) * (strength / length);
        ([first, second], Some(alignment))
    }
}

/// Three axes: nothing to align.
struct ThreeAxes;

impl Kind<3> for ThreeAxes {
    #[inline(always)]
    fn geometry<N: Number>(
        token: N::Token,
        joint: &JointModel<N::Scalar>,
        parent: Mat3<N>,
        child: Mat3<N>,
    ) -> ([Freedom<N>; 3], Option<Vec3<N>>) {
        let Nodes { first, second, third_axis, line } = nodes(token, joint, parent, child);
        let third = Freedom { axis: third_axis, angle: signed_angle(-third_axis, second.axis, line) };
        ([first, second, third], None)
    }
}
