//! Archives as pictures.

use magpie_qd::Grid;
use magpie_report::plot::{Dimension, HeatMap, PlotError, Points, WIDE, heat_map};

/// What an archive holds, as far as a picture shows it.
pub struct Scene<'a> {
    pub title: &'a str,
    pub grid: &'a Grid,
    /// Name of each dimension of the measure.
    pub names: &'a [String],
    /// Cell and objective of each elite.
    pub cells: &'a [(usize, f64)],
    /// Where demonstrations lie, one row of measures each.
    pub demonstrations: &'a [Vec<f64>],
}

/// A heat map in PNG: bars for one measure, a field for two, a field for each pair for more.
pub fn png(scene: &Scene<'_>) -> Result<Vec<u8>, PlotError> {
    let Scene { title, grid, names, cells, demonstrations } = *scene;
    let dimensions: Vec<Dimension> = names
        .iter()
        .enumerate()
        .map(|(j, name)| Dimension {
            name: name.clone(),
            range: [grid.lower()[j], grid.upper()[j]],
            cells: grid.dims()[j],
        })
        .collect();
    let points = Points { name: "demonstrations", at: demonstrations };
    let map = HeatMap {
        title,
        dimensions: &dimensions,
        objective: "return",
        cells,
        scale: None,
        points: Some(points).filter(|points| !points.at.is_empty()),
        width: WIDE,
    };
    heat_map(&map)?.png()
}
