//! Sweeps: many searches that differ in task, reward, curiosity, demonstrations, measure, seed or any other setting.
//!
//! A *sweep file* has a method, a budget and settings that all runs share, and *axes*: lists of values, of which every combination
//! is a run. Where one product does not do, `[[grid]]` tables make several, and the runs of all are made. A run is what
//! `magpie train` makes, in a folder of its own that is named after what tells it apart. A [`Shard`] is one machine's
//! part of the runs.
//!
//! Everything is checked before anything is run: [`Sweep::read`] finds what is wrong with the file, [`Sweep::check`] what
//! cannot be run, and [`Run::state`] whether a folder holds what the file describes.

mod file;
mod names;
mod shard;
mod state;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::RunError;
use crate::settings::{Fault, Layer, Origin, idle_for, is_retired, read_text};
use crate::train::{Config, Place, of_layers};
use crate::world::WorldChanges;
use file::{Axis, SweepFile};
pub use shard::{Shard, WrongShard, divide};
pub use state::State;

/// The runs that a sweep file describes.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    path: PathBuf,
    runs: Vec<Run>,
    notes: Vec<String>,
}

/// One search of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What tells it apart, such as `walker2d-gail-q2-s1`: the name of its folder.
    pub name: String,
    /// What it computes.
    pub config: Config,
}

/// More runs than anybody has time for: a slip in the file.
const MOST_RUNS: usize = 10_000;
/// In bytes: file systems take 255.
const LONGEST_NAME: usize = 200;

impl Sweep {
    /// Reads a sweep file. Robots and demonstrations named there are looked for in its folder; whether they can be used,
    /// [`Sweep::check`] says.
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
            let problem = format!("its axes make more than {MOST_RUNS} runs; cut it into several files");
            return Err(refuse(problem));
        }
        let all_axes = file.grids.iter().flatten().map(|axis| axis.key.as_str()).collect();
        let mut runs: Vec<Run> = Vec::new();
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut choices: Vec<Choice<'_>> = file.grids.iter().flat_map(|grid| Choices::new(grid)).collect();
        // Also across grids, so that there is something to compare early.
        choices.sort_by_key(number_of_seed);
        for choice in choices {
            let config = file.config(path, &choice, place)?;
            let name = names::name(&config, &choice, &all_axes);
            let of_sweep = of_sweep(path, &name);
            makes_a_difference(&config, &choice).map_err(of_sweep)?;
            if name.len() > LONGEST_NAME {
                let problem =
                    format!("the name of run {name} is too long for a folder; sweep over less at once");
                return Err(refuse(problem));
            }
            if let Some(&before) = numbers.get(&name) {
                let same = match runs[before] == (Run { name: name.clone(), config }) {
                    true => "are the same; leave one out",
                    false => "have the same name; rename the files or values that tell them apart",
                };
                let number = runs.len() + 1;
                return Err(refuse(format!("run {} and run {number}, {name}, {same}", before + 1)));
            }
            numbers.insert(name.clone(), runs.len());
            runs.push(Run { name, config });
        }
        Ok(Sweep { path: path.to_owned(), runs, notes: file.notes })
    }

    /// All runs, in the order in which they are made: everything with the first seed, then with the next.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// What may surprise who wrote the file, in sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Refuses a sweep with a run that cannot be made, and names the run. Returns what is likely to be a mistake, in
    /// sentences.
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

/// A value of each axis of a grid.
type Choice<'a> = Vec<(&'a Axis, &'a Layer)>;

/// Whether it is the first seed, the second, …
fn number_of_seed(choice: &Choice<'_>) -> usize {
    let seed = choice.iter().find(|(axis, _)| axis.key == "seed");
    seed.and_then(|(axis, seed)| axis.values.iter().position(|value| std::ptr::eq(value, *seed))).unwrap_or(0)
}

/// All choices of a grid; the last axis turns fastest.
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
    /// The configuration of one run: method and budget, settings, and the values of the axes over them.
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

/// Refuses an axis that has no effect in this run: its values would make the same run several times.
fn makes_a_difference(config: &Config, choice: &Choice<'_>) -> Result<(), RunError> {
    let text = toml::to_string(config).unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    for (axis, value) in choice {
        let problem = match idle_for(&axis.key, &table) {
            _ if is_retired(&axis.key) => "there is no such setting any more; leave it out".to_owned(),
            Some(when) => format!(
                "{} has no effect in this run, which would need {when}; give the runs where it has one a [[grid]] of their \
                 own",
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
