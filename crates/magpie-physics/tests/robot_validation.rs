//! One test per rule of the robot file: a small valid robot, one change, and what the message must contain.

use std::path::PathBuf;

use magpie_physics::robot::{BUILTIN, GroundEnds, Robot, RobotError};
use magpie_settings::{DataFileError, MAX_FILE_BYTES};

const VALID: &str = r#"
name = "pendulum"
feet = ["bob"]
placement = { root_at = [0, 0, 2] }

[world]
control_dt = 0.02
substeps = 4
gravity = [0, 0, -9.81]
penetration_correction = 0.1

[ground]
friction = 0.8

[defaults.capsule]
friction = 0.9

[[body]]
name = "hook"
mass = 5
inertia = 0.5
moves = ""
capsules = [{ radius = 0.05 }]

[[body]]
name = "rod"
mass = 1
inertia = 0.1
capsules = [{ radius = 0.02, length = 0.5, ground_ends = "none" }, { radius = 0.03, length = 0.1 }]

[[body]]
name = "bob"
mass = 2
inertia = 0.01
capsules = [{ radius = 0.1 }]

[[joint]]
name = "shoulder"
parent = "hook"
child = "rod"
child_anchor = [0, 0, 0.25]
limits = [[-90, 90], [-60, 30]]
rest_angles = [0, -20]
stiffness = 10000
angular_damping = 1
actuator_strength = 10

[[joint]]
name = "elbow"
parent = "rod"
child = "bob"
limits = [[-40, 20]]
stiffness = 400

[[collision]]
bodies = ["hook", "rod"]
capsules = [0, 0]
"#;

