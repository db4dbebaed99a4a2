//! From a robot file to a robot: names become indices, degrees become radians, and everything is checked.

use std::collections::HashSet;

use magpie_settings::DataFault as Fault;

use super::file::{
    BodyDefaults, BodyEntry, CapsuleDefaults, CapsuleEntry, CollisionEntry, Defaults, GroundEndsEntry,
    JointEntry, PlacementEntry, RobotFile, World,
};
use super::joints::{self, JointSettings};
use super::numbers::{non_negative, positive, single, vector};
use super::{
    Actuator, Body, Capsule, ColliderId, GroundEnds, Joint, Material, Placement, Robot, rotation, tree,
};

/// Contacts that slide slower than this (m/s) get no friction. Not a key of the file: it guards the direction of
/// friction against rounding and is the same for every robot.
const SLIP_SPEED_THRESHOLD: f64 = 0.01;

/// More bodies than this are a mistake, not a robot.
const MAX_BODIES: usize = 64;

/// More substeps than this are a slip of the keyboard.
const MAX_SUBSTEPS: i64 = 10_000;

/// Checks the file and builds the robot.
pub(super) fn robot(file: RobotFile) -> Result<Robot, Fault> {
    let settings = Settings::new(&file.defaults)?;
    let ground = Material {
        friction: non_negative("ground", "friction", file.ground.friction)?,
        elasticity: non_negative("ground", "elasticity", file.ground.elasticity)?,
    };
    if file.name.trim().is_empty() {
        return Err(Fault::new("name", "the name is empty", "give the robot a name"));
    }
    if file.body.is_empty() {
        return Err(Fault::new("body", "the robot has no bodies", "add at least one [[body]]"));
    }
    if file.body.len() > MAX_BODIES {
        return Err(Fault::new(
            "body",
            format!("the robot has {} bodies", file.body.len()),
            format!("at most {MAX_BODIES} are allowed"),
        ));
    }
    unique_names("body", file.body.iter().map(|b| b.name.as_str()))?;
    unique_names("joint", file.joint.iter().map(|j| j.name.as_str()))?;

    let bodies: Vec<Body> = file.body.iter().map(|b| body(b, &settings)).collect::<Result<_, _>>()?;
    let joints: Vec<Joint> =
        file.joint.iter().map(|j| joints::joint(j, &bodies, &settings.joint)).collect::<Result<_, _>>()?;
    let root = tree::root(&bodies, &joints)?;

    let World { control_dt, gravity, linear_velocity_exponent, angular_velocity_exponent, .. } = file.world;
    Ok(Robot {
        control_dt: time_step(control_dt)?,
        substeps: substeps(file.world.substeps)?,
        gravity: vector("world", "gravity", gravity)?,
        linear_velocity_exponent: single("world", "linear_velocity_exponent", linear_velocity_exponent)?,
        angular_velocity_exponent: single("world", "angular_velocity_exponent", angular_velocity_exponent)?,
        penetration_correction: non_negative(
            "world",
            "penetration_correction",
            file.world.penetration_correction,
        )?,
        slip_speed_threshold: SLIP_SPEED_THRESHOLD,
        ground,
        actuators: actuators(&file.joint, &settings.joint)?,
        collisions: collisions(&file.collision, &bodies)?,
        root,
        placement: placement(file.placement, &bodies)?,
        feet: feet(&file.feet, &bodies)?,
        name: file.name,
        bodies,
        joints,
    })
}

/// The `[defaults]` of the file, checked.
struct Settings {
    inertia: Option<f64>,
    moves: [bool; 3],
    turns: [bool; 3],
    friction: Option<f64>,
    elasticity: f64,
    ground_ends: GroundEndsEntry,
    joint: JointSettings,
}

impl Settings {
    fn new(file: &Defaults) -> Result<Settings, Fault> {
        let BodyDefaults { inertia, moves, turns } = &file.body;
        let CapsuleDefaults { friction, elasticity, ground_ends } = file.capsule;
        let (body, capsule) = ("defaults.body", "defaults.capsule");
        Ok(Settings {
            inertia: inertia.map(|x| positive(body, "inertia", x)).transpose()?,
            moves: axes(body, "moves", moves.as_deref(), [true; 3])?,
            turns: axes(body, "turns", turns.as_deref(), [true; 3])?,
            friction: friction.map(|x| non_negative(capsule, "friction", x)).transpose()?,
            elasticity: non_negative(capsule, "elasticity", elasticity.unwrap_or(0.0))?,
            ground_ends: ground_ends.unwrap_or(GroundEndsEntry::Both),
            joint: JointSettings::new(&file.joint)?,
        })
    }
}

