//! The five tasks as data: what is observed, rewarded and forbidden.

use magpie_physics::robot::Robot;

use crate::rigid_bodies::EnvironmentError;

/// A locomotion task. All run along +x for at most 1000 steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Task {
    /// Name of the task and of the robot it is made for.
    pub name: &'static str,
    /// What the agent sees.
    pub observation: Observation,
    /// What it is paid for.
    pub reward: Reward,
    /// Outside of this the episode ends.
    pub healthy: Healthy,
    /// At reset, angle and velocity of every joint get noise, uniform within plus or minus this (rad, rad/s).
    pub reset_noise: f64,
    /// Observations and rewards are limited to plus or minus this, where that is part of the task.
    pub clip: Option<f32>,
    /// An episode is truncated after this many steps.
    pub episode_steps: u32,
}

/// What an observation is made of, besides height, joint angles, velocities of the root and joint rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// Planar robots: the root's rotation as the w and y of its quaternion.
    PlanarQuaternion,
    /// Planar robots: the root's pitch.
    PlanarPitch,
    /// Spatial robots, with the contacts of every body.
    Contacts,
    /// Spatial robots, with how mass and momentum are spread and what the actuators do.
    Momentum,
}

/// Forward velocity, a bonus for every step, and costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reward {
    /// Per m/s.
    pub forward: f64,
    /// Whose velocity.
    pub forward_of: ForwardOf,
    /// Per step, the terminating one included.
    pub alive: f64,
    /// Per squared entry of the action.
    pub control_cost: f64,
    /// Per squared velocity change by contacts, each limited to ±1 m/s.
    pub contact_cost: f64,
}

/// What has to move forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardOf {
    /// The root.
    Root,
    /// The centre of mass of all bodies.
    CentreOfMass,
}

/// Closed intervals for the root; `None` means any value is healthy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Healthy {
    /// Height in m.
    pub height: Option<[f64; 2]>,
    /// Pitch in rad.
    pub pitch: Option<[f64; 2]>,
}

/// Names of the tasks that come with magpie.
pub const TASKS: [&str; 5] = ["halfcheetah", "walker2d", "hopper", "ant", "humanoid"];

const HALFCHEETAH: Task = Task {
    name: "halfcheetah",
    observation: Observation::PlanarQuaternion,
    reward: Reward {
        forward: 1.0,
        forward_of: ForwardOf::Root,
        alive: 0.0,
        control_cost: 0.1,
        contact_cost: 0.0,
    },
    healthy: Healthy { height: None, pitch: None },
    reset_noise: 0.1,
    clip: None,
    episode_steps: 1000,
};

const WALKER2D: Task = Task {
    name: "walker2d",
    observation: Observation::PlanarPitch,
    reward: Reward {
        forward: 1.0,
        forward_of: ForwardOf::Root,
        alive: 1.0,
        control_cost: 0.001,
        contact_cost: 0.0,
    },
    healthy: Healthy { height: Some([0.7, 2.0]), pitch: Some([-1.0, 1.0]) },
    reset_noise: 0.005,
    clip: None,
    episode_steps: 1000,
};

const HOPPER: Task = Task {
    name: "hopper",
    healthy: Healthy { height: Some([0.7, f64::INFINITY]), pitch: Some([-0.2, 0.2]) },
    ..WALKER2D
};

const ANT: Task = Task {
    name: "ant",
    observation: Observation::Contacts,
    reward: Reward {
        forward: 1.0,
        forward_of: ForwardOf::Root,
        alive: 1.0,
        control_cost: 0.5,
        contact_cost: 5e-4,
    },
    healthy: Healthy { height: Some([0.2, 1.0]), pitch: None },
    reset_noise: 0.1,
    clip: None,
    episode_steps: 1000,
};

const HUMANOID: Task = Task {
    name: "humanoid",
    observation: Observation::Momentum,
    reward: Reward {
        forward: 1.25,
        forward_of: ForwardOf::CentreOfMass,
        alive: 5.0,
        control_cost: 0.1,
        contact_cost: 0.0,
    },
    healthy: Healthy { height: Some([0.8, 2.1]), pitch: None },
    reset_noise: 0.01,
    clip: Some(10.0),
    episode_steps: 1000,
};

impl Task {
    /// The task called `name`.
    pub fn named(name: &str) -> Result<Task, EnvironmentError> {
        [HALFCHEETAH, WALKER2D, HOPPER, ANT, HUMANOID]
            .into_iter()
            .find(|task| task.name == name)
            .ok_or_else(|| EnvironmentError::UnknownTask { asked: name.to_owned(), names: TASKS.join(", ") })
    }

    /// The robot that the task is made for.
    pub fn robot(&self) -> Result<Robot, EnvironmentError> {
        Ok(Robot::builtin(self.name)?)
    }
}
