//! Sweeps: many searches that differ in task, reward, curiosity, demonstrations, measure, seed or any other setting.
//!
//! A *sweep file* has a method, a budget and settings shared by all runs, and *axes*: lists of values, each combination
//! of which is a run. If one product is not enough, `[[grid]]` tables define several, and the sweep has the runs of all
//! of them. A run does what `magpie train` does, in its own run directory, named after the values of its axes. A
//! [`Shard`] is the part of the runs that one machine executes. [`make`] executes them, [`Sweep::status`] says from anywhere how
//! they stand.
//!
//! Everything is checked before the first run starts: [`Sweep::read`] reports errors in the file, [`Sweep::check`] runs
//! that cannot be executed, and [`Run::state`] whether a directory holds the run that the file describes.

mod file;
mod make;
mod measure;
mod names;
mod shard;
mod state;
mod status;
pub mod submit;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::RunError;
use crate::settings::{Fault, Layer, Origin, idle_for, is_retired, read_text};
use crate::train::{Config, Place, of_layers};
use crate::world::WorldChanges;
use file::{Axis, SweepFile};
pub use make::{End, News, Outcome, Watch, make};
pub use measure::Estimate;
pub use shard::{NoShard, Shard, ShardChoice, WrongShard, divide};
pub(crate) use state::FAILED;
pub use state::State;
pub use status::{RunStatus, Standing, status_of_folder};

/// The runs of a sweep file.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    path: PathBuf,
    runs: Vec<Run>,
    notes: Vec<String>,
}

/// One run of a sweep: a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its unique name, such as `walker2d-gail-q2-s1`, which is also the name of its directory.
    pub name: String,
    /// Its configuration.
    pub config: Config,
}

/// More runs than this are certainly a mistake in the file.
const MOST_RUNS: usize = 10_000;
/// In bytes; file systems allow 255.
const LONGEST_NAME: usize = 200;

impl Sweep {
    /// Reads a sweep file. Paths of robots and demonstrations are relative to its directory; [`Sweep::check`] checks
    /// the files themselves.
    pub fn read(path: &Path) -> Result<Sweep, RunError> {
        Sweep::parse(path, &read_text(path)?)
    }

    fn parse(path: &Path, text: &str) -> Result<Sweep, RunError> {
        let place = |fault: Fault| fault.into_error(Some((path, text)), &[]);
        let refuse = |problem: String| RunError::Config { path: path.to_owned(), problem };
        let file = SweepFile::parse(text).map_err(place)?;
        let count = file.grids.iter().try_fold(0_usize, |sum, grid| {
            let product = grid.iter().try_fold(1_usize, |n, axis| n.checked_mul(axis.values.len()))?;
            sum.checked_add(product).filter(|&sum| sum <= MOST_RUNS)
        });
        if count.is_none() {
            let problem =
                format!("the axes give more than {MOST_RUNS} runs; split the sweep into several files");
            return Err(refuse(problem));
        }
        let all_axes = file.grids.iter().flatten().map(|axis| axis.key.as_str()).collect();
        let mut runs: Vec<Run> = Vec::new();
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut choices: Vec<Choice<'_>> = file.grids.iter().flat_map(|grid| Choices::new(grid)).collect();
        // Sorted by seed even across grids, so that results can be compared early.
        choices.sort_by_key(number_of_seed);
        for choice in choices {
            let config = file.config(path, &choice, place)?;
            let name = names::name(&config, &choice, &all_axes);
            let of_sweep = of_sweep(path, &name);
            makes_a_difference(&config, &choice).map_err(of_sweep)?;
            if name.len() > LONGEST_NAME {
                let problem = format!("the name of run {name} is too long for a directory; use fewer axes");
                return Err(refuse(problem));
            }
            if let Some(&before) = numbers.get(&name) {
                let same = match runs[before] == (Run { name: name.clone(), config }) {
                    true => "are identical; leave one out",
                    false => "have the same name; rename the files or values in which they differ",
                };
                let number = runs.len() + 1;
                return Err(refuse(format!("run {} and run {number}, {name}, {same}", before + 1)));
            }
            numbers.insert(name.clone(), runs.len());
            runs.push(Run { name, config });
        }
        Ok(Sweep { path: path.to_owned(), runs, notes: file.notes })
    }

    /// All runs in order of execution: those with the first seed, then those with the next.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The number of each run's shard, from 1.
    pub fn shards(&self, of: usize) -> Vec<usize> {
        let costs: Vec<u64> = self.runs.iter().map(|run| run.config.most_env_steps()).collect();
        divide(&costs, of)
    }

