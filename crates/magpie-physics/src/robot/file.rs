//! The structure of a robot file: one struct per TOML table.
//!
//! Rules of the format:
//! - SI units; angles in degrees.
//! - Every number is read in single precision and widened: `0.05` means 0.05000000074505806. The built-in robots stem
//!   from single-precision constants, so that their files can contain `0.05` and be exact. Degrees become radians and
//!   quaternions afterwards, in double precision.
//! - Rotations are three angles: about x, then about the new y, then about the newest z.
//! - The ground is implicit: the plane z = 0.
//! - The root is the body that is not the child of any joint.
//! - Values shared by most bodies, capsules or joints go to `[defaults.body]`, `[defaults.capsule]` or
//!   `[defaults.joint]`; an entry's own value takes precedence.
//!
//! `robots/hopper.toml` is the shortest complete example.

use magpie_settings::Row;
use serde::Deserialize;

/// Three numbers: a vector, or three angles.
pub(super) type Triple = Row<f64, 3>;

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RobotFile {
    pub(super) name: String,
    /// Names of the bodies whose ground contact is measured.
    #[serde(default)]
    pub(super) feet: Vec<String>,
    pub(super) placement: PlacementEntry,
    pub(super) world: World,
    pub(super) ground: Ground,
    #[serde(default)]
    pub(super) defaults: Defaults,
    #[serde(default)]
    pub(super) body: Vec<BodyEntry>,
    #[serde(default)]
    pub(super) joint: Vec<JointEntry>,
    #[serde(default)]
    pub(super) collision: Vec<CollisionEntry>,
}

/// `placement = "on_ground"` or `placement = { root_at = [x, y, z] }`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PlacementEntry {
    OnGround,
    RootAt(Triple),
}

/// `[world]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct World {
    /// s
    pub(super) control_dt: f64,
    pub(super) substeps: i64,
    /// m/s²
    pub(super) gravity: Triple,
    /// 1/s; above zero, velocities grow by themselves.
    #[serde(default)]
    pub(super) linear_velocity_exponent: f64,
    /// 1/s
    #[serde(default)]
    pub(super) angular_velocity_exponent: f64,
    /// Share of a penetration that is removed in one environment step.
    pub(super) penetration_correction: f64,
}

/// `[ground]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ground {
    pub(super) friction: f64,
    #[serde(default)]
    pub(super) elasticity: f64,
}

/// `[defaults.*]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Defaults {
    #[serde(default)]
    pub(super) body: BodyDefaults,
    #[serde(default)]
    pub(super) capsule: CapsuleDefaults,
    #[serde(default)]
    pub(super) joint: JointDefaults,
}

/// `[defaults.body]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BodyDefaults {
    pub(super) inertia: Option<f64>,
    pub(super) moves: Option<String>,
    pub(super) turns: Option<String>,
}

/// `[[body]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BodyEntry {
    pub(super) name: String,
    /// kg
    pub(super) mass: f64,
    /// kg m². A single number, because the simulation does not rotate the inertia with the body: only bodies with the
    /// same inertia about every axis are simulated correctly.
    pub(super) inertia: Option<f64>,
    /// World axes along which the body can move, such as `"xz"`; by default all.
    pub(super) moves: Option<String>,
    /// World axes about which the body can turn; by default all.
    pub(super) turns: Option<String>,
    #[serde(default)]
    pub(super) capsules: Vec<CapsuleEntry>,
}

/// `[defaults.capsule]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CapsuleDefaults {
    pub(super) friction: Option<f64>,
    pub(super) elasticity: Option<f64>,
    pub(super) ground_ends: Option<GroundEndsEntry>,
}

/// An entry of `capsules`: along z, then rotated, then moved to its centre.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CapsuleEntry {
    /// m, from the body's centre of mass.
    #[serde(default)]
    pub(super) centre: Triple,
    #[serde(default)]
    pub(super) rotation: Triple,
    /// m
    pub(super) radius: f64,
    /// m, total length including both round ends; without it the capsule is a sphere.
    pub(super) length: Option<f64>,
    pub(super) friction: Option<f64>,
    /// Defaults to zero.
    pub(super) elasticity: Option<f64>,
    /// Defaults to both.
    pub(super) ground_ends: Option<GroundEndsEntry>,
}

/// The ends that collide with the ground. "Lower" and "upper" refer to the capsule before its rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GroundEndsEntry {
    None,
    Lower,
    Upper,
    Both,
}

/// `[defaults.joint]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointDefaults {
    pub(super) rotation: Option<Triple>,
    pub(super) stiffness: Option<f64>,
    pub(super) spring_damping: Option<f64>,
    pub(super) limit_strength: Option<f64>,
    pub(super) angular_damping: Option<f64>,
    pub(super) actuator_strength: Option<f64>,
}

/// `[[joint]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JointEntry {
    pub(super) name: String,
    pub(super) parent: String,
    pub(super) child: String,
    /// m, in the frame of the parent.
    #[serde(default)]
    pub(super) parent_anchor: Triple,
    /// m, in the frame of the child.
    #[serde(default)]
    pub(super) child_anchor: Triple,
    /// Rotates x, y and z to the first, second and third axis of the joint.
    pub(super) rotation: Option<Triple>,
    /// Rotation of the child relative to the parent at joint angle zero.
    #[serde(default)]
    pub(super) reference_rotation: Triple,
    /// Lowest and highest angle, one pair for each axis: a hinge has one, a ball joint three.
    pub(super) limits: Vec<Row<f64, 2>>,
    /// Angles of the default pose; defaults to the middle of the limits.
    pub(super) rest_angles: Option<Vec<f64>>,
    /// N/m, of the spring that holds the anchors together.
    pub(super) stiffness: Option<f64>,
    /// N s/m; defaults to half the square root of the stiffness.
    pub(super) spring_damping: Option<f64>,
    /// N m/rad, against angles beyond the limits; defaults to the number of the stiffness.
    pub(super) limit_strength: Option<f64>,
    /// N m s/rad; defaults to zero.
    pub(super) angular_damping: Option<f64>,
    /// N m at action 1, on every axis; a joint without it is passive. A joint has at most one actuator, and actuators
    /// take the entries of an action in the order of the joints.
    pub(super) actuator_strength: Option<f64>,
}

/// `[[collision]]`: two bodies that collide with each other. All other pairs pass through one another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CollisionEntry {
    pub(super) bodies: Row<String, 2>,
    /// The capsule of each body, counted from zero; optional if both bodies have only one.
    pub(super) capsules: Option<Row<usize, 2>>,
}
