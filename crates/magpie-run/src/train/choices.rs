//! From a user's choices to the configuration of a search.

use std::path::{Path, PathBuf};

use magpie_envs::{TASKS, Task};
use magpie_rewards::ModelName;
use magpie_settings::{Method, Settings, remedy};

use super::config::{Budget, Config, FEET_CONTACT};
use crate::error::RunError;
use crate::settings::{Fault, Layer, Origin, Value, lay_over, layers, read_text};
use crate::world::{EnvOverrides, WorldChanges};

/// A user's choices for a search. Values that are not given come from `sets`, then from the file, then from the
/// defaults of the method and the budget for the task.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Search method.
    pub method: Option<Method>,
    /// Budget.
    pub budget: Option<Budget>,
    /// Method and budget in one word, as in earlier versions.
    pub preset: Option<Budget>,
    /// A TOML file with settings, such as the configuration of a run.
    pub file: Option<PathBuf>,
    /// Settings such as `search.branches=60`, which override the file.
    pub sets: Vec<String>,
    /// Name of the task, or a task file.
    pub task: Option<String>,
    /// Behaviour measure.
    pub measure: Option<String>,
    /// Source of the reward.
    pub reward: Option<ModelName>,
    /// A demonstration file.
    pub demos: Option<PathBuf>,
    /// Weight of the curiosity bonus.
    pub curiosity: Option<f64>,
    /// Seed.
    pub seed: Option<u64>,
    /// Number of iterations.
    pub iterations: Option<u64>,
    /// Changes to the world.
    pub world: WorldChanges,
}

/// A configuration, with remarks for the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The configuration.
    pub config: Config,
    /// How to search, as chosen or by default.
    pub method: Method,
    /// How much to spend, as chosen or by default.
    pub budget: Budget,
    /// Notes on how the choices were understood, in sentences.
    pub notes: Vec<String>,
    /// Warnings about likely mistakes, in sentences.
    pub warnings: Vec<String>,
}

impl Resolved {
    /// Where a run goes if nobody says: `runs/TASK[-MEASURE][-WORLD]-REWARD[-qBONUS][-METHOD][-BUDGET]-SEED`. What is not
    /// as usual is in the name, so that runs which people compare get folders of their own.
    pub fn default_folder(&self) -> String {
        let Resolved { config, method, budget, .. } = self;
        let Config { task, measure, world, reward, seed, search, .. } = config;
        let mut name = task.clone();
        if measure != FEET_CONTACT {
            name += &format!("-{measure}");
        }
        // The robot of a task file belongs to the task.
        name += &world.in_a_name();
        name += &format!("-{}", reward.model);
        let weight = search.curiosity.weight;
        if weight != Config::usual_curiosity(reward.model) {
            name += &format!("-q{weight}");
        }
        if *method != Method::default() {
            name += &format!("-{method}");
        }
        if *budget != Budget::default() {
            name += &format!("-{budget}");
        }
        format!("runs/{name}-{seed}")
    }
}

impl Choices {
    /// Combines the defaults of method and budget, the file, `sets`, and the named choices; later ones override earlier
    /// ones.
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
            _ => {
                return refuse(
                    "preset",
                    "a preset sets both method and budget; leave it out if you name either of them",
                );
            }
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
            notes.push(format!("the settings come from a run on {of_file}, but the task is {}", config.task));
        }
        if self.demos.is_some() && config.reward.model == ModelName::True {
            return refuse(
                "demos",
                "the true reward is not learned from demonstrations; leave out one of the two",
            );
        }
        let mut config = config;
        // Paths in a file are relative to its directory, as in a run directory.
        config.demos.file = config.demos.file.map(|demos| folder.join(demos));
        config.demos.file = self.demos.clone().or(config.demos.file);
        let mut warnings = config.world.examine(&config.task).map_err(Fault::of_world)?;
        warnings.extend(config.doubts());
        Ok(Resolved { config, method, budget, notes, warnings })
    }

    /// The choices that are settings, as layers.
    fn named(&self) -> Vec<Layer> {
        let text = |value: &dyn std::fmt::Display| Value::Text(value.to_string());
        // Whole numbers in TOML are smaller; the range of `seed` refuses such a seed.
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

/// Advice on what to use instead of a preset.
pub(crate) fn about_preset(preset: Budget) -> String {
    let (method, budget) = Budget::of_preset(preset);
    format!("preset {preset} is deprecated; use method {method} with budget {budget} instead")
}

/// Context of the settings: their directory, and changes to the world.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Relative paths in settings are resolved here.
    pub folder: &'a Path,
    /// Changes to the world.
    pub world: &'a WorldChanges,
}

/// The configuration of a method and a budget for the task, measure and reward named in the layers, overridden by the
/// layers. `nowhere` is the error if they name no task.
pub(crate) fn of_layers(
    method: Method,
    budget: Budget,
    layers: Vec<Layer>,
    place: Place<'_>,
    nowhere: Fault,
) -> Result<Config, Fault> {
    // Defaults depend on task, world, measure and reward, so that these are determined first.
    let known = lay_over(&Config::of(method), layers.clone())?;
    if known.task.is_empty() {
        return Err(nowhere);
    }
    let last = |key: &str| layers.iter().rev().find_map(|layer| layer.get(key)).map(|layer| layer.at);
    let at = last("task").unwrap_or(nowhere.at);
    // Errors in a world's file name the file; if a setting named that file, report the setting.
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

/// Whether a task is given as a file.
pub(crate) fn is_task_file(task: &str) -> bool {
    Path::new(task).extension().is_some_and(|extension| extension == "toml")
}

/// A path on the command line is relative to the current directory, not to the configuration file.
fn absolute(task: &str) -> String {
    match is_task_file(task) {
        true => std::path::absolute(task).map_or(task.to_owned(), |path| path.display().to_string()),
        false => task.to_owned(),
    }
}

/// The name of the task (built in, or from a task file), and the world with changes applied.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(change: impl FnOnce(&mut Choices)) -> String {
        let mut choices = Choices { task: Some("walker2d".to_owned()), ..Choices::default() };
        change(&mut choices);
        choices.resolve().unwrap().default_folder()
    }

    #[test]
    fn default_folders_tell_apart_world_method_and_budget() {
        assert_eq!(folder(|_| ()), "runs/walker2d-gail-0");
        assert_eq!(folder(|c| c.seed = Some(3)), "runs/walker2d-gail-3");
        assert_eq!(folder(|c| c.measure = Some("jump".to_owned())), "runs/walker2d-jump-gail-0");
        assert_eq!(folder(|c| c.curiosity = Some(0.5)), "runs/walker2d-gail-q0.5-0");
        assert_eq!(folder(|c| c.method = Some(Method::Paper)), "runs/walker2d-gail-paper-0");
        assert_eq!(folder(|c| c.budget = Some(Budget::Desktop)), "runs/walker2d-gail-desktop-0");
        let slippery = WorldChanges { friction: Some(0.0), ..WorldChanges::default() };
        assert_eq!(folder(|c| c.world = slippery), "runs/walker2d-friction0-gail-0");
    }
}
