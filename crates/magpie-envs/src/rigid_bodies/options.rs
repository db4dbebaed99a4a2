//! Choosing a robot, a measure and a world for a task.

use std::sync::Arc;

use magpie_physics::robot::{Robot, RobotError};
use magpie_physics::{Perturbation, PerturbationError};
use magpie_settings::DataFileError;

use super::{RigidBodies, Setting, Stage, entries};
use crate::environment::{Description, DescriptionError, Environment};
use crate::task::Task;

/// What can be chosen about an environment; the default is the task as published.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A robot other than the task's own.
    pub robot: Option<Robot>,
    /// Name of the measure; the task's first if not given.
    pub measure: Option<String>,
    /// Limits of observations and rewards.
    pub clip: Clip,
    /// Changes to the world.
    pub perturbation: Perturbation,
}

/// Whether observations and rewards are limited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Clip {
    /// As the task says (humanoid ±10, the others not at all).
    #[default]
    Task,
    /// Never.
    Off,
    /// To plus or minus this.
    To(f32),
}

/// Why an environment cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// No task has this name.
    #[error("there is no task {asked:?}; {remedy}")]
    UnknownTask {
        /// The name that was asked for.
        asked: String,
        /// The nearest name, or all of them.
        remedy: String,
    },
    /// The task has no measure of this name.
    #[error("{task} has no measure {asked:?}; {remedy}")]
    UnknownMeasure {
        /// The task.
        task: String,
        /// The name that was asked for.
        asked: String,
        /// The nearest name, or all of them.
        remedy: String,
    },
    /// The task file is wrong.
    #[error(transparent)]
    TaskFile(#[from] DataFileError),
    /// The robot is wrong.
    #[error(transparent)]
    Robot(#[from] RobotError),
    /// The perturbation is wrong.
    #[error(transparent)]
    Perturbation(#[from] PerturbationError),
    /// The measure counts feet and the robot has none.
    #[error(
        "robot \"{robot}\" has no feet, so {measure} cannot be measured; name some in `feet`, or choose another measure"
    )]
    NoFeet {
        /// The robot.
        robot: String,
        /// The measure.
        measure: String,
    },
    /// The robot cannot act.
    #[error(
        "robot {robot:?} has no actuators, so there is nothing to learn; give a joint an actuator_strength"
    )]
    NoActuators {
        /// The robot.
        robot: String,
    },
    /// The physics leaves the range of numbers.
    #[error(
        "robot {robot:?}: random actions drive a body beyond all numbers; lower the stiffness of joints or the strength of \
         actuators, or raise world.substeps"
    )]
    Explodes {
        /// The robot.
        robot: String,
    },
    /// Every episode is over at once.
    #[error(
        "no episode of robot {robot:?} on {task} survives its first step: {start}; {healthy}; use a task file whose \
         `healthy` ranges fit the robot, or change the robot's placement"
    )]
    NoSurvivor {
        /// The task.
        task: String,
        /// The robot.
        robot: String,
        /// How it starts.
        start: String,
        /// What the task asks for.
        healthy: String,
    },
    /// A limit that limits nothing or everything.
    #[error("clip is {0}, but must be a finite number above 0")]
    Clip(f32),
    /// There is nothing to observe or to measure.
    #[error(transparent)]
    Description(#[from] DescriptionError),
}

impl Environment {
    /// The built-in task called `task` with these options, in magpie's own physics.
    pub fn new(task: &str, options: Options) -> Result<Environment, EnvironmentError> {
        Environment::of_task(&Task::named(task)?, options)
    }

    /// A task with these options, in magpie's own physics.
    pub fn of_task(task: &Task, options: Options) -> Result<Environment, EnvironmentError> {
        let Options { robot, measure, clip, perturbation } = options;
        let robot = robot.map_or_else(|| task.robot(), Ok)?;
        perturbation.check(&robot)?;
        let measure = task.measure(measure.as_deref())?;
        if robot.feet.is_empty() && measure.needs_feet() {
            return Err(EnvironmentError::NoFeet { robot: robot.name, measure: measure.name.clone() });
        }
        let clip = match clip {
            Clip::Task => task.clip,
            Clip::Off => None,
            Clip::To(limit) if limit.is_finite() && limit > 0.0 => Some(limit),
            Clip::To(limit) => return Err(EnvironmentError::Clip(limit)),
        };
        let stage: Stage<f32> = Stage::new(task, &robot, &perturbation);
        let description = Description {
            task: task.name.clone(),
            observation: entries::observation(&task.observation, &robot, &stage.model),
            action: entries::action(&robot, &stage.model),
            measure: measure.name.clone(),
            dimensions: measure.dimensions(robot.feet.iter().map(|&foot| robot.bodies[foot].name.as_str())),
            episode_steps: task.episode_steps,
            step_seconds: robot.control_dt,
            hints: task.hints,
            robot: robot.name,
        };
        let setting =
            Setting { rest_angles: stage.model.rest_angles(), stage, measure: measure.clone(), clip };
        Ok(Environment::from_simulator(description, RigidBodies(Arc::new(setting)))?)
    }
}
