//! The world of a run: the task's robot and world, with optional changes.

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
    /// The robot and changes to its world. By default the task is used as published.
    pub struct EnvOverrides {
        /// A task file to use instead of a built-in task. A run directory refers to its own copy.
        task: Option<PathBuf> = None;
        /// A robot file to use instead of the task's robot. A run directory refers to its own copy.
        robot: Option<PathBuf> = None;
        /// Factor on gravity. Below 1 everything weighs less.
        gravity: f64 = 1.0, in 0.0..;
        /// Factor on the friction of every contact. Below 1 the ground is slippery.
        friction: f64 = 1.0, in 0.0..;
        /// Factors on the strength of actuators, by name: `world.strength.left_knee = 0.5`.
        strength: BTreeMap<String, f64> = BTreeMap::new(), kind Kind::Table("factors");
        /// Hurdles across the track: `height` (0.3), `first` (2), `spacing` (3) and `thickness` (0.1) in metres, `count`
        /// (1000), and whether the whole `body` collides with them or the feet alone (false).
        hurdles: Option<Hurdles> = None, kind Kind::Table("height, first, spacing, thickness, count, body");
    }
}

/// Requested changes to a world; fields that are `None` or empty change nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorldChanges {
    /// A task file.
    pub task: Option<PathBuf>,
    /// A robot file.
    pub robot: Option<PathBuf>,
    /// Factor on gravity.
    pub gravity: Option<f64>,
    /// Factor on the friction.
    pub friction: Option<f64>,
    /// Factors on the strength of actuators.
    pub strength: Vec<(String, f64)>,
    /// Bars across the track.
    pub hurdles: Option<Hurdles>,
}

impl WorldChanges {
    /// Applies the changes to `world`.
    pub fn apply(&self, mut world: EnvOverrides) -> EnvOverrides {
        world.task = self.task.clone().or(world.task);
        world.robot = self.robot.clone().or(world.robot);
        world.gravity = self.gravity.unwrap_or(world.gravity);
        world.friction = self.friction.unwrap_or(world.friction);
        world.strength.extend(self.strength.iter().cloned());
        world.hurdles = self.hurdles.or(world.hurdles);
        world
    }
}

/// File name of the copied robot file in a run directory.
pub(crate) const ROBOT: &str = "robot.toml";
/// File name of the copied task file in a run directory.
pub(crate) const TASK: &str = "task.toml";

/// The contents of the copied files of a world, where it has any.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorldFiles {
    task: Option<String>,
    robot: Option<String>,
}

impl EnvOverrides {
    /// The task's name and the world with these changes; `task` is the name of a built-in task or a task file.
    pub fn find(task: &str, changes: &WorldChanges) -> Result<(String, EnvOverrides), RunError> {
        let mut world = EnvOverrides::default();
        let place = Place { folder: Path::new(""), world: changes };
        let name = find_task(task, &mut world, place, Origin::Choice("task"))
            .map_err(|fault| fault.into_error(None, &[]))?;
        Ok((name, world))
    }

