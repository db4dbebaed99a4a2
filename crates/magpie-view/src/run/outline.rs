//! An archive without its policies, for the page.

use std::path::Path;
use std::time::SystemTime;

use magpie_demos::Demonstrations;
use magpie_learn::Actions;
use magpie_qd::Cells;
use magpie_run::{About, ArchiveOutline};
use serde::Serialize;

use super::{Run, confined};
use crate::error::ViewError;
use crate::robot::Shape;

#[derive(Serialize, Default)]
struct Outline {
    name: String,
    path: String,
    /// `archive` or `policy`.
    kind: &'static str,
    task: String,
    measure: String,
    actions: &'static str,
    iteration: u64,
    /// Iterations to make, if the run says.
    planned: Option<u64>,
    finished: bool,
    /// Seconds since the run last wrote something, when this was read.
    age: Option<f64>,
    names: Vec<String>,
    ranges: Vec<[f64; 2]>,
    /// Cells along each dimension of a grid.
    grid: Option<Vec<usize>>,
    /// Of the cells, if they are no grid.
    centroids: Option<Vec<f64>>,
    cells: usize,
    metrics: Metrics,
    elites: Columns,
    demonstrations: Vec<Vec<f64>>,
    robot: Option<Shape>,
    world: Option<String>,
    friction: f64,
    /// What could not be read, in words.
    problems: Vec<String>,
}

#[derive(Serialize, Default)]
struct Metrics {
    qd_score: f64,
    coverage: f64,
    best: Option<f64>,
    mean: Option<f64>,
    elites: usize,
}

/// Elites, column by column.
#[derive(Serialize, Default)]
struct Columns {
    cell: Vec<usize>,
    objective: Vec<f32>,
    length: Vec<f32>,
    iteration: Vec<u64>,
    /// Row by row.
    measures: Vec<f32>,
}

pub fn json(run: &Run) -> Result<Vec<u8>, ViewError> {
    let mut outline = match run.is_policy()? {
        true => of_policy(run)?,
        false => run.with_elites(|elites| Ok(of_archive(run, &elites.outline)))?,
    };
    outline.name = run.name.clone();
    outline.path = run.place.display().to_string();
    outline.planned = planned(&run.folder);
    outline.finished = run.folder.join("finished").is_file();
    outline.age = age(&run.folder);
    match robot(run) {
        Ok(robot) => outline.robot = Some(robot),
        Err(e) => outline.problems.push(e.to_string()),
    }
    // Numbers and text can always be written.
    Ok(serde_json::to_vec(&outline).unwrap_or_default())
}

fn of_archive(run: &Run, archive: &ArchiveOutline) -> Outline {
    let ArchiveOutline { about, elites } = archive;
    let metrics = archive.metrics();
    let mut problems = Vec::new();
    let demonstrations = demonstrations(&run.folder, about).unwrap_or_else(|problem| {
        problems.push(problem);
        Vec::new()
    });
    Outline {
        kind: "archive",
        task: about.task.clone(),
        measure: about.measure.clone(),
        actions: words(about.actions),
        iteration: about.iteration,
        names: about.names.clone(),
        ranges: about.ranges.clone(),
        grid: match &about.cells {
            Cells::Grid(grid) => Some(grid.dims().to_vec()),
            Cells::Cvt(_) => None,
        },
        centroids: match &about.cells {
            Cells::Grid(_) => None,
            Cells::Cvt(cvt) => Some(cvt.centroids().to_vec()),
        },
        cells: about.cells.count(),
        metrics: Metrics {
            qd_score: metrics.qd_score,
            coverage: metrics.coverage,
            best: metrics.best,
            mean: metrics.mean,
            elites: metrics.elites,
        },
        elites: Columns {
            cell: elites.iter().map(|e| e.cell).collect(),
            objective: elites.iter().map(|e| e.objective as f32).collect(),
            length: elites.iter().map(|e| e.length as f32).collect(),
            iteration: elites.iter().map(|e| e.iteration).collect(),
            measures: elites.iter().flat_map(|e| e.measures.iter().map(|&m| m as f32)).collect(),
        },
        demonstrations,
        world: about.world.seen_from_outside(&run.folder).in_words(),
        friction: about.world.friction,
        problems,
        ..Outline::default()
    }
}

fn of_policy(run: &Run) -> Result<Outline, ViewError> {
    let chosen = run.choose(None)?;
    Ok(Outline {
        kind: "policy",
        task: chosen.task,
        actions: words(chosen.actions),
        friction: chosen.world.friction,
        ..Outline::default()
    })
}

fn robot(run: &Run) -> Result<Shape, ViewError> {
    let of = |task: &str, world| -> Result<Shape, ViewError> {
        let world = confined::world(&run.folder, world)?;
        Ok(Shape::from(&world.robot(&world.task(task)?)?))
    };
    if run.is_policy()? {
        let chosen = run.choose(None)?;
        return of(&chosen.task, chosen.world);
    }
    run.with_elites(|elites| {
        let about = &elites.outline.about;
        of(&about.task, about.world.seen_from_outside(&run.folder))
    })
}

/// The measures of the demonstrations in the folder, if they are those of the archive.
fn demonstrations(folder: &Path, about: &About) -> Result<Vec<Vec<f64>>, String> {
    let file = folder.join("demonstrations.safetensors");
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let problem = |e: String| format!("{}: {e}", file.display());
    let bytes = magpie_files::read(&file).map_err(|e| problem(e.to_string()))?;
    let mut all = Demonstrations::from_bytes(&bytes).map_err(|e| problem(e.to_string()))?;
    if all.columns().about.measure != about.measure {
        return Ok(Vec::new());
    }
    if let Some(count) = setting(folder, &["demos", "count"]).and_then(|v| usize::try_from(v).ok())
        && (1..all.columns().episodes.len()).contains(&count)
    {
        all = all.subset(count);
    }
    Ok(all.places().into_iter().flatten().filter(|place| place.len() == about.names.len()).collect())
}

fn planned(folder: &Path) -> Option<u64> {
    setting(folder, &["iterations"]).and_then(|v| u64::try_from(v).ok())
}

/// A whole number in the configuration.
fn setting(folder: &Path, keys: &[&str]) -> Option<i64> {
    let text = String::from_utf8(magpie_files::read(&folder.join("config.toml")).ok()?).ok()?;
    let table: toml::Value = toml::from_str(&text).ok()?;
    keys.iter().try_fold(&table, |value, key| value.get(key))?.as_integer()
}

fn age(folder: &Path) -> Option<f64> {
    let newest = ["metrics.csv", "archive.safetensors", "checkpoint/search"]
        .iter()
        .filter_map(|file| std::fs::metadata(folder.join(file)).ok()?.modified().ok())
        .max()?;
    Some(SystemTime::now().duration_since(newest).map_or(0.0, |age| age.as_secs_f64()))
}

fn words(actions: Actions) -> &'static str {
    match actions {
        Actions::Mean => "mean",
        Actions::Sampled => "drawn",
    }
}
