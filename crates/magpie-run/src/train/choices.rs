//! From what somebody asks for to the configuration of a search.

use std::path::{Path, PathBuf};

use magpie_envs::{TASKS, Task};
use magpie_rewards::ModelName;
use magpie_settings::{Method, Settings, remedy};

use super::config::{Budget, Config};
use crate::error::RunError;
use crate::settings::{Fault, Layer, Origin, Value, lay_over, layers, read_text};
use crate::world::{EnvOverrides, WorldChanges};

/// What somebody asks of a search. What is not given is as the file says, or as the pairs say, or as method and budget
/// have it for the task.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// How to search.
    pub method: Option<Method>,
    /// How much to spend.
    pub budget: Option<Budget>,
    /// Method and budget at once, as earlier versions had it.
    pub preset: Option<Budget>,
    /// Settings from a TOML file, such as the configuration of a run.
    pub file: Option<PathBuf>,
    /// Settings such as `search.branches=60`, over those of the file.
    pub sets: Vec<String>,
    /// The task, or a task file.
    pub task: Option<String>,
    /// How behaviour is measured.
    pub measure: Option<String>,
    /// Where the reward comes from.
    pub reward: Option<ModelName>,
    /// A file of demonstrations.
    pub demos: Option<PathBuf>,
    /// Weight of the bonus of curiosity.
    pub curiosity: Option<f64>,
    /// The seed.
    pub seed: Option<u64>,
    /// Iterations to make.
    pub iterations: Option<u64>,
    /// Changes to the world.
    pub world: WorldChanges,
}

/// A configuration, and what may surprise who asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The configuration.
    pub config: Config,
    /// In sentences.
    pub notes: Vec<String>,
    /// What is likely to be a mistake, in sentences.
    pub warnings: Vec<String>,
}

impl Choices {
    /// The method's configuration with the budget's size, the file over it, the pairs over both, and what is named here
    /// over all.
    pub fn resolve(&self) -> Result<Resolved, RunError> {
        let text = self.file.as_deref().map(read_text).transpose()?;
        let file = self.file.as_deref().zip(text.as_deref());
        self.over(file).map_err(|fault| fault.into_error(file, &self.sets))
    }

    fn over(&self, file: Option<(&Path, &str)>) -> Result<Resolved, Fault> {
        let mut notes = Vec::new();
        let refuse =
            |choice, message: &str| Err(Fault { at: Origin::Choice(choice), message: message.to_owned() });
        let (method, budget) = match (self.preset, self.method, self.budget) {
            (None, method, budget) => (method.unwrap_or_default(), budget.unwrap_or_default()),
            (Some(preset), None, None) => {
                notes.push(about_preset(preset));
                Budget::of_preset(preset)
            }
            _ => return refuse("preset", "it is a method and a budget; leave it out where either is named"),
        };
        let said = layers(file, &self.sets)?;
        let asked = self.named();
        let nowhere = match file {
            Some(_) => Origin::File(0),
            None => Origin::Choice("task"),
        };
        let all = said.iter().cloned().chain(asked.iter().cloned()).collect();
        let folder = file.map(|(file, _)| file.with_file_name("")).unwrap_or_default();
        let place = Place { folder: &folder, world: &self.world };
        let config =
            of_layers(method, budget, all, place, Fault { at: nowhere, message: NO_TASK.to_owned() })?;
        let of_file = said.iter().rev().find_map(|layer| layer.get("task"));
        if let Some(Layer { value: Value::Text(of_file), .. }) = of_file
            && *of_file != config.task
            && !is_task_file(of_file)
        {
            notes.push(format!(
                "the settings are those of a run on {of_file}, and the task is {}",
                config.task
            ));
        }
        if self.demos.is_some() && config.reward.model == ModelName::True {
            return refuse("demos", "the true reward is not learned; leave out one of the two");
        }
        let mut config = config;
        // What the file names lies beside it, as in the folder of a run.
        config.demos.file = config.demos.file.map(|demos| folder.join(demos));
        config.demos.file = self.demos.clone().or(config.demos.file);
        let warnings = config.world.examine(&config.task).map_err(Fault::of_world)?;
        Ok(Resolved { config, notes, warnings })
    }

