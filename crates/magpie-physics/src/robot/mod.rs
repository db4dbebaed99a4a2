//! A robot as data: bodies, joints, actuators and contacts, checked and ready to be simulated.
//!
//! All numbers are `f64` in SI units and radians; vectors are in the frame of their body, whose origin is its
//! centre of mass. The ground is not a body of the robot: it is the plane z = 0 and never moves.

mod build;
mod error;
mod file;
mod joints;
mod mjcf;
mod numbers;
mod read;
mod rotation;
mod tree;

pub use error::RobotError;
pub use read::BUILTIN;

/// A complete robot, valid by construction: robots come only from the reader of robot files.
#[derive(Debug, Clone, PartialEq)]
pub struct Robot {
    /// The name in messages and tables.
    pub name: String,
    /// Duration of one environment step, in seconds.
    pub control_dt: f64,
    /// The number of physics substeps in one environment step.
    pub substeps: usize,
    /// Gravity, in m/s².
    pub gravity: [f64; 3],
    /// Linear velocities are multiplied by `exp(linear_velocity_exponent * h)` every substep of length h.
    pub linear_velocity_exponent: f64,
    /// Angular velocities likewise.
    pub angular_velocity_exponent: f64,
    /// Share of a penetration that a contact tries to remove in one environment step.
    pub penetration_correction: f64,
    /// Contacts that slide more slowly than this (m/s) have no friction.
    pub slip_speed_threshold: f64,
    /// Material of the ground.
    pub ground: Material,
    /// The moving bodies.
    pub bodies: Vec<Body>,
    /// The joints, in the order in which their degrees of freedom are numbered.
    pub joints: Vec<Joint>,
    /// The actuators, in the order in which they take the entries of an action.
    pub actuators: Vec<Actuator>,
    /// Pairs of colliders of different bodies that collide with each other.
    pub collisions: Vec<[ColliderId; 2]>,
    /// Index of the root of the tree of joints, which observations call the torso.
    pub root: usize,
    /// Initial position of the root.
    pub placement: Placement,
    /// Indices of the bodies whose ground contact is measured.
    pub feet: Vec<usize>,
}

/// Surface properties; those of a contact are the products of both surfaces'.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Material {
    /// Friction coefficient.
    pub friction: f64,
    /// Share of the approach velocity that is returned.
    pub elasticity: f64,
}

/// A rigid body.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// Unique name.
    pub name: String,
    /// Mass in kg.
    pub mass: f64,
    /// Diagonal of the inertia tensor in kg m²; applied along world axes, so it should be isotropic.
    pub inertia: [f64; 3],
    /// World axes along which the body can move.
    pub moves: [bool; 3],
    /// World axes about which the body can turn.
    pub turns: [bool; 3],
    /// Shapes for contacts and for placing the robot on the ground.
    pub colliders: Vec<Capsule>,
}

/// A segment with a radius. A sphere has a zero half vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Capsule {
    /// Middle of the segment.
    pub centre: [f64; 3],
    /// From the middle to the upper end of the segment.
    pub half_vector: [f64; 3],
    /// Radius in m.
    pub radius: f64,
    /// Surface.
    pub material: Material,
    /// Which ends collide with the ground.
    pub ground_ends: GroundEnds,
}

/// The ends of a capsule that collide with the ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroundEnds {
    /// The capsule passes through the ground.
    None,
    /// Only `centre - half_vector`.
    Lower,
    /// Only `centre + half_vector`.
    Upper,
    /// Both.
    Both,
}

/// A capsule of a body, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColliderId {
    /// Index into [`Robot::bodies`].
    pub body: usize,
    /// Index into [`Body::colliders`].
    pub collider: usize,
}

/// A spring joint with one to three rotational degrees of freedom.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Unique name.
    pub name: String,
    /// Index of the parent body.
    pub parent: usize,
    /// Index of the child body.
    pub child: usize,
    /// Anchor in the parent's frame.
    pub parent_anchor: [f64; 3],
    /// Anchor in the child's frame.
    pub child_anchor: [f64; 3],
    /// Rotation (w, x, y, z) of the child relative to the parent at joint angle zero.
    pub reference: [f64; 4],
    /// The triad of joint axes in the child's frame, one axis a row.
    pub child_axes: [[f64; 3]; 3],
    /// The same triad in the parent's frame: `child_axes` rotated by `reference`.
    pub parent_axes: [[f64; 3]; 3],
    /// Lower and upper limit of each degree of freedom, in radians; one to three of them.
    pub limits: Vec<[f64; 2]>,
    /// Angle of each degree of freedom in the default pose, in radians.
    pub rest_angles: Vec<f64>,
    /// Stiffness of the anchor spring, N/m.
    pub stiffness: f64,
    /// Damping of the anchor spring, N s/m.
    pub spring_damping: f64,
    /// Stiffness against angles beyond the limits, N m/rad.
    pub limit_strength: f64,
    /// Damping of the relative angular velocity, N m s/rad.
    pub angular_damping: f64,
}

/// A torque on every degree of freedom of one joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Actuator {
    /// Unique name.
    pub name: String,
    /// Index of the joint.
    pub joint: usize,
    /// Torque in N m at action 1.
    pub strength: f64,
}

/// How the default pose is placed in the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Placement {
    /// The lowest point of all colliders touches z = 0.
    OnGround,
    /// The root starts at this position.
    RootAt([f64; 3]),
}

impl Joint {
    /// Number of degrees of freedom, 1 to 3.
    pub fn dof(&self) -> usize {
        self.limits.len()
    }
}

impl Robot {
    /// Total degrees of freedom of all joints.
    pub fn dof(&self) -> usize {
        self.joints.iter().map(Joint::dof).sum()
    }

    /// The number of entries of an action.
    pub fn action_size(&self) -> usize {
        self.actuators.iter().map(|a| self.joints[a.joint].dof()).sum()
    }

    /// Length of a substep in seconds.
    pub fn substep_dt(&self) -> f64 {
        self.control_dt / self.substeps as f64
    }
}
