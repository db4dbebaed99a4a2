//! Draws made-up archives of one, two, three and four measures, and says how long each took and how large it is: to look
//! at after a change.
//!
//! ```sh
//! cargo run --release -p magpie-plot --example heat_map -- FOLDER
//! ```

use std::path::PathBuf;
use std::time::Instant;

use magpie_plot::{Dimension, HeatMap, Partition, Points, WIDE, heat_map};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    for (count, cells) in [(1, 50_usize), (2, 50), (3, 20), (4, 10)] {
        let names = ["front left", "front right", "back left", "back right"];
        let dimensions: Vec<Dimension> = names[..count]
            .iter()
            .map(|name| Dimension { name: format!("{name} foot contact"), range: [0.0, 1.0] })
            .collect();
        let all = cells.pow(count as u32);
        let filled: Vec<(usize, f64)> =
            (0..all).filter_map(|cell| Some((cell, objective(cell, cells, count)?))).collect();
        let points = [vec![0.21, 0.63, 0.4, 0.8], vec![0.55, 0.31, 0.7, 0.2], vec![0.84, 0.87, 0.1, 0.5]];
        let points: Vec<Vec<f64>> = points.iter().map(|point| point[..count].to_vec()).collect();
        let started = Instant::now();
        let figure = heat_map(&HeatMap {
            title: "ant, GAIL with curiosity, after 2000 iterations",
            dimensions: &dimensions,
            partition: Partition::Grid(&vec![cells; count]),
            objective: "mean return",
            cells: &filled,
            scale: None,
            points: Some(Points { name: "demonstrations", at: &points }),
            width: WIDE,
        })?;
        let drawn = started.elapsed();
        let png = figure.png()?;
        println!(
            "{count} measures: SVG {} bytes in {drawn:.1?}, PNG {} bytes in {:.1?}",
            figure.svg().len(),
            png.len(),
            started.elapsed() - drawn
        );
        std::fs::write(folder.join(format!("archive-{count}.svg")), figure.svg())?;
        std::fs::write(folder.join(format!("archive-{count}.png")), png)?;
    }
    Ok(())
}

/// Hills over a disc, with some noise; nothing outside of it.
fn objective(cell: usize, cells: usize, count: usize) -> Option<f64> {
    let (mut rest, mut distance, mut hills) = (cell, 0.0, 0.0);
    for _ in 0..count {
        let place = (rest % cells) as f64 / cells as f64 - 0.45;
        (distance, hills) = (distance + place * place, hills + (9.0 * place).sin());
        rest /= cells;
    }
    let noise = (cell.wrapping_mul(2_654_435_761) >> 7) % 1000;
    let keep = distance < 0.2 && !noise.is_multiple_of(29);
    keep.then_some(2500.0 + 800.0 * hills + 0.4 * noise as f64 - 4000.0 * distance)
}
