//! Elites of an archive run again on fresh seeds.
//!
//! An archive keeps the luckiest of many noisy evaluations, so it flatters itself. Run again, its elites give returns
//! and measures that nobody has selected; put into an empty archive, these give the corrected QD-Score and coverage.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use magpie_envs::Environment;
use magpie_learn::{Actions, Evaluation, Policy, evaluate};
use magpie_qd::{Acceptance, ArchivePair, Candidate, Cells, Metrics, Provenance, QdOffset};
use magpie_run::{SavedArchive, SavedElite};

use crate::archive::{coordinates, networks_of};

/// Which elites.
pub enum Selection {
    All,
    Best,
    /// Coordinates in the grid, such as `12,40`.
    Cell(String),
}

/// How to run them.
pub struct Trial {
    pub env: Arc<Environment>,
    pub episodes: u32,
    pub actions: Actions,
    pub seed: u64,
}

/// Runs the chosen elites and prints what they do now beside what is stored; `table` receives a line for each. Of all
/// elites, the metrics of the archive that they make now.
pub fn reevaluate(
    archive: &SavedArchive,
    selection: &Selection,
    trial: &Trial,
    table: Option<&Path>,
) -> anyhow::Result<Option<Metrics>> {
    let chosen: Vec<&SavedElite> = match selection {
        Selection::All => archive.elites.iter().collect(),
        Selection::Best => archive.best().into_iter().collect(),
        Selection::Cell(text) => vec![elite_at(archive, text)?],
    };
    if chosen.is_empty() {
        bail!("the archive is empty: there is nothing to run");
    }
    let env = &trial.env;
    let networks = networks_of(&chosen, env)?;
    let policies: Vec<&Policy> = chosen.iter().map(|e| &e.policy).collect();
    let results = evaluate(env, &networks, &policies, trial.episodes, trial.actions, trial.seed);
    if let Some(path) = table {
        write_table(archive, &chosen, &results, path)?;
    }
    match (selection, &chosen[..], &results[..]) {
        (Selection::All, ..) => {
            let now = corrected(archive, &results)?;
            print_all(archive, &now, &chosen, &results, trial)?;
            Ok(Some(now))
        }
        (_, [elite], [result]) => print_one(archive, elite, result, trial).map(|()| None),
        _ => Ok(None),
    }
}

fn elite_at<'a>(archive: &'a SavedArchive, text: &str) -> anyhow::Result<&'a SavedElite> {
    let grid = &archive.about.grid;
    let dims: Vec<String> = grid.dims().iter().map(|d| format!("0 to {}", d - 1)).collect();
    let named: Option<Vec<usize>> = text.split(',').map(|c| c.trim().parse().ok()).collect();
    let cell = named.and_then(|c| grid.cell_at(&c)).with_context(|| {
        format!("--cell {text}: name one coordinate for each measure, with commas: {}", dims.join(", "))
    })?;
    archive.elite(cell).with_context(|| {
        let centre = grid.centre(cell).unwrap_or_default();
        let distance = |e: &SavedElite| -> f64 {
            let other = grid.centre(e.cell).unwrap_or_default();
            centre.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum()
        };
        let nearest = archive.elites.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let hint =
            nearest.map(|e| format!("; the nearest that holds one is {}", coordinates(archive, e.cell)));
        format!("cell {text} holds no elite{}", hint.unwrap_or_default())
    })
}

/// The archive that the re-evaluated elites make.
fn corrected(archive: &SavedArchive, results: &[Evaluation]) -> anyhow::Result<Metrics> {
    let grid = archive.about.grid.clone();
    // Only the result archive of the pair is looked at, so any rule does for the other one.
    let mut fresh = ArchivePair::new(grid, Acceptance::Elitist, 0, 0)?;
    let measures: Vec<Vec<f64>> = results.iter().map(Evaluation::mean_measures).collect();
    let batch: Vec<Candidate<'_>> = results
        .iter()
        .zip(&measures)
        .map(|(result, measures)| Candidate {
            solution: &[],
            extra: &[],
            objective: result.mean_return(),
            measures,
            length: result.mean_length(),
            provenance: Provenance { iteration: 0, branch: None },
        })
        .collect();
    fresh.add(&batch)?;
    Ok(fresh.metrics(QdOffset::PerStep(archive.about.qd_offset)))
}

