//! The meaning of each entry of an observation and of an action, in the order in which [`Stage::observe`] writes them.
//! The size of an observation is the length of this list.
//!
//! [`Stage::observe`]: super::Stage::observe

use magpie_physics::Model;
use magpie_physics::robot::Robot;
use magpie_simd::Scalar;

use crate::environment::Entry;
use crate::task::ObservationPart;

const AXES: [&str; 3] = ["x", "y", "z"];

/// The entries of an observation.
pub(super) fn observation<T: Scalar>(
    parts: &[ObservationPart],
    robot: &Robot,
    model: &Model<T>,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    for part in parts {
        of_part(*part, robot, model, &mut entries);
    }
    entries
}

fn of_part<T: Scalar>(part: ObservationPart, robot: &Robot, model: &Model<T>, entries: &mut Vec<Entry>) {
    let dofs = dofs(robot);
    let bodies = || robot.bodies.iter().map(|body| body.name.as_str());
    let mut along = |what: &str, axes: &[&str], unit: &str| {
        entries.extend(axes.iter().map(|axis| Entry::new(format!("{what} {axis}"), unit)));
    };
    match part {
        ObservationPart::Height => entries.push(Entry::new("root height", "m")),
        ObservationPart::Rotation => along("root rotation", &["w", "x", "y", "z"], "1"),
        ObservationPart::PlanarRotation => along("root rotation", &["w", "y"], "1"),
        ObservationPart::Pitch => entries.push(Entry::new("root pitch", "rad")),
        ObservationPart::JointAngles => {
            entries
                .extend(model.observed_dofs().map(|dof| Entry::new(format!("{} angle", dofs[dof]), "rad")));
        }
        ObservationPart::Velocity => along("root velocity", &AXES, "m/s"),
        ObservationPart::PlanarVelocity => along("root velocity", &["x", "z"], "m/s"),
        ObservationPart::AngularVelocity => along("root angular velocity", &AXES, "rad/s"),
        ObservationPart::PlanarAngularVelocity => along("root angular velocity", &["y"], "rad/s"),
        // The published tasks observe the parent's angular velocity minus the child's.
        ObservationPart::JointRates => entries.extend(
            model.observed_dofs().map(|dof| Entry::new(format!("{} rate, negated", dofs[dof]), "rad/s")),
        ),
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
        ObservationPart::VelocityShares => {
            bodies().for_each(|body| along(&format!("{body} velocity times share of mass,"), &AXES, "m/s"));
        }
        ObservationPart::AngularVelocityAboutCom => {
            for body in bodies() {
                along(&format!("{body} angular velocity about the centre of mass,"), &AXES, "rad/s");
            }
        }
        ObservationPart::Torques => {
            let driven = |dof: &usize| model.actuators().iter().any(|(driven, _)| driven == dof);
            let torque = |dof: usize| Entry::new(format!("{} torque", dofs[dof]), "N m");
            entries.extend(model.observed_dofs().filter(driven).map(torque));
        }
    }
}

/// The entries of an action.
pub(super) fn action<T: Scalar>(robot: &Robot, model: &Model<T>) -> Vec<Entry> {
    let dofs = dofs(robot);
    let entry = |&(dof, strength): &(usize, T)| {
        Entry::new(format!("{} torque", dofs[dof]), format!("{} N m", strength.to_f64() as f32))
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
                Entry::new(format!("{body} {change} change {axis} by contacts, within ±1"), unit)
            }));
        }
    }
}
