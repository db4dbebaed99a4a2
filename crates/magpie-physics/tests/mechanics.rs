//! Mechanics whose results are known without a reference: free flight, momentum, and the effects of perturbations.

use magpie_physics::robot::Robot;
use magpie_physics::{Hurdles, Model, Perturbation, World, set_pose, step};

const BALL: &str = r#"
name = "ball"
feet = ["ball"]
placement = { root_at = [0, 0, 100] }
[world]
control_dt = 0.01
substeps = 10
gravity = [0, 0, -10]
penetration_correction = 0.1
[ground]
friction = 1
[[body]]
name = "ball"
mass = 2
inertia = 0.5
capsules = [{ radius = 0.1, friction = 1 }]
"#;

fn world(robot: &Robot, perturbation: &Perturbation) -> (Model<f64>, World<f64>) {
    let model = Model::new(robot, perturbation);
    let mut world = World::new(&model);
    let rest = model.rest_angles();
    set_pose::<f64>((), &model, &rest, &vec![0.0; rest.len()], &mut world.bodies);
    (model, world)
}

/// Linear momentum.
fn momentum(robot: &Robot, world: &World<f64>) -> [f64; 3] {
    std::array::from_fn(|axis| {
        robot.bodies.iter().zip(&world.bodies).map(|(b, s)| b.mass * s.vel[axis]).sum()
    })
}

#[test]
fn a_free_body_keeps_its_energy_and_spin() {
    let robot = Robot::from_toml(BALL, "ball").unwrap();
    let (model, mut world) = world(&robot, &Perturbation::default());
    world.bodies[0].vel = [3.0, -2.0, 5.0];
    world.bodies[0].ang = [1.0, 2.0, -3.0];
    let energy = |world: &World<f64>| {
        let state = &world.bodies[0];
        let square = |v: [f64; 3]| v.iter().map(|c| c * c).sum::<f64>();
        0.5 * 2.0 * square(state.vel) + 0.5 * 0.5 * square(state.ang) + 2.0 * 10.0 * state.pos[2]
    };
    let before = energy(&world);
    for _ in 0..100 {
        step::<f64>((), &model, &mut world, &[]);
    }
    let state = &world.bodies[0];
    // Positions use the velocity at the start of a substep, so that the height gains g h t / 2: 0.005 m in a second.
    assert!((energy(&world) - before).abs() < 2.0 * 10.0 * 0.0051, "{} {before}", energy(&world));
    let time = 100.0 * robot.control_dt;
    assert!((state.pos[0] - 3.0 * time).abs() < 1e-12 && (state.pos[1] + 2.0 * time).abs() < 1e-12);
    assert!((state.vel[2] - (5.0 - 10.0 * time)).abs() < 1e-12);
    assert_eq!(state.ang, [1.0, 2.0, -3.0]);
    let norm: f64 = state.rot.iter().map(|c| c * c).sum();
    assert!((norm - 1.0).abs() < 1e-14);
}

#[test]
fn inner_forces_do_not_push_a_robot_along() {
    for (name, _) in magpie_physics::robot::BUILTIN {
        let mut robot = Robot::builtin(name).unwrap();
        robot.gravity = [0.0; 3];
        robot.linear_velocity_exponent = 0.0;
        robot.placement = magpie_physics::robot::Placement::RootAt([0.0, 0.0, 50.0]);
        let (model, mut world) = world(&robot, &Perturbation::default());
        for t in 0..50 {
            let action: Vec<f64> = (0..model.action_size()).map(|i| ((t + i) as f64).sin()).collect();
            step::<f64>((), &model, &mut world, &action);
        }
        let moving = world.bodies.iter().any(|b| b.vel.iter().any(|v| v.abs() > 0.1));
        assert!(moving, "{name}: actuators move limbs");
        for (axis, p) in momentum(&robot, &world).into_iter().enumerate() {
            assert!(p.abs() < 1e-9, "{name}: momentum {p} along axis {axis}");
        }
    }
}

