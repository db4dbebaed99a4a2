//! The meaning of each entry of an observation and of an action, in the order in which [`Stage::observe`] writes them.
//! The size of an observation is the length of this list. Ranges cover all states that are neither terminal
//! nor unstable: joints can exceed their limits a little, because limits are springs.
//!
//! [`Stage::observe`]: super::Stage::observe

use std::f64::consts::FRAC_PI_2;

use magpie_physics::Model;
use magpie_physics::robot::Robot;
use magpie_simd::Scalar;

use crate::environment::Entry;
use crate::task::{ObservationPart, Task};

const AXES: [&str; 3] = ["x", "y", "z"];

/// How far a joint can exceed its limits (rad): at most 0.85 in recordings of halfcheetah, and less for other robots.
const BEYOND_LIMITS: f64 = 1.0;
/// The largest speed of a body of a stable robot (m/s), as in the trial of robots.
const FASTEST: f64 = 100.0;
/// The largest angular velocity (rad/s): 270 in recordings of halfcheetah.
const FASTEST_TURN: f64 = 1000.0;

/// The entries of an observation.
pub(super) fn observation<T: Scalar>(task: &Task, robot: &Robot, model: &Model<T>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for part in &task.observation {
        of_part(*part, task, robot, model, &mut entries);
    }
    let Some(clip) = task.clip.map(f64::from) else { return entries };
    let clipped = |entry: Entry| {
        let [low, high] = entry.range.unwrap_or([-clip, clip]);
        entry.within([low.clamp(-clip, clip), high.clamp(-clip, clip)])
    };
    entries.into_iter().map(clipped).collect()
}

fn of_part<T: Scalar>(
    part: ObservationPart,
    task: &Task,
    robot: &Robot,
    model: &Model<T>,
    entries: &mut Vec<Entry>,
) {
    let dofs = dofs(robot);
    let limits: Vec<[f64; 2]> = robot.joints.iter().flat_map(|joint| joint.limits.iter().copied()).collect();
    let bodies = || robot.bodies.iter().map(|body| body.name.as_str());
    let mut along = |what: &str, axes: &[&str], unit: &str, most: Option<f64>| {
        let range = most.map(|most| [-most, most]);
        entries.extend(axes.iter().map(|axis| Entry::new(format!("{what} {axis}"), unit).within(range)));
    };
    let (fast, turning) = (Some(FASTEST), Some(FASTEST_TURN));
    match part {
        ObservationPart::Height => entries.push(Entry::new("root height", "m").within(task.healthy.height)),
        ObservationPart::Rotation => along("root rotation", &["w", "x", "y", "z"], "1", Some(1.0)),
        ObservationPart::PlanarRotation => along("root rotation", &["w", "y"], "1", Some(1.0)),
        ObservationPart::Pitch => {
            let range = task.healthy.pitch.unwrap_or([-FRAC_PI_2, FRAC_PI_2]);
            entries.push(Entry::new("root pitch", "rad").within(range));
        }
        ObservationPart::JointAngles => entries.extend(model.observed_dofs().map(|dof| {
            let [low, high] = limits[dof];
            let range = [low - BEYOND_LIMITS, high + BEYOND_LIMITS];
            Entry::new(format!("{} angle", dofs[dof]), "rad").within(range)
        })),
        ObservationPart::Velocity => along("root velocity", &AXES, "m/s", fast),
        ObservationPart::PlanarVelocity => along("root velocity", &["x", "z"], "m/s", fast),
        ObservationPart::AngularVelocity => along("root angular velocity", &AXES, "rad/s", turning),
        ObservationPart::PlanarAngularVelocity => along("root angular velocity", &["y"], "rad/s", turning),
        // The published tasks observe the parent's angular velocity minus the child's.
        ObservationPart::JointRates => entries.extend(model.observed_dofs().map(|dof| {
            let range = [-FASTEST_TURN, FASTEST_TURN];
            Entry::new(format!("{} rate, negated", dofs[dof]), "rad/s").within(range)
        })),
        ObservationPart::Contacts => contacts(robot, entries),
        ObservationPart::Inertia => {
            for body in bodies() {
                for row in AXES {
                    // These sum reciprocals of inertias and squared lengths without masses, so that no unit applies.
                    entries.extend(
                        AXES.map(|column| Entry::new(format!("{body} inertia {row}{column}"), "mixed")),
                    );
                }
            }
        }
        ObservationPart::VelocityShares => bodies().for_each(|body| {
            along(&format!("{body} velocity times share of mass,"), &AXES, "m/s", fast);
        }),
        ObservationPart::AngularVelocityAboutCom => {
            for body in bodies() {
                along(&format!("{body} angular velocity about the centre of mass,"), &AXES, "rad/s", None);
            }
        }
        ObservationPart::Torques => {
            for dof in model.observed_dofs() {
                if let Some((_, strength)) = model.actuators().iter().find(|(driven, _)| *driven == dof) {
                    let most = strength.to_f64().abs();
                    entries.push(Entry::new(format!("{} torque", dofs[dof]), "N m").within([-most, most]));
                }
            }
        }
    }
}

/// The entries of an action.
pub(super) fn action<T: Scalar>(robot: &Robot, model: &Model<T>) -> Vec<Entry> {
    let dofs = dofs(robot);
    let entry = |&(dof, strength): &(usize, T)| {
        let unit = format!("{} N m", strength.to_f64() as f32);
        Entry::new(format!("{} torque", dofs[dof]), unit).within([-1.0, 1.0])
    };
    model.actuators().iter().map(entry).collect()
}

/// Names of the degrees of freedom: the joint's name, with the number of the axis if there are several.
fn dofs(robot: &Robot) -> Vec<String> {
    let mut names = Vec::new();
    for joint in &robot.joints {
        match joint.dof() {
            1 => names.push(joint.name.clone()),
            several => names.extend((1..=several).map(|axis| format!("{} axis {axis}", joint.name))),
        }
    }
    names
}

fn contacts(robot: &Robot, entries: &mut Vec<Entry>) {
    for (change, unit) in [("velocity", "m/s"), ("angular velocity", "rad/s")] {
        // The ground counts as a body here, as in the published observations.
        for body in robot.bodies.iter().map(|body| body.name.as_str()).chain(["ground"]) {
            entries.extend(AXES.map(|axis| {
                let meaning = format!("{body} {change} change {axis} by contacts, within ±1");
                Entry::new(meaning, unit).within([-1.0, 1.0])
            }));
        }
    }
}
