//! `adaptation-NAME.json`: what became of an archive in changed worlds, with `adaptation-NAME.csv` for tables.
//!
//! The file is written whole after every world, with a checksum over what it says, so that a command that was stopped goes
//! on where it was.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::task::AdaptTask;
use super::trials::{Trial, TrialSettings};
use crate::directory::write_whole;
use crate::error::RunError;
use crate::settings::read_text;

/// Goes up when a field changes its meaning.
pub(super) const FORMAT: u32 = 1;
/// How the names of result files begin.
const PREFIX: &str = "adaptation-";

/// What became of an archive in changed worlds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adaptation {
    /// Version of the format.
    pub format: u32,
    /// What changed.
    pub task: AdaptTask,
    /// Whether the worlds were drawn at random.
    pub random: bool,
    /// Fingerprint of the archive.
    pub archive: u32,
    /// Iterations that it had behind it.
    pub iteration: u64,
    /// How elites acted.
    pub actions: String,
    /// Seed of all episodes.
    pub seed: u64,
    /// Episodes by which an elite is selected.
    pub episodes: u32,
    /// Episodes that are reported.
    pub report_episodes: u32,
    /// The cells of the elites.
    pub cells: Vec<usize>,
    /// The worlds, the healthy one first.
    pub cases: Vec<Case>,
}

/// All elites in one world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The level, or the number of a random world.
    pub at: f64,
    /// Whether this is the world in which the elites were found.
    pub healthy: bool,
    /// What differs from the task as published.
    pub world: String,
    /// Mean return of each elite over the episodes of the selection.
    pub returns: Vec<f64>,
    /// Return of each elite in one further episode, the first trial.
    pub first_trials: Vec<f64>,
    /// The best elite of the selection, in the episodes of the report.
    pub adapted: Reported,
    /// The elite that was the best of the selection in the healthy world, likewise.
    pub unadapted: Reported,
    /// The elite that is best in many more episodes of its own, likewise.
    pub oracle: Reported,
    /// What a few trials find, if any were asked for.
    pub few_shots: Option<FewShots>,
}

/// An elite in the episodes of the report, by which nothing was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reported {
    /// Its place among the elites.
    pub elite: usize,
    /// Mean return.
    pub mean: f64,
    /// Standard error of the mean.
    pub error: f64,
}

/// What a few trials find.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FewShots {
    /// How trials were chosen.
    pub settings: TrialSettings,
    /// The trials.
    pub trials: Vec<Trial>,
    /// The number of trials after which the stopping rule is met.
    pub stopped: Option<usize>,
    /// What the elite that is best known after 1, 2, … trials returns, over the episodes of the selection, which the trials
    /// do not see: by trial and error.
    pub trial_and_error: Vec<f64>,
    /// By trying elites in random order, the mean over many orders.
    pub random: Vec<f64>,
    /// By trying elites in descending order of what the archive has stored.
    pub best_stored: Vec<f64>,
}

impl FewShots {
    /// Names and curves.
    pub fn strategies(&self) -> [(&'static str, &[f64]); 3] {
        [
            ("trial and error", &self.trial_and_error),
            ("random choice", &self.random),
            ("best stored first", &self.best_stored),
        ]
    }
}

/// The file, with a checksum over the JSON of the rest.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    crc32: String,
    adaptation: Adaptation,
}

impl Adaptation {
    /// The name of its files, without an extension.
    pub fn name(&self) -> String {
        stem(&self.task, self.random)
    }

    /// The world in which the elites were found.
    pub fn healthy(&self) -> Option<&Case> {
        self.cases.iter().find(|case| case.healthy)
    }

