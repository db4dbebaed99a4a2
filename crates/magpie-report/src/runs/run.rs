//! One run, read from its folder.

use std::path::{Path, PathBuf};

use magpie_demos::Demonstrations;
use magpie_run::operations::open_outline;
use magpie_run::{ArchiveOutline, Reevaluation};

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
    /// Where its demonstrations lie in the space of measures, if they were measured as the run measures.
    pub demonstrations: Vec<Vec<f64>>,
    /// What the elites of this very archive reach when they are run again.
    pub reevaluation: Option<Reevaluation>,
}

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
        let demonstrations = places(folder, &settings, archive.as_ref());
        Ok(Some(Run { folder: folder.to_owned(), settings, rows, archive, demonstrations, reevaluation }))
    }

    /// Iterations made.
    pub fn iterations(&self) -> f64 {
        let archived = || self.archive.as_ref().map(|archive| archive.about.iteration as f64);
        self.rows.last().map(|row| row.iteration).or_else(archived).unwrap_or_default()
    }

    /// Where it stands now; `None` if nobody knows, or an empty archive has no such number.
    pub fn last(&self, metric: Metric) -> Option<f64> {
        match (self.rows.last(), &self.archive) {
            (Some(row), _) => Some(metric.of(row)).filter(|v| v.is_finite()),
            (None, Some(archive)) => metric.of_archive(&archive.metrics()),
            (None, None) => None,
        }
    }

    /// Where it stands when its elites are run again.
    pub fn corrected(&self, metric: Metric) -> Option<f64> {
        metric.of_archive(&self.reevaluation.as_ref()?.metrics)
    }
}

/// A mark in the pictures, and nothing to stop for: without the file there are none.
fn places(folder: &Path, settings: &Settings, archive: Option<&ArchiveOutline>) -> Vec<Vec<f64>> {
    let Some(dims) = archive.map(|archive| archive.about.names.len()) else { return Vec::new() };
    let Ok(all) = Demonstrations::load(&folder.join("demonstrations.safetensors")) else { return Vec::new() };
    let count = settings.others.get("demos.count").and_then(|count| count.parse().ok());
    let chosen = match count {
        Some(count) => all.subset(count),
        None => all,
    };
    if chosen.columns().about.measure != settings.measure {
        return Vec::new();
    }
    chosen.places().into_iter().flatten().filter(|place| place.len() == dims).collect()
}