fn print_all(
    archive: &SavedArchive,
    now: &Metrics,
    chosen: &[&SavedElite],
    results: &[Evaluation],
    trial: &Trial,
) -> anyhow::Result<()> {
    let stored = archive.metrics();
    let cells = Cells::from(archive.about.grid.clone());
    let stays = |elite: &SavedElite, now: &Evaluation| cells.index_of(&now.mean_measures()) == Ok(elite.cell);
    let moved = chosen.iter().zip(results).filter(|(elite, now)| !stays(elite, now)).count();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{}: {} elites, {} episodes each{}",
        archive.about.task,
        chosen.len(),
        trial.episodes,
        manner(trial)
    )?;
    writeln!(out, "{:16} {:>12} {:>12}", "", "stored", "corrected")?;
    let mut line = |name: &str, stored: f64, now: f64, digits: usize| {
        writeln!(out, "{name:16} {stored:12.digits$} {now:12.digits$}")
    };
    line("QD-Score", stored.qd_score, now.qd_score, 0)?;
    line("QD-Score, offset", stored.qd_score_offset, now.qd_score_offset, 0)?;
    line("coverage, %", 100.0 * stored.coverage, 100.0 * now.coverage, 2)?;
    line("best", stored.best.unwrap_or(f64::NAN), now.best.unwrap_or(f64::NAN), 1)?;
    line("mean", stored.mean.unwrap_or(f64::NAN), now.mean.unwrap_or(f64::NAN), 1)?;
    writeln!(out, "{moved} of {} elites now fall in another cell", chosen.len())?;
    Ok(())
}

fn print_one(
    archive: &SavedArchive,
    elite: &SavedElite,
    result: &Evaluation,
    trial: &Trial,
) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let cell = coordinates(archive, elite.cell);
    writeln!(
        out,
        "{}, elite of cell {cell}, {} episodes{}",
        archive.about.task,
        trial.episodes,
        manner(trial)
    )?;
    writeln!(out, "{:10} {:>10} {:>10}", "", "stored", "now")?;
    writeln!(out, "{:10} {:10.1} {:10.1}", "return", elite.objective, result.mean_return())?;
    writeln!(out, "{:10} {:10.1} {:10.1}", "length", elite.length, result.mean_length())?;
    for ((name, stored), now) in archive.about.names.iter().zip(&elite.measures).zip(result.mean_measures()) {
        writeln!(out, "{:10} {stored:10.3} {now:10.3}  {name}", "measure")?;
    }
    Ok(())
}

fn manner(trial: &Trial) -> &'static str {
    match trial.actions {
        Actions::Sampled => ", actions drawn as in training",
        Actions::Mean => ", mean actions",
    }
}

fn write_table(
    archive: &SavedArchive,
    chosen: &[&SavedElite],
    results: &[Evaluation],
    path: &Path,
) -> anyhow::Result<()> {
    let dims = archive.about.names.len();
    let mut columns = vec!["index".to_owned(), "stored_objective".to_owned(), "objective".to_owned()];
    columns.extend(["stored_length".to_owned(), "length".to_owned()]);
    columns.extend((0..dims).map(|j| format!("stored_measures_{j}")));
    columns.extend((0..dims).map(|j| format!("measures_{j}")));
    let mut text = columns.join(",") + "\n";
    for (elite, result) in chosen.iter().zip(results) {
        let numbers = [elite.objective, result.mean_return(), elite.length, result.mean_length()];
        let row = numbers.into_iter().chain(elite.measures.iter().copied()).chain(result.mean_measures());
        text.push_str(&elite.cell.to_string());
        row.for_each(|value| text.push_str(&format!(",{value}")));
        text.push('\n');
    }
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}
