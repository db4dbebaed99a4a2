//! What trials predict, as a picture.

use magpie_plot::{Dimension, Figure, HeatMap, Partition, Points, WIDE, heat_map};
use magpie_qd::Cells;

use super::trials::TrialSearch;
use crate::archive::{About, SavedElite};
use crate::error::RunError;

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
