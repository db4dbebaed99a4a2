//! Converts a joint of the file to a joint of the robot.

use super::build::{body_named, missing};
use magpie_settings::DataFault as Fault;

use super::file::{JointDefaults, JointEntry};
use super::numbers::{non_negative, single, vector};
use super::{Body, Joint, rotation};

/// Degrees of freedom that a joint can have.
const DOF: std::ops::RangeInclusive<usize> = 1..=3;

/// `[defaults.joint]`, checked.
pub(super) struct JointSettings {
    rotation: [f64; 3],
    stiffness: Option<f64>,
    spring_damping: Option<f64>,
    limit_strength: Option<f64>,
    angular_damping: f64,
    actuator_strength: Option<f64>,
}

impl JointSettings {
    pub(super) fn new(file: &JointDefaults) -> Result<JointSettings, Fault> {
        let at = "defaults.joint";
        let checked = |key, x: Option<f64>| x.map(|x| non_negative(at, key, x)).transpose();
        Ok(JointSettings {
            rotation: vector(at, "rotation", file.rotation.unwrap_or_default())?,
            stiffness: checked("stiffness", file.stiffness)?,
            spring_damping: checked("spring_damping", file.spring_damping)?,
            limit_strength: checked("limit_strength", file.limit_strength)?,
            angular_damping: checked("angular_damping", file.angular_damping)?.unwrap_or(0.0),
            actuator_strength: file
                .actuator_strength
                .map(|x| single(at, "actuator_strength", x))
                .transpose()?,
        })
    }
}

pub(super) fn joint(entry: &JointEntry, bodies: &[Body], settings: &JointSettings) -> Result<Joint, Fault> {
    let at = &place(entry);
    let own = |key, x: Option<f64>| x.map(|x| non_negative(at, key, x)).transpose();

    let stiffness = own("stiffness", entry.stiffness)?
        .or(settings.stiffness)
        .ok_or_else(|| missing(at, "stiffness", "defaults.joint"))?;
    let axes = rotation::from_euler(match entry.rotation {
        Some(degrees) => vector(at, "rotation", degrees)?,
        None => settings.rotation,
    });
    let reference = rotation::from_euler(vector(at, "reference_rotation", entry.reference_rotation)?);
    let child_axes =
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| rotation::rotate(axes, axis));

    let limits = limits(at, entry)?;
    let rest_angles = rest_angles(at, entry, &limits)?;
    Ok(Joint {
        name: entry.name.clone(),
        parent: body_named(&format!("{at}.parent"), &entry.parent, bodies)?,
        child: body_named(&format!("{at}.child"), &entry.child, bodies)?,
        parent_anchor: vector(at, "parent_anchor", entry.parent_anchor)?,
        child_anchor: vector(at, "child_anchor", entry.child_anchor)?,
        reference,
        child_axes,
        parent_axes: child_axes.map(|axis| rotation::rotate(reference, axis)),
        limits: limits.iter().map(|pair| pair.map(rotation::radians)).collect(),
        rest_angles: rest_angles.into_iter().map(rotation::radians).collect(),
        stiffness,
        spring_damping: own("spring_damping", entry.spring_damping)?
            .or(settings.spring_damping)
            .unwrap_or(0.5 * stiffness.sqrt()),
        limit_strength: own("limit_strength", entry.limit_strength)?
            .or(settings.limit_strength)
            .unwrap_or(stiffness),
        angular_damping: own("angular_damping", entry.angular_damping)?.unwrap_or(settings.angular_damping),
    })
}

/// Strength of the joint's actuator; `None` if the joint is passive. A negative strength reverses the direction.
pub(super) fn actuator_strength(entry: &JointEntry, settings: &JointSettings) -> Result<Option<f64>, Fault> {
    match entry.actuator_strength {
        Some(x) => single(&place(entry), "actuator_strength", x).map(Some),
        None => Ok(settings.actuator_strength),
    }
}

/// The limits in degrees.
fn limits(at: &str, entry: &JointEntry) -> Result<Vec<[f64; 2]>, Fault> {
    if !DOF.contains(&entry.limits.len()) {
        return Err(Fault::new(
            format!("{at}.limits"),
            format!("found {} pairs", entry.limits.len()),
            "write one [lowest, highest] for each axis: one to three of them",
        ));
    }
    let mut limits = Vec::new();
    for (i, &pair) in entry.limits.iter().enumerate() {
        let [low, high] = vector(at, &format!("limits[{i}]"), pair)?;
        if low > high {
            return Err(Fault::new(
                format!("{at}.limits[{i}]"),
                format!("the lowest angle {} is above the highest angle {}", low as f32, high as f32),
                "swap them",
            ));
        }
        limits.push([low, high]);
    }
    Ok(limits)
}

/// The angles of the default pose in degrees.
fn rest_angles(at: &str, entry: &JointEntry, limits: &[[f64; 2]]) -> Result<Vec<f64>, Fault> {
    let Some(angles) = &entry.rest_angles else {
        return Ok(limits.iter().map(|[low, high]| (low + high) / 2.0).collect());
    };
    if angles.len() != limits.len() {
        return Err(Fault::new(
            format!("{at}.rest_angles"),
            format!("found {} angles for {} limits", angles.len(), limits.len()),
            "write one angle for each pair of limits",
        ));
    }
    let mut rest = Vec::new();
    for (i, (&angle, &[low, high])) in angles.iter().zip(limits).enumerate() {
        let key = format!("rest_angles[{i}]");
        let angle = single(at, &key, angle)?;
        if angle < low || angle > high {
            return Err(Fault::new(
                format!("{at}.{key}"),
                format!("{} is outside the limits [{}, {}]", angle as f32, low as f32, high as f32),
                "choose an angle within them, or widen the limits",
            ));
        }
        rest.push(angle);
    }
    Ok(rest)
}

fn place(entry: &JointEntry) -> String {
    format!("joint {:?}", entry.name)
}