    /// The world in the configuration of the run in `folder`; the default if there is no configuration.
    pub fn of_run(folder: &Path) -> Result<EnvOverrides, RunError> {
        /// Only this part of the configuration is read.
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

    /// The world of a run in `folder`, whose files are named as seen from outside.
    pub fn seen_from_outside(&self, folder: &Path) -> EnvOverrides {
        let mut world = self.clone();
        world.lies_in(folder);
        world
    }

    /// Resolves paths that are relative to `folder`.
    pub(crate) fn lies_in(&mut self, folder: &Path) {
        for file in [&mut self.task, &mut self.robot].into_iter().flatten() {
            *file = folder.join(&*file);
        }
    }

    /// Copies task and robot files into the run directory, so that the run does not depend on the originals. Returns
    /// their contents.
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

    /// The world with the paths that its files have once they are copied.
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

    /// The world of the run in `folder`. Fails if its files no longer match the copies.
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

    /// The task called `name`, from the task file if there is one.
    pub fn task(&self, name: &str) -> Result<Task, RunError> {
        let Some(file) = &self.task else { return Ok(Task::named(name)?) };
        let task = Task::load(file)?;
        if task.name != name {
            return Err(RunError::OtherTask { path: file.clone(), found: task.name, asked: name.to_owned() });
        }
        Ok(task)
    }

    /// The robot, from the robot file if there is one.
    pub fn robot(&self, task: &Task) -> Result<Robot, RunError> {
        match &self.robot {
            Some(file) => Ok(Robot::load(file).map_err(EnvironmentError::from)?),
            None => Ok(task.robot()?),
        }
    }

    /// The changes as a perturbation; fails if `robot` does not support them.
    pub fn perturbation(&self, robot: &Robot) -> Result<Perturbation, RunError> {
        let EnvOverrides { gravity, friction, hurdles, .. } = *self;
        let mut perturbation = Perturbation { gravity, friction, hurdles, ..Perturbation::default() };
        for (actuator, &factor) in &self.strength {
            perturbation.scale_strength(robot, actuator, factor).map_err(EnvironmentError::from)?;
        }
        perturbation.check(robot).map_err(EnvironmentError::from)?;
        Ok(perturbation)
    }

    /// The environment of a task in this world, with the named measure or the task's first one.
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

    /// What differs from the task as published, in words; `None` if nothing does.
    pub fn in_words(&self) -> Option<String> {
        let file =
            |path: &PathBuf| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let mut changes = Vec::new();
        if let Some(path) = &self.robot {
            // A copy in the folder of a run has another name than the robot.
            let robot = Robot::load(path).map_or_else(|_| file(path), |robot| robot.name);
            changes.push(format!("robot {robot}"));
        }
        if self.gravity != 1.0 {
            changes.push(format!("gravity × {}", self.gravity));
        }
        if self.friction != 1.0 {
            changes.push(format!("friction × {}", self.friction));
        }
        changes.extend(self.strength.iter().map(|(actuator, factor)| format!("{actuator} × {factor}")));
        if let Some(Hurdles { height, first, spacing, thickness, count, body }) = &self.hurdles {
            let touching = if *body { ", for the whole body" } else { "" };
            changes.push(format!(
                "{} (height {height} m, first at {first} m, every {spacing} m, thickness {thickness} m{touching})",
                magpie_files::count(*count, "hurdle")
            ));
        }
        (!changes.is_empty()).then(|| changes.join(", "))
    }

    /// The same as part of the name of a folder: empty, or `-friction0.5-left_knee0.5`.
    pub fn in_a_name(&self) -> String {
        let mut parts = Vec::new();
        if let Some(stem) = self.robot.as_ref().and_then(|path| path.file_stem()) {
            parts.push(stem.to_string_lossy().into_owned());
        }
        if self.gravity != 1.0 {
            parts.push(format!("gravity{}", self.gravity));
        }
        if self.friction != 1.0 {
            parts.push(format!("friction{}", self.friction));
        }
        parts.extend(self.strength.iter().map(|(actuator, factor)| format!("{actuator}{factor}")));
        if let Some(Hurdles { height, first, spacing, thickness, count, body }) = &self.hurdles {
            let usual = Hurdles::default();
            parts.push(format!("hurdles{height}"));
            for (name, value, usual) in [
                ("first", first, usual.first),
                ("every", spacing, usual.spacing),
                ("thick", thickness, usual.thickness),
            ] {
                if *value != usual {
                    parts.push(format!("{name}{value}"));
                }
            }
            if *count != usual.count {
                parts.push(format!("count{count}"));
            }
            if *body {
                parts.push("body".to_owned());
            }
        }
        parts.iter().map(|part| format!("-{}", plain(part))).collect()
    }

    /// Warnings about a world in which the physics is unstable or the robot does not fit the task, in sentences; tasks as
    /// published need no trial.
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

/// What every file system and shell takes as it is; a dash for anything else.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_world_is_told_in_words_and_in_names_and_the_usual_one_is_not() {
        let usual = EnvOverrides::default();
        assert_eq!((usual.in_words(), usual.in_a_name()), (None, String::new()));
        let changed = EnvOverrides {
            robot: Some("robots/my dog.toml".into()),
            gravity: 2.0,
            friction: 0.0,
            strength: [("left_knee".to_owned(), 0.5)].into(),
            hurdles: Some(Hurdles { height: 0.2, ..Hurdles::default() }),
            ..EnvOverrides::default()
        };
        let words = changed.in_words().unwrap();
        for part in
            ["robot my dog.toml", "gravity × 2", "friction × 0", "left_knee × 0.5", "hurdles (height 0.2 m"]
        {
            assert!(words.contains(part), "{words}");
        }
        assert_eq!(changed.in_a_name(), "-my-dog-gravity2-friction0-left_knee0.5-hurdles0.2");
    }

    /// Two worlds must not share a default folder.
    #[test]
    fn every_change_shows_in_the_name() {
        let hurdles = |change: fn(&mut Hurdles)| {
            let mut hurdles = Hurdles::default();
            change(&mut hurdles);
            EnvOverrides { hurdles: Some(hurdles), ..EnvOverrides::default() }
        };
        let worlds = [
            EnvOverrides::default(),
            EnvOverrides { gravity: 0.5, ..EnvOverrides::default() },
            EnvOverrides { friction: 0.5, ..EnvOverrides::default() },
            hurdles(|_| ()),
            hurdles(|h| h.height = 0.1),
            hurdles(|h| h.first = 7.0),
            hurdles(|h| h.spacing = 7.0),
            hurdles(|h| h.thickness = 0.7),
            hurdles(|h| h.count = 7),
            hurdles(|h| h.body = true),
        ];
        let names: std::collections::BTreeSet<String> = worlds.iter().map(EnvOverrides::in_a_name).collect();
        assert_eq!(names.len(), worlds.len(), "{names:?}");
    }

    #[test]
    fn strength_that_makes_the_physics_unstable_is_found_in_a_trial() {
        let strength = [("leg_joint".to_owned(), 1e5)].into();
        let warnings = EnvOverrides { strength, ..EnvOverrides::default() }.examine("hopper").unwrap();
        assert!(warnings.iter().any(|warning| warning.contains("unstable")), "{warnings:?}");
    }
}
