//! Adaptation tasks: which quantities of the world change, from where to where, and at which levels to look.
//!
//! A task is a TOML file. One number, the *level*, moves all of its changes at once, each in proportion between its two
//! ends. Random worlds ([`AdaptTask::random_world`]) take some of the changes, each somewhere between its ends.

use std::path::Path;

use magpie_physics::Hurdles;
use magpie_physics::robot::Robot;
use magpie_random::Stream;
use magpie_settings::{DataFault, parse_data_file, read_data_file};
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::world::EnvOverrides;

/// The tasks of the paper, by name.
pub const PAPER_TASKS: [(&str, &str); 3] = [
    ("friction", include_str!("tasks/friction.toml")),
    ("motor", include_str!("tasks/motor.toml")),
    ("hurdles", include_str!("tasks/hurdles.toml")),
];

/// The task that is made for any robot: all of its actuators can fail.
pub const DAMAGE: &str = "damage";
/// Actuators that fail in a random damage.
const FAILURES: usize = 2;

/// The kind of file, for messages.
const KIND: &str = "adaptation task";

/// What changes in the world of a robot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptTask {
    /// Name, also of the files with results.
    pub name: String,
    /// The task that it is for; any if not given.
    #[serde(default)]
    pub task: Option<String>,
    /// The measure that its archives should have; any if not given.
    #[serde(default)]
    pub measure: Option<String>,
    /// What the level is.
    pub level: Levels,
    /// Hurdles, if there are any; their height may be one of the changes.
    #[serde(default)]
    pub hurdles: Option<Hurdles>,
    /// What changes with the level.
    #[serde(rename = "change", default)]
    pub changes: Vec<Change>,
    /// How many of the changes a random world has; all if not given.
    #[serde(default)]
    pub draw: Option<usize>,
}

/// The number that moves all changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Levels {
    /// What it is, with its unit: the axis of pictures.
    pub name: String,
    /// The least and the greatest level.
    pub range: [f64; 2],
    /// Where the world is as it was.
    pub healthy: f64,
    /// Where to look; the healthy one is looked at in any case.
    pub levels: Vec<f64>,
}

/// A quantity of the world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// `gravity`, `friction`, `strength.ACTUATOR` (factors) or `hurdles.height` (m).
    pub quantity: String,
    /// Its values at the least and at the greatest level.
    pub ends: [f64; 2],
}

impl AdaptTask {
    /// The task of this name, for this robot, or that of a file.
    pub fn find(name: &str, robot: &Robot) -> Result<AdaptTask, RunError> {
        if let Some((name, text)) = PAPER_TASKS.iter().find(|(known, _)| *known == name) {
            return AdaptTask::from_toml(text, &format!("adaptation task {name:?}"));
        }
        if name == DAMAGE {
            return Ok(AdaptTask::damage(robot));
        }
        let path = Path::new(name);
        let is_name = !name.contains(['/', '\\', '.']);
        if is_name && !path.exists() {
            let names = PAPER_TASKS.iter().map(|(name, _)| *name).chain([DAMAGE]);
            let remedy = magpie_settings::remedy(name, names);
            let problem =
                format!("there is no adaptation task {name:?}; {remedy}; or name a file of your own");
            return Err(RunError::Adaptation { problem });
        }
        let text = read_data_file(path, KIND).map_err(failed)?;
        AdaptTask::from_toml(&text, name)
    }

    /// Reads a task. `origin` names the source of the text in error messages.
    pub fn from_toml(text: &str, origin: &str) -> Result<AdaptTask, RunError> {
        let task: AdaptTask = parse_data_file(text, origin, KIND).map_err(failed)?;
        task.check().map_err(|fault| failed(fault.within(origin)))?;
        Ok(task)
    }

    /// Every actuator of a robot, from sound to without any strength.
    pub fn damage(robot: &Robot) -> AdaptTask {
        let failing = |name: &str| Change { quantity: format!("strength.{name}"), ends: [1.0, 0.0] };
        AdaptTask {
            name: DAMAGE.to_owned(),
            task: None,
            measure: None,
            level: Levels {
                name: "damage of all actuators".to_owned(),
                range: [0.0, 1.0],
                healthy: 0.0,
                levels: vec![0.2, 0.4, 0.6, 0.8],
            },
            hurdles: None,
            changes: robot.actuators.iter().map(|actuator| failing(&actuator.name)).collect(),
            draw: Some(FAILURES.min(robot.actuators.len())),
        }
    }

