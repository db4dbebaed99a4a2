//! Tasks as data: what is observed, rewarded and forbidden, how behaviour is measured, and what a search should know.

mod file;
mod read;

use std::path::PathBuf;

use magpie_physics::robot::Robot;
use serde::Deserialize;

use crate::measure::Measure;
use crate::rigid_bodies::EnvironmentError;

pub use read::TASKS;

/// A task, valid by construction: only the reader of task files makes one.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// What the task is called in messages, folders and tables.
    pub name: String,
    /// The robot that the task is made for.
    pub robot: TaskRobot,
    /// What the agent sees, part by part.
    pub observation: Vec<ObservationPart>,
    /// What a step earns.
    pub reward: Reward,
    /// Outside of this the episode ends.
    pub healthy: Healthy,
    /// At reset, angle and velocity of every joint get noise, uniform within plus or minus this (rad, rad/s).
    pub reset_noise: f64,
    /// Observations and rewards are limited to plus or minus this, where that is part of the task.
    pub clip: Option<f32>,
    /// An episode is truncated after this many steps.
    pub episode_steps: u32,
    /// How behaviour can be measured; the first is the default.
    pub measures: Vec<Measure>,
    /// What a search should know of the task.
    pub hints: SearchHints,
}

/// Where the robot of a task comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskRobot {
    /// One of the robots that come with magpie.
    Builtin(String),
    /// A robot file.
    File(PathBuf),
}

/// A part of an observation; the entries of each are listed by `magpie envs TASK --entries`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservationPart {
    /// Height of the root.
    Height,
    /// Rotation of the root as a quaternion w, x, y, z.
    Rotation,
    /// Its w and y, for planar robots.
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
    /// Inertia of every body about the center of mass.
    Inertia,
    /// Velocity of every body, weighted by its share of the mass.
    VelocityShares,
    /// Angular velocity of every body about the center of mass.
    AngularVelocityAboutCom,
    /// Torque of every actuator.
    Torques,
}

/// What a step earns: the sum of these terms.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reward {
    /// Per m/s along +x.
    pub forward: f64,
    /// Whose velocity along +x.
    pub forward_of: ForwardOf,
    /// Per m/s of the root along +y.
    pub sideways: f64,
    /// Per m/s of the root along +z.
    pub upward: f64,
    /// Per rad/s of the root about z, counterclockwise.
    pub turning: f64,
    /// Per step, the terminating one included.
    pub alive: f64,
    /// Per squared entry of the action.
    pub control_cost: f64,
    /// Per squared velocity change by contacts, each limited to ±1 m/s.
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

/// What has to move forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForwardOf {
    /// The root.
    Root,
    /// The center of mass of all bodies.
    CenterOfMass,
}

/// Closed intervals for the root; `None` means any value is healthy.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Healthy {
    /// Height in m.
    pub height: Option<[f64; 2]>,
    /// Pitch in rad.
    pub pitch: Option<[f64; 2]>,
}

/// What a search should know of a task: defaults of its settings.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchHints {
    /// A return below that of a poor but usable policy: what a solution must surpass to enter an empty cell of the soft
    /// archive.
    pub threshold_min: f64,
    /// The most that a step can cost: what the offset QD-Score adds for each step.
    pub qd_offset: f64,
    /// Whether exploration noise starts anew (log σ = 0) with every iteration.
    pub reset_log_std: bool,
    /// Initial spread of the branching coefficients, in lengths of a gradient.
    pub sigma0: f64,
    /// Learning rate of the thresholds of the soft archive.
    pub archive_learning_rate: f64,
    /// Learning rate of Adam; the search's own if not given.
    pub learning_rate: Option<f64>,
    /// What a search on the task's own reward pays for each step survived, so that policies that have learned nothing
    /// do not learn to fall.
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
    /// The robot that the task is made for.
    pub fn robot(&self) -> Result<Robot, EnvironmentError> {
        Ok(match &self.robot {
            TaskRobot::Builtin(name) => Robot::builtin(name)?,
            TaskRobot::File(path) => Robot::load(path)?,
        })
    }

    /// The measure called `name`; the default one if there is no name.
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
