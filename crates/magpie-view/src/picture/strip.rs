//! Moments of gaits beside each other: a row for each gait.

use rayon::prelude::*;

use super::canvas::{Canvas, ROBOTS, Theme, mix};
use super::panels::{Panel, view};
use super::shot::Shot;
use crate::error::ViewError;

/// Height of the title of a row, in pixels.
const TITLE: usize = 28;

/// `moments` of each gait, evenly spread over `seconds` from `from`, in a picture `width` pixels wide.
pub fn strip(
    panels: &[Panel],
    moments: usize,
    from: f64,
    seconds: f64,
    width: usize,
    theme: Theme,
) -> Result<Canvas, ViewError> {
    let moments = moments.clamp(1, 60);
    let side = (width / moments).max(40);
    let height = side * 5 / 4;
    let mut canvas = Canvas::new(side * moments, panels.len() * (height + TITLE), theme.paper());
    for (row, Panel { trajectory, title, subtitle }) in panels.iter().enumerate() {
        let top = row * (height + TITLE);
        let dt = trajectory.robot.control_dt;
        let view = view(trajectory);
        let drawn: Vec<Canvas> = (0..moments)
            .into_par_iter()
            .map(|moment| {
                let time = from + seconds * moment as f64 / moments as f64;
                let step = ((time / dt).round() as usize).min(trajectory.steps());
                let shot = Shot::of(trajectory, step, ROBOTS[row % ROBOTS.len()]);
                let [x, y, _] = shot.root();
                shot.draw([x, y, 0.40 * view], 1.1 * view, [side, height], theme)
            })
            .collect();
        for (moment, drawn) in drawn.iter().enumerate() {
            canvas.paste(drawn, [moment * side, top + TITLE]);
        }
        let faint = mix(theme.ink(), theme.paper(), 0.25);
        canvas.write(&format!("{title}   {subtitle}"), 14.0, [8, top + 6], faint)?;
    }
    Ok(canvas)
}
