//! A robot prepared for stepping: constant products are computed once, in `f64`, and rounded to the scalar type of the
//! simulation.

use magpie_simd::Scalar;

use crate::perturbation::{Hurdles, Perturbation};
use crate::robot::{GroundEnds, Placement, Robot};

/// Everything that a step reads and never writes.
#[derive(Debug, Clone)]
pub struct Model<T> {
    pub(crate) substeps: usize,
    pub(crate) bodies: Vec<BodyModel<T>>,
    /// One-axis joints, then two-axis, then three-axis ones: the order in which they act and are observed.
    pub(crate) joints: Vec<JointModel<T>>,
    /// Number of joints with one, two and three axes.
    pub(crate) kinds: [usize; 3],
    /// For each entry of an action: the degree of freedom it drives, and the torque of action 1.
    pub(crate) actuators: Vec<(usize, T)>,
    /// Capsule ends that can touch the ground, by body (see [`BodyModel::ground_points`]).
    pub(crate) ground_points: Vec<GroundPoint<T>>,
    pub(crate) pairs: Vec<PairModel<T>>,
    pub(crate) hurdles: Option<HurdlesModel<T>>,
    /// Velocity per depth at which contacts push bodies apart, in 1/s.
    pub(crate) penetration_gain: T,
    pub(crate) slip_speed_threshold: T,
    /// Joints as indices into `joints`, parents first.
    pub(crate) traversal: Vec<usize>,
    pub(crate) root: usize,
    pub(crate) placement: Option<[T; 3]>,
    /// Both ends of all capsules, for placing the robot on the ground.
    pub(crate) ends: Vec<End<T>>,
    pub(crate) control_dt: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct BodyModel<T> {
    pub mass: T,
    pub inverse_mass: T,
    pub inverse_inertia: [T; 3],
    /// h Mp: displacement per velocity in a substep.
    pub drift: [T; 3],
    /// h Mr / 2.
    pub half_spin: [T; 3],
    /// exp(Lv h) Mp.
    pub keep_linear: [T; 3],
    /// exp(Lw h) Mr.
    pub keep_angular: [T; 3],
    /// h Mp / m: velocity per force.
    pub push: [T; 3],
    /// h Mr J: angular velocity per torque.
    pub twist: [T; 3],
    /// h Mp g.
    pub fall: [T; 3],
    /// Mp and Mr.
    pub moves: [T; 3],
    pub turns: [T; 3],
    /// Range in [`Model::ground_points`].
    pub ground_points: (usize, usize),
    /// Range in [`HurdlesModel::capsules`].
    pub hurdle_capsules: (usize, usize),
    /// Whether the body is part of any of [`Model::pairs`].
    pub in_pair: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct JointModel<T> {
    pub parent: usize,
    pub child: usize,
    pub parent_anchor: [T; 3],
    pub child_anchor: [T; 3],
    pub reference: [T; 4],
    pub parent_axes: [[T; 3]; 3],
    pub child_axes: [[T; 3]; 3],
    /// Index of the joint's first degree of freedom, and their number.
    pub first_dof: usize,
    pub dof: usize,
    pub limits: [[T; 2]; 3],
    pub rest_angles: [T; 3],
    pub stiffness: T,
    pub spring_damping: T,
    pub limit_strength: T,
    /// Strength of the torque that aligns the axes of a two-axis joint: a fifth of that of its limits.
    pub alignment_strength: T,
    pub angular_damping: T,
}

#[derive(Debug, Clone)]
pub(crate) struct GroundPoint<T> {
    pub centre: [T; 3],
    pub radius: T,
    pub friction: T,
    /// 1 + elasticity.
    pub rebound: T,
}

#[derive(Debug, Clone)]
pub(crate) struct PairModel<T> {
    pub bodies: [usize; 2],
    pub capsules: [CapsuleModel<T>; 2],
    pub friction: T,
    pub rebound: T,
    /// Sum of the radii.
    pub radii: T,
    /// Square of the distance between centres beyond which the two cannot touch.
    pub reach_squared: T,
}

#[derive(Debug, Clone)]
pub(crate) struct CapsuleModel<T> {
    pub centre: [T; 3],
    pub half_vector: [T; 3],
    pub radius: T,
}

#[derive(Debug, Clone)]
pub(crate) struct HurdlesModel<T> {
    pub first: T,
    pub spacing: T,
    /// Index of the last hurdle.
    pub last: T,
    /// Height of the centre of the rounded top.
    pub top: T,
    pub radius: T,
    /// A point of the plate far below the ground: a hurdle has no lower end.
    pub bottom: T,
    /// The capsules that collide with hurdles, by body (see [`BodyModel::hurdle_capsules`]).
    pub capsules: Vec<HurdleCapsule<T>>,
}

#[derive(Debug, Clone)]
pub(crate) struct HurdleCapsule<T> {
    pub capsule: CapsuleModel<T>,
    /// Contact with a hurdle, which has the same material as the ground.
    pub friction: T,
    /// 1 + elasticity.
    pub rebound: T,
}

#[derive(Debug, Clone)]
pub(crate) struct End<T> {
    pub body: usize,
    pub centre: [T; 3],
    pub radius: T,
}

impl<T: Scalar> Model<T> {
    /// Prepares `robot` under `perturbation`.
    pub fn new(robot: &Robot, perturbation: &Perturbation) -> Model<T> {
        let t = T::from_f64;
        let friction_factor = perturbation.friction;
        let hurdles = perturbation.hurdles.as_ref().filter(|h| h.height > 0.0 && h.count > 0);
        let h = robot.substep_dt();
        let paired = |body| robot.collisions.iter().flatten().any(|c| c.body == body);

        let mut ground_points = Vec::new();
        let mut hurdle_capsules = Vec::new();
        let mut ends = Vec::new();
        let mut bodies = Vec::new();
        for (index, body) in robot.bodies.iter().enumerate() {
            let masks = |axes: [bool; 3]| axes.map(|free| f64::from(u8::from(free)));
            let (moves, turns) = (masks(body.moves), masks(body.turns));
            let inverse_inertia = body.inertia.map(|i| 1.0 / i);
            let first_point = ground_points.len();
            let first_capsule = hurdle_capsules.len();
            for capsule in &body.colliders {
                let material = capsule.material;
                let friction = t(material.friction * robot.ground.friction * friction_factor);
                let rebound = t(1.0 + material.elasticity * robot.ground.elasticity);
                for sign in [-1.0, 1.0] {
                    let centre =
                        vector(std::array::from_fn(|i| capsule.centre[i] + sign * capsule.half_vector[i]));
                    let radius = t(capsule.radius);
                    ends.push(End { body: index, centre, radius });
                    let collides = match capsule.ground_ends {
                        GroundEnds::None => false,
                        GroundEnds::Lower => sign < 0.0,
                        GroundEnds::Upper => sign > 0.0,
                        GroundEnds::Both => true,
                    };
                    if collides {
                        ground_points.push(GroundPoint { centre, radius, friction, rebound });
                    }
                }
                if hurdles.is_some_and(|h| h.body || robot.feet.contains(&index)) {
                    hurdle_capsules.push(HurdleCapsule {
                        capsule: CapsuleModel::new(capsule),
                        friction,
                        rebound,
                    });
                }
            }
            bodies.push(BodyModel {
                mass: t(body.mass),
                inverse_mass: t(1.0 / body.mass),
                inverse_inertia: inverse_inertia.map(t),
                drift: moves.map(|m| t(h * m)),
                half_spin: turns.map(|m| t(0.5 * h * m)),
                keep_linear: moves.map(|m| t((robot.linear_velocity_exponent * h).exp() * m)),
                keep_angular: turns.map(|m| t((robot.angular_velocity_exponent * h).exp() * m)),
                push: moves.map(|m| t(h * m / body.mass)),
                twist: std::array::from_fn(|i| t(h * turns[i] * inverse_inertia[i])),
                fall: std::array::from_fn(|i| t(h * moves[i] * robot.gravity[i] * perturbation.gravity)),
                moves: moves.map(t),
                turns: turns.map(t),
                ground_points: (first_point, ground_points.len()),
                hurdle_capsules: (first_capsule, hurdle_capsules.len()),
                in_pair: paired(index),
            });
        }

        let (joints, kinds) = joint_models(robot);
        Model {
            substeps: robot.substeps,
            bodies,
            kinds,
            actuators: actuators(robot, perturbation),
            ground_points,
            pairs: robot.collisions.iter().map(|pair| PairModel::new(robot, pair, friction_factor)).collect(),
            hurdles: hurdles.map(|h| HurdlesModel::new(h, hurdle_capsules)),
            penetration_gain: t(robot.penetration_correction * robot.substeps as f64 / robot.control_dt),
            slip_speed_threshold: t(robot.slip_speed_threshold),
            traversal: traversal(robot, &joints),
            joints,
            root: robot.root,
            placement: match robot.placement {
                Placement::OnGround => None,
                Placement::RootAt(position) => Some(position.map(t)),
            },
            ends,
            control_dt: robot.control_dt,
        }
    }

    /// The number of moving bodies.
    pub fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// The number of joint degrees of freedom.
    pub fn dof(&self) -> usize {
        self.joints.iter().map(|j| j.dof).sum()
    }

    /// The number of entries of an action.
    pub fn action_size(&self) -> usize {
        self.actuators.len()
    }

    /// The degree of freedom and the torque at action 1 of each entry of an action.
    pub fn actuators(&self) -> &[(usize, T)] {
        &self.actuators
    }

    /// Mass of each body.
    pub fn masses(&self) -> impl Iterator<Item = T> {
        self.bodies.iter().map(|b| b.mass)
    }

    /// Reciprocal of the inertia of each body.
    pub fn inverse_inertia(&self, body: usize) -> [T; 3] {
        self.bodies[body].inverse_inertia
    }

    /// Duration of an environment step in seconds.
    pub fn control_dt(&self) -> f64 {
        self.control_dt
    }

    /// Angle of each degree of freedom in the default pose, in radians, in the order of [`Model::dof`].
    pub fn rest_angles(&self) -> Vec<T> {
        let mut angles = vec![T::default(); self.dof()];
        for joint in &self.joints {
            angles[joint.first_dof..][..joint.dof].copy_from_slice(&joint.rest_angles[..joint.dof]);
        }
        angles
    }

    /// The degrees of freedom in the order of observation: one-axis joints first, three-axis joints last.
    pub fn observed_dofs(&self) -> impl Iterator<Item = usize> {
        self.joints.iter().flat_map(|j| j.first_dof..j.first_dof + j.dof)
    }
}

/// Rounds a vector or quaternion of the robot; components far below the resolution of the scalar become zero. In single
/// precision, the 2e-16 that remains of a cosine of 90° would spread through the rotations of planar robots, and its
/// products are denormal numbers, each of which costs the processor a hundred cycles.
fn vector<T: Scalar, const D: usize>(v: [f64; D]) -> [T; D] {
    v.map(|c| T::from_f64(if c.abs() < 1e-3 * T::EPSILON { 0.0 } else { c }))
}

/// Joints sorted by number of axes (stable), with the number of each kind.
fn joint_models<T: Scalar>(robot: &Robot) -> (Vec<JointModel<T>>, [usize; 3]) {
    let t = T::from_f64;
    let mut first_dof = 0;
    let mut joints = Vec::new();
    for joint in &robot.joints {
        let dof = joint.dof();
        joints.push(JointModel {
            parent: joint.parent,
            child: joint.child,
            parent_anchor: vector(joint.parent_anchor),
            child_anchor: vector(joint.child_anchor),
            reference: vector(joint.reference),
            parent_axes: joint.parent_axes.map(vector),
            child_axes: joint.child_axes.map(vector),
            first_dof,
            dof,
            limits: std::array::from_fn(|i| joint.limits.get(i).unwrap_or(&[0.0; 2]).map(t)),
            rest_angles: std::array::from_fn(|i| t(joint.rest_angles.get(i).copied().unwrap_or(0.0))),
            stiffness: t(joint.stiffness),
            spring_damping: t(joint.spring_damping),
            limit_strength: t(joint.limit_strength),
            alignment_strength: t(joint.limit_strength / 5.0),
            angular_damping: t(joint.angular_damping),
        });
        first_dof += dof;
    }
    joints.sort_by_key(|j| j.dof);
    let kinds = [1, 2, 3].map(|dof| joints.iter().filter(|j| j.dof == dof).count());
    (joints, kinds)
}

/// Joints ordered so that a body's own joint comes before those of its children.
fn traversal<T>(robot: &Robot, joints: &[JointModel<T>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(joints.len());
    let mut reached = vec![robot.root];
    let mut next = 0;
    while let Some(&body) = reached.get(next) {
        for (index, joint) in joints.iter().enumerate().filter(|(_, j)| j.parent == body) {
            order.push(index);
            reached.push(joint.child);
        }
        next += 1;
    }
    order
}

fn actuators<T: Scalar>(robot: &Robot, perturbation: &Perturbation) -> Vec<(usize, T)> {
    let first_dof = |joint: usize| robot.joints[..joint].iter().map(|j| j.dof()).sum::<usize>();
    let mut entries = Vec::new();
    for (index, actuator) in robot.actuators.iter().enumerate() {
        let strength = actuator.strength * perturbation.strength.get(index).copied().unwrap_or(1.0);
        let first = first_dof(actuator.joint);
        entries.extend((0..robot.joints[actuator.joint].dof()).map(|i| (first + i, T::from_f64(strength))));
    }
    entries
}

impl<T: Scalar> CapsuleModel<T> {
    fn new(capsule: &crate::robot::Capsule) -> CapsuleModel<T> {
        CapsuleModel {
            centre: vector(capsule.centre),
            half_vector: vector(capsule.half_vector),
            radius: T::from_f64(capsule.radius),
        }
    }
}

impl<T: Scalar> PairModel<T> {
    fn new(robot: &Robot, pair: &[crate::robot::ColliderId; 2], friction_factor: f64) -> PairModel<T> {
        let [a, b] = pair.map(|id| &robot.bodies[id.body].colliders[id.collider]);
        let extent =
            |c: &crate::robot::Capsule| c.radius + c.half_vector.iter().map(|v| v * v).sum::<f64>().sqrt();
        // One per cent of slack, so that rounding never hides a contact.
        let reach = 1.01 * (extent(a) + extent(b));
        PairModel {
            bodies: pair.map(|id| id.body),
            capsules: [CapsuleModel::new(a), CapsuleModel::new(b)],
            friction: T::from_f64(a.material.friction * b.material.friction * friction_factor),
            rebound: T::from_f64(1.0 + a.material.elasticity * b.material.elasticity),
            radii: T::from_f64(a.radius + b.radius),
            reach_squared: T::from_f64(reach * reach),
        }
    }
}

impl<T: Scalar> HurdlesModel<T> {
    fn new(hurdles: &Hurdles, capsules: Vec<HurdleCapsule<T>>) -> HurdlesModel<T> {
        let t = T::from_f64;
        HurdlesModel {
            first: t(hurdles.first),
            spacing: t(hurdles.spacing),
            last: t(f64::from(hurdles.count) - 1.0),
            top: t(hurdles.height - hurdles.thickness / 2.0),
            bottom: t(-2.0),
            radius: t(hurdles.thickness / 2.0),
            capsules,
        }
    }
}
