//! The world of a run: the task's own, unless it is changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use magpie_envs::{Environment, EnvironmentError, Measure, Options};
use magpie_physics::robot::Robot;
use magpie_physics::{Hurdles, Perturbation};
use serde::{Deserialize, Serialize};

use crate::directory::{CONFIG, RunDirectory};
use crate::error::RunError;
use crate::settings::read_text;

/// Which robot lives in which world; the default is the task as published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct World {
    /// A robot file instead of the task's own robot. In the folder of a run: its copy there.
    pub robot: Option<PathBuf>,
    /// Factor on the friction of every contact.
    pub friction: f64,
    /// Factor on the strength of each actuator named here.
    pub strength: BTreeMap<String, f64>,
    /// Bars across the track.
    pub hurdles: Option<Hurdles>,
}

impl Default for World {
    fn default() -> World {
        World { robot: None, friction: 1.0, strength: BTreeMap::new(), hurdles: None }
    }
}

/// The copy of a robot file in the folder of a run.
pub(crate) const ROBOT: &str = "robot.toml";

impl World {
    /// The world that a run in `folder` was given, from its configuration; the default if there is none.
    pub fn of_run(folder: &Path) -> Result<World, RunError> {
        /// The rest of a configuration is another's business.
        #[derive(Deserialize)]
        struct Part {
            #[serde(default)]
            world: World,
        }
        let file = folder.join(CONFIG);
        if !file.is_file() {
            return Ok(World::default());
        }
        let Part { mut world } = toml::from_str(&read_text(&file)?)
            .map_err(|e| RunError::Config { path: file, problem: e.to_string() })?;
        world.robot = world.robot.map(|robot| folder.join(robot));
        Ok(world)
    }

    /// Copies a robot file into the folder of a run, so that the run does not depend on the original. Returns its text.
    pub(crate) fn move_in(&mut self, directory: &RunDirectory) -> Result<Option<String>, RunError> {
        let text = self.robot.as_deref().map(read_text).transpose()?;
        if let Some(text) = &text {
            directory.write(ROBOT, text.as_bytes())?;
            self.robot = Some(ROBOT.into());
        }
        Ok(text)
    }

    /// The world of a run in `folder`, if its robot is still the one of `text`.
    pub(crate) fn unchanged(folder: &Path, text: Option<&str>) -> Result<World, RunError> {
        let world = World::of_run(folder)?;
        match &world.robot {
            Some(robot) if Some(read_text(robot)?.as_str()) != text => Err(RunError::changed(robot)),
            _ => Ok(world),
        }
    }

    /// The robot: that of the file, or the task's own.
    pub fn robot(&self, task: &str) -> Result<Robot, RunError> {
        match &self.robot {
            Some(file) => Ok(Robot::load(file).map_err(EnvironmentError::from)?),
            None => Ok(Environment::new(task, Options::default())?.robot),
        }
    }

    /// The changes, if `robot` can live with them.
    pub fn perturbation(&self, robot: &Robot) -> Result<Perturbation, RunError> {
        let mut perturbation =
            Perturbation { friction: self.friction, hurdles: self.hurdles, ..Perturbation::default() };
        for (actuator, &factor) in &self.strength {
            perturbation.scale_strength(robot, actuator, factor).map_err(EnvironmentError::from)?;
        }
        perturbation.check(robot).map_err(EnvironmentError::from)?;
        Ok(perturbation)
    }

    /// A task in this world.
    pub fn environment(&self, task: &str, measure: Option<Measure>) -> Result<Environment, RunError> {
        let robot = self.robot(task)?;
        let perturbation = self.perturbation(&robot)?;
        Ok(Environment::new(
            task,
            Options { robot: Some(robot), measure, perturbation, ..Options::default() },
        )?)
    }
}