    /// Changed worlds.
    pub fn changed(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| !case.healthy)
    }

    /// Mean regret over the changed worlds after 1, 2, … trials of each way to spend them: what the best known elite returns
    /// less than the one that exhaustive search finds. `None` if not all worlds have equally many trials.
    pub fn regrets(&self) -> Option<Vec<(&'static str, Vec<f64>)>> {
        self.over_worlds(|value, exhaustive| Some(exhaustive - value))
    }

    /// The same as shares of what exhaustive search finds; also `None` if that is not positive everywhere.
    pub fn shares(&self) -> Option<Vec<(&'static str, Vec<f64>)>> {
        self.over_worlds(|value, exhaustive| (exhaustive > 0.0).then(|| value / exhaustive))
    }

    fn over_worlds(&self, of: impl Fn(f64, f64) -> Option<f64>) -> Option<Vec<(&'static str, Vec<f64>)>> {
        let worlds: Vec<(&FewShots, f64)> = self
            .changed()
            .map(|case| Some((case.few_shots.as_ref()?, case.adapted.mean)))
            .collect::<Option<_>>()?;
        let trials = worlds.first()?.0.trials.len();
        let mut found = Vec::new();
        for (strategy, (name, _)) in worlds[0].0.strategies().iter().enumerate() {
            let mut sums = vec![0.0; trials];
            for (few, exhaustive) in &worlds {
                let (_, values) = few.strategies()[strategy];
                if values.len() != trials {
                    return None;
                }
                for (sum, &value) in sums.iter_mut().zip(values) {
                    *sum += of(value, *exhaustive)? / worlds.len() as f64;
                }
            }
            found.push((*name, sums));
        }
        Some(found)
    }

    /// What keeps the results of `earlier` from being continued.
    pub(super) fn differs_from(&self, earlier: &Adaptation) -> Option<&'static str> {
        let definition = |task: &AdaptTask| {
            let mut task = task.clone();
            task.level.levels.clear();
            task
        };
        [
            (self.archive != earlier.archive || self.cells != earlier.cells, "the archive has changed"),
            (definition(&self.task) != definition(&earlier.task), "the adaptation task has changed"),
            (self.actions != earlier.actions, "elites acted otherwise"),
            (self.seed != earlier.seed, "the seed is another"),
            (
                (self.episodes, self.report_episodes) != (earlier.episodes, earlier.report_episodes),
                "the number of episodes is another",
            ),
        ]
        .into_iter()
        .find_map(|(differs, why)| differs.then_some(why))
    }

    /// Writes both files into a folder.
    pub fn save(&self, folder: &Path) -> Result<(), RunError> {
        let path = folder.join(format!("{}.json", self.name()));
        let failed = |e: serde_json::Error| RunError::Damaged { path: path.clone(), problem: e.to_string() };
        let sealed = Sealed { crc32: self.checksum().map_err(failed)?, adaptation: self.clone() };
        let text = serde_json::to_string(&sealed).map_err(failed)? + "\n";
        write_whole(&path, text.as_bytes())?;
        write_whole(&folder.join(format!("{}.csv", self.name())), self.csv().as_bytes())
    }

    /// That of a folder, if there is one.
    pub fn load(path: &Path) -> Result<Option<Adaptation>, RunError> {
        if !path.is_file() {
            return Ok(None);
        }
        let damaged = |problem: String| RunError::Damaged { path: path.to_owned(), problem };
        let text = read_text(path)?;
        let Sealed { crc32, adaptation } = serde_json::from_str(&text).map_err(|e| damaged(e.to_string()))?;
        if adaptation.checksum().map_err(|e| damaged(e.to_string()))? != crc32 {
            return Err(damaged("its checksum does not match".to_owned()));
        }
        if adaptation.format != FORMAT {
            let problem = format!("its format is {}, and {FORMAT} is read", adaptation.format);
            return Err(RunError::Foreign { path: path.to_owned(), problem });
        }
        let elites = adaptation.cells.len();
        let whole = |case: &Case| {
            let known = |found: &Reported| found.elite < elites;
            let lists = [&case.returns, &case.first_trials];
            lists.iter().all(|list| list.len() == elites)
                && [&case.adapted, &case.unadapted, &case.oracle].into_iter().all(known)
        };
        match adaptation.cases.iter().all(whole) {
            true => Ok(Some(adaptation)),
            false => Err(damaged("its worlds do not have a return for each elite".to_owned())),
        }
    }

    fn checksum(&self) -> serde_json::Result<String> {
        Ok(format!("{:08x}", crc32fast::hash(&serde_json::to_vec(self)?)))
    }

    /// One line a world.
    fn csv(&self) -> String {
        let mut text = format!("{CSV_HEAD}\n");
        for case in &self.cases {
            let Case { at, healthy, adapted, unadapted, oracle, .. } = case;
            text += &format!("{at},{healthy},\"{}\"", case.world.replace('"', "\"\""));
            for Reported { elite, mean, error } in [adapted, unadapted, oracle] {
                text += &format!(",{},{mean},{error}", self.cells[*elite]);
            }
            let last = |curve: &[f64]| curve.last().map(f64::to_string).unwrap_or_default();
            match &case.few_shots {
                Some(few) => {
                    text += &format!(",{}", few.trials.len());
                    few.strategies().iter().for_each(|(_, curve)| text += &format!(",{}", last(curve)));
                }
                None => text += ",0,,,",
            }
            text.push('\n');
        }
        text
    }
}

const CSV_HEAD: &str = "level,healthy,world,adapted_cell,adapted,adapted_error,unadapted_cell,unadapted,unadapted_error,\
                        oracle_cell,oracle,oracle_error,trials,trial_and_error,random,best_stored";

/// The name of the files of a task.
pub(super) fn stem(task: &AdaptTask, random: bool) -> String {
    format!("{PREFIX}{}{}", task.name, if random { "-random" } else { "" })
}

/// The result files in a folder, sorted by name.
pub fn adaptation_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(PREFIX) && name.ends_with(".json")
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(ours).collect();
    files.sort();
    files
}
