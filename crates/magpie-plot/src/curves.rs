//! Curves with bands: how something went over time.

use crate::axis::{ticks, widened};
use crate::colour::of_series;
use crate::error::PlotError;
use crate::figure::{Anchor, Drawing, Figure, INK, Short, TICK, text_width};
use crate::panel::{GRID, Panel, elided, heading};

/// A curve and, around it, a band.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Name, for the legend.
    pub name: String,
    /// Where the points are, in growing order.
    pub x: Vec<f64>,
    /// The curve. Points that are not finite are left out.
    pub mean: Vec<f64>,
    /// The lower edge of the band; empty for no band.
    pub low: Vec<f64>,
    /// The upper edge of the band; empty for no band.
    pub high: Vec<f64>,
    /// Positions on the curve that get a ring, such as where a run ends.
    pub rings: Vec<f64>,
    /// Which of the colours and dashes it has; that of its place among the series if not given.
    pub style: Option<usize>,
}

/// What is written around the curves, with units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Labels<'a> {
    /// The title.
    pub title: &'a str,
    /// A line below it, such as what the band is.
    pub subtitle: &'a str,
    /// Name of the x axis.
    pub x: &'a str,
    /// Whether x counts something, so that only whole numbers get ticks.
    pub whole_x: bool,
    /// Name of the y axis.
    pub y: &'a str,
    /// Width of the picture, [`WIDE`](super::WIDE) or [`NARROW`](super::NARROW).
    pub width: f64,
}

/// How many ticks an axis has at most.
const TICKS: usize = 6;

/// Draws curves into one field.
///
/// # Errors
/// If the columns of a series differ in length, or nothing is finite.
pub fn curves(series: &[Series], labels: &Labels<'_>) -> Result<Figure, PlotError> {
    for one in series {
        let banded = !(one.low.is_empty() && one.high.is_empty());
        for (column, values) in [("mean", &one.mean), ("low", &one.low), ("high", &one.high)] {
            if values.len() != one.x.len() && (column == "mean" || banded) {
                let (found, expected) = (values.len(), one.x.len());
                return Err(PlotError::Series { name: one.name.clone(), column, found, expected });
            }
        }
    }
    let all: Vec<Vec<Point>> = series.iter().map(points).collect();
    let x = extent(all.iter().flatten().map(|p| [p.x, p.x])).ok_or(PlotError::Empty)?;
    let x = rounded(x, labels.whole_x);
    let y = extent(all.iter().flatten().map(|p| [p.low, p.high])).ok_or(PlotError::Empty)?;
    // A little air, so that curves do not run along the edge.
    let air = 0.03 * (y[1] / 2.0 - y[0] / 2.0) * 2.0;
    let y = [if y[0] == 0.0 { 0.0 } else { y[0] - air }, y[1] + air].map(|v| v.clamp(f64::MIN, f64::MAX));

    let widest = ticks(y, TICKS, false).iter().map(|tick| text_width(&tick.label, TICK)).fold(0.0, f64::max);
    let left = (widest + 50.0).round();
    // Wide fields are flatter, as there is less to compare across them.
    let (width, height) = (labels.width, 0.3 * labels.width + 140.0);
    let mut drawing = Drawing::new(width);
    heading(&mut drawing, left, labels.title, labels.subtitle);
    let top = legend(&mut drawing, series, left, if labels.subtitle.is_empty() { 58.0 } else { 80.0 });
    let mut panel = Panel::new(x, y, [left, top], [width - left - 30.0, height]);
    panel.x.whole = labels.whole_x;
    for tick in panel.y.ticks(TICKS) {
        let height = panel.y.pixel(tick.value).round();
        drawing.line((panel.x.pixels[0], height), (panel.x.pixels[1], height), GRID);
    }
    let places: Vec<Vec<Point>> = all.iter().map(|points| thinned(points, &panel)).collect();
    for (i, points) in places.iter().enumerate() {
        if points.iter().any(|p| p.low != p.high) {
            let upper = points.iter().map(|p| (p.x, p.high));
            let lower = points.iter().rev().map(|p| (p.x, p.low));
            drawing.fill(&format!("{}z", path(upper.chain(lower))), style(series, i).0, 0.18, false);
        }
    }
    // Curves come after all bands, so that none is hidden.
    for (i, points) in places.iter().enumerate() {
        let (colour, dash) = style(series, i);
        drawing.curve(&path(points.iter().map(|p| (p.x, p.mean))), colour, dash, Some(&series[i].name));
        for &ring in &series[i].rings {
            let at = panel.x.pixel(ring).round();
            let nearest = points.iter().min_by(|a, b| (a.x - at).abs().total_cmp(&(b.x - at).abs()));
            nearest.into_iter().for_each(|p| drawing.ring((p.x, p.mean), colour));
        }
    }
    panel.axes(&mut drawing, [labels.x, labels.y], TICKS, TICK);
    drawing.field([&panel.x, &panel.y], [0, 0]);
    Ok(drawing.finish(top + height + 58.0))
}

