//! Archives in changed worlds: inter-quartile means over the runs of a method at each level, as the paper's figure has them,
//! and the regret of a few trials.

use magpie_plot::{Figure, Labels, NARROW, Series, curves};
use magpie_run::adapt::{AdaptTask, Adaptation, Case};

use crate::error::ReportError;
use crate::runs::{Method, Scene};
use crate::statistics::bootstrap::Interval;
use crate::statistics::summary::mean;

use super::Picture;
use super::comparisons::{estimate, iqm_of};
use super::sheet::{Entry, Kind, Sheet, columns};

/// Tasks that are the same but for the levels that were looked at, in random worlds or at levels.
type Group = (AdaptTask, bool);

fn group(adaptation: &Adaptation) -> Group {
    let mut task = adaptation.task.clone();
    task.level.levels.clear();
    (task, adaptation.random)
}

/// All that runs of a scene were adapted to, each once.
fn groups(scene: &Scene) -> Vec<Group> {
    let mut found: Vec<Group> = Vec::new();
    for adaptation in scene.methods.iter().flat_map(|m| &m.runs).flat_map(|run| &run.adaptations) {
        let group = group(adaptation);
        if !found.contains(&group) {
            found.push(group);
        }
    }
    found
}

/// What the runs of a method became.
fn of_method<'a>(method: &'a Method, wanted: &Group) -> Vec<&'a Adaptation> {
    let all = method.runs.iter().flat_map(|run| &run.adaptations);
    all.filter(|adaptation| group(adaptation) == *wanted).collect()
}

/// A number of each run in the world at a level.
fn at(runs: &[&Adaptation], level: f64, healthy: bool, of: fn(&Case) -> f64) -> Vec<f64> {
    let case = |run: &&Adaptation| run.cases.iter().find(|c| c.at == level && c.healthy == healthy).map(of);
    runs.iter().filter_map(case).collect()
}

