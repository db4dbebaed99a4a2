//! What an environment is: a task, a robot, a measure, and how the world is perturbed.

use magpie_physics::robot::{Robot, RobotError};
use magpie_physics::{Perturbation, PerturbationError};

use crate::measure::{Dimension, Measure};
use crate::stage::Stage;
use crate::task::{TASKS, Task};

/// Shared by all environments of a batch.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The task with its robot, in the precision of the lanes.
    pub stage: Stage<f32>,
    /// The robot as data.
    pub robot: Robot,
    /// How behaviour is measured.
    pub measure: Measure,
    /// Observations and rewards are limited to plus or minus this.
    pub clip: Option<f32>,
    pub(crate) rest_angles: Vec<f32>,
}

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
}

impl Environment {
    /// The task called `task` with these options.
    pub fn new(task: &str, options: Options) -> Result<Environment, EnvironmentError> {
        let task = Task::named(task).ok_or_else(|| EnvironmentError::UnknownTask {
            asked: task.to_owned(),
            names: TASKS.map(|t| t.name).join(", "),
        })?;
        let Options { robot, measure, clip, perturbation } = options;
        let robot = robot.map_or_else(|| Robot::builtin(task.name), Ok)?;
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
        let stage = Stage::new(task, &robot, &perturbation);
        Ok(Environment { rest_angles: stage.model.rest_angles(), stage, robot, measure, clip })
    }

    /// Number of entries of an observation.
    pub fn observation_size(&self) -> usize {
        self.stage.observation_size()
    }

    /// Number of entries of an action.
    pub fn action_size(&self) -> usize {
        self.stage.action_size()
    }

    /// Number of dimensions of the measure.
    pub fn measure_size(&self) -> usize {
        self.measure.size(self.robot.feet.len())
    }

    /// Name and range of each dimension of the measure.
    pub fn measure_dimensions(&self) -> Vec<Dimension> {
        self.measure.dimensions(self.robot.feet.iter().map(|&foot| self.robot.bodies[foot].name.as_str()))
    }
}
