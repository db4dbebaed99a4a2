//! From what somebody asks for to the configuration of a search.

use std::path::{Path, PathBuf};

use magpie_envs::{Measure, TASKS};
use magpie_rewards::ModelName;
use magpie_settings::{Method, Settings, remedy};

use super::config::{Budget, Config};
use crate::error::RunError;
use crate::settings::{Fault, Layer, Origin, Value, lay_over, layers, read_text};
use crate::world::WorldChanges;

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
    /// The task.
    pub task: Option<String>,
    /// How behaviour is measured.
    pub measure: Option<Measure>,
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
        let config = of_layers(method, budget, all, Fault { at: nowhere, message: NO_TASK.to_owned() })?;
        let of_file = said.iter().rev().find_map(|layer| layer.get("task"));
        if let Some(Layer { value: Value::Text(of_file), .. }) = of_file
            && *of_file != config.task
        {
            notes.push(format!(
                "the settings are those of a run on {of_file}, and the task is {}",
                config.task
            ));
        }
        if self.demos.is_some() && config.reward.model == ModelName::True {
            return refuse("demos", "the true reward is not learnt; leave out one of the two");
        }
        // What the file names lies beside it, as in the folder of a run.
        let mut config = config;
        let beside = |path: &mut PathBuf| {
            if let Some((file, _)) = file {
                *path = file.with_file_name("").join(&*path);
            }
        };
        [&mut config.world.robot, &mut config.demos.file].into_iter().flatten().for_each(beside);
        config.world = self.world.apply(config.world);
        config.demos.file = self.demos.clone().or(config.demos.file);
        Ok(Resolved { config, notes })
    }

    /// The choices that are settings, as layers.
    fn named(&self) -> Vec<Layer> {
        let text = |value: &dyn std::fmt::Display| Value::Text(value.to_string());
        // TOML has no larger whole numbers; such a seed is refused by its range.
        let whole = |number: u64| i64::try_from(number).map_or(Value::Real(number as f64), Value::Whole);
        [
            ("task", "task", self.task.as_ref().map(|task| text(task))),
            ("measure", "measure", self.measure.map(|measure| text(&measure))),
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

const NO_TASK: &str = "no task is named; name one, here or as `task` in the file";

/// What to say in place of a preset.
pub(crate) fn about_preset(preset: Budget) -> String {
    let (method, budget) = Budget::of_preset(preset);
    format!(
        "preset {preset} is method {method} with budget {budget}; name those, a later version has no presets"
    )
}

/// The configuration of a method and a budget for the task, the measure and the reward that the layers name, with the
/// layers over it; `nowhere` is what to say if they name no task.
pub(crate) fn of_layers(
    method: Method,
    budget: Budget,
    layers: Vec<Layer>,
    nowhere: Fault,
) -> Result<Config, Fault> {
    // Defaults depend on task, measure and reward, so that these have to be known first.
    let known = lay_over(&Config::of(method), layers.clone())?;
    if known.task.is_empty() {
        return Err(nowhere);
    }
    let at = layers.iter().rev().find_map(|layer| layer.get("task")).map_or(nowhere.at, |layer| layer.at);
    known_task(&known.task, at)?;
    let base = Config::new(&known.task, known.measure, known.reward.model, method, budget);
    let base = base.map_err(|reason| Fault { at, message: reason.to_string() })?;
    lay_over(&base, layers)
}

/// Refuses a task that there is not.
pub(crate) fn known_task(task: &str, at: Origin) -> Result<(), Fault> {
    let message = match (task, TASKS.contains(&task)) {
        (_, true) => return Ok(()),
        ("", false) => NO_TASK.to_owned(),
        (_, false) => format!("there is no task {task:?}: {}", remedy(task, TASKS)),
    };
    Err(Fault { at, message })
}
