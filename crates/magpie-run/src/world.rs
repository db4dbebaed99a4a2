//! The world of a run: the task's own, unless it is changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use magpie_envs::{Environment, EnvironmentError, Measure, Options, Task};
use magpie_physics::robot::Robot;
use magpie_physics::{Hurdles, Perturbation};
use magpie_settings::{Kind, settings};
use serde::Deserialize;

use crate::directory::{CONFIG, RunDirectory};
use crate::error::RunError;
use crate::settings::read_text;

settings! {
    /// Which robot lives in which world; the default is the task as published.
    pub struct World {
        /// A robot file instead of the task's own robot. In the folder of a run: its copy there.
        robot: Option<PathBuf> = None;
        /// Factor on the friction of every contact.
        friction: f64 = 1.0, in 0.0..;
        /// Factors on the strength of actuators, by their names: `world.strength.left_knee = 0.5`.
        strength: BTreeMap<String, f64> = BTreeMap::new(), kind Kind::Table("factors");
        /// Bars across the track, met by the feet only: `height` 0.3, `first` 2, `spacing` 3, `thickness` 0.1 (m), `count` 1000.
        hurdles: Option<Hurdles> = None, kind Kind::Table("height, first, spacing, thickness, count");
    }
}

/// What is asked of a world beside its settings; what is not given stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorldChanges {
    /// A robot file.
    pub robot: Option<PathBuf>,
    /// Factor on the friction.
    pub friction: Option<f64>,
    /// Factors on the strength of actuators.
    pub strength: Vec<(String, f64)>,
    /// Bars across the track.
    pub hurdles: Option<Hurdles>,
}

impl WorldChanges {
    /// `world` with what is asked for.
    pub fn apply(&self, mut world: World) -> World {
        world.robot = self.robot.clone().or(world.robot);
        world.friction = self.friction.unwrap_or(world.friction);
        world.strength.extend(self.strength.iter().cloned());
        world.hurdles = self.hurdles.or(world.hurdles);
        world
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
            None => Ok(Task::named(task).and_then(|task| task.robot())?),
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
