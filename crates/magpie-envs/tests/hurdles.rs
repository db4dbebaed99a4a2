//! Feet must not pass a hurdle that is higher than the robot: every robot is thrown at it with its limbs at full
//! torque. Only feet collide, so the rest of the robot passes through and pulls at them, which is a hard test of the
//! contact.

use magpie_envs::{Stage, States, TASKS, Task, replay_f32, replay_f64};
use magpie_physics::robot::Robot;
use magpie_physics::{Hurdles, Model, Perturbation, World, set_pose};
use magpie_random::Stream;
use magpie_simd::Isa;

const RUNS: usize = 48;
const STEPS: usize = 150;
const BAR: f64 = 1.5;

/// The default pose, with the ground as the last body, moving forward at 4 m/s, once for each run.
fn start(robot: &Robot) -> States<f64> {
    let model: Model<f64> = Model::new(robot, &Perturbation::default());
    let mut world: World<f64> = World::new(&model);
    let rest = model.rest_angles();
    set_pose::<f64>((), &model, &rest, &vec![0.0; rest.len()], &mut world.bodies);
    let mut states = States::default();
    for _ in 0..RUNS {
        for body in &world.bodies {
            states.pos.extend(body.pos);
            states.rot.extend(body.rot);
            states.vel.extend([4.0, 0.0, 0.0]);
            states.ang.extend([0.0; 3]);
        }
        states.pos.extend([0.0; 3]);
        states.rot.extend([1.0, 0.0, 0.0, 0.0]);
        states.vel.extend([0.0; 3]);
        states.ang.extend([0.0; 3]);
    }
    states
}

/// Torques at their limits, constant for ten steps.
fn actions(size: usize) -> Vec<f64> {
    let stream = Stream::new(1, "hurdle actions");
    let mut actions = Vec::new();
    for run in 0..RUNS {
        for t in 0..STEPS {
            let mut draws = stream.draws(run as u32, t as u64 / 10);
            actions.extend((0..size).map(|_| if draws.bits() & 1 == 0 { 1.0 } else { -1.0 }));
        }
    }
    actions
}

/// The number of feet, over all runs, that ever reached the other side.
fn passed(robot: &Robot, what: &str, positions: &[f64]) -> usize {
    let bodies = robot.bodies.len() + 1;
    let mut nearest = f64::NEG_INFINITY;
    let mut passed = 0;
    for run in positions.chunks(3 * bodies * STEPS) {
        for &foot in &robot.feet {
            let furthest =
                run.chunks(3 * bodies).map(|state| state[3 * foot]).fold(f64::NEG_INFINITY, f64::max);
            passed += usize::from(furthest > BAR);
            nearest = nearest.max(furthest);
        }
    }
    assert!(nearest > BAR - 0.6, "{what}: the test must reach the bar, but came to {nearest} m only");
    passed
}

#[test]
fn feet_do_not_pass_a_bar_that_is_higher_than_the_robot() {
    let hurdles = Hurdles { height: 10.0, first: BAR, spacing: 100.0, count: 1, ..Hurdles::default() };
    let perturbation = Perturbation { hurdles: Some(hurdles), ..Perturbation::default() };
    for task in TASKS {
        let (robot, definition) = (Robot::builtin(task).unwrap(), Task::named(task).unwrap());
        let (start, actions) = (start(&robot), actions(robot.action_size()));
        let double = replay_f64(&Stage::new(&definition, &robot, &perturbation), &start, &actions, STEPS);
        // Halfcheetah's feet turn at up to 270 rad/s, a foot's length in two substeps: the torso, which has already
        // passed the hurdle, pulls one in a hundred along.
        let allowed = if task == "halfcheetah" { 2 * RUNS / 50 } else { 0 };
        let through = passed(&robot, task, &double.states.pos);
        assert!(through <= allowed, "{} in double precision: {through} feet", task);
        let narrow = |values: &[f64]| values.iter().map(|&v| v as f32).collect::<Vec<_>>();
        let States { pos, rot, vel, ang } = &start;
        let single = States { pos: narrow(pos), rot: narrow(rot), vel: narrow(vel), ang: narrow(ang) };
        let stage = Stage::new(&definition, &robot, &perturbation);
        let lanes = replay_f32(Isa::best(), &stage, &single, &narrow(&actions), STEPS);
        let positions: Vec<f64> = lanes.states.pos.iter().map(|&v| v.into()).collect();
        let through = passed(&robot, task, &positions);
        assert!(through <= allowed, "{} in lanes: {through} feet", task);
    }
}
