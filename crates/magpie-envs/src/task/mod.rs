//! Tasks as data: observation, reward, termination, measures, and hints for a search.

mod file;
mod read;

use std::path::PathBuf;

use magpie_physics::robot::Robot;
use serde::Deserialize;

use crate::measure::Measure;
use crate::rigid_bodies::EnvironmentError;

pub use read::TASKS;

/// A task, valid by construction: tasks come only from the reader of task files.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The name in messages, directories and tables.
    pub name: String,
    /// The robot that the task was made for.
    pub robot: TaskRobot,
    /// The parts of the observation.
    pub observation: Vec<ObservationPart>,
    /// The reward of a step.
    pub reward: Reward,
    /// The episode ends when the root leaves these ranges.
    pub healthy: Healthy,
    /// Reset noise on the angle and velocity of every joint, uniform within ± this value (rad, rad/s).
    pub reset_noise: f64,
    /// Observations and rewards are clipped to ± this value, if that is part of the task.
    pub clip: Option<f32>,
    /// An episode is truncated after this many steps.
    pub episode_steps: u32,
    /// The available measures; the first is the default.
    pub measures: Vec<Measure>,
    /// Hints for a search.
    pub hints: SearchHints,
}

/// The robot of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskRobot {
    /// One of the built-in robots.
    Builtin(String),
    /// A robot file.
    File(PathBuf),
}

/// A part of an observation; `magpie envs TASK --entries` lists the entries of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservationPart {
    /// Height of the root.
    Height,
    /// Rotation of the root as a quaternion w, x, y, z.
    Rotation,
    /// Components w and y of that quaternion, for planar robots.
    PlanarRotation,
    /// Pitch of the root.
    Pitch,
    /// Angle of every joint.
    JointAngles,
    /// Velocity of the root along x, y, z.
    Velocity,
    /// Velocity of the root along x and z.
    PlanarVelocity,
    /// Angular velocity of the root about x, y, z.
    AngularVelocity,
    /// Angular velocity of the root about y.
    PlanarAngularVelocity,
    /// Angular velocity of every joint.
    JointRates,
    /// Changes of velocity and angular velocity of every body by contacts.
    Contacts,
    /// Inertia of every body about the centre of mass.
    Inertia,
    /// Velocity of every body, weighted by its share of the mass.
    VelocityShares,
    /// Angular velocity of every body about the centre of mass.
    AngularVelocityAboutCom,
    /// Torque of every actuator.
    Torques,
}

/// The reward of a step: the sum of these terms.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reward {
    /// Per m/s along +x.
    pub forward: f64,
    /// The point whose velocity along +x counts.
    pub forward_of: ForwardOf,
    /// Per m/s of the root along +y.
    pub sideways: f64,
    /// Per m/s of the root along +z.
    pub upward: f64,
    /// Per rad/s of the root about z, anticlockwise.
    pub turning: f64,
    /// Per step, including the terminating one.
    pub alive: f64,
    /// Per squared entry of the action.
    pub control_cost: f64,
    /// Per squared velocity change by contacts, each clipped to ±1 m/s.
    pub contact_cost: f64,
}

impl Default for Reward {
    fn default() -> Reward {
        Reward {
            forward: 0.0,
            forward_of: ForwardOf::Root,
            sideways: 0.0,
            upward: 0.0,
            turning: 0.0,
            alive: 0.0,
            control_cost: 0.0,
            contact_cost: 0.0,
        }
    }
}

/// The point that must move forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForwardOf {
    /// The root.
    Root,
    /// The centre of mass of all bodies.
    CenterOfMass,
}

/// Closed ranges for the root; with `None`, any value is healthy.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Healthy {
    /// Height in m.
    pub height: Option<[f64; 2]>,
    /// Pitch in rad.
    pub pitch: Option<[f64; 2]>,
}

/// Hints for a search: defaults of its settings.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchHints {
    /// A return below that of a poor but usable policy, which a solution must exceed to enter an empty cell of the soft
    /// archive.
    pub threshold_min: f64,
    /// The largest cost of a step, which the offset QD score adds for each step.
    pub qd_offset: f64,
    /// Whether the action noise is reset (log σ = 0) at the start of every iteration.
    pub reset_log_std: bool,
    /// Initial standard deviation of the xNES coefficients, in units of a gradient's length.
    pub sigma0: f64,
    /// Learning rate of the thresholds of the soft archive.
    pub archive_learning_rate: f64,
    /// Learning rate of Adam; if `None`, the search's default.
    pub learning_rate: Option<f64>,
    /// The reward per surviving step that a search on the task's own reward adds, so that untrained policies do not
    /// learn to fall.
    pub alive_bonus: f64,
}

impl Default for SearchHints {
    fn default() -> SearchHints {
        SearchHints {
            threshold_min: 200.0,
            qd_offset: 0.0,
            reset_log_std: true,
            sigma0: 1.0,
            archive_learning_rate: 0.5,
            learning_rate: None,
            alive_bonus: 0.0,
        }
    }
}

impl Task {
    /// The robot that the task was made for.
    pub fn robot(&self) -> Result<Robot, EnvironmentError> {
        Ok(match &self.robot {
            TaskRobot::Builtin(name) => Robot::builtin(name)?,
            TaskRobot::File(path) => Robot::load(path)?,
        })
    }

    /// The measure called `name`, or the default one.
    pub fn measure(&self, name: Option<&str>) -> Result<&Measure, EnvironmentError> {
        let named = |measure: &&Measure| name.is_none_or(|name| measure.name == name);
        self.measures.iter().find(named).ok_or_else(|| EnvironmentError::UnknownMeasure {
            task: self.name.clone(),
            asked: name.unwrap_or_default().to_owned(),
            remedy: magpie_settings::remedy(
                name.unwrap_or_default(),
                self.measures.iter().map(|measure| measure.name.as_str()),
            ),
        })
    }
}
