//! The archive that gaits are of, small, with a ring around each of their cells.

use magpie_plot::shade;
use magpie_qd::Cells;
use magpie_run::ArchiveOutline;

use super::canvas::{Canvas, ROBOTS, Theme, hex, mix};
use crate::error::ViewError;

/// Radius of a mark, in pixels.
const RING: f32 = 8.0;
/// Beside the field, in pixels.
const MARGIN: usize = 26;

/// A map of `side` pixels of an archive with two measures in a grid, on which these cells are marked.
///
/// # Errors
/// If the archive has other dimensions.
pub fn map(
    archive: &ArchiveOutline,
    marked: &[usize],
    side: usize,
    theme: Theme,
) -> Result<Canvas, ViewError> {
    let about = &archive.about;
    let grid = match &about.cells {
        Cells::Grid(grid) if grid.dims().len() == 2 => grid,
        _ => {
            let problem = "only archives with a grid of two measures have a map; leave out --map";
            return Err(ViewError::Option(problem.to_owned()));
        }
    };
    let [columns, rows] = [grid.dims()[0], grid.dims()[1]];
    let field = side.saturating_sub(MARGIN).max(40);
    let mut canvas = Canvas::new(side, side, theme.paper());
    let objectives = archive.elites.iter().map(|elite| elite.objective);
    let [low, high] = [objectives.clone().fold(f64::INFINITY, f64::min), objectives.fold(0.0, f64::max)];
    let left = side - field;
    // Edges on whole pixels, so that there is no seam between neighbours.
    let corners = |cell: usize| -> Option<[usize; 4]> {
        let at = grid.coordinates(cell)?;
        let x = [at[0] * field / columns, (at[0] + 1) * field / columns];
        let y = [(rows - 1 - at[1]) * field / rows, (rows - at[1]) * field / rows];
        Some([left + x[0], y[0], left + x[1], y[1]])
    };
    let empty = mix(theme.paper(), theme.ink(), 0.08);
    fill(&mut canvas, [left, 0, side, field], empty);
    for elite in &archive.elites {
        let share = if high > low { (elite.objective - low) / (high - low) } else { 1.0 };
        let colour = shade(share).map(|v| f32::from(v) / 255.0);
        if let Some(corners) = corners(elite.cell) {
            fill(&mut canvas, corners, colour);
        }
    }
    for (index, &cell) in marked.iter().enumerate() {
        let Some([x0, y0, x1, y1]) = corners(cell) else { continue };
        // Whole, at the edge as well.
        let inside = |a: usize, b: usize| ((a + b) as f32 / 2.0).clamp(RING + 1.0, side as f32 - RING - 1.0);
        let centre = [inside(x0, x1), inside(y0, y1)];
        disc(&mut canvas, centre, RING, hex(0xffffff));
        disc(&mut canvas, centre, RING - 2.0, ROBOTS[index % ROBOTS.len()]);
    }
    let faint = mix(theme.ink(), theme.paper(), 0.35);
    let name = |i: usize| about.names[i].replace('_', " ");
    canvas.write(&name(0), 12.0, [left + 4, field + 6], faint)?;
    canvas.write_upwards(&name(1), 12.0, [4, field.saturating_sub(4)], faint)?;
    Ok(canvas)
}

fn fill(canvas: &mut Canvas, [x0, y0, x1, y1]: [usize; 4], colour: [f32; 3]) {
    for y in y0..y1.min(canvas.height) {
        canvas.pixels[y * canvas.width..][x0..x1.min(canvas.width)].fill(colour);
    }
}

fn disc(canvas: &mut Canvas, [x, y]: [f32; 2], radius: f32, colour: [f32; 3]) {
    let (width, height) = (canvas.width, canvas.height);
    let range = |middle: f32, most: usize| {
        let low = (middle - radius - 1.0).max(0.0) as usize;
        low..((middle + radius + 2.0) as usize).min(most)
    };
    for row in range(y, height) {
        for column in range(x, width) {
            let distance = (column as f32 + 0.5 - x).hypot(row as f32 + 0.5 - y);
            let pixel = &mut canvas.pixels[row * width + column];
            *pixel = mix(*pixel, colour, (radius + 0.5 - distance).clamp(0.0, 1.0));
        }
    }
}
