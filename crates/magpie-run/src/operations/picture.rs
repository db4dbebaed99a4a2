//! Archives and demonstrations as pictures.

use magpie_demos::{About, Demonstrations};
use magpie_envs::{Environment, Options, TASKS};
use magpie_files::count;
use magpie_plot::{Dimension, Figure, HeatMap, Partition, Points, WIDE, heat_map};
use magpie_qd::{Cells, Grid};

use crate::error::RunError;

/// What an archive holds, as far as a picture shows it.
#[derive(Debug, Clone, Copy)]
pub struct ArchivePicture<'a> {
    /// The title.
    pub title: &'a str,
    /// Name of each dimension of the measure.
    pub names: &'a [String],
    /// Lower and upper end of each dimension of the measure.
    pub ranges: &'a [[f64; 2]],
    /// The cells.
    pub cells: &'a Cells,
    /// Number and objective of each cell that is filled.
    pub filled: &'a [(usize, f64)],
    /// What the objective is called.
    pub objective: &'a str,
    /// The objectives at both ends of the colours; the lowest and the highest if not given.
    pub scale: Option<[f64; 2]>,
    /// Where demonstrations lie, one row of measures each.
    pub demonstrations: &'a [Vec<f64>],
    /// Width of the picture, [`magpie_plot::WIDE`] or [`magpie_plot::NARROW`].
    pub width: f64,
}

/// Draws an archive: bars for one measure, a field for two, a field for each pair for more.
pub fn draw_archive(picture: &ArchivePicture<'_>) -> Result<Figure, RunError> {
    let ArchivePicture { title, names, ranges, cells, filled, objective, scale, demonstrations, width } =
        *picture;
    let dimensions: Vec<Dimension> =
        names.iter().zip(ranges).map(|(name, &range)| Dimension { name: name.clone(), range }).collect();
    let points = Points { name: "demonstrations", at: demonstrations };
    Ok(heat_map(&HeatMap {
        title,
        dimensions: &dimensions,
        partition: match cells {
            Cells::Grid(grid) => Partition::Grid(grid.dims()),
            Cells::Cvt(cvt) => Partition::Voronoi(cvt.centroids()),
        },
        objective,
        cells: filled,
        scale,
        points: Some(points).filter(|points| !points.at.is_empty()),
        width,
    })?)
}

/// Names and ranges of the dimensions of the measure. A task file is not there to be asked: its demonstrations are drawn in the
/// range that they take.
fn axes(about: &About, places: &[Option<Vec<f64>>]) -> Result<(Vec<String>, Vec<[f64; 2]>), RunError> {
    if TASKS.contains(&&*about.task) {
        let measure = Some(about.measure.clone());
        let env = Environment::new(&about.task, Options { measure, ..Options::default() })?;
        return Ok(env.measure_dimensions().into_iter().map(|d| (d.name, d.range)).unzip());
    }
    let dims = places.iter().flatten().map(Vec::len).next().unwrap_or_default();
    let axis = |dimension: usize| {
        let values = places.iter().flatten().filter_map(|place| place.get(dimension).copied());
        let [low, high] =
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
        // All in one place is a range as well.
        let margin = if high > low { 0.05 * (high - low) } else { 0.5 };
        (format!("{} {}", about.measure, dimension + 1), [low - margin, high + margin])
    };
    Ok((0..dims).map(axis).unzip())
}

/// Draws the space of measures, with a mark for each demonstration and its return as the colour of its cell.
pub fn draw_demonstrations(demonstrations: &Demonstrations) -> Result<Figure, RunError> {
    let refuse = |problem: String| Err(RunError::NoPicture { problem });
    let columns = demonstrations.columns();
    let about = &columns.about;
    let places: Vec<Option<Vec<f64>>> = demonstrations.places();
    if places.iter().all(Option::is_none) {
        return refuse("they hold no measures, so there is nothing to draw".to_owned());
    }
    if about.task.is_empty() || about.measure.is_empty() {
        return refuse(
            "the file does not say of which task and measure they are; import it as one that does".to_owned(),
        );
    }
    let (names, ranges) = axes(about, &places)?;
    if places.iter().any(|place| place.as_ref().is_none_or(|place| place.len() != names.len())) {
        return refuse(format!(
            "{} of {} has {} dimensions, but not every episode has as many measures",
            about.measure,
            about.task,
            names.len()
        ));
    }
    let places: Vec<Vec<f64>> = places.into_iter().flatten().collect();
    // As archives have.
    let resolution = if names.len() > 2 { 10 } else { 50 };
    let [lower, upper] = [0, 1].map(|end| ranges.iter().map(|range| range[end]).collect());
    let cells = Cells::from(Grid::new(vec![resolution; names.len()], lower, upper)?);
    let mut filled = Vec::new();
    for (episode, place) in columns.episodes.iter().zip(&places) {
        if let (Some(value), Ok(cell)) = (episode.true_return, cells.index_of(place)) {
            filled.push((cell, value));
        }
    }
    draw_archive(&ArchivePicture {
        title: &format!("{}, {}", about.task, count(places.len(), "demonstration")),
        names: &names,
        ranges: &ranges,
        cells: &cells,
        filled: &filled,
        objective: "return",
        scale: None,
        demonstrations: &places,
        width: WIDE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::tests::{CELLS, demonstrations, hopper};

    #[test]
    fn grids_and_tessellations_are_drawn() {
        for cells in CELLS {
            let (_folder, open) = hopper(cells());
            let about = &open.archive.about;
            let filled: Vec<(usize, f64)> =
                open.archive.elites.iter().map(|e| (e.cell, e.objective)).collect();
            let picture = ArchivePicture {
                title: "an archive",
                names: &about.names,
                ranges: &about.ranges,
                cells: &about.cells,
                filled: &filled,
                objective: "return",
                scale: None,
                demonstrations: &[vec![0.4]],
                width: WIDE,
            };
            let figure = draw_archive(&picture).unwrap();
            assert_eq!(figure.svg().matches("data-value").count(), 2, "a bar for each elite");
            assert!(figure.png().unwrap().starts_with(b"\x89PNG"));
        }
    }

    #[test]
    fn demonstrations_are_marked_where_they_lie() {
        let (_folder, open) = hopper(CELLS[0]());
        let demonstrations = demonstrations(&open, 2);
        let figure = draw_demonstrations(&demonstrations).unwrap();
        // One more explains the marks.
        assert_eq!(figure.svg().matches("<circle").count(), 3);
        let mut columns = demonstrations.columns().clone();
        // Of a task file, which is not there to be asked.
        columns.about.task = "hop".to_owned();
        let own = Demonstrations::new(columns.clone()).unwrap();
        assert_eq!(draw_demonstrations(&own).unwrap().svg().matches("<circle").count(), 3);
        columns.about.task.clear();
        let nameless = Demonstrations::new(columns).unwrap();
        assert!(draw_demonstrations(&nameless).unwrap_err().to_string().contains("which task"));
    }
}
