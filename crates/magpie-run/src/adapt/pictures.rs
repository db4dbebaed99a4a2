//! Pictures of trials: what they predict, and how soon they find what exhaustive search finds.

use std::path::{Path, PathBuf};

use magpie_plot::{Dimension, Figure, HeatMap, Labels, Partition, Points, Series, WIDE, curves, heat_map};
use magpie_qd::Cells;

use super::results::Adaptation;
use super::trials::{Candidate, TrialSearch};
use crate::archive::{About, SavedElite};
use crate::directory::write_whole;
use crate::error::RunError;
use crate::operations::OpenArchive;

/// The returns that a search predicts for the elites of an archive, and the elites that it has tried. `scale` are the
/// returns at both ends of the colours.
pub fn draw_predictions(
    about: &About,
    elites: &[SavedElite],
    search: &TrialSearch,
    title: &str,
    scale: [f64; 2],
) -> Result<Figure, RunError> {
    let axis = |(name, &range): (&String, &[f64; 2])| Dimension { name: name.clone(), range };
    let dimensions: Vec<Dimension> = about.names.iter().zip(&about.ranges).map(axis).collect();
    let cells: Vec<(usize, f64)> =
        elites.iter().zip(search.predictions()).map(|(elite, p)| (elite.cell, p.mean)).collect();
    let tried: Vec<Vec<f64>> = search
        .trials()
        .iter()
        .filter_map(|trial| Some(elites.get(trial.candidate)?.measures.clone()))
        .collect();
    let points = Points { name: "trials", at: &tried };
    Ok(heat_map(&HeatMap {
        title,
        dimensions: &dimensions,
        partition: match &about.cells {
            Cells::Grid(grid) => Partition::Grid(grid.dims()),
            Cells::Cvt(cvt) => Partition::Voronoi(cvt.centroids()),
        },
        objective: "predicted return",
        cells: &cells,
        scale: Some(scale),
        points: Some(points).filter(|points| !points.at.is_empty()),
        width: WIDE,
    })?)
}

/// The mean regret of each way to spend trials; `None` if there are no trials.
pub fn draw_regrets(adaptation: &Adaptation) -> Result<Option<Figure>, RunError> {
    let Some(regrets) = adaptation.regrets() else { return Ok(None) };
    let trials = regrets.first().map_or(0, |(_, curve)| curve.len());
    let x: Vec<f64> = (1..=trials).map(|trial| trial as f64).collect();
    let series = |(name, mean): (&str, Vec<f64>)| Series {
        name: name.to_owned(),
        x: x.clone(),
        mean,
        ..Series::default()
    };
    let exhaustive = format!("exhaustive search ({} trials)", adaptation.cells.len());
    let mut all: Vec<Series> = regrets.into_iter().map(series).collect();
    all.push(series((&exhaustive, vec![0.0; trials])));
    let worlds = adaptation.changed().count();
    Ok(Some(curves(
        &all,
        &Labels {
            title: &format!("Regret: {}", adaptation.task.name),
            subtitle: &format!("mean over {worlds} changed worlds"),
            x: "trials",
            whole_x: true,
            y: "return below exhaustive search",
            width: WIDE,
        },
    )?))
}

/// Draws what is predicted before the first and after each trial, in all changed worlds, into folders beside the results.
/// Returns the files.
pub fn draw_all_predictions(
    open: &OpenArchive,
    adaptation: &Adaptation,
    folder: &Path,
) -> Result<Vec<PathBuf>, RunError> {
    let archive = &open.archive;
    let mut files = Vec::new();
    for case in adaptation.changed() {
        let Some(few) = &case.few_shots else { continue };
        let into = folder.join(format!("{}-maps", adaptation.name())).join(case.at.to_string());
        std::fs::create_dir_all(&into).map_err(RunError::io(&into, "making the folder"))?;
        let mut search = TrialSearch::new(Candidate::of(&archive.about, &archive.elites), few.settings)?;
        // One scale for all pictures of a world.
        let all = archive.elites.iter().map(|elite| elite.objective);
        let scale = all
            .chain(few.trials.iter().map(|trial| trial.value))
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
        for number in 0..=few.trials.len() {
            let title = match number {
                0 => format!("Before the first trial: {}", case.world),
                n => format!("After trial {n}: {}", case.world),
            };
            let figure = draw_predictions(&archive.about, &archive.elites, &search, &title, scale)?;
            let path = into.join(format!("{number:02}.png"));
            write_whole(&path, &figure.png()?)?;
            files.push(path);
            if let Some(&trial) = few.trials.get(number) {
                search.record(trial);
            }
        }
    }
    Ok(files)
}