fn body(entry: &BodyEntry, settings: &Settings) -> Result<Body, Fault> {
    let at = format!("body {:?}", entry.name);
    let inertia = match entry.inertia {
        Some(x) => positive(&at, "inertia", x)?,
        None => settings.inertia.ok_or_else(|| missing(&at, "inertia", "defaults.body"))?,
    };
    let capsule = |(i, c): (usize, &CapsuleEntry)| capsule(&format!("{at}.capsules[{i}]"), c, settings);
    Ok(Body {
        name: entry.name.clone(),
        mass: positive(&at, "mass", entry.mass)?,
        inertia: [inertia; 3],
        moves: axes(&at, "moves", entry.moves.as_deref(), settings.moves)?,
        turns: axes(&at, "turns", entry.turns.as_deref(), settings.turns)?,
        colliders: entry.capsules.iter().enumerate().map(capsule).collect::<Result<_, _>>()?,
    })
}

fn capsule(at: &str, entry: &CapsuleEntry, settings: &Settings) -> Result<Capsule, Fault> {
    let radius = positive(at, "radius", entry.radius)?;
    let length = match entry.length {
        Some(x) => positive(at, "length", x)?,
        None => 2.0 * radius,
    };
    if length < 2.0 * radius {
        return Err(Fault::new(
            format!("{at}.length"),
            format!("{} is shorter than twice the radius {}", length as f32, radius as f32),
            "the length includes both round ends; leave it out for a sphere",
        ));
    }
    let half = length / 2.0 - radius;
    let along = rotation::from_euler(vector(at, "rotation", entry.rotation)?);
    let friction = match entry.friction {
        Some(x) => non_negative(at, "friction", x)?,
        None => settings.friction.ok_or_else(|| missing(at, "friction", "defaults.capsule"))?,
    };
    let elasticity = match entry.elasticity {
        Some(x) => non_negative(at, "elasticity", x)?,
        None => settings.elasticity,
    };
    let ground_ends = match entry.ground_ends.unwrap_or(settings.ground_ends) {
        GroundEndsEntry::None => GroundEnds::None,
        GroundEndsEntry::Lower => GroundEnds::Lower,
        GroundEndsEntry::Upper => GroundEnds::Upper,
        // Both ends of a sphere are the same point, which would be two contacts.
        GroundEndsEntry::Both if half == 0.0 => GroundEnds::Upper,
        GroundEndsEntry::Both => GroundEnds::Both,
    };
    Ok(Capsule {
        centre: vector(at, "centre", entry.centre)?,
        half_vector: rotation::rotate(along, [0.0, 0.0, half]),
        radius,
        material: Material { friction, elasticity },
        ground_ends,
    })
}

/// The axes named in a string such as `"xz"`.
fn axes(at: &str, key: &str, letters: Option<&str>, otherwise: [bool; 3]) -> Result<[bool; 3], Fault> {
    let Some(letters) = letters else { return Ok(otherwise) };
    let mut named = [false; 3];
    for letter in letters.chars() {
        match "xyz".find(letter).filter(|&axis| !named[axis]) {
            Some(axis) => named[axis] = true,
            None => {
                return Err(Fault::new(
                    format!("{at}.{key}"),
                    format!("found {letters:?}"),
                    "name each free axis once, as in \"xz\"; \"\" for none",
                ));
            }
        }
    }
    Ok(named)
}

/// Shorter steps do not move a robot in single precision.
fn time_step(seconds: f64) -> Result<f64, Fault> {
    match positive("world", "control_dt", seconds)? {
        step if (0.99e-6..=1.0).contains(&step) => Ok(step),
        _ => Err(Fault::new(
            "world.control_dt",
            format!("found {seconds:?}"),
            "must be between 1e-6 and 1 (seconds)",
        )),
    }
}

fn substeps(n: i64) -> Result<usize, Fault> {
    usize::try_from(n).ok().filter(|_| (1..=MAX_SUBSTEPS).contains(&n)).ok_or_else(|| {
        Fault::new("world.substeps", format!("found {n}"), format!("must be between 1 and {MAX_SUBSTEPS}"))
    })
}

