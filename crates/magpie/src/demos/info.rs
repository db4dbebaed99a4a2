//! `magpie demos info`: what a file of demonstrations holds.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use magpie_envs::{Environment, Measure, Options};
use magpie_qd::{Cells, Grid};
use magpie_rewards::Demonstrations;
use magpie_rewards::demonstrations::{Given, import};

use super::table;
use crate::archive;
use crate::picture::{self, Scene};

#[derive(clap::Args)]
pub struct Args {
    /// The file, of any format that can be imported.
    file: PathBuf,
    /// PNG file for a picture of where the demonstrations lie in the space of measures.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    if let Some(plot) = &args.plot {
        archive::spare(plot)?;
        super::keep_apart(&args.file, "--plot", plot)?;
    }
    let source = args.file.display().to_string();
    let demonstrations = import(&args.file, &Given { source, ..Given::default() })?;
    table::write(&mut std::io::stdout().lock(), &demonstrations)?;
    let Some(plot) = &args.plot else { return Ok(()) };
    let png = draw(&demonstrations).with_context(|| format!("{}: no picture", args.file.display()))?;
    write(plot, &png)?;
    writeln!(std::io::stdout(), "\nwritten to {}", plot.display())?;
    Ok(())
}

/// The space of measures, with a mark for each demonstration and its return as the colour of its cell.
fn draw(demonstrations: &Demonstrations) -> anyhow::Result<Vec<u8>> {
    let columns = demonstrations.columns();
    let about = &columns.about;
    let places: Vec<Option<Vec<f64>>> = demonstrations.places();
    ensure!(places.iter().any(Option::is_some), "they hold no measures, so there is nothing to draw");
    ensure!(
        !about.task.is_empty() && !about.measure.is_empty(),
        "the file does not say of which task and measure they are; `magpie demos import` writes one that does"
    );
    let measure: Measure = about.measure.parse()?;
    let env = Environment::new(&about.task, Options { measure: Some(measure), ..Options::default() })?;
    let dimensions = env.measure_dimensions();
    let fits = |place: &Vec<f64>| place.len() == dimensions.len();
    ensure!(
        places.iter().all(|place| place.as_ref().is_some_and(fits)),
        "{} of {} has {} dimensions, but not every episode has as many measures",
        about.measure,
        about.task,
        dimensions.len()
    );
    let places: Vec<Vec<f64>> = places.into_iter().flatten().collect();
    // As archives have.
    let resolution = if dimensions.len() > 2 { 10 } else { 50 };
    let grid = Grid::new(
        vec![resolution; dimensions.len()],
        dimensions.iter().map(|d| d.range[0]).collect(),
        dimensions.iter().map(|d| d.range[1]).collect(),
    )?;
    let cells = Cells::from(grid.clone());
    let mut filled = Vec::new();
    for (episode, place) in columns.episodes.iter().zip(&places) {
        if let Some(value) = episode.true_return {
            filled.push((cells.index_of(place)?, value));
        }
    }
    let names: Vec<String> = dimensions.into_iter().map(|d| d.name).collect();
    let title = format!("{}, {} demonstrations", about.task, places.len());
    Ok(picture::png(&Scene {
        title: &title,
        grid: &grid,
        names: &names,
        cells: &filled,
        demonstrations: &places,
    })?)
}

fn write(path: &Path, png: &[u8]) -> anyhow::Result<()> {
    std::fs::write(path, png).with_context(|| format!("writing {}", path.display()))
}