    fn check(&self) -> Result<(), DataFault> {
        let fault = |field: &str, problem: String, remedy: &str| Err(DataFault::new(field, problem, remedy));
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if self.name.is_empty() || self.name.len() > 60 || !self.name.chars().all(plain) {
            let problem = format!("found {:?}", self.name);
            return fault("name", problem, "files are named after it: use 1 to 60 letters, digits, - and _");
        }
        let [low, high] = self.level.range;
        if !(low.is_finite() && high.is_finite() && low < high) {
            let problem = format!("found {:?}", self.level.range);
            return fault("level.range", problem, "the lower end must come first, and be smaller");
        }
        self.check_levels(&[self.level.healthy], "level.healthy")?;
        self.check_levels(&self.level.levels, "level.levels")?;
        if self.level.levels.is_empty() {
            return fault("level.levels", "there is none".to_owned(), "name at least one");
        }
        if self.changes.is_empty() {
            return fault("change", "there is none".to_owned(), "add a [[change]] with quantity and ends");
        }
        for (i, Change { quantity, ends }) in self.changes.iter().enumerate() {
            let field = |name: &str| format!("change[{i}].{name}");
            let is_strength = quantity.strip_prefix("strength.").is_some_and(|name| !name.is_empty());
            if !is_strength && !QUANTITIES.contains(&quantity.as_str()) {
                let valid = QUANTITIES.into_iter().chain(["strength.ACTUATOR"]);
                let remedy = magpie_settings::remedy(quantity, valid);
                return fault(&field("quantity"), format!("unknown {quantity:?}"), &remedy);
            }
            if self.changes[..i].iter().any(|earlier| earlier.quantity == *quantity) {
                return fault(&field("quantity"), format!("{quantity} is here twice"), "remove one");
            }
            if !ends.iter().all(|end| end.is_finite()) {
                return fault(&field("ends"), format!("found {ends:?}"), "must be two finite numbers");
            }
            if !is_strength && ends.iter().any(|&end| end < 0.0) {
                return fault(&field("ends"), format!("found {ends:?}"), "must be at least 0");
            }
        }
        match self.draw {
            Some(draw) if draw == 0 || draw > self.changes.len() => {
                let remedy = format!("must be from 1 to {}, the number of changes", self.changes.len());
                fault("draw", format!("found {draw}"), &remedy)
            }
            _ => Ok(()),
        }
    }

    fn check_levels(&self, levels: &[f64], field: &str) -> Result<(), DataFault> {
        let [low, high] = self.level.range;
        match levels.iter().find(|level| !(low..=high).contains(*level)) {
            None => Ok(()),
            Some(level) => {
                let remedy = format!("must be from {low} to {high}, the range of {}", self.level.name);
                Err(DataFault::new(field, format!("found {level}"), remedy))
            }
        }
    }

    /// Refuses levels outside of the range.
    pub fn allows(&self, levels: &[f64]) -> Result<(), RunError> {
        let named = format!("adaptation task {:?}", self.name);
        self.check_levels(levels, "levels").map_err(|fault| failed(fault.within(&named)))
    }

    /// The world at a level, if it is `own` at the healthy one.
    pub fn world(&self, own: &EnvOverrides, level: f64) -> EnvOverrides {
        let [low, high] = self.level.range;
        let share = (level - low) / (high - low);
        let values = self.changes.iter().map(|change| (change, between(change.ends, share)));
        self.changed(own, values)
    }

    /// A world with some of the changes, drawn by `seed` and `number`, each evenly between its ends.
    pub fn random_world(&self, own: &EnvOverrides, seed: u64, number: u32) -> EnvOverrides {
        let mut draws = Stream::new(seed, "random adaptation").draws(number, 0);
        let mut left: Vec<usize> = (0..self.changes.len()).collect();
        let mut chosen: Vec<usize> = (0..self.draw.unwrap_or(left.len()))
            .map(|_| left.remove(draws.below(left.len() as u32) as usize))
            .collect();
        chosen.sort_unstable();
        // Three digits, so that people can repeat it.
        let rounded = |value: f64| (value * 1000.0).round() / 1000.0;
        let values: Vec<(&Change, f64)> = chosen
            .into_iter()
            .map(|at| (&self.changes[at], rounded(between(self.changes[at].ends, f64::from(draws.unit())))))
            .collect();
        self.changed(own, values.into_iter())
    }

