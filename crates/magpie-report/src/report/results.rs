//! The table of results: what archives hold, what they are worth when run again, and what the paper has.

use crate::error::ReportError;
use crate::runs::{Method, Metric, Run, Scene};
use crate::statistics::paper;
use crate::statistics::table::{Cell, ResultsTable};

use super::sheet::{Entry, Kind, Sheet};

/// Where a row of numbers is from.
const STORED: &str = "as stored";
const CORRECTED: &str = "run again";
const PAPER: &str = "paper";

/// Mean and deviation over the runs that have a number.
fn cell(runs: &[Run], value: impl Fn(&Run) -> Option<f64>) -> Result<Option<Cell>, ReportError> {
    let values: Vec<f64> = runs.iter().filter_map(value).collect();
    Ok(if values.is_empty() { None } else { Some(Cell::of(&values)?) })
}

/// What the paper has for a method in a scene, by its family alone: its other settings are its own.
pub(super) fn of_the_paper(scene: &Scene, family: &str, metric: Metric) -> Option<Cell> {
    let feet = scene.measure == "feet_contact";
    let main = paper::results().get(family, &scene.task, metric.name()).filter(|_| feet);
    main.or_else(|| {
        let study = paper::measures_study();
        let setting = format!("{} {} (", scene.task, scene.measure);
        let setting = study.tasks().iter().find(|name| name.starts_with(&setting))?;
        study.get(family, setting, metric.name())
    })
}

/// A row for each method and origin of its numbers.
pub(super) fn sheet(scenes: &[Scene]) -> Result<Sheet, ReportError> {
    let mut columns = vec![
        ("task", Kind::Text),
        ("method", Kind::Text),
        ("numbers", Kind::Text),
        ("seeds", Kind::Number),
        ("iterations", Kind::Text),
    ];
    columns.extend(Metric::ALL.map(|metric| (metric.name(), Kind::Spread)));
    let mut rows = Vec::new();
    for scene in scenes {
        for method in &scene.methods {
            let mut row = |origin: &str, seeds: usize, iterations: String, cells: Vec<Entry>| {
                let mut row: Vec<Entry> =
                    [scene.title(), method.name.clone(), origin.to_owned()].map(Entry::Text).to_vec();
                row.extend([Entry::Number(seeds as f64, 0), Entry::Text(iterations)]);
                row.extend(cells);
                rows.push(row);
            };
            let stored = cells(method, Run::last)?;
            row(STORED, method.runs.len(), iterations(&method.runs), stored);
            let again = method.runs.iter().filter(|run| run.reevaluation.is_some()).count();
            if again > 0 {
                row(CORRECTED, again, String::new(), cells(method, Run::corrected)?);
            }
            let published = Metric::ALL.map(|metric| of_the_paper(scene, &method.family, metric));
            if published.iter().any(Option::is_some) {
                row(
                    PAPER,
                    paper::SEEDS,
                    "2000".to_owned(),
                    published.map(|cell| cell.map_or(Entry::Nothing, Entry::Spread)).to_vec(),
                );
            }
        }
    }
    Ok(Sheet { slug: "results", title: "Results", columns, rows })
}

fn cells(method: &Method, value: fn(&Run, Metric) -> Option<f64>) -> Result<Vec<Entry>, ReportError> {
    let entry = |&metric| Entry::spread(method.runs.iter().filter_map(|run| value(run, metric)));
    Metric::ALL.iter().map(entry).collect()
}

/// How far runs have come: one number, or from where to where.
fn iterations(runs: &[Run]) -> String {
    let all = || runs.iter().map(Run::iterations);
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    if least < most { format!("{least} to {most}") } else { format!("{most}") }
}

/// The same, laid out as the paper's main table: a row a method, columns grouped by task.
pub(super) fn as_in_the_paper(scenes: &[Scene]) -> Result<ResultsTable, ReportError> {
    let mut table = ResultsTable::default();
    for scene in scenes {
        for method in &scene.methods {
            for metric in Metric::OF_THE_PAPER {
                let numbers = [
                    (method.name.clone(), cell(&method.runs, |run| run.last(metric))?),
                    (
                        format!("{} ({CORRECTED})", method.name),
                        cell(&method.runs, |run| run.corrected(metric))?,
                    ),
                    (format!("{} ({PAPER})", method.family), of_the_paper(scene, &method.family, metric)),
                ];
                for (name, cell) in numbers {
                    cell.into_iter().for_each(|cell| table.set(&name, &scene.title(), metric.name(), cell));
                }
            }
        }
    }
    Ok(table)
}

/// A row a run.
pub(super) fn runs(scenes: &[Scene]) -> Sheet {
    let mut columns = vec![
        ("folder", Kind::Text),
        ("task", Kind::Text),
        ("method", Kind::Text),
        ("seed", Kind::Number),
        ("iterations", Kind::Number),
        ("planned", Kind::Number),
        ("environment steps (M)", Kind::Number),
        ("hours", Kind::Number),
    ];
    columns.extend(Metric::ALL.map(|metric| (metric.name(), Kind::Number)));
    columns.push(("QD-Score run again", Kind::Number));
    let mut rows = Vec::new();
    for scene in scenes {
        for (method, run) in
            scene.methods.iter().flat_map(|method| method.runs.iter().map(move |run| (method, run)))
        {
            let number =
                |value: Option<f64>, decimals| value.map_or(Entry::Nothing, |v| Entry::Number(v, decimals));
            let last = run.rows.last();
            let mut row: Vec<Entry> = [run.folder.display().to_string(), scene.title(), method.name.clone()]
                .map(Entry::Text)
                .to_vec();
            row.extend([
                // Not as a number: a seed may have more digits than those.
                Entry::Text(run.settings.seed.to_string()),
                Entry::Number(run.iterations(), 0),
                Entry::Number(run.settings.iterations as f64, 0),
                number(last.map(|row| row.env_steps / 1e6), 1),
                number(last.map(|row| row.seconds / 3600.0), 2),
            ]);
            for metric in Metric::ALL {
                let decimals = if matches!(metric, Metric::QdScore | Metric::QdScoreOffset) { 0 } else { 1 };
                row.push(number(run.last(metric), decimals));
            }
            row.push(number(run.corrected(Metric::QdScore), 0));
            rows.push(row);
        }
    }
    Sheet { slug: "runs", title: "Runs", columns, rows }
}

/// What to do to have the numbers of elites that are run again; `None` if all are there.
pub(super) fn what_to_run_again(scenes: &[Scene]) -> Option<String> {
    let runs = || scenes.iter().flat_map(|scene| &scene.methods).flat_map(|method| &method.runs);
    let missing = runs().filter(|run| run.reevaluation.is_none()).count();
    let example = runs().find(|run| run.reevaluation.is_none())?.folder.display().to_string();
    Some(format!(
        "The elites of {missing} of {} runs have not been run again: `magpie eval {example}` does it for one.",
        runs().count()
    ))
}
