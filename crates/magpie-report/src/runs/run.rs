//! One run, read from its folder.

use std::path::{Path, PathBuf};

use magpie_demos::{Demonstrations, Episode, bundled};
use magpie_rewards::ModelName;
use magpie_run::adapt::{Adaptation, adaptation_files};
use magpie_run::operations::open_outline;
use magpie_run::{ArchiveOutline, Reevaluation, count};

use super::progress::{self, Metric, Row};
use super::settings::Settings;
use crate::error::ReportError;

/// Something that is not as it should be: said in the report, and no reason to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The folder or the method that it is about.
    pub place: String,
    /// What is the matter, and what to do.
    pub problem: String,
}

/// A search and what it has found so far.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its folder.
    pub folder: PathBuf,
    /// What it was told.
    pub settings: Settings,
    /// Its iterations.
    pub rows: Vec<Row>,
    /// Its archive, if that can be read.
    pub archive: Option<ArchiveOutline>,
    /// What its reward was learned from, if from any that can be read.
    pub learned: Option<Learned>,
    /// What the elites of this very archive reach when they are run again.
    pub reevaluation: Option<Reevaluation>,
    /// What became of this very archive in changed worlds.
    pub adaptations: Vec<Adaptation>,
}

/// The demonstrations that a reward was learned from.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// Whose they are.
    pub origin: Origin,
    /// The episodes.
    pub episodes: Vec<Episode>,
    /// Where each lies in the space of measures; empty if they were not measured as the run measures.
    pub places: Vec<Vec<f64>>,
}

/// Whose demonstrations are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Those that come with magpie for the task, chosen as the paper chooses its own.
    Bundled,
    /// The paper's.
    Paper,
    /// Any others.
    Other,
}

/// How the files of the paper's demonstrations are called.
const OF_THE_PAPER: &str = "trajs_ppga_";
/// Means of fewer episodes than this are noise for the most part.
const FEW_EPISODES: u32 = 10;

impl Run {
    /// Reads a run; `None` if the folder holds a run that is no search. Files that cannot be read are left out and noted,
    /// as long as something is left to show.
    pub fn read(folder: &Path, notes: &mut Vec<Note>) -> Result<Option<Run>, ReportError> {
        let Some(settings) = Settings::read(folder)? else { return Ok(None) };
        let mut note = |problem: String| notes.push(Note { place: folder.display().to_string(), problem });
        let rows = match progress::read(&folder.join("metrics.csv")) {
            Ok((rows, problem)) => {
                problem.into_iter().for_each(&mut note);
                rows
            }
            Err(e) => {
                note(format!("it is not in the curves: {e}"));
                Vec::new()
            }
        };
        let archive = open_outline(folder).map_err(|e| note(format!("its archive is not shown: {e}"))).ok();
        let archive = archive.filter(|ArchiveOutline { about, .. }| {
            let own = (&about.task, &about.measure) == (&settings.task, &settings.measure);
            if !own {
                note(format!(
                    "its archive is not shown: that is one of {}, {}, and config.toml says {}, {}; put the run's own file back",
                    about.task, about.measure, settings.task, settings.measure
                ));
            }
            own
        });
        if rows.is_empty() && archive.as_ref().is_none_or(|archive| archive.elites.is_empty()) {
            note("it has made no iteration yet, and is left out".to_owned());
            return Ok(None);
        }
        let made =
            rows.last().map(|row| row.iteration).or(archive.as_ref().map(|a| a.about.iteration as f64));
        let made = made.unwrap_or_default();
        if made < settings.iterations as f64 {
            note(format!(
                "not finished: {made} of {} iterations; resume it, unless it is running",
                settings.iterations
            ));
        }
        let reevaluation = Reevaluation::load(folder).unwrap_or_else(|e| {
            note(e.to_string());
            None
        });
        let reevaluation = reevaluation.filter(|found| {
            let current = archive.as_ref().is_some_and(|archive| found.is_of(archive));
            if !current {
                note(format!(
                    "its elites were run again after iteration {}, and the archive has changed since; run `magpie eval {}`",
                    found.iteration,
                    folder.display()
                ));
            }
            current
        });
        if let Some(Reevaluation { episodes, .. }) = &reevaluation
            && *episodes < FEW_EPISODES
        {
            note(format!(
                "its elites were run again for {} each, and a mean of so few is noise for the most part; run `magpie eval {}` \
                 with at least {FEW_EPISODES}",
                count(*episodes, "episode"),
                folder.display()
            ));
        }
        let fingerprint = archive.as_ref().map(ArchiveOutline::fingerprint);
        let mut adaptations = Vec::new();
        for file in adaptation_files(folder) {
            match Adaptation::load(&file) {
                Ok(Some(found)) if Some(found.archive) == fingerprint => adaptations.push(found),
                Ok(Some(found)) => note(format!(
                    "its archive has changed since `magpie adapt --task {}`; run that again",
                    found.task.name
                )),
                Ok(None) => {}
                Err(e) => note(e.to_string()),
            }
        }
        let learned = learned(folder, &settings, archive.as_ref());
        let folder = folder.to_owned();
        Ok(Some(Run { folder, settings, rows, archive, learned, reevaluation, adaptations }))
    }

    /// Iterations made.
    pub fn iterations(&self) -> f64 {
        let archived = || self.archive.as_ref().map(|archive| archive.about.iteration as f64);
        self.rows.last().map(|row| row.iteration).or_else(archived).unwrap_or_default()
    }

    /// Where it stands now; `None` if that is not known, or an empty archive has no such number.
    pub fn last(&self, metric: Metric) -> Option<f64> {
        match (self.rows.last(), &self.archive) {
            (Some(row), _) => Some(metric.of(row)).filter(|v| v.is_finite()),
            (None, Some(archive)) => metric.of_archive(&archive.metrics()),
            (None, None) => None,
        }
    }

    /// Where it stands in fresh episodes of its elites.
    pub fn verified(&self, metric: Metric) -> Option<f64> {
        metric.of_archive(&self.reevaluation.as_ref()?.metrics)
    }
}

/// What the run learned from; nothing to stop for, as only marks in pictures and a table are lost without the file.
fn learned(folder: &Path, settings: &Settings, archive: Option<&ArchiveOutline>) -> Option<Learned> {
    if settings.model == ModelName::True {
        return None;
    }
    let all = Demonstrations::load(&folder.join("demonstrations.safetensors")).ok()?;
    let origin = origin(&all, &settings.task);
    let chosen = match settings.others.get("demos.count").and_then(|count| count.parse().ok()) {
        Some(count) => all.subset(count),
        None => all,
    };
    let dims = archive.map(|archive| archive.about.names.len());
    let alike = chosen.columns().about.measure == settings.measure;
    let places = chosen.places().into_iter().flatten().filter(|place| alike && Some(place.len()) == dims);
    Some(Learned { origin, places: places.collect(), episodes: chosen.columns().episodes.clone() })
}

/// By content, or by the name of the paper's file.
fn origin(all: &Demonstrations, task: &str) -> Origin {
    let ours = bundled(task).and_then(|bytes| Demonstrations::from_bytes(bytes).ok());
    if ours.is_some_and(|ours| ours.anonymous() == all.anonymous()) {
        return Origin::Bundled;
    }
    let source = Path::new(&all.columns().about.source).file_name().unwrap_or_default();
    if source.to_string_lossy().starts_with(OF_THE_PAPER) { Origin::Paper } else { Origin::Other }
}