fn actuators(entries: &[JointEntry], settings: &JointSettings) -> Result<Vec<Actuator>, Fault> {
    let mut actuators = Vec::new();
    for (joint, entry) in entries.iter().enumerate() {
        if let Some(strength) = joints::actuator_strength(entry, settings)? {
            actuators.push(Actuator { name: entry.name.clone(), joint, strength });
        }
    }
    Ok(actuators)
}

fn collisions(entries: &[CollisionEntry], bodies: &[Body]) -> Result<Vec<[ColliderId; 2]>, Fault> {
    let mut pairs: Vec<[ColliderId; 2]> = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        let at = format!("collision[{i}]");
        let a = collider(&at, entry, 0, bodies)?;
        let b = collider(&at, entry, 1, bodies)?;
        if a.body == b.body {
            return Err(Fault::new(
                format!("{at}.bodies"),
                format!("{:?} cannot collide with itself", entry.bodies.0[0]),
                "name two different bodies",
            ));
        }
        if pairs.contains(&[a, b]) || pairs.contains(&[b, a]) {
            return Err(Fault::new(at, "this pair is already listed", "remove one of the two"));
        }
        pairs.push([a, b]);
    }
    Ok(pairs)
}

fn collider(at: &str, entry: &CollisionEntry, side: usize, bodies: &[Body]) -> Result<ColliderId, Fault> {
    let name = &entry.bodies.0[side];
    let body = body_named(&format!("{at}.bodies[{side}]"), name, bodies)?;
    let count = bodies[body].colliders.len();
    match entry.capsules.map(|c| c.0[side]) {
        Some(collider) if collider < count => Ok(ColliderId { body, collider }),
        None if count == 1 => Ok(ColliderId { body, collider: 0 }),
        Some(collider) => Err(Fault::new(
            format!("{at}.capsules[{side}]"),
            format!("found {collider}, but body {name:?} has {count} capsules"),
            "capsules are counted from 0",
        )),
        None => Err(Fault::new(
            format!("{at}.capsules"),
            format!("missing, and body {name:?} has {count} capsules"),
            "say which capsule of each body collides, as in capsules = [0, 1]",
        )),
    }
}

fn placement(entry: PlacementEntry, bodies: &[Body]) -> Result<Placement, Fault> {
    match entry {
        PlacementEntry::RootAt(position) => Ok(Placement::RootAt(vector("placement", "root_at", position)?)),
        PlacementEntry::OnGround if bodies.iter().all(|b| b.colliders.is_empty()) => Err(Fault::new(
            "placement",
            "the robot has no capsules that could stand on the ground",
            "add a capsule, or give the position with root_at = [x, y, z]",
        )),
        PlacementEntry::OnGround => Ok(Placement::OnGround),
    }
}

fn feet(names: &[String], bodies: &[Body]) -> Result<Vec<usize>, Fault> {
    let mut feet = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let foot = body_named(&format!("feet[{i}]"), name, bodies)?;
        if feet.contains(&foot) {
            return Err(Fault::new(format!("feet[{i}]"), format!("{name:?} is listed twice"), "remove one"));
        }
        feet.push(foot);
    }
    Ok(feet)
}

/// The index of a body that some field refers to by name.
pub(super) fn body_named(field: &str, name: &str, bodies: &[Body]) -> Result<usize, Fault> {
    bodies.iter().position(|b| b.name == name).ok_or_else(|| {
        let remedy = magpie_settings::remedy(name, bodies.iter().map(|b| b.name.as_str()));
        Fault::new(field, format!("there is no body {name:?}"), remedy)
    })
}

/// A value that stands neither in the entry nor in the defaults.
pub(super) fn missing(at: &str, key: &str, section: &str) -> Fault {
    Fault::new(format!("{at}.{key}"), "missing", format!("state it here or in [{section}]"))
}

fn unique_names<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Fault> {
    let mut seen = HashSet::new();
    for (i, name) in names.enumerate() {
        let field = format!("{what}[{i}].name");
        if name.trim().is_empty() {
            return Err(Fault::new(field, "the name is empty", format!("give every {what} a name")));
        }
        if !seen.insert(name) {
            return Err(Fault::new(field, format!("the name {name:?} is taken"), "names must be unique"));
        }
    }
    Ok(())
}