fn style(series: &[Series], index: usize) -> (&'static str, &'static str) {
    of_series(series[index].style.unwrap_or(index))
}

/// A point of a curve with its band, in numbers or in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    x: f64,
    mean: f64,
    low: f64,
    high: f64,
}

/// The finite points.
fn points(series: &Series) -> Vec<Point> {
    let banded = !series.low.is_empty();
    (0..series.x.len())
        .map(|i| {
            let mean = series.mean[i];
            let (low, high) = if banded { (series.low[i], series.high[i]) } else { (mean, mean) };
            Point { x: series.x[i], mean, low, high }
        })
        .filter(|p| [p.x, p.mean, p.low, p.high].iter().all(|v| v.is_finite()))
        .collect()
}

fn extent(ranges: impl Iterator<Item = [f64; 2]>) -> Option<[f64; 2]> {
    ranges.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]).map(widened)
}

/// A range whose ends are at zero and at a tick, if these are near.
fn rounded([low, high]: [f64; 2], whole: bool) -> [f64; 2] {
    let near = 0.01 * (high / 2.0 - low / 2.0) * 2.0;
    let low = if (0.0..near).contains(&low) { 0.0 } else { low };
    match ticks([low, (high + near).min(f64::MAX)], TICKS, whole).last() {
        Some(last) if last.value > high => [low, last.value],
        _ => [low, high],
    }
}

/// The points in pixels, averaged within each column of pixels: finer detail is invisible.
fn thinned(points: &[Point], panel: &Panel) -> Vec<Point> {
    let column = |p: &Point| panel.x.pixel(p.x).round();
    points
        .chunk_by(|a, b| column(a) == column(b))
        .map(|group| {
            let mean = |of: fn(&Point) -> f64| {
                group.iter().map(|p| panel.y.pixel(of(p))).sum::<f64>() / group.len() as f64
            };
            Point {
                x: column(&group[0]),
                mean: mean(|p| p.mean),
                low: mean(|p| p.low),
                high: mean(|p| p.high),
            }
        })
        .collect()
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    points
        .enumerate()
        .map(|(i, (x, y))| format!("{}{} {}", if i == 0 { 'M' } else { 'L' }, Short(x), Short(y)))
        .collect()
}

/// Names beside pieces of their curves, in as many rows as it takes; where the field may begin.
fn legend(drawing: &mut Drawing, series: &[Series], left: f64, top: f64) -> f64 {
    const PIECE: f64 = 26.0;
    const ROW: f64 = 20.0;
    let (mut x, mut y) = (left, top);
    for (i, one) in series.iter().enumerate() {
        let name = elided(&one.name, TICK, drawing.width - 10.0 - left - PIECE - 7.0);
        let width = PIECE + 7.0 + text_width(&name, TICK) + 18.0;
        if x > left && x + width > drawing.width - 10.0 {
            (x, y) = (left, y + ROW);
        }
        let (colour, dash) = style(series, i);
        drawing.curve(&format!("M{} {}h{PIECE}", Short(x), Short(y - 4.5)), colour, dash, None);
        drawing.text((x + PIECE + 7.0, y), TICK, Anchor::Start, INK, &name);
        x += width;
    }
    y + 16.0
}
