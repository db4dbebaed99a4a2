//! The world of a run: the task's own, unless it is changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use magpie_envs::{Environment, EnvironmentError, Options, Task, TaskRobot};
use magpie_physics::robot::Robot;
use magpie_physics::{Hurdles, Perturbation};
use magpie_settings::{Kind, settings};
use serde::{Deserialize, Serialize};

use crate::directory::{CONFIG, RunDirectory};
use crate::error::RunError;
use crate::settings::{Origin, read_text};
use crate::train::{Place, find_task};

settings! {
    /// Which robot lives in which world; the default is the task as published.
    pub struct EnvOverrides {
        /// A task file instead of a built-in task. In the folder of a run: its copy there.
        task: Option<PathBuf> = None;
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
    /// A task file.
    pub task: Option<PathBuf>,
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
    pub fn apply(&self, mut world: EnvOverrides) -> EnvOverrides {
        world.task = self.task.clone().or(world.task);
        world.robot = self.robot.clone().or(world.robot);
        world.friction = self.friction.unwrap_or(world.friction);
        world.strength.extend(self.strength.iter().cloned());
        world.hurdles = self.hurdles.or(world.hurdles);
        world
    }
}

/// The copy of a robot file in the folder of a run.
pub(crate) const ROBOT: &str = "robot.toml";
/// The copy of a task file in the folder of a run.
pub(crate) const TASK: &str = "task.toml";

/// The texts of the files that a world was made from, as far as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorldFiles {
    task: Option<String>,
    robot: Option<String>,
}

impl EnvOverrides {
    /// The name of a task as it is asked for, one that comes with magpie or a task file, and the world with these changes.
    pub fn find(task: &str, changes: &WorldChanges) -> Result<(String, EnvOverrides), RunError> {
        let mut world = EnvOverrides::default();
        let place = Place { folder: Path::new(""), world: changes };
        let name = find_task(task, &mut world, place, Origin::Choice("task"))
            .map_err(|fault| fault.into_error(None, &[]))?;
        Ok((name, world))
    }

    /// The world that a run in `folder` was given, from its configuration; the default if there is none.
    pub fn of_run(folder: &Path) -> Result<EnvOverrides, RunError> {
        /// The rest of a configuration is another's business.
        #[derive(Deserialize)]
        struct Part {
            #[serde(default)]
            world: EnvOverrides,
        }
        let file = folder.join(CONFIG);
        if !file.is_file() {
            return Ok(EnvOverrides::default());
        }
        let Part { mut world } = toml::from_str(&read_text(&file)?)
            .map_err(|e| RunError::Config { path: file, problem: e.to_string() })?;
        world.lies_in(folder);
        Ok(world)
    }

    /// Makes paths that are relative to `folder` visible from outside.
    pub(crate) fn lies_in(&mut self, folder: &Path) {
        for file in [&mut self.task, &mut self.robot].into_iter().flatten() {
            *file = folder.join(&*file);
        }
    }

    /// Copies task and robot files into the folder of a run, so that the run does not depend on the originals. Returns
    /// their texts.
    pub(crate) fn move_in(&mut self, directory: &RunDirectory) -> Result<WorldFiles, RunError> {
        if let (Some(task), None) = (&self.task, &self.robot)
            && let TaskRobot::File(robot) = Task::load(task)?.robot
        {
            self.robot = Some(robot);
        }
        let mut files = WorldFiles::default();
        for (file, copy, text) in
            [(&mut self.task, TASK, &mut files.task), (&mut self.robot, ROBOT, &mut files.robot)]
        {
            if let Some(file) = file {
                let original = read_text(file)?;
                directory.write(copy, original.as_bytes())?;
                (*file, *text) = (copy.into(), Some(original));
            }
        }
        Ok(files)
    }

    /// Where the copies will be, once the world has moved in.
    pub(crate) fn moved_in(&self) -> EnvOverrides {
        let own_robot = || match Task::load(self.task.as_deref()?).ok()?.robot {
            TaskRobot::File(robot) => Some(robot),
            TaskRobot::Builtin(_) => None,
        };
        EnvOverrides {
            task: self.task.as_ref().map(|_| TASK.into()),
            robot: self.robot.clone().or_else(own_robot).map(|_| ROBOT.into()),
            ..self.clone()
        }
    }

    /// The world of a run in `folder`, if its files are still those that were moved in.
    pub(crate) fn unchanged(folder: &Path, files: &WorldFiles) -> Result<EnvOverrides, RunError> {
        let world = EnvOverrides::of_run(folder)?;
        for (file, text) in [(&world.task, &files.task), (&world.robot, &files.robot)] {
            if let Some(file) = file
                && Some(read_text(file)?) != *text
            {
                return Err(RunError::changed(file));
            }
        }
        Ok(world)
    }

    /// The task called `name`: that of the file, if there is one.
    pub fn task(&self, name: &str) -> Result<Task, RunError> {
        let Some(file) = &self.task else { return Ok(Task::named(name)?) };
        let task = Task::load(file)?;
        if task.name != name {
            return Err(RunError::OtherTask { path: file.clone(), found: task.name, asked: name.to_owned() });
        }
        Ok(task)
    }

    /// The robot: that of the file, or the task's own.
    pub fn robot(&self, task: &Task) -> Result<Robot, RunError> {
        match &self.robot {
            Some(file) => Ok(Robot::load(file).map_err(EnvironmentError::from)?),
            None => Ok(task.robot()?),
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

    /// A task in this world, measured in the way of this name, or in the task's first way.
    pub fn environment(&self, task: &str, measure: Option<&str>) -> Result<Environment, RunError> {
        let task = self.task(task)?;
        let robot = self.robot(&task)?;
        let perturbation = self.perturbation(&robot)?;
        let measure = measure.map(str::to_owned);
        Ok(Environment::of_task(
            &task,
            Options { robot: Some(robot), measure, perturbation, ..Options::default() },
        )?)
    }

    /// Warnings about a robot that does not fit the task or the world, in sentences; tasks as published need no trial.
    ///
    /// # Errors
    /// If nothing can be learned in this world.
    pub fn examine(&self, task: &str) -> Result<Vec<String>, RunError> {
        if *self == EnvOverrides::default() {
            return Ok(Vec::new());
        }
        let task = self.task(task)?;
        let robot = self.robot(&task)?;
        Ok(magpie_envs::examine(&task, &robot, &self.perturbation(&robot)?)?)
    }
}