/// Distance that a ball slides in one second, starting at 5 m/s on the ground.
fn slide(friction: f64) -> f64 {
    let robot = Robot::from_toml(&BALL.replace("[0, 0, 100]", "[0, 0, 0.1]"), "ball").unwrap();
    let (model, mut world) = world(&robot, &Perturbation { friction, ..Perturbation::default() });
    world.bodies[0].vel[0] = 5.0;
    for _ in 0..100 {
        step::<f64>((), &model, &mut world, &[]);
    }
    world.bodies[0].pos[0]
}

#[test]
fn friction_scales_with_its_factor() {
    // The file's step of 0.01 s is read in single precision.
    assert!((slide(0.0) - 5.0).abs() < 1e-6, "without friction nothing slows the ball");
    assert!(
        slide(0.1) > slide(0.3) && slide(0.3) > slide(1.0),
        "{} {} {}",
        slide(0.1),
        slide(0.3),
        slide(1.0)
    );
}

#[test]
fn strength_scales_one_actuator_alone() {
    let robot = Robot::builtin("humanoid").unwrap();
    let mut weak = Perturbation::default();
    weak.scale_strength(&robot, "left_knee", 0.25).unwrap();
    let (full, weak) =
        (Model::<f64>::new(&robot, &Perturbation::default()), Model::<f64>::new(&robot, &weak));
    let changed: Vec<_> =
        full.actuators().iter().zip(weak.actuators()).enumerate().filter(|(_, (a, b))| a != b).collect();
    let [(entry, (a, b))] = changed[..] else { panic!("{changed:?}") };
    // Entry 10 of an action is the left knee.
    assert_eq!((entry, b.1), (10, 0.25 * a.1));
    assert!(
        Perturbation::default()
            .scale_strength(&robot, "left_nee", 0.5)
            .unwrap_err()
            .to_string()
            .contains("left_knee")
    );
}

#[test]
fn nonsense_perturbations_are_refused() {
    let robot = Robot::builtin("hopper").unwrap();
    let hurdles = |change: fn(&mut Hurdles)| {
        let mut h = Hurdles::default();
        change(&mut h);
        Perturbation { hurdles: Some(h), ..Perturbation::default() }
    };
    for (bad, field) in [
        (Perturbation { friction: -1.0, ..Perturbation::default() }, "friction"),
        (Perturbation { friction: f64::NAN, ..Perturbation::default() }, "friction"),
        (Perturbation { gravity: -1.0, ..Perturbation::default() }, "gravity"),
        (Perturbation { gravity: f64::INFINITY, ..Perturbation::default() }, "gravity"),
        (Perturbation { strength: vec![1.0; 2], ..Perturbation::default() }, "3 actuators"),
        (Perturbation { strength: vec![f64::INFINITY; 3], ..Perturbation::default() }, "strength"),
        (hurdles(|h| h.height = -0.1), "height"),
        (hurdles(|h| h.first = f64::NAN), "first"),
        (hurdles(|h| h.spacing = 0.05), "spacing"),
        (hurdles(|h| h.thickness = 0.0), "thickness"),
        // Finite, but not in the precision of lanes.
        (hurdles(|h| h.first = 1e300), "first"),
        (Perturbation { strength: vec![1e300; 3], ..Perturbation::default() }, "strength"),
    ] {
        let error = bad.check(&robot).unwrap_err().to_string();
        assert!(error.contains(field), "{error}");
    }
}

#[test]
fn gravity_scales_with_its_factor() {
    let robot = Robot::from_toml(BALL, "ball").unwrap();
    let fall = |gravity: f64| {
        let (model, mut world) = world(&robot, &Perturbation { gravity, ..Perturbation::default() });
        step::<f64>((), &model, &mut world, &[]);
        world.bodies[0].vel[2]
    };
    assert_eq!(fall(0.0), 0.0);
    assert!(fall(1.0) < 0.0 && (fall(2.5) - 2.5 * fall(1.0)).abs() < 1e-12);
}