/// Levels of any of the runs in ascending order, the healthy world among them.
fn levels(runs: &[&Adaptation]) -> Vec<(f64, bool)> {
    let mut all: Vec<(f64, bool)> =
        runs.iter().flat_map(|run| &run.cases).map(|case| (case.at, case.healthy)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.dedup();
    all
}

/// A row for each level of each task and method. Random worlds are one row.
pub(super) fn sheet(scenes: &[Scene]) -> Result<Sheet, ReportError> {
    let columns = columns(&[
        ("task", Kind::Text),
        ("changed", Kind::Text),
        ("level", Kind::Text),
        ("method", Kind::Text),
        ("archives", Kind::Number),
        ("no adaptation", Kind::Estimate),
        ("adapted", Kind::Estimate),
        ("oracle", Kind::Estimate),
    ]);
    let mut rows = Vec::new();
    for scene in scenes {
        for wanted in groups(scene) {
            for method in &scene.methods {
                let runs = of_method(method, &wanted);
                let mut row = |level: String, columns: [Vec<f64>; 3]| -> Result<(), ReportError> {
                    let mut row: Vec<Entry> = [&scene.title(), &wanted.0.name, &level, &method.name]
                        .into_iter()
                        .map(|text| Entry::Text(text.clone()))
                        .collect();
                    row.push(Entry::Number(columns[0].len() as f64, 0));
                    for values in columns {
                        row.push(if values.is_empty() { Entry::Nothing } else { estimate(&[values])? });
                    }
                    rows.push(row);
                    Ok(())
                };
                let of: [fn(&Case) -> f64; 3] = [|c| c.unadapted.mean, |c| c.adapted.mean, |c| c.oracle.mean];
                if wanted.1 {
                    let worlds = |of: fn(&Case) -> f64| -> Vec<f64> {
                        let over = |run: &&Adaptation| mean(&run.changed().map(of).collect::<Vec<_>>());
                        runs.iter().filter_map(over).collect()
                    };
                    if !runs.is_empty() {
                        row("mean over random worlds".to_owned(), of.map(worlds))?;
                    }
                    continue;
                }
                for (level, healthy) in levels(&runs) {
                    let name = if healthy { format!("{level} (healthy)") } else { level.to_string() };
                    row(name, of.map(|of| at(&runs, level, healthy, of)))?;
                }
            }
        }
    }
    Ok(Sheet { slug: "adaptation", title: "Few-shot adaptation", columns, rows })
}

/// A picture of each task, and those at levels as panels of one.
pub(super) fn pictures(scenes: &[Scene]) -> Result<Vec<Picture>, ReportError> {
    let (mut pictures, mut panels) = (Vec::new(), Vec::<Figure>::new());
    for scene in scenes {
        for wanted in groups(scene) {
            if !wanted.1 {
                let picture = over_levels(scene, &wanted)?;
                panels.push(picture.figure.clone());
                pictures.push(picture);
            }
            pictures.extend(regrets(scene, &wanted)?);
        }
    }
    if panels.len() > 1 {
        let alt = "Return of the adapted elite against the level of the change, one panel a task".to_owned();
        let figure = Figure::side_by_side(&panels);
        pictures.insert(0, Picture { name: "adaptation-panels".to_owned(), alt, caption: None, figure });
    }
    Ok(pictures)
}

/// The return of the adapted elite against the level.
fn over_levels(scene: &Scene, wanted: &Group) -> Result<Picture, ReportError> {
    let task = &wanted.0;
    let mut series = Vec::new();
    let mut least = usize::MAX;
    for method in &scene.methods {
        let runs = of_method(method, wanted);
        if runs.is_empty() {
            continue;
        }
        least = least.min(runs.len());
        let mut one = Series { name: method.name.clone(), style: Some(method.style), ..Series::default() };
        for (level, healthy) in levels(&runs) {
            let (value, interval) = iqm_of(&[at(&runs, level, healthy, |case| case.adapted.mean)])?;
            let Interval { low, high } = interval.unwrap_or(Interval { low: value, high: value });
            one.x.push(level);
            one.mean.push(value);
            one.low.push(low);
            one.high.push(high);
            if healthy {
                one.rings.push(level);
            }
        }
        series.push(one);
    }
    let archives = if least == 1 { "one archive".to_owned() } else { format!("at least {least} archives") };
    let labels = Labels {
        title: &format!("{}: {}", scene.task, task.name),
        subtitle: &format!("IQM, 95 % CI; {archives} a method"),
        x: &task.level.name,
        whole_x: false,
        y: "return of the adapted elite",
        width: NARROW,
    };
    let name = format!("{}-adaptation-{}", scene.slug(), task.name);
    let alt = format!("Return of the adapted elite of {} against {}", scene.title(), task.level.name);
    Ok(Picture { name, alt, caption: None, figure: curves(&series, &labels)? })
}

/// The mean regret of a few trials over the runs of each method.
fn regrets(scene: &Scene, wanted: &Group) -> Result<Option<Picture>, ReportError> {
    let mut series: Vec<Series> = Vec::new();
    for method in &scene.methods {
        let runs: Vec<_> = of_method(method, wanted).into_iter().filter_map(Adaptation::regrets).collect();
        let Some(first) = runs.first() else { continue };
        // Runs with fewer trials end earlier, and so does their mean.
        let trials = runs.iter().map(|run| run[0].1.len()).min().unwrap_or_default();
        for (strategy, (name, _)) in first.iter().enumerate() {
            let over = |trial: usize| runs.iter().map(|run| run[strategy].1[trial]).sum::<f64>();
            series.push(Series {
                name: format!("{}: {name}", method.name),
                x: (1..=trials).map(|trial| trial as f64).collect(),
                mean: (0..trials).map(|trial| over(trial) / runs.len() as f64).collect(),
                ..Series::default()
            });
        }
    }
    if series.is_empty() {
        return Ok(None);
    }
    let worlds = if wanted.1 { "random worlds" } else { "changed worlds" };
    let labels = Labels {
        title: &format!("{}: trials, {}", scene.task, wanted.0.name),
        subtitle: &format!("mean over archives and {worlds}"),
        x: "trials",
        whole_x: true,
        y: "return below exhaustive search",
        width: NARROW,
    };
    let name = format!("{}-trials-{}", scene.slug(), wanted.0.name);
    let alt = format!("Regret of a few trials on {} against their number", scene.title());
    Ok(Some(Picture { name, alt, caption: None, figure: curves(&series, &labels)? }))
}
