//! Points in the space of measures: crowds of them, one drawn over the other.

use std::collections::BTreeSet;

use crate::error::PlotError;
use crate::figure::{Anchor, Drawing, Figure, INK, Short, TICK, text_width};
use crate::heat_map::Dimension;
use crate::panel::{Panel, elided, heading, rectangle};

/// What to draw.
#[derive(Debug, Clone, Copy)]
pub struct Scatter<'a> {
    /// The title.
    pub title: &'a str,
    /// A line below it.
    pub subtitle: &'a str,
    /// The axes, at least two; with more there is a field for each pair.
    pub dimensions: &'a [Dimension],
    /// The crowds; later ones lie over earlier ones.
    pub crowds: &'a [Crowd<'a>],
    /// Width of the picture, [`WIDE`](crate::WIDE) or [`NARROW`](crate::NARROW); with more than two dimensions only the first
    /// has room for all fields.
    pub width: f64,
}

/// Points that belong together.
#[derive(Debug, Clone, Copy)]
pub struct Crowd<'a> {
    /// What they are.
    pub name: &'a str,
    /// One row of a number for each dimension; outside of the range they are drawn at its border.
    pub at: &'a [Vec<f64>],
    /// How they are drawn.
    pub mark: Mark,
}

/// How a point is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Small and green: all there is.
    Everything,
    /// Small and blue: some of them.
    Chosen,
    /// Large and red: the few that the picture is about.
    Highlighted,
}

impl Mark {
    /// Of Okabe and Ito, which also the colour-blind tell apart.
    fn colour(self) -> &'static str {
        match self {
            Mark::Everything => "#009e73",
            Mark::Chosen => "#0072b2",
            Mark::Highlighted => "#d55e00",
        }
    }
}

/// Half of the side of a small mark, in pixels.
const HALF: f64 = 1.5;
/// Where fields begin, below the heading and the legend.
const TOP: f64 = 100.0;
/// Room for ticks, numbers and a name below a field.
const BELOW: f64 = 58.0;

/// Draws crowds of points. Where points of one crowd lie within a pixel there is one mark.
///
/// # Errors
/// If there are fewer than two dimensions, or a range or the points do not fit them.
pub fn scatter(picture: &Scatter<'_>) -> Result<Figure, PlotError> {
    check(picture)?;
    let count = picture.dimensions.len();
    let pairs: Vec<[usize; 2]> = (0..count).flat_map(|i| (i + 1..count).map(move |j| [i, j])).collect();
    let columns = if pairs.len() == 1 { 1 } else { (pairs.len() as f64).sqrt().ceil() as usize };
    let (size, before, ticks) = if columns == 1 { (TICK, 78.0, 6) } else { (11.0, 62.0, 3) };
    let pitch = picture.width / columns as f64;
    let side = (pitch - before - 24.0).floor();
    let mut drawing = Drawing::new(picture.width);
    heading(&mut drawing, before, picture.title, picture.subtitle);
    legend(&mut drawing, picture.crowds, before);
    for (n, &[i, j]) in pairs.iter().enumerate() {
        let (x, y) = (&picture.dimensions[i], &picture.dimensions[j]);
        let corner =
            [((n % columns) as f64 * pitch + before).round(), TOP + (n / columns) as f64 * (side + BELOW)];
        let panel = Panel::new(x.range, y.range, corner, [side; 2]);
        drawing.fill(&panel.outline(), "#f7f7f7", 1.0, true);
        for crowd in picture.crowds {
            let place =
                |row: &Vec<f64>| [panel.x.pixel(row[i]).round() as i64, panel.y.pixel(row[j]).round() as i64];
            let places: BTreeSet<[i64; 2]> = crowd.at.iter().map(place).collect();
            marks(&mut drawing, &places, crowd.mark);
        }
        panel.axes(&mut drawing, [&x.name, &y.name], ticks, size);
        drawing.field([&panel.x, &panel.y], [0, 0]);
    }
    let rows = pairs.len().div_ceil(columns);
    Ok(drawing.finish(TOP + rows as f64 * (side + BELOW)))
}

fn check(picture: &Scatter<'_>) -> Result<(), PlotError> {
    let expected = picture.dimensions.len();
    if expected < 2 {
        return Err(PlotError::Shape { dimensions: expected, cells: "no".to_owned() });
    }
    for Dimension { name, range: [low, high] } in picture.dimensions {
        if !(low < high && low.is_finite() && high.is_finite()) {
            return Err(PlotError::Range { what: name.clone(), low: *low, high: *high });
        }
    }
    for (index, row) in picture.crowds.iter().flat_map(|crowd| crowd.at).enumerate() {
        if row.len() != expected {
            return Err(PlotError::Point { index, found: row.len(), expected });
        }
        if !row.iter().all(|number| number.is_finite()) {
            return Err(PlotError::Empty);
        }
    }
    Ok(())
}

fn marks(drawing: &mut Drawing, places: &BTreeSet<[i64; 2]>, mark: Mark) {
    let places = places.iter().map(|&[x, y]| (x as f64, y as f64));
    if mark == Mark::Highlighted {
        places.for_each(|place| drawing.dot(place, mark.colour()));
        return;
    }
    let square = |(x, y): (f64, f64)| rectangle([x - HALF, y - HALF], [x + HALF, y + HALF]);
    let path: String = places.map(square).collect();
    if !path.is_empty() {
        drawing.fill(&path, mark.colour(), 0.7, false);
    }
}

/// Names beside their marks.
fn legend(drawing: &mut Drawing, crowds: &[Crowd<'_>], left: f64) {
    let mut x = left + 4.0;
    for crowd in crowds {
        let name = elided(crowd.name, TICK, drawing.width - x - 24.0);
        let place = [(x.round() as i64), 78];
        marks(drawing, &[place].into(), crowd.mark);
        drawing.text((x + 10.0, 82.5), TICK, Anchor::Start, INK, &name);
        x += 10.0 + text_width(&name, TICK) + 20.0;
    }
}

impl Drawing {
    /// A large point with a rim that shows it on any other.
    fn dot(&mut self, (x, y): (f64, f64), colour: &str) {
        self.push(format_args!(
            r##"<circle cx="{}" cy="{}" r="5.5" fill="{colour}" stroke="#ffffff" stroke-width="1.5"/>"##,
            Short(x),
            Short(y)
        ));
    }
}
