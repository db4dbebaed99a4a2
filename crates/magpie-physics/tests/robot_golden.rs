//! The five robots compared with the reference parameters, field by field.
//!
//! Values from the files must be exact; only values computed with sines, cosines or a mid-point of limits may differ by
//! rounding.

use std::path::PathBuf;

use magpie_physics::robot::{Body, Capsule, ColliderId, GroundEnds, Joint, Placement, Robot};
use serde_json::Value;

const ROUNDING: f64 = 1e-15;

fn reference(name: &str) -> Value {
    let root = std::env::var_os("MAGPIE_GOLDEN").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden")),
        PathBuf::from,
    );
    let path = root.join("physics/systems").join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("not a number: {v}"))
}

fn index(v: &Value) -> usize {
    v.as_u64().unwrap_or_else(|| panic!("not an index: {v}")) as usize
}

fn list(v: &Value) -> &Vec<Value> {
    v.as_array().unwrap_or_else(|| panic!("not a list: {v}"))
}

fn vector<const N: usize>(v: &Value) -> [f64; N] {
    list(v).iter().map(number).collect::<Vec<_>>().try_into().unwrap()
}

fn assert_close<const N: usize>(ours: [f64; N], theirs: [f64; N], what: &str) {
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() <= ROUNDING, "{what}: {ours:?} is not {theirs:?}");
    }
}

/// Our names of the ant's parts; those of the other robots are the same.
fn our_name(theirs: &str) -> &str {
    match theirs {
        "$ Torso" => "torso",
        "Aux 1" | "$ Torso_Aux 1" => "hip_1",
        "Aux 2" | "$ Torso_Aux 2" => "hip_2",
        "Aux 3" | "$ Torso_Aux 3" => "hip_3",
        "Aux 4" | "$ Torso_Aux 4" => "hip_4",
        "$ Body 4" => "foot_1",
        "$ Body 7" => "foot_2",
        "$ Body 10" => "foot_3",
        "$ Body 13" => "foot_4",
        "Aux 1_$ Body 4" => "ankle_1",
        "Aux 2_$ Body 7" => "ankle_2",
        "Aux 3_$ Body 10" => "ankle_3",
        "Aux 4_$ Body 13" => "ankle_4",
        same => same,
    }
}

fn assert_named(ours: &str, theirs: &Value) {
    assert_eq!(ours, our_name(theirs.as_str().unwrap()));
}

fn check(name: &str) {
    let golden = reference(name);
    let robot = Robot::builtin(name).unwrap();
    assert_eq!(robot.name, name);
    check_world(&robot, &golden);

    // The last body of the reference is the ground.
    let (ground, bodies) = list(&golden["bodies"]).split_last().unwrap();
    assert_eq!(robot.bodies.len(), bodies.len());
    for (ours, theirs) in robot.bodies.iter().zip(bodies) {
        check_body(ours, theirs);
    }
    assert_eq!(robot.ground.friction, number(&ground["colliders"][0]["friction"]));
    assert_eq!(robot.ground.elasticity, number(&ground["colliders"][0]["elasticity"]));

    let joints = list(&golden["joints"]);
    assert_eq!(robot.joints.len(), joints.len());
    for (ours, theirs) in robot.joints.iter().zip(joints) {
        check_joint(ours, theirs);
    }
    check_actuators(&robot, &golden);
    check_contacts(&robot, &golden);
    check_pose(&robot, &golden);
}

fn check_world(robot: &Robot, golden: &Value) {
    let (time, world) = (&golden["time"], &golden["world"]);
    assert_eq!(robot.control_dt, number(&time["control_dt"]));
    assert_eq!(robot.substeps, index(&time["substeps"]));
    assert_eq!(robot.substep_dt(), number(&time["substep_dt"]));
    assert_eq!(robot.gravity, vector(&world["gravity"]));
    assert_eq!(robot.linear_velocity_exponent, number(&world["linear_velocity_exponent"]));
    assert_eq!(robot.angular_velocity_exponent, number(&world["angular_velocity_exponent"]));
    assert_eq!(robot.penetration_correction, number(&world["penetration_correction_fraction"]));
    assert_eq!(robot.slip_speed_threshold, number(&world["slip_speed_threshold"]));
}

fn check_body(ours: &Body, theirs: &Value) {
    assert_named(&ours.name, &theirs["name"]);
    assert_eq!(theirs["fixed"], false);
    assert_eq!(ours.mass, number(&theirs["mass"]));
    assert_eq!(ours.inertia, vector(&theirs["inertia_diagonal"]));
    assert_eq!(ours.moves.map(f64::from), vector(&theirs["position_mobility"]));
    assert_eq!(ours.turns.map(f64::from), vector(&theirs["rotation_mobility"]));
    let colliders = list(&theirs["colliders"]);
    assert_eq!(ours.colliders.len(), colliders.len());
    for (ours, theirs) in ours.colliders.iter().zip(colliders) {
        check_capsule(ours, theirs);
    }
}

fn check_capsule(ours: &Capsule, theirs: &Value) {
    assert_eq!(theirs["shape"], "capsule");
    assert_eq!(ours.centre, vector(&theirs["position"]));
    assert_eq!(ours.radius, number(&theirs["radius"]));
    assert_eq!(ours.material.friction, number(&theirs["friction"]));
    assert_eq!(ours.material.elasticity, number(&theirs["elasticity"]));
    let half = number(&theirs["half_segment"]);
    assert_close(ours.half_vector, vector::<3>(&theirs["axis"]).map(|a| half * a), "half vector");
    for (end, sign) in [("-1", -1.0), ("+1", 1.0)] {
        let centre = [0, 1, 2].map(|i| ours.centre[i] + sign * ours.half_vector[i]);
        assert_close(centre, vector(&theirs["end_centres"][end]), "end of capsule");
    }
}

