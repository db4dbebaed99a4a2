//! What every entry of an observation and of an action means, in the order in which [`Stage::observe`] writes them.
//! The size of an observation is the length of this list.
//!
//! [`Stage::observe`]: super::Stage::observe

use magpie_physics::Model;
use magpie_physics::robot::Robot;
use magpie_simd::Scalar;

use crate::environment::Entry;
use crate::task::Observation;

const AXES: [&str; 3] = ["x", "y", "z"];

/// The entries of an observation.
pub(super) fn observation<T: Scalar>(kind: Observation, robot: &Robot, model: &Model<T>) -> Vec<Entry> {
    let planar = matches!(kind, Observation::PlanarQuaternion | Observation::PlanarPitch);
    let dofs = dofs(robot);
    let mut entries = vec![Entry::new("root height", "m")];
    let rotation: &[&str] = match kind {
        Observation::PlanarQuaternion => &["w", "y"],
        Observation::PlanarPitch => &[],
        Observation::Contacts | Observation::Momentum => &["w", "x", "y", "z"],
    };
    entries.extend(rotation.iter().map(|part| Entry::new(format!("root rotation {part}"), "1")));
    if kind == Observation::PlanarPitch {
        entries.push(Entry::new("root pitch", "rad"));
    }
    entries.extend(model.observed_dofs().map(|dof| Entry::new(format!("{} angle", dofs[dof]), "rad")));
    let (moves, turns): (&[&str], &[&str]) = if planar { (&["x", "z"], &["y"]) } else { (&AXES, &AXES) };
    entries.extend(moves.iter().map(|axis| Entry::new(format!("root velocity {axis}"), "m/s")));
    entries.extend(turns.iter().map(|axis| Entry::new(format!("root angular velocity {axis}"), "rad/s")));
    // The published tasks observe the parent's angular velocity minus the child's.
    entries
        .extend(model.observed_dofs().map(|dof| Entry::new(format!("{} rate, negated", dofs[dof]), "rad/s")));
    match kind {
        Observation::PlanarQuaternion | Observation::PlanarPitch => {}
        Observation::Contacts => contacts(robot, &mut entries),
        Observation::Momentum => momentum(robot, model, &mut entries),
    }
    entries
}

/// The entries of an action.
pub(super) fn action<T: Scalar>(robot: &Robot, model: &Model<T>) -> Vec<Entry> {
    let dofs = dofs(robot);
    let entry = |&(dof, strength): &(usize, T)| {
        Entry::new(format!("{} torque", dofs[dof]), format!("{} N m", strength.to_f64() as f32))
    };
    model.actuators().iter().map(entry).collect()
}

/// A name for each degree of freedom: that of its joint, with the number of the axis if there are several.
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
        // The ground counts as a body here, as published observations have it.
        for body in robot.bodies.iter().map(|body| body.name.as_str()).chain(["ground"]) {
            entries.extend(AXES.map(|axis| {
                Entry::new(format!("{body} {change} change {axis} by contacts, within ±1"), unit)
            }));
        }
    }
}

fn momentum<T: Scalar>(robot: &Robot, model: &Model<T>, entries: &mut Vec<Entry>) {
    let bodies = || robot.bodies.iter().map(|body| body.name.as_str());
    for body in bodies() {
        for row in AXES {
            // Reciprocals of inertias and squares of lengths are summed up with masses left out: no unit fits.
            entries.extend(AXES.map(|column| Entry::new(format!("{body} inertia {row}{column}"), "mixed")));
        }
    }
    for body in bodies() {
        entries.extend(AXES.map(|axis| Entry::new(format!("{body} share of the velocity {axis}"), "m/s")));
    }
    for body in bodies() {
        let about = "about the centre of mass";
        entries
            .extend(AXES.map(|axis| Entry::new(format!("{body} angular velocity {axis} {about}"), "rad/s")));
    }
    let dofs = dofs(robot);
    let driven = |dof: &usize| model.actuators().iter().any(|(driven, _)| driven == dof);
    entries.extend(
        model.observed_dofs().filter(driven).map(|dof| Entry::new(format!("{} torque", dofs[dof]), "N m")),
    );
}