/// x of the ball after two seconds towards `count` hurdles that start at 2 m.
fn run_at_hurdles(height: f64, vz: f64, count: u32) -> f64 {
    let robot = Robot::from_toml(&BALL.replace("[0, 0, 100]", "[0, 0, 0.1]"), "ball").unwrap();
    let hurdles = Hurdles { height, first: 2.0, spacing: 1.5, count, ..Hurdles::default() };
    let perturbation = Perturbation { friction: 0.0, hurdles: Some(hurdles), ..Perturbation::default() };
    let (model, mut world) = world(&robot, &perturbation);
    world.bodies[0].vel = [4.0, 0.0, vz];
    for _ in 0..200 {
        step::<f64>((), &model, &mut world, &[]);
    }
    world.bodies[0].pos[0]
}

#[test]
fn feet_collide_with_hurdles() {
    let free = run_at_hurdles(0.0, 0.0, 1);
    assert!((free - 8.0).abs() < 1e-6, "without hurdles there is no collision: {free}");
    let none = run_at_hurdles(0.5, 0.0, 0);
    assert!((none - 8.0).abs() < 1e-6, "without hurdles there is no collision: {none}");
    let stopped = run_at_hurdles(0.5, 0.0, 1);
    assert!(stopped < 2.0, "a ball on the ground must not pass a hurdle of half a metre: {stopped}");
    // 4 m/s up peaks at 0.9 m, 0.4 s later and 1.6 m on; at the bar it is still 0.8 m high.
    let over = run_at_hurdles(0.5, 4.0, 1);
    assert!(over > 7.0, "a ball that flies high enough must pass: {over}");
    let hit = run_at_hurdles(1.2, 4.0, 1);
    assert!(hit < 2.0, "but not if the hurdle is higher: {hit}");
}

/// A ball above the hurdle with another one below it, which is a foot or not: x of the upper one after two seconds.
fn stilt_at_hurdle(foot: bool, body: bool, behind: f64) -> f64 {
    let capsules = format!(
        "capsules = [{{ radius = 0.1, friction = 1 }}, {{ centre = [{}, 0, -0.9], radius = 0.1, friction = 1 }}]",
        -behind
    );
    let text = BALL
        .replace("[0, 0, 100]", "[0, 0, 1.01]")
        .replace("inertia = 0.5", "inertia = 1e9")
        .replace("capsules = [{ radius = 0.1, friction = 1 }]", &capsules)
        .replace("feet = [\"ball\"]", if foot { "feet = [\"ball\"]" } else { "feet = []" });
    let robot = Robot::from_toml(&text, "stilt").unwrap();
    let hurdles = Hurdles { height: 0.5, first: 2.0, count: 1, body, ..Hurdles::default() };
    let perturbation = Perturbation { friction: 0.0, hurdles: Some(hurdles), ..Perturbation::default() };
    let (model, mut world) = world(&robot, &perturbation);
    world.bodies[0].vel = [4.0, 0.0, 0.0];
    for _ in 0..200 {
        step::<f64>((), &model, &mut world, &[]);
    }
    world.bodies[0].pos[0]
}

#[test]
fn the_rest_of_the_body_collides_with_hurdles_if_asked() {
    assert!(stilt_at_hurdle(false, false, 0.0) > 7.0, "only feet collide");
    assert!(stilt_at_hurdle(false, true, 0.0) < 2.0, "the whole body collides");
    assert!(stilt_at_hurdle(true, true, 0.0) < 2.0);
}

/// A knee that has passed the hurdle used to pull the foot behind it through.
#[test]
fn a_trailing_foot_is_stopped_by_a_hurdle_that_its_knee_has_passed() {
    let ahead = stilt_at_hurdle(true, false, 0.5);
    assert!(ahead < 2.5, "the foot is half a metre behind the knee and must stay before 2 m: {ahead}");
}