    /// The choices that are settings, as layers.
    fn named(&self) -> Vec<Layer> {
        let text = |value: &dyn std::fmt::Display| Value::Text(value.to_string());
        // TOML has no larger whole numbers; such a seed is refused by its range.
        let whole = |number: u64| i64::try_from(number).map_or(Value::Real(number as f64), Value::Whole);
        [
            ("task", "task", self.task.as_ref().map(|task| text(&absolute(task)))),
            ("measure", "measure", self.measure.as_ref().map(|measure| text(measure))),
            ("reward", "reward.model", self.reward.map(|model| text(&model))),
            ("curiosity", "search.curiosity.weight", self.curiosity.map(Value::Real)),
            ("seed", "seed", self.seed.map(whole)),
            ("iterations", "iterations", self.iterations.map(whole)),
        ]
        .into_iter()
        .filter_map(|(choice, key, value)| {
            let at = Origin::Choice(choice);
            Layer { key: at, at, value: value? }.under(key, at)
        })
        .collect()
    }
}

pub(crate) const NO_TASK: &str = "no task is named; name one, here or as `task` in the file";

/// What to say in place of a preset.
pub(crate) fn about_preset(preset: Budget) -> String {
    let (method, budget) = Budget::of_preset(preset);
    format!(
        "preset {preset} is method {method} with budget {budget}; name those, a later version has no presets"
    )
}

/// Where settings are from, and what is changed about the world beside them.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Files that settings name are looked for here.
    pub folder: &'a Path,
    /// What is changed about the world.
    pub world: &'a WorldChanges,
}

/// The configuration of a method and a budget for the task, the measure and the reward that the layers name, with the
/// layers over it; `nowhere` is what to say if they name no task.
pub(crate) fn of_layers(
    method: Method,
    budget: Budget,
    layers: Vec<Layer>,
    place: Place<'_>,
    nowhere: Fault,
) -> Result<Config, Fault> {
    // Defaults depend on task, world, measure and reward, so that these have to be known first.
    let known = lay_over(&Config::of(method), layers.clone())?;
    if known.task.is_empty() {
        return Err(nowhere);
    }
    let last = |key: &str| layers.iter().rev().find_map(|layer| layer.get(key)).map(|layer| layer.at);
    let at = last("task").unwrap_or(nowhere.at);
    // A file that describes the world names itself; if a setting chose it, that is where to look first.
    let chosen = last("world.robot").or_else(|| last("world.task")).or_else(|| last("task"));
    let of_world = |reason: RunError| match chosen {
        Some(at @ (Origin::File(_) | Origin::Set(_))) => Fault { at, message: reason.to_string() },
        _ => Fault::of_world(reason),
    };
    let mut world = known.world;
    world.lies_in(place.folder);
    let task = find_task(&known.task, &mut world, place, at)?;
    let measure = last("measure").map(|at| (known.measure, at));
    if let Some((measure, at)) = &measure {
        let of_task = world.task(&task).map_err(of_world)?;
        of_task.measure(Some(measure)).map_err(|e| Fault { at: *at, message: e.to_string() })?;
    }
    let measure = measure.as_ref().map(|(measure, _)| measure.as_str());
    let base = Config::in_world(&world, &task, measure, known.reward.model, method, budget);
    let config = lay_over(&base.map_err(of_world)?, layers)?;
    Ok(Config { task, world, ..config })
}

/// Whether a task is named by its file.
pub(crate) fn is_task_file(task: &str) -> bool {
    Path::new(task).extension().is_some_and(|extension| extension == "toml")
}

/// A path on the command line is not relative to a configuration file.
fn absolute(task: &str) -> String {
    match is_task_file(task) {
        true => std::path::absolute(task).map_or(task.to_owned(), |path| path.display().to_string()),
        false => task.to_owned(),
    }
}

/// The name of a task as it is asked for, one that comes with magpie or a task file, and the world with what was changed
/// about it.
pub(crate) fn find_task(
    task: &str,
    world: &mut EnvOverrides,
    place: Place<'_>,
    at: Origin,
) -> Result<String, Fault> {
    if is_task_file(task) {
        world.task = Some(place.folder.join(task));
    }
    *world = place.world.apply(std::mem::take(world));
    match (&world.task, task) {
        (Some(file), asked) if is_task_file(asked) => {
            Ok(Task::load(file).map_err(|e| Fault::of_world(e.into()))?.name)
        }
        (None, asked) if !TASKS.contains(&asked) => {
            let remedy = remedy(asked, TASKS);
            let message = format!("there is no task {asked:?}: {remedy} (a task file ends in .toml)");
            Err(Fault { at, message })
        }
        (_, asked) => Ok(asked.to_owned()),
    }
}