    fn changed<'a>(
        &self,
        own: &EnvOverrides,
        values: impl Iterator<Item = (&'a Change, f64)>,
    ) -> EnvOverrides {
        let mut world = own.clone();
        world.hurdles = self.hurdles.or(world.hurdles);
        for (change, value) in values {
            match change.quantity.as_str() {
                "gravity" => world.gravity = value,
                "friction" => world.friction = value,
                "hurdles.height" => world.hurdles.get_or_insert_default().height = value,
                quantity => {
                    let actuator = quantity.strip_prefix("strength.").unwrap_or(quantity);
                    world.strength.insert(actuator.to_owned(), value);
                }
            }
        }
        world
    }

    /// Refuses a robot that this task is not for, and warns of another measure than it is meant for.
    pub fn suits(&self, task: &str, measure: &str, robot: &Robot) -> Result<Option<String>, RunError> {
        if let Some(own) = self.task.as_deref().filter(|own| *own != task) {
            let problem = format!(
                "the adaptation task {:?} is for {own}, and this archive is of {task}; name an archive of {own}, or write a \
                 task file without `task`",
                self.name
            );
            return Err(RunError::Adaptation { problem });
        }
        // An actuator that the robot does not have is found before anything runs.
        self.world(&EnvOverrides::default(), self.level.range[1]).perturbation(robot)?;
        Ok(self.measure.as_deref().filter(|own| *own != measure).map(|own| {
            format!(
                "the adaptation task {:?} is meant for archives of {own}, and this one is of {measure}: its results are not \
                 those of the published experiment",
                self.name
            )
        }))
    }
}

const QUANTITIES: [&str; 3] = ["gravity", "friction", "hurdles.height"];

fn between([first, second]: [f64; 2], share: f64) -> f64 {
    first + (second - first) * share
}