fn check_joint(ours: &Joint, theirs: &Value) {
    assert_named(&ours.name, &theirs["name"]);
    assert_eq!(ours.parent, index(&theirs["parent_index"]));
    assert_eq!(ours.child, index(&theirs["child_index"]));
    assert_eq!(ours.dof(), index(&theirs["dof"]));
    assert_eq!(ours.parent_anchor, vector(&theirs["parent_offset"]));
    assert_eq!(ours.child_anchor, vector(&theirs["child_offset"]));
    assert_eq!(ours.reference, vector(&theirs["reference_rotation"]));
    for i in 0..3 {
        assert_close(ours.child_axes[i], vector(&theirs["child_axes"][i]), "child axis");
        assert_close(ours.parent_axes[i], vector(&theirs["parent_axes"][i]), "parent axis");
    }
    assert_eq!(ours.limits, list(&theirs["angle_limits"]).iter().map(vector).collect::<Vec<_>>());
    assert_eq!(ours.stiffness, number(&theirs["stiffness"]));
    assert_eq!(ours.spring_damping, number(&theirs["spring_damping"]));
    assert_eq!(ours.limit_strength, number(&theirs["limit_strength"]));
    assert_eq!(ours.angular_damping, number(&theirs["angular_damping"]));
}

fn check_actuators(robot: &Robot, golden: &Value) {
    let actuators = list(&golden["actuators"]);
    assert_eq!(robot.actuators.len(), actuators.len());
    let mut entry = 0;
    for (ours, theirs) in robot.actuators.iter().zip(actuators) {
        assert_eq!(theirs["type"], "torque");
        assert_named(&ours.name, &theirs["name"]);
        let joint = &robot.joints[ours.joint];
        assert_named(&joint.name, &theirs["joint"]);
        assert_eq!(ours.strength, number(&theirs["strength"]));
        let entries: Vec<usize> = list(&theirs["action_indices"]).iter().map(index).collect();
        assert_eq!(entries, (entry..entry + joint.dof()).collect::<Vec<_>>());
        entry += joint.dof();
    }
    assert_eq!(robot.action_size(), index(&golden["action_size"]));
}

/// The ends that touch the ground and the capsules that touch each other, from the list of all contacts.
fn check_contacts(robot: &Robot, golden: &Value) {
    let mut on_ground: Vec<Vec<GroundEnds>> =
        robot.bodies.iter().map(|b| vec![GroundEnds::None; b.colliders.len()]).collect();
    let mut collisions = Vec::new();
    for group in list(&golden["contact_groups"]) {
        for pair in list(&group["pairs"]) {
            let a = ColliderId { body: index(&pair["body_a_index"]), collider: index(&pair["collider_a"]) };
            let b = ColliderId { body: index(&pair["body_b_index"]), collider: index(&pair["collider_b"]) };
            let of_a = robot.bodies[a.body].colliders[a.collider].material;
            let of_b = if group["two_way"] == true {
                collisions.push([a, b]);
                robot.bodies[b.body].colliders[b.collider].material
            } else {
                assert_eq!(b.body, robot.bodies.len(), "one-way contacts are with the ground");
                let ends: Vec<i64> =
                    list(&pair["points"]).iter().map(|p| p["end"].as_i64().unwrap()).collect();
                on_ground[a.body][a.collider] = match ends[..] {
                    [-1, 1] => GroundEnds::Both,
                    [-1] => GroundEnds::Lower,
                    [1] => GroundEnds::Upper,
                    _ => panic!("unexpected ends {ends:?}"),
                };
                robot.ground
            };
            assert_eq!(of_a.friction * of_b.friction, number(&pair["friction"]));
            assert_eq!(of_a.elasticity * of_b.elasticity, number(&pair["elasticity"]));
        }
    }
    let ours: Vec<Vec<GroundEnds>> =
        robot.bodies.iter().map(|b| b.colliders.iter().map(|c| c.ground_ends).collect()).collect();
    assert_eq!(ours, on_ground);
    assert_eq!(robot.collisions, collisions);
}

fn check_pose(robot: &Robot, golden: &Value) {
    let pose = &golden["default_pose"];
    let ours: Vec<f64> = robot.joints.iter().flat_map(|j| j.rest_angles.clone()).collect();
    let theirs: Vec<f64> = list(&pose["joint_angles"]).iter().map(number).collect();
    assert_eq!(ours.len(), theirs.len());
    assert_eq!(robot.dof(), theirs.len());
    for (a, b) in ours.iter().zip(&theirs) {
        assert!((a - b).abs() <= ROUNDING, "rest angle {a} is not {b}");
    }
    assert_named(&robot.bodies[robot.root].name, &pose["root_body"]);
    let placement = match pose["placement"].as_str().unwrap() {
        "explicit root position" => Placement::RootAt(vector(&pose["root_position"])),
        shifted => {
            assert!(shifted.contains("lowest collider point is at z=0"), "{shifted}");
            assert_eq!(vector::<3>(&pose["root_position"]), [0.0; 3]);
            Placement::OnGround
        }
    };
    assert_eq!(robot.placement, placement);
    let feet: Vec<usize> = list(&golden["task"]["feet_body_indices"]).iter().map(index).collect();
    assert_eq!(robot.feet, feet);
}

#[test]
fn golden_robot_halfcheetah() {
    check("halfcheetah");
}

#[test]
fn golden_robot_walker2d() {
    check("walker2d");
}

#[test]
fn golden_robot_hopper() {
    check("hopper");
}

#[test]
fn golden_robot_ant() {
    check("ant");
}

#[test]
fn golden_robot_humanoid() {
    check("humanoid");
}