fn message(text: &str) -> String {
    match Robot::from_toml(text, "pendulum.toml") {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// Replaces `old` by `new` and checks that the message contains all `fragments`.
#[track_caller]
fn refused(old: &str, new: &str, fragments: &[&str]) {
    assert_eq!(VALID.matches(old).count(), 1, "{old:?} must occur once");
    let message = message(&VALID.replace(old, new));
    for fragment in fragments {
        assert!(message.contains(fragment), "no {fragment:?} in: {message}");
    }
    assert!(message.starts_with("pendulum.toml:"), "{message}");
}

macro_rules! refuses {
    ($($rule:ident: $old:literal => $new:expr, [$($fragment:literal),+ $(,)?];)+) => {
        $(#[test] fn $rule() { refused($old, $new, &[$($fragment),+]); })+
    };
}

// Numbers.
refuses! {
    mass_zero: "mass = 1" => "mass = 0", ["body \"rod\".mass", "found 0", "above zero"];
    mass_negative: "mass = 1" => "mass = -1", ["body \"rod\".mass", "found -1", "above zero"];
    mass_nan: "mass = 1" => "mass = nan", ["body \"rod\".mass", "found NaN", "finite number"];
    mass_infinite: "mass = 1" => "mass = inf", ["body \"rod\".mass", "found inf", "finite number"];
    mass_beyond_single_precision: "mass = 1" => "mass = 1e39",
        ["body \"rod\".mass", "single precision", "3.4e38"];
    mass_below_single_precision: "mass = 1" => "mass = 1e-60", ["body \"rod\".mass", "above zero"];
    inertia_zero: "inertia = 0.5" => "inertia = 0", ["body \"hook\".inertia", "above zero"];
    inertia_missing: "inertia = 0.5" => "", ["body \"hook\".inertia: missing", "[defaults.body]"];
    radius_zero: "radius = 0.1" => "radius = 0", ["body \"bob\".capsules[0].radius", "above zero"];
    length_too_short: "length = 0.1" => "length = 0.05",
        ["body \"rod\".capsules[1].length", "0.05 is shorter than twice the radius 0.03", "sphere"];
    centre_nan: "{ radius = 0.1 }" => "{ radius = 0.1, centre = [0, nan, 0] }",
        ["body \"bob\".capsules[0].centre[1]", "finite"];
    rotation_infinite: "{ radius = 0.1 }" => "{ radius = 0.1, rotation = [inf, 0, 0] }",
        ["body \"bob\".capsules[0].rotation[0]", "finite"];
    capsule_friction_negative: "{ radius = 0.1 }" => "{ radius = 0.1, friction = -1 }",
        ["body \"bob\".capsules[0].friction", "not be negative"];
    capsule_friction_missing: "friction = 0.9" => "",
        ["body \"hook\".capsules[0].friction: missing", "[defaults.capsule]"];
    elasticity_negative: "{ radius = 0.1 }" => "{ radius = 0.1, elasticity = -1 }",
        ["elasticity", "not be negative"];
    ground_friction_negative: "friction = 0.8" => "friction = -0.8", ["ground.friction", "not be negative"];
    ground_elasticity_nan: "friction = 0.8" => "friction = 0.8\nelasticity = nan",
        ["ground.elasticity", "finite"];
    control_dt_zero: "control_dt = 0.02" => "control_dt = 0", ["world.control_dt", "above zero"];
    substeps_zero: "substeps = 4" => "substeps = 0", ["world.substeps", "found 0", "between 1 and 10000"];
    substeps_negative: "substeps = 4" => "substeps = -4",
        ["world.substeps", "found -4", "between 1 and 10000"];
    substeps_absurd: "substeps = 4" => "substeps = 10001", ["world.substeps", "between 1 and 10000"];
    gravity_nan: "gravity = [0, 0, -9.81]" => "gravity = [0, 0, nan]", ["world.gravity[2]", "finite"];
    exponent_infinite: "substeps = 4" => "substeps = 4\nlinear_velocity_exponent = inf",
        ["world.linear_velocity_exponent", "finite"];
    angular_exponent_nan: "substeps = 4" => "substeps = 4\nangular_velocity_exponent = nan",
        ["world.angular_velocity_exponent", "finite"];
    penetration_correction_negative: "penetration_correction = 0.1" => "penetration_correction = -0.1",
        ["world.penetration_correction", "not be negative"];
    root_position_nan: "[0, 0, 2]" => "[0, 0, nan]", ["placement.root_at[2]", "finite"];
    default_nan: "friction = 0.9" => "friction = 0.9\nelasticity = nan",
        ["defaults.capsule.elasticity", "finite"];
    unused_default_nan: "[defaults.capsule]" => "[defaults.joint]\nstiffness = nan\n[defaults.capsule]",
        ["defaults.joint.stiffness", "finite"];
}

// Joints.
refuses! {
    stiffness_negative: "stiffness = 400" => "stiffness = -400",
        ["joint \"elbow\".stiffness", "not be negative"];
    stiffness_missing: "stiffness = 400" => "", ["joint \"elbow\".stiffness: missing", "[defaults.joint]"];
    spring_damping_negative: "stiffness = 400" => "stiffness = 400\nspring_damping = -1",
        ["joint \"elbow\".spring_damping", "not be negative"];
    limit_strength_negative: "stiffness = 400" => "stiffness = 400\nlimit_strength = -1",
        ["joint \"elbow\".limit_strength", "not be negative"];
    angular_damping_negative: "angular_damping = 1" => "angular_damping = -1",
        ["joint \"shoulder\".angular_damping", "not be negative"];
    actuator_nan: "actuator_strength = 10" => "actuator_strength = nan",
        ["joint \"shoulder\".actuator_strength", "finite"];
    anchor_nan: "child_anchor = [0, 0, 0.25]" => "child_anchor = [0, 0, nan]",
        ["joint \"shoulder\".child_anchor[2]", "finite"];
    joint_rotation_nan: "stiffness = 400" => "stiffness = 400\nrotation = [nan, 0, 0]",
        ["joint \"elbow\".rotation[0]", "finite"];
    reference_nan: "stiffness = 400" => "stiffness = 400\nreference_rotation = [0, nan, 0]",
        ["joint \"elbow\".reference_rotation[1]", "finite"];
    limits_swapped: "[[-40, 20]]" => "[[20, -40]]", ["joint \"elbow\".limits[0]", "above", "swap"];
    limits_nan: "[[-40, 20]]" => "[[-40, nan]]", ["joint \"elbow\".limits[0][1]", "finite"];
    limits_none: "[[-40, 20]]" => "[]", ["joint \"elbow\".limits", "found 0 pairs", "one to three"];
    limits_four: "[[-40, 20]]" => "[[0, 1], [0, 1], [0, 1], [0, 1]]",
        ["joint \"elbow\".limits", "found 4 pairs", "one to three"];
    limits_triple: "[[-40, 20]]" => "[[-40, 20, 30]]", ["joint[1].limits[0]", "found 3 values, expected 2"];
    rest_angle_outside: "rest_angles = [0, -20]" => "rest_angles = [0, -61]",
        ["joint \"shoulder\".rest_angles[1]", "-61 is outside the limits [-60, 30]", "widen"];
    rest_angle_nan: "rest_angles = [0, -20]" => "rest_angles = [0, nan]",
        ["joint \"shoulder\".rest_angles[1]", "finite"];
    rest_angle_too_few: "rest_angles = [0, -20]" => "rest_angles = [0]",
        ["joint \"shoulder\".rest_angles", "1 angles for 2 limits", "one angle for each"];
}

// Names and structure.
refuses! {
    parent_unknown: "parent = \"rod\"" => "parent = \"rode\"",
        ["joint \"elbow\".parent", "no body \"rode\"", "did you mean \"rod\"?"];
    child_unknown: "child = \"bob\"" => "child = \"wing\"",
        ["joint \"elbow\".child", "no body \"wing\"", "\"hook\", \"rod\", \"bob\""];
    robot_name_empty: "name = \"pendulum\"" => "name = \"\"",
        ["toml: name: ", "empty", "give the robot a name"];
    body_name_twice: "name = \"bob\"" => "name = \"rod\"", ["body[2].name", "\"rod\" is taken", "unique"];
    body_name_empty: "name = \"bob\"" => "name = \"\"", ["body[2].name", "empty", "every body"];
    joint_name_twice: "name = \"elbow\"" => "name = \"shoulder\"", ["joint[1].name", "\"shoulder\" is taken"];
    joint_name_empty: "name = \"elbow\"" => "name = \" \"", ["joint[1].name", "empty", "every joint"];
    joint_with_itself: "parent = \"rod\"" => "parent = \"bob\"",
        ["joint \"elbow\".child", "\"bob\" is also the parent", "different bodies"];
    not_connected: "[[collision]]" => "[[body]]\nname = \"bird\"\nmass = 1\ninertia = 1\n[[collision]]",
        ["body \"bird\"", "\"hook\"", "add a joint"];
    loop_beside_the_root: "[[collision]]" =>
        "[[body]]\nname = \"egg\"\nmass = 1\ninertia = 1\n[[body]]\nname = \"hen\"\nmass = 1\ninertia = 1\n\
         [[joint]]\nname = \"a\"\nparent = \"egg\"\nchild = \"hen\"\nlimits = [[0, 0]]\nstiffness = 1\n\
         [[joint]]\nname = \"b\"\nparent = \"hen\"\nchild = \"egg\"\nlimits = [[0, 0]]\nstiffness = 1\n[[collision]]",
        ["loop: ", "\"egg\"", "\"hen\"", "remove one"];
    loop_of_all: "[[collision]]" =>
        "[[joint]]\nname = \"back\"\nparent = \"bob\"\nchild = \"hook\"\nlimits = [[0, 0]]\nstiffness = 1\n[[collision]]",
        ["loop: \"hook\" <- \"bob\" <- \"rod\" <- \"hook\"", "remove one"];
    foot_unknown: "feet = [\"bob\"]" => "feet = [\"bop\"]",
        ["feet[0]", "no body \"bop\"", "did you mean \"bob\"?"];
    foot_twice: "feet = [\"bob\"]" => "feet = [\"bob\", \"bob\"]", ["feet[1]", "twice", "remove"];
    moves_unknown_axis: "moves = \"\"" => "moves = \"xw\"",
        ["body \"hook\".moves", "\"xw\"", "each free axis once"];
    moves_axis_twice: "moves = \"\"" => "moves = \"xx\"",
        ["body \"hook\".moves", "\"xx\"", "each free axis once"];
    collision_unknown: "[\"hook\", \"rod\"]" => "[\"hook\", \"rot\"]",
        ["collision[0].bodies[1]", "no body \"rot\"", "did you mean \"rod\"?"];
    collision_with_itself: "[\"hook\", \"rod\"]" => "[\"rod\", \"rod\"]",
        ["collision[0].bodies", "\"rod\" cannot collide with itself", "two different bodies"];
    collision_capsule_out_of_range: "capsules = [0, 0]" => "capsules = [0, 2]",
        ["collision[0].capsules[1]", "found 2", "\"rod\" has 2 capsules", "from 0"];
    collision_capsule_ambiguous: "capsules = [0, 0]" => "",
        ["collision[0].capsules", "\"rod\" has 2 capsules", "which capsule"];
    collision_twice: "[[collision]]" =>
        "[[collision]]\nbodies = [\"rod\", \"hook\"]\ncapsules = [0, 0]\n[[collision]]",
        ["collision[1]", "already listed", "remove"];
}

// The text.
refuses! {
    syntax: "mass = 1" => "mass = = 1", [".toml:27:8: ", "TOML"];
    unknown_key: "mass = 1" => "masss = 1",
        [".toml:27:1: ", "body[1]", "unknown field `masss`", "did you mean \"mass\"?"];
    unknown_key_far: "mass = 1" => "mass = 1\nweight = 1",
        [".toml:28:1: ", "body[1]", "`weight`", "valid here: \"name\", \"mass\""];
    unknown_section: "[ground]" => "[grounds]", ["`grounds`", "did you mean \"ground\"?"];
    key_of_another_section: "friction = 0.9" => "radius = 0.9",
        ["defaults.capsule", "`radius`", "\"friction\""];
    missing_key: "mass = 1" => "", ["body[1]", "missing field `mass`", "add `mass = ...`"];
    missing_section: "[ground]\nfriction = 0.8" => "",
        ["robot file", "missing field `ground`", "add `ground = ...`"];
    wrong_type: "mass = 1" => "mass = \"heavy\"",
        [".toml:27:8: ", "body[1].mass", "\"heavy\"", "expected a number"];
    wrong_type_of_substeps: "substeps = 4" => "substeps = 4.5", ["world.substeps", "expected a whole number"];
    wrong_length: "child_anchor = [0, 0, 0.25]" => "child_anchor = [0, 0.25]",
        ["joint[0].child_anchor", "found 2 values, expected 3"];
    negative_capsule: "capsules = [0, 0]" => "capsules = [0, -1]",
        ["collision[0].capsules[1]", "whole number from 0"];
    unknown_ground_ends: "\"none\"" => "\"nome\"",
        ["body[1].capsules[0].ground_ends", "`nome`", "did you mean \"none\"?"];
    unknown_placement: "root_at" => "root_att", ["placement", "`root_att`", "did you mean \"root_at\"?"];
    duplicate_key: "mass = 1" => "mass = 1\nmass = 1", [".toml:28:1: ", "duplicate key", "TOML"];
    unknown_actuators: "[[collision]]" => "[[actuator]]\njoint = \"elbow\"\n[[collision]]",
        ["`actuator`", "valid here"];
}

#[test]
fn the_unchanged_robot_is_accepted() {
    let robot = Robot::from_toml(VALID, "pendulum.toml").unwrap();
    assert_eq!((robot.bodies.len(), robot.dof(), robot.action_size(), robot.root), (3, 3, 2, 0));
    assert_eq!((robot.bodies[0].moves, robot.bodies[1].moves), ([false; 3], [true; 3]));
    assert_eq!(robot.actuators.len(), 1, "the elbow is passive");
}

#[test]
fn what_is_not_stated_has_its_default() {
    let robot = Robot::from_toml(VALID, "pendulum.toml").unwrap();
    let elbow = &robot.joints[1];
    assert_eq!(elbow.spring_damping, 10.0, "half the root of the stiffness");
    assert_eq!(elbow.limit_strength, 400.0, "the stiffness");
    assert_eq!(elbow.angular_damping, 0.0);
    assert_eq!(elbow.rest_angles, [(-10.0_f64).to_radians()], "the middle of the limits");
    assert_eq!(robot.bodies[1].colliders[1].ground_ends, GroundEnds::Both);
    assert_eq!(robot.bodies[2].colliders[0].ground_ends, GroundEnds::Upper, "a sphere has one contact");
}

#[test]
fn the_reference_rotation_turns_the_axes_of_the_parent() {
    let text = VALID.replace("stiffness = 400", "stiffness = 400\nreference_rotation = [0, 0, 90]");
    let elbow = &Robot::from_toml(&text, "pendulum.toml").unwrap().joints[1];
    assert_eq!(elbow.child_axes[0], [1.0, 0.0, 0.0]);
    for (a, b) in elbow.parent_axes[0].iter().zip([0.0, 1.0, 0.0]) {
        assert!((a - b).abs() < 1e-15, "{:?}", elbow.parent_axes);
    }
}

#[test]
fn a_body_with_two_parents() {
    let joint =
        "[[joint]]\nname = \"wrist\"\nparent = \"hook\"\nchild = \"bob\"\nlimits = [[0, 0]]\nstiffness = 1\n";
    let message = message(&VALID.replace("[[collision]]", &format!("{joint}[[collision]]")));
    for fragment in ["joint \"wrist\".child", "already the child of joint \"elbow\"", "one joint only"] {
        assert!(message.contains(fragment), "{message}");
    }
}

/// The robot without its bodies and joints.
fn head() -> String {
    VALID[..VALID.find("[[body]]").unwrap()].replace("feet = [\"bob\"]", "")
}

#[test]
fn no_bodies() {
    let message = message(&head());
    assert!(message.contains("body: the robot has no bodies; add at least one [[body]]"), "{message}");
}

#[test]
fn one_body_needs_no_joints() {
    let text = head() + "[[body]]\nname = \"stone\"\nmass = 1\ninertia = 1\n";
    assert!(Robot::from_toml(&text, "stone.toml").unwrap().joints.is_empty());

    let message = message(&text.replace("{ root_at = [0, 0, 2] }", "\"on_ground\""));
    assert!(
        message.contains("placement: the robot has no capsules") && message.contains("root_at"),
        "{message}"
    );
}

#[test]
fn too_many_bodies() {
    let bodies = |n: usize| -> String {
        (0..n).map(|i| format!("[[body]]\nname = \"b{i}\"\nmass = 1\ninertia = 1\n")).collect()
    };
    let joints = |n: usize| -> String {
        let joint = |i| {
            format!(
                "[[joint]]\nname = \"j{i}\"\nparent = \"b0\"\nchild = \"b{i}\"\nlimits = [[0, 1]]\nstiffness = 1\n"
            )
        };
        (1..n).map(joint).collect()
    };
    assert!(Robot::from_toml(&(head() + &bodies(64) + &joints(64)), "centipede.toml").is_ok());
    let message = message(&(head() + &bodies(65) + &joints(65)));
    assert!(message.contains("body: the robot has 65 bodies; at most 64"), "{message}");
}

#[test]
fn columns_count_characters() {
    let message = message(&VALID.replace("name = \"bob\"", "name = \"é\" x"));
    assert!(message.starts_with("pendulum.toml:32:12: "), "{message}");
}

/// A file in the temporary directory, removed at the end of the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Scratch {
        let path = std::env::temp_dir().join(format!("magpie-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_file_is_read_like_its_text() {
    let file = Scratch::new("valid.toml", VALID.as_bytes());
    assert_eq!(Robot::load(&file.0).unwrap(), Robot::from_toml(VALID, "").unwrap());
}

#[test]
fn a_file_that_does_not_exist() {
    let path = std::env::temp_dir().join("no such robot.toml");
    let error = Robot::load(&path).unwrap_err();
    assert!(matches!(error, RobotError::File(DataFileError::Unreadable { .. })));
    let message = error.to_string();
    assert!(
        message.contains("no such robot.toml: cannot read") && message.contains("check the path"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_refused_and_not_waited_for() {
    let path = std::env::temp_dir().join(format!("magpie-{}-pipe.toml", std::process::id()));
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let message = Robot::load(&path).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(message.contains("pipe.toml") && message.contains("not an ordinary file"), "{message}");
}

#[test]
fn a_file_that_is_not_text() {
    let file = Scratch::new("latin1.toml", b"# first line\nname = \"caf\xe9\"\n");
    let message = Robot::load(&file.0).unwrap_err().to_string();
    assert!(
        message.ends_with("latin1.toml:2: the line is not UTF-8 text; save the file as UTF-8"),
        "{message}"
    );
}

#[test]
fn a_file_that_is_too_large() {
    let mut text = VALID.to_owned();
    text += &"#".repeat(MAX_FILE_BYTES - text.len());
    assert!(Robot::from_toml(&text, "big").is_ok(), "the limit itself is allowed");
    text.push('#');
    assert!(matches!(Robot::from_toml(&text, "big"), Err(RobotError::File(DataFileError::TooLarge { .. }))));
    let file = Scratch::new("large.toml", text.as_bytes());
    let message = Robot::load(&file.0).unwrap_err().to_string();
    assert!(message.contains("large.toml: the file has more than 1000000 bytes; check"), "{message}");
}

#[test]
fn an_unknown_builtin_lists_the_names() {
    let message = Robot::builtin("walker").unwrap_err().to_string();
    for (name, _) in BUILTIN {
        assert!(message.contains(&format!("{name:?}")), "{message}");
    }
    assert!(message.contains("did you mean \"walker2d\"?"), "{message}");
}
