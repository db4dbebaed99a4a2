//! Choosing a robot, a measure and a world for a task.

use std::sync::Arc;

use magpie_physics::robot::{Robot, RobotError};
use magpie_physics::{Perturbation, PerturbationError};

use super::{RigidBodies, Setting, Stage, entries};
use crate::environment::{Description, DescriptionError, Environment};
use crate::measure::Measure;
use crate::task::Task;

/// What can be chosen about an environment; the default is the task as published.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A robot other than the task's own.
    pub robot: Option<Robot>,
    /// How behaviour is measured; feet contact if not given.
    pub measure: Option<Measure>,
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
    #[error("there is no task \"{asked}\"; choose one of {names}")]
    UnknownTask {
        /// The name that was asked for.
        asked: String,
        /// The names there are.
        names: String,
    },
    /// The robot is wrong.
    #[error(transparent)]
    Robot(#[from] RobotError),
    /// The perturbation is wrong.
    #[error(transparent)]
    Perturbation(#[from] PerturbationError),
    /// The measure counts feet and the robot has none.
    #[error(
        "robot \"{robot}\" has no feet, so {measure} cannot be measured; name some in `feet`, or measure angle"
    )]
    NoFeet {
        /// The robot.
        robot: String,
        /// The measure.
        measure: Measure,
    },
    /// A limit that limits nothing or everything.
    #[error("clip is {0}, but must be a finite number above 0")]
    Clip(f32),
    /// There is nothing to observe or to measure.
    #[error(transparent)]
    Description(#[from] DescriptionError),
}

impl Environment {
    /// The task called `task` with these options, in magpie's own physics.
    pub fn new(task: &str, options: Options) -> Result<Environment, EnvironmentError> {
        let task = Task::named(task)?;
        let Options { robot, measure, clip, perturbation } = options;
        let robot = robot.map_or_else(|| task.robot(), Ok)?;
        perturbation.check(&robot)?;
        let measure = measure.unwrap_or(Measure::FeetContact);
        if robot.feet.is_empty() && measure != Measure::Angle {
            return Err(EnvironmentError::NoFeet { robot: robot.name, measure });
        }
        let clip = match clip {
            Clip::Task => task.clip,
            Clip::Off => None,
            Clip::To(limit) if limit.is_finite() && limit > 0.0 => Some(limit),
            Clip::To(limit) => return Err(EnvironmentError::Clip(limit)),
        };
        let stage: Stage<f32> = Stage::new(&task, &robot, &perturbation);
        let description = Description {
            task: task.name.to_owned(),
            observation: entries::observation(task.observation, &robot, &stage.model),
            action: entries::action(&robot, &stage.model),
            measure: measure.name().to_owned(),
            dimensions: measure.dimensions(robot.feet.iter().map(|&foot| robot.bodies[foot].name.as_str())),
            episode_steps: task.episode_steps,
            step_seconds: robot.control_dt,
            robot: robot.name,
        };
        let setting = Setting { rest_angles: stage.model.rest_angles(), stage, measure, clip };
        Ok(Environment::from_simulator(description, RigidBodies(Arc::new(setting)))?)
    }
}
