//! Estimates with their intervals: a row for each, the better ones further right.

use crate::axis::widened;
use crate::colour::of_series;
use crate::curves::Labels;
use crate::error::PlotError;
use crate::figure::{Anchor, Drawing, Figure, INK, Short, TICK, text_width};
use crate::panel::{Panel, elided, heading};

/// An estimate and where it would lie with other runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// Whose it is.
    pub name: String,
    /// The estimate.
    pub value: f64,
    /// The ends of the interval, if there is one.
    pub interval: Option<[f64; 2]>,
    /// Which of the colours it has.
    pub style: usize,
}

/// Draws estimates below each other; `labels.y` is not used, as the names stand there.
///
/// # Errors
/// If there are none, or a number is not finite.
pub fn intervals(dots: &[Dot], labels: &Labels<'_>) -> Result<Figure, PlotError> {
    const ROW: f64 = 30.0;
    const TOP: f64 = 72.0;
    let numbers = || dots.iter().flat_map(|d| d.interval.into_iter().flatten().chain([d.value]));
    if dots.is_empty() || numbers().any(|v| !v.is_finite()) {
        return Err(PlotError::Empty);
    }
    let range =
        widened([numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max)]);
    let air = 0.05 * (range[1] / 2.0 - range[0] / 2.0) * 2.0;
    let range = [range[0] - air, range[1] + air].map(|v| v.clamp(f64::MIN, f64::MAX));
    let widest = dots.iter().map(|d| text_width(&d.name, TICK)).fold(0.0, f64::max);
    // A long name may take half of the picture, not more.
    let left = (widest + 24.0).min(0.5 * labels.width).round();
    let height = ROW * dots.len() as f64;
    let mut drawing = Drawing::new(labels.width);
    heading(&mut drawing, 16.0, labels.title, labels.subtitle);
    let panel = Panel::new(range, [0.0, 1.0], [left, TOP], [labels.width - left - 30.0, height]);
    panel.ground(&mut drawing, labels.x, 5);
    for (i, dot) in dots.iter().enumerate() {
        let y = TOP + ROW * (i as f64 + 0.5);
        let (colour, _) = of_series(dot.style);
        let name = elided(&dot.name, TICK, left - 14.0);
        drawing.text((left - 10.0, y + 0.35 * TICK), TICK, Anchor::End, INK, &name);
        if let Some(ends) = dot.interval {
            let [low, high] = ends.map(|v| Short(panel.x.pixel(v)));
            drawing.curve(&format!("M{low} {}H{high}", Short(y)), colour, "", None);
        }
        drawing.spot((panel.x.pixel(dot.value), y), colour);
    }
    Ok(drawing.finish(TOP + height + 56.0))
}
