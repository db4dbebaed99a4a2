//! A short trial that checks whether a robot suits a task, before a run starts.

use magpie_physics::robot::{GroundEnds, Robot};
use magpie_physics::{Model, Perturbation, World, lowest_point, refresh, set_pose};
use magpie_random::Stream;
use magpie_simd::{Isa, LANES};

use super::worlds::fastest;
use super::{EnvironmentError, Stage, States, replay_f32};
use crate::task::Task;

/// Steps of the trial.
const STEPS: usize = 100;

/// A robot of this size cannot be faster (m/s), unless its springs are too stiff for the time step.
const FASTEST: f32 = 100.0;

/// A speed that only unstable physics reaches, in words.
pub fn unstable_speed(speed: f32) -> Option<String> {
    match speed {
        speed if !speed.is_finite() => Some("beyond all numbers".to_owned()),
        speed if speed > FASTEST => Some(format!("{speed:.0} m/s")),
        _ => None,
    }
}

/// A robot whose fastest body stays below this speed (m/s) does not move.
const SLOWEST: f32 = 1e-3;

/// If no trial episode lasts longer than this, there is nothing to learn.
const SHORTEST: usize = 4;

/// If the robot starts deeper in the ground than this (m), the first contact throws it up. The feet of walker2d start 2
/// cm deep, as published.
const DEEPEST: f64 = 0.05;

/// Runs sixteen short episodes: one without actions, and fifteen with random actions. Returns warnings, in sentences.
///
/// # Errors
/// If nothing can be learned: the robot has no actuators, no episode survives its first step, or the physics diverges.
pub fn examine(
    task: &Task,
    robot: &Robot,
    perturbation: &Perturbation,
) -> Result<Vec<String>, EnvironmentError> {
    if robot.actuators.is_empty() {
        return Err(EnvironmentError::NoActuators { robot: robot.name.clone() });
    }
    let mut warnings: Vec<String> = in_the_ground(robot).into_iter().collect();
    let Trial { lengths, fastest: top_speed } = try_out(task, robot, perturbation);
    let longest = lengths.iter().copied().max().unwrap_or(0);
    if !top_speed.is_finite() {
        return Err(EnvironmentError::Explodes { robot: robot.name.clone() });
    }
    if longest == 0 {
        return Err(EnvironmentError::NoSurvivor {
            task: task.name.clone(),
            robot: robot.name.clone(),
            start: start(robot),
            healthy: healthy(task),
        });
    }
    if longest <= SHORTEST {
        warnings.push(format!(
            "robot {:?} on {}: no trial episode lasted longer than {longest} steps, with or without actions; {}; {}",
            robot.name,
            task.name,
            start(robot),
            healthy(task)
        ));
    }
    if let Some(speed) = unstable_speed(top_speed) {
        warnings.push(format!(
            "robot {:?}: random actions drive a body to {speed}, so the physics is unstable and returns are meaningless; \
             lower the stiffness of joints or the strength of actuators, or raise world.substeps",
            robot.name
        ));
    }
    if top_speed < SLOWEST {
        warnings.push(format!(
            "robot {:?}: nothing moves in {STEPS} steps with random actions; raise world.control_dt or the strength of actuators",
            robot.name
        ));
    }
    Ok(warnings)
}

/// The results of the trial.
struct Trial {
    /// Length of each episode.
    lengths: Vec<usize>,
    /// Largest speed of a body before the end of its episode; NaN if the physics diverged.
    fastest: f32,
}