fn failed(reason: impl std::fmt::Display) -> RunError {
    RunError::Adaptation { problem: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> Result<AdaptTask, String> {
        AdaptTask::from_toml(text, "own.toml").map_err(|e| e.to_string())
    }

    const OWN: &str = r#"
        name = "worn"
        draw = 2
        level = { name = "wear", range = [0, 2], healthy = 0, levels = [1, 2] }
        change = [
            { quantity = "strength.left_knee", ends = [1, 0] },
            { quantity = "strength.right_knee", ends = [1, 0.5] },
            { quantity = "friction", ends = [1, 0.5] },
            { quantity = "gravity", ends = [1, 2] },
        ]
    "#;

    #[test]
    fn the_papers_tasks_leave_the_healthy_world_alone_and_fit_their_robots() {
        for (name, _) in PAPER_TASKS {
            let task = AdaptTask::find(name, &Robot::builtin("hopper").unwrap()).unwrap();
            let robot = Robot::builtin(task.task.as_deref().unwrap()).unwrap();
            assert_eq!(task.level.levels.len(), 5, "{name}");
            assert!(!task.level.levels.contains(&task.level.healthy), "{name}");
            let healthy = task.world(&EnvOverrides::default(), task.level.healthy);
            let perturbation = healthy.perturbation(&robot).unwrap();
            let neutral = |factor: &f64| *factor == 1.0;
            assert!(perturbation.friction == 1.0 && perturbation.strength.iter().all(neutral), "{name}");
            assert!(perturbation.hurdles.is_none_or(|hurdles| hurdles.height == 0.0), "{name}");
            let other = task.suits("hopper", "feet_contact", &robot).unwrap_err().to_string();
            assert!(other.contains(&format!("is for {}", robot.name)), "{other}");
            let measure = task.measure.as_deref().unwrap();
            assert_eq!(task.suits(&robot.name, measure, &robot).unwrap(), None);
            let warning = task.suits(&robot.name, "angle", &robot).unwrap().unwrap();
            assert!(warning.contains(measure) && warning.contains("angle"), "{warning}");
        }
    }

    #[test]
    fn a_level_moves_all_changes_at_once() {
        let world = own(OWN).unwrap().world(&EnvOverrides::default(), 1.0);
        assert_eq!((world.friction, world.gravity), (0.75, 1.5));
        assert_eq!((world.strength["left_knee"], world.strength["right_knee"]), (0.5, 0.75));
        let hurdles =
            AdaptTask::from_toml(PAPER_TASKS[2].1, "").unwrap().world(&EnvOverrides::default(), 0.2);
        let hurdles = hurdles.hurdles.unwrap();
        assert!((hurdles.height - 0.2).abs() < 1e-12 && hurdles.body && hurdles.count == 5);
    }

    #[test]
    fn random_worlds_differ_and_are_the_same_every_time() {
        let task = own(OWN).unwrap();
        let world = |seed, number| task.random_world(&EnvOverrides::default(), seed, number);
        assert_eq!(world(1, 0), world(1, 0));
        assert!(world(1, 0) != world(1, 1) && world(1, 0) != world(2, 0));
        for number in 0..50 {
            let EnvOverrides { gravity, friction, strength, .. } = world(7, number);
            let changed = usize::from(gravity != 1.0) + usize::from(friction != 1.0) + strength.len();
            assert_eq!(changed, 2, "{number}");
            assert!((1.0..=2.0).contains(&gravity) && (0.5..=1.0).contains(&friction));
        }
    }

    #[test]
    fn nonsense_is_refused_with_field_and_remedy() {
        for (find, replace, parts) in [
            ("\"worn\"", "\"a/b\"", ["name", "letters"]),
            ("[0, 2]", "[2, 0]", ["level.range", "lower end"]),
            ("healthy = 0", "healthy = 3", ["level.healthy", "from 0 to 2"]),
            ("[1, 2] }\n", "[1, nan] }\n", ["level.levels", "from 0 to 2"]),
            ("[1, 2] }\n", "[] }\n", ["level.levels", "at least one"]),
            ("\"gravity\"", "\"gravty\"", ["change[3].quantity", "did you mean \"gravity\"?"]),
            ("\"gravity\"", "\"friction\"", ["change[3].quantity", "twice"]),
            ("[1, 2] },\n", "[1, inf] },\n", ["change[3].ends", "finite"]),
            ("[1, 2] },\n", "[1, -2] },\n", ["change[3].ends", "at least 0"]),
            ("draw = 2", "draw = 5", ["draw", "from 1 to 4"]),
            ("draw = 2", "drow = 2", ["drow", "did you mean \"draw\"?"]),
        ] {
            let error = own(&OWN.replacen(find, replace, 1)).unwrap_err();
            assert!(error.contains("own.toml") && parts.iter().all(|part| error.contains(part)), "{error}");
        }
        let robot = Robot::builtin("humanoid").unwrap();
        let other = own(&OWN.replace("left_knee", "left_nee")).unwrap();
        let error = other.suits("humanoid", "feet_contact", &robot).unwrap_err().to_string();
        assert!(error.contains("left_nee") && error.contains("did you mean \"left_knee\"?"), "{error}");
        let error = own(OWN).unwrap().allows(&[1.0, 2.5]).unwrap_err().to_string();
        assert!(error.contains("2.5") && error.contains("from 0 to 2"), "{error}");
        let error = AdaptTask::find("frction", &robot).unwrap_err().to_string();
        assert!(error.contains("did you mean \"friction\"?"), "{error}");
        let error = AdaptTask::find("nowhere/own.toml", &robot).unwrap_err().to_string();
        assert!(error.contains("nowhere/own.toml"), "{error}");
    }

    #[test]
    fn every_robot_can_be_damaged() {
        for (name, _) in magpie_physics::robot::BUILTIN {
            let robot = Robot::builtin(name).unwrap();
            let task = AdaptTask::damage(&robot);
            task.check().unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
            let world = task.random_world(&EnvOverrides::default(), 1, 1);
            assert_eq!(world.strength.len(), 2, "{name}");
            world.perturbation(&robot).unwrap();
        }
    }
}
