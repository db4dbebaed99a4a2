//! Several gaits side by side.

use magpie_run::operations::Trajectory;
use rayon::prelude::*;

use super::canvas::{Canvas, ROBOTS, Theme};
use super::shot::Shot;
use crate::error::ViewError;

/// A gait and what is written below it.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The gait.
    pub trajectory: Trajectory,
    /// The first line.
    pub title: String,
    /// The second line.
    pub subtitle: String,
}

/// Height of the text below a panel, in pixels.
const TEXT: usize = 46;
/// Between panels, in pixels.
const GAP: usize = 6;

/// How a picture of panels is laid out.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    pub columns: usize,
    /// Of a panel without its text.
    pub size: [usize; 2],
    pub theme: Theme,
}

impl Layout {
    /// Panels in one row, together `width` pixels wide.
    pub fn row(panels: usize, width: usize, theme: Theme) -> Layout {
        let columns = panels.max(1);
        let side = (width.saturating_sub(GAP * (columns + 1)) / columns).max(60);
        // A single panel is a landscape.
        let height = if columns == 1 { side * 9 / 16 } else { side * 11 / 10 };
        Layout { columns, size: [side, height.min(side.max(200))], theme }
    }
}

/// How high the picture of a robot is, in m: a little higher than it stands at the start.
pub fn view(trajectory: &Trajectory) -> f32 {
    let robot = &trajectory.robot;
    let tops = robot.bodies.iter().enumerate().flat_map(|(body, of)| {
        let z = trajectory.pose(0, body).0[2];
        of.colliders.iter().map(move |c| {
            let half = c.half_vector.iter().map(|v| v * v).sum::<f64>().sqrt();
            z + (half + c.radius) as f32
        })
    });
    1.45 * tops.fold(0.6, f32::max)
}

/// The eye of each panel at a step: it keeps its height and moves with the robot.
fn target(trajectory: &Trajectory, step: usize, view: f32) -> [f32; 3] {
    let [x, y, _] = trajectory.pose(step, trajectory.robot.root).0;
    // A smooth path: the mean of the neighbouring steps.
    let around = step.saturating_sub(12)..(step + 13).min(trajectory.steps() + 1);
    let count = around.len() as f32;
    let mean = around.map(|s| trajectory.pose(s, trajectory.robot.root).0[0]).sum::<f32>() / count;
    let x = if (mean - x).abs() < view { mean } else { x };
    [x, y, 0.36 * view]
}

/// Draws all panels after `step` steps. A gait that has ended stays as it was.
pub fn draw(panels: &[Panel], step: usize, layout: &Layout) -> Result<Canvas, ViewError> {
    let Layout { columns, size: [wide, high], theme } = *layout;
    let rows = panels.len().div_ceil(columns);
    let width = columns * (wide + GAP) + GAP;
    let mut canvas = Canvas::new(width, rows * (high + TEXT + GAP) + GAP, theme.paper());
    let drawn: Vec<Canvas> = panels
        .par_iter()
        .enumerate()
        .map(|(index, Panel { trajectory, .. })| {
            let step = step.min(trajectory.steps());
            let view = view(trajectory);
            let shot = Shot::of(trajectory, step, ROBOTS[index % ROBOTS.len()]);
            shot.draw(target(trajectory, step, view), view, [wide, high], theme)
        })
        .collect();
    for (index, (panel, drawn)) in panels.iter().zip(&drawn).enumerate() {
        let place = [GAP + index % columns * (wide + GAP), GAP + index / columns * (high + TEXT + GAP)];
        canvas.paste(drawn, place);
        let ink = theme.ink();
        let faint = super::canvas::mix(ink, theme.paper(), 0.4);
        let mut below = Canvas::new(wide, TEXT, theme.paper());
        below.write(&panel.title, 15.0, [8, 4], ink)?;
        below.write(&panel.subtitle, 12.5, [8, 24], faint)?;
        canvas.paste(&below, [place[0], place[1] + high]);
    }
    Ok(canvas)
}