fn try_out(task: &Task, robot: &Robot, perturbation: &Perturbation) -> Trial {
    let stage: Stage<f32> = Stage::new(task, robot, perturbation);
    let width = STEPS * stage.action_size();
    let mut actions = vec![0.0; LANES * width];
    for (world, actions) in actions.chunks_mut(width).enumerate().skip(1) {
        let mut draws = Stream::new(0, "trial").draws(world as u32, 0);
        actions.iter_mut().for_each(|action| *action = draws.uniform(-1.0, 1.0));
    }
    let replayed = replay_f32(Isa::best(), &stage, &States::at_rest(robot, LANES), &actions, STEPS);
    let velocities = 3 * (robot.bodies.len() + 1);
    let mut trial = Trial { lengths: Vec::new(), fastest: 0.0 };
    for (done, vel) in replayed.done.chunks(STEPS).zip(replayed.states.vel.chunks(STEPS * velocities)) {
        let length = done.iter().position(|&done| done != 0.0).unwrap_or(STEPS);
        let lived = (length + 1).min(STEPS) * velocities;
        let speeds = vel[..lived].chunks_exact(3).map(|v| (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt());
        trial.fastest = fastest([trial.fastest].into_iter().chain(speeds));
        trial.lengths.push(length);
    }
    trial
}

/// The default pose in double precision.
fn at_rest(robot: &Robot) -> (Model<f64>, World<f64>) {
    let model: Model<f64> = Model::new(robot, &Perturbation::default());
    let mut world = World::new(&model);
    let rates = vec![0.0; model.dof()];
    set_pose::<f64>((), &model, &model.rest_angles(), &rates, &mut world.bodies);
    refresh::<f64>((), &model, &mut world);
    (model, world)
}

/// A warning if a body that collides with the ground starts inside it.
fn in_the_ground(robot: &Robot) -> Option<String> {
    let (model, world) = at_rest(robot);
    let touches =
        |body: usize| robot.bodies[body].colliders.iter().any(|c| c.ground_ends != GroundEnds::None);
    let depth = |body: usize| -lowest_point::<f64>((), &model, &world, body);
    let deepest = (0..robot.bodies.len())
        .filter(|&body| touches(body))
        .max_by(|&a, &b| depth(a).total_cmp(&depth(b)))?;
    (depth(deepest) > DEEPEST).then(|| {
        format!(
            "robot {:?}: body {:?} starts {:.2} m inside the ground and will be thrown up; raise placement.root_at by this \
             amount, or use placement = \"on_ground\"",
            robot.name,
            robot.bodies[deepest].name,
            depth(deepest)
        )
    })
}

fn start(robot: &Robot) -> String {
    let (_, world) = at_rest(robot);
    format!("the root starts at a height of {:.2} m", world.bodies[robot.root].pos[2])
}

fn healthy(task: &Task) -> String {
    let range = |what: &str, range: Option<[f64; 2]>, unit: &str| {
        range.map(|[low, high]| format!("{what} leaves {low} to {high} {unit}"))
    };
    let ends = [range("height", task.healthy.height, "m"), range("pitch", task.healthy.pitch, "rad")];
    match ends.into_iter().flatten().collect::<Vec<_>>() {
        none if none.is_empty() => "the task ends episodes only if the state is not finite".to_owned(),
        some => format!("the task ends episodes when the root's {}", some.join(" or its ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::TASKS;

    const HOPPER: &str = include_str!("../../../magpie-physics/robots/hopper.toml");

    fn examined(task: &str, robot: &str) -> Result<Vec<String>, String> {
        let robot = Robot::from_toml(robot, "test.toml").unwrap();
        examine(&Task::named(task).unwrap(), &robot, &Perturbation::default()).map_err(|e| e.to_string())
    }

    #[test]
    fn robots_of_magpie_fit_their_tasks() {
        for task in TASKS {
            let task = Task::named(task).unwrap();
            let found = examine(&task, &task.robot().unwrap(), &Perturbation::default()).unwrap();
            assert!(found.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn a_robot_that_falls_at_once_is_refused() {
        let low = HOPPER.replace("root_at = [0, 0, 1.25]", "root_at = [0, 0, 0.5]");
        assert_eq!(
            examined("walker2d", &low).unwrap_err(),
            "no episode of robot \"hopper\" on walker2d survives its first step: the root starts at a height of 0.50 m; \
             the task ends episodes when the root's height leaves 0.7 to 2 m or its pitch leaves -1 to 1 rad; use a task \
             file whose `healthy` ranges fit the robot, or change the robot's placement"
        );
    }

    #[test]
    fn a_robot_without_actuators_is_refused() {
        let limp: String = HOPPER
            .lines()
            .filter(|line| !line.contains("actuator_strength"))
            .map(|l| format!("{l}\n"))
            .collect();
        assert!(examined("hopper", &limp).unwrap_err().contains("has no actuators"));
    }

    #[test]
    fn a_foot_in_the_ground_is_a_warning() {
        let low = HOPPER.replace("root_at = [0, 0, 1.25]", "root_at = [0, 0, 1.05]");
        let warnings = examined("hopper", &low).unwrap();
        assert!(warnings[0].contains("body \"foot\" starts 0.16 m"), "{warnings:?}");
    }

    #[test]
    fn unstable_physics_is_a_warning() {
        let stiff = HOPPER.replace("stiffness = 10000", "stiffness = 200000");
        assert_ne!(stiff, HOPPER);
        let warnings = examined("hopper", &stiff).unwrap();
        assert!(warnings.iter().any(|warning| warning.contains("the physics is unstable")), "{warnings:?}");
    }
    #[test]
    fn physics_beyond_all_numbers_is_refused() {
        let stiff = HOPPER.replace("stiffness = 10000", "stiffness = 800000");
        assert_ne!(stiff, HOPPER);
        let error = examined("hopper", &stiff).unwrap_err();
        assert!(error.contains("diverge"), "{error}");
    }

    #[test]
    fn a_robot_that_never_moves_is_a_warning() {
        let slow = HOPPER.replace("control_dt = 0.008", "control_dt = 1e-6");
        assert_ne!(slow, HOPPER);
        let warnings = examined("hopper", &slow).unwrap();
        assert!(warnings.iter().any(|warning| warning.contains("nothing moves")), "{warnings:?}");
    }
}
