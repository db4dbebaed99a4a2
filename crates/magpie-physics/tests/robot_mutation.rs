//! Reading any damaged robot file gives either an error or a robot with finite numbers.

use magpie_physics::robot::{BUILTIN, Material, Placement, Robot};
use proptest::prelude::*;

/// Fragments that are more likely to reach the checks behind the parser than random bytes.
const PIECES: [&str; 16] = [
    "nan",
    "inf",
    "-inf",
    "1e39",
    "-1",
    "0",
    "1e-60",
    "9223372036854775807",
    "\"torso\"",
    "\"\"",
    "[]",
    "[0, 0, 0]",
    "[[body]]\n",
    "[[joint]]\n",
    "}",
    "é",
];

#[derive(Debug, Clone)]
enum Edit {
    Byte(usize, u8),
    Remove(usize, usize),
    Insert(usize, &'static str),
    /// Replaces the text after the n-th `=`, up to the end of the line.
    Value(usize, &'static str),
    /// Copies a piece of text to another place.
    Copy(usize, usize, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = 0..20_000_usize;
    prop_oneof![
        (at.clone(), any::<u8>()).prop_map(|(i, b)| Edit::Byte(i, b)),
        (at.clone(), 1..80_usize).prop_map(|(i, n)| Edit::Remove(i, n)),
        (at.clone(), prop::sample::select(&PIECES[..])).prop_map(|(i, p)| Edit::Insert(i, p)),
        (at.clone(), prop::sample::select(&PIECES[..])).prop_map(|(i, p)| Edit::Value(i, p)),
        (at.clone(), 1..400_usize, at).prop_map(|(i, n, to)| Edit::Copy(i, n, to)),
    ]
}

fn apply(text: &mut Vec<u8>, edit: &Edit) {
    let size = text.len();
    match *edit {
        Edit::Byte(i, b) => text[i % size] = b,
        Edit::Remove(i, n) => drop(text.drain(i % size..(i % size + n).min(text.len()))),
        Edit::Insert(i, piece) => drop(text.splice(i % size..i % size, piece.bytes())),
        Edit::Value(i, piece) => {
            let equals: Vec<usize> = (0..text.len()).filter(|&k| text[k] == b'=').collect();
            if let Some(&start) = equals.get(i % equals.len().max(1)) {
                let end = (start..text.len()).find(|&k| text[k] == b'\n').unwrap_or(text.len());
                text.splice(start + 1..end, piece.bytes());
            }
        }
        Edit::Copy(i, n, to) => {
            let piece = text[i % size..(i % size + n).min(text.len())].to_vec();
            text.splice(to % size..to % size, piece);
        }
    }
}

fn material(m: Material) -> [f64; 2] {
    [m.friction, m.elasticity]
}

fn all_numbers(robot: &Robot) -> Vec<f64> {
    let mut all = vec![
        robot.control_dt,
        robot.substep_dt(),
        robot.linear_velocity_exponent,
        robot.angular_velocity_exponent,
        robot.penetration_correction,
        robot.slip_speed_threshold,
    ];
    all.extend(robot.gravity);
    all.extend(material(robot.ground));
    for body in &robot.bodies {
        all.extend([body.mass, 1.0 / body.mass]);
        all.extend(body.inertia.iter().flat_map(|i| [*i, 1.0 / i]));
        for c in &body.colliders {
            all.extend(c.centre.iter().chain(&c.half_vector).chain(&[c.radius]).chain(&material(c.material)));
        }
    }
    for j in &robot.joints {
        all.extend(j.parent_anchor.iter().chain(&j.child_anchor).chain(&j.reference).chain(&j.rest_angles));
        all.extend(j.child_axes.iter().chain(&j.parent_axes).flatten());
        all.extend(j.limits.iter().flatten());
        all.extend([j.stiffness, j.spring_damping, j.limit_strength, j.angular_damping]);
    }
    all.extend(robot.actuators.iter().map(|a| a.strength));
    if let Placement::RootAt(position) = robot.placement {
        all.extend(position);
    }
    all
}

fn indices_are_valid(robot: &Robot) -> bool {
    let bodies = robot.bodies.len();
    robot.root < bodies
        && robot.feet.iter().all(|f| *f < bodies)
        && robot.joints.iter().all(|j| j.parent < bodies && j.child < bodies && (1..=3).contains(&j.dof()))
        && robot.actuators.iter().all(|a| a.joint < robot.joints.len())
        && robot.collisions.iter().flatten().all(|c| c.collider < robot.bodies[c.body].colliders.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_file_is_refused_or_finite(
        which in 0..BUILTIN.len(),
        edits in prop::collection::vec(edit(), 1..4),
    ) {
        let mut bytes = BUILTIN[which].1.as_bytes().to_vec();
        for edit in &edits {
            apply(&mut bytes, edit);
        }
        match Robot::from_toml(&String::from_utf8_lossy(&bytes), "damaged") {
            Ok(robot) => {
                prop_assert!(all_numbers(&robot).iter().all(|x| x.is_finite()), "{robot:?}");
                prop_assert!(indices_are_valid(&robot), "{robot:?}");
            }
            Err(error) => prop_assert!(error.to_string().starts_with("damaged:"), "{error}"),
        }
    }
}
