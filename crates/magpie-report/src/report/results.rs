//! The table of results: what archives hold, what they are worth in fresh episodes, and what the paper has.

use crate::error::ReportError;
use crate::runs::{Method, Metric, Run, Scene};
use crate::statistics::paper;
use crate::statistics::table::{Cell, ResultsTable};

use super::published::{Found, find};
use super::sheet::{Entry, Kind, Sheet, columns};

/// Where a row of numbers is from.
const STORED: &str = "as stored";
const VERIFIED: &str = "verified";
const PAPER: &str = "paper";

/// Mean and deviation over the runs that have a number.
fn cell(runs: &[Run], value: impl Fn(&Run) -> Option<f64>) -> Result<Option<Cell>, ReportError> {
    let values: Vec<f64> = runs.iter().filter_map(value).collect();
    Ok(if values.is_empty() { None } else { Some(Cell::of(&values)?) })
}

/// A row for each method and origin of its numbers.
pub(super) fn sheet(scenes: &[Scene]) -> Result<Sheet, ReportError> {
    let mut columns = columns(&[
        ("task", Kind::Text),
        ("method", Kind::Text),
        ("numbers", Kind::Text),
        ("seeds", Kind::Number),
        ("iterations", Kind::Text),
        ("episodes", Kind::Text),
    ]);
    columns.extend(Metric::ALL.map(|metric| (metric.name().into(), Kind::Spread)));
    let mut rows = Vec::new();
    for scene in scenes {
        for method in &scene.methods {
            let mut row = |origin: &str, seeds: usize, [made, episodes]: [String; 2], cells: Vec<Entry>| {
                let mut row: Vec<Entry> =
                    [scene.title(), method.name.clone(), origin.to_owned()].map(Entry::Text).to_vec();
                row.extend([Entry::Number(seeds as f64, 0), Entry::Text(made), Entry::Text(episodes)]);
                row.extend(cells);
                rows.push(row);
            };
            let judged =
                method.runs.iter().filter_map(|run| run.settings.others.get("search.episodes")?.parse().ok());
            let made = range(method.runs.iter().map(Run::iterations));
            let again: Vec<f64> = method
                .runs
                .iter()
                .filter_map(|run| Some(run.reevaluation.as_ref()?.episodes.into()))
                .collect();
            if !again.is_empty() {
                let episodes = range(again.iter().copied());
                row(VERIFIED, again.len(), [String::new(), episodes], cells(method, Run::verified)?);
            }
            row(STORED, method.runs.len(), [made, range(judged)], cells(method, Run::last)?);
            if let Found::Same(published) = find(scene, method) {
                let cell = |metric| published.get(metric).map_or(Entry::Nothing, Entry::Spread);
                let spent = [paper::ITERATIONS, paper::EPISODES].map(|number| number.to_string());
                row(PAPER, paper::SEEDS, spent, Metric::ALL.map(cell).to_vec());
            }
        }
    }
    Ok(Sheet { slug: "results", title: "Results", columns, rows })
}

fn cells(method: &Method, value: fn(&Run, Metric) -> Option<f64>) -> Result<Vec<Entry>, ReportError> {
    let entry = |&metric| Entry::spread(method.runs.iter().filter_map(|run| value(run, metric)));
    Metric::ALL.iter().map(entry).collect()
}

/// One number, or from where to where; nothing of nothing.
fn range(all: impl Iterator<Item = f64>) -> String {
    let (least, most) =
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), n| (n.min(least), n.max(most)));
    match least.total_cmp(&most) {
        std::cmp::Ordering::Less => format!("{least} to {most}"),
        std::cmp::Ordering::Equal => most.to_string(),
        std::cmp::Ordering::Greater => String::new(),
    }
}

/// The same, laid out as the paper's main table: a row a method, columns grouped by task.
pub(super) fn as_in_the_paper(scenes: &[Scene]) -> Result<ResultsTable, ReportError> {
    let mut table = ResultsTable::default();
    for scene in scenes {
        for method in &scene.methods {
            let published = match find(scene, method) {
                Found::Same(published) => Some(published),
                Found::Other(_) | Found::Nothing => None,
            };
            let paper = published.as_ref().map_or(String::new(), |found| format!("{} ({PAPER})", found.name));
            for metric in Metric::OF_THE_PAPER {
                let numbers = [
                    (
                        format!("{} ({VERIFIED})", method.name),
                        cell(&method.runs, |run| run.verified(metric))?,
                    ),
                    (method.name.clone(), cell(&method.runs, |run| run.last(metric))?),
                    (paper.clone(), published.as_ref().and_then(|found| found.get(metric))),
                ];
                for (name, cell) in numbers {
                    cell.into_iter().for_each(|cell| table.set(&name, &scene.title(), metric.name(), cell));
                }
            }
        }
    }
    Ok(table)
}

/// The whole keys and values of the settings by which methods are told apart: their names say them in short.
pub(super) fn methods(scenes: &[Scene]) -> Sheet {
    let columns = columns(&[
        ("task", Kind::Text),
        ("method", Kind::Text),
        ("setting", Kind::Text),
        ("value", Kind::Text),
    ]);
    let mut rows = Vec::new();
    for scene in scenes {
        for method in &scene.methods {
            rows.extend(method.details.iter().map(|(key, value)| {
                [&scene.title(), &method.name, key, value].map(|text| Entry::Text(text.clone())).to_vec()
            }));
        }
    }
    Sheet { slug: "methods", title: "What tells methods apart", columns, rows }
}

/// A row a run.
pub(super) fn runs(scenes: &[Scene]) -> Sheet {
    let mut columns = columns(&[
        ("folder", Kind::Text),
        ("task", Kind::Text),
        ("method", Kind::Text),
        ("seed", Kind::Number),
        ("iterations", Kind::Number),
        ("planned", Kind::Number),
        ("environment steps (M)", Kind::Number),
        ("hours", Kind::Number),
    ]);
    columns.extend(Metric::ALL.map(|metric| (metric.name().into(), Kind::Number)));
    columns
        .extend([("verified QD-Score".into(), Kind::Number), ("verified by episodes".into(), Kind::Number)]);
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
            row.push(number(run.verified(Metric::QdScore), 0));
            row.push(number(run.reevaluation.as_ref().map(|again| again.episodes.into()), 0));
            rows.push(row);
        }
    }
    Sheet { slug: "runs", title: "Runs", columns, rows }
}

/// What to do to have archives verified; `None` if all are there.
pub(super) fn what_to_run_again(scenes: &[Scene]) -> Option<String> {
    let runs = || scenes.iter().flat_map(|scene| &scene.methods).flat_map(|method| &method.runs);
    let missing = runs().filter(|run| run.reevaluation.is_none()).count();
    let example = runs().find(|run| run.reevaluation.is_none())?.folder.display().to_string();
    Some(format!(
        "The archives of {missing} of {} runs have not been verified: `magpie eval {example}` does it for one; it takes several \
         runs, and folders of them, too.",
        runs().count()
    ))
}