    /// The runs of a shard, in order of execution.
    pub fn runs_of(&self, shard: Shard) -> Vec<&Run> {
        let runs = self.runs.iter().zip(self.shards(shard.of));
        runs.filter(|(_, of)| *of == shard.number).map(|(run, _)| run).collect()
    }

    /// The files that runs name beside the sweep file: demonstrations, tasks and robots.
    pub fn files(&self) -> BTreeSet<&Path> {
        let configs = self.runs.iter().map(|run| &run.config);
        let named = configs.flat_map(|config| [&config.demos.file, &config.world.task, &config.world.robot]);
        named.flatten().map(PathBuf::as_path).collect()
    }

    /// Notes on how the file was understood, in sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Refuses a sweep with a run that cannot be executed, and names the run. Returns warnings about likely mistakes.
    pub fn check(&self) -> Result<Vec<String>, RunError> {
        let mut warnings = Vec::new();
        for run in &self.runs {
            let Config { world, task, .. } = &run.config;
            let examined = run.config.validated().and_then(|_| world.examine(task));
            let examined = examined.map_err(of_sweep(&self.path, &run.name))?;
            for warning in examined.into_iter().chain(run.config.doubts()) {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
        }
        Ok(warnings)
    }
}

fn of_sweep(path: &Path, run: &str) -> impl Fn(RunError) -> RunError {
    let (path, run) = (path.to_owned(), run.to_owned());
    move |reason| RunError::OfSweep { path: path.clone(), run: run.clone(), reason: Box::new(reason) }
}

/// One value for each axis of a grid.
type Choice<'a> = Vec<(&'a Axis, &'a Layer)>;

/// The index of the seed on its axis.
fn number_of_seed(choice: &Choice<'_>) -> usize {
    let seed = choice.iter().find(|(axis, _)| axis.key == "seed");
    seed.and_then(|(axis, seed)| axis.values.iter().position(|value| std::ptr::eq(value, *seed))).unwrap_or(0)
}

/// All combinations of a grid; the last axis varies fastest.
struct Choices<'a> {
    axes: &'a [Axis],
    next: Option<Vec<usize>>,
}

impl<'a> Choices<'a> {
    fn new(axes: &'a [Axis]) -> Choices<'a> {
        Choices { axes, next: Some(vec![0; axes.len()]) }
    }
}

impl<'a> Iterator for Choices<'a> {
    type Item = Choice<'a>;

    fn next(&mut self) -> Option<Choice<'a>> {
        let current = self.next.take()?;
        let mut next = current.clone();
        for (digit, axis) in next.iter_mut().zip(self.axes).rev() {
            *digit += 1;
            if *digit < axis.values.len() {
                self.next = Some(next);
                break;
            }
            *digit = 0;
        }
        Some(self.axes.iter().zip(current).map(|(axis, at)| (axis, &axis.values[at])).collect())
    }
}

impl SweepFile {
    /// The configuration of one run: the defaults of method and budget, overridden by the settings and the values of
    /// the axes.
    fn config(
        &self,
        path: &Path,
        choice: &Choice<'_>,
        place: impl Fn(Fault) -> RunError + Copy,
    ) -> Result<Config, RunError> {
        let chosen = choice.iter().map(|(axis, value)| axis.setting(value));
        let layers: Vec<Layer> =
            self.settings.iter().cloned().map(Ok).chain(chosen).collect::<Result<_, _>>().map_err(place)?;
        let message = "no task is named; add `task = [\"walker2d\"]` to [axes]".to_owned();
        let nowhere = Fault { at: Origin::File(0), message };
        let (folder, world) = (path.with_file_name(""), WorldChanges::default());
        let beside = Place { folder: &folder, world: &world };
        let mut config = of_layers(self.method, self.budget, layers, beside, nowhere).map_err(place)?;
        if let Some(file) = &mut config.demos.file {
            let of_task = file.to_str().map(|text| text.replace("{task}", &config.task).into());
            *file = folder.join(of_task.unwrap_or_else(|| file.clone()));
        }
        Ok(config)
    }
}

/// Refuses an axis that has no effect in this run: it would give several identical runs.
fn makes_a_difference(config: &Config, choice: &Choice<'_>) -> Result<(), RunError> {
    let text = toml::to_string(config).unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    for (axis, value) in choice {
        let problem = match idle_for(&axis.key, &table) {
            _ if is_retired(&axis.key) => "this setting was removed; leave it out".to_owned(),
            Some(when) => format!(
                "{} has no effect in this run, because it requires {when}; put the runs in which it has an effect in a \
                 [[grid]] of their own",
                value.value
            ),
            None => continue,
        };
        return Err(RunError::Setting { place: axis.name.clone(), problem });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
