//! An archive as a picture: bars for one measure, a map for two, all pairs of measures for more.

use std::collections::BTreeMap;

use super::axis::{Axis, widened, with_commas};
use super::colour::{EMPTY, LEVELS, viridis};
use super::error::PlotError;
use super::figure::{Anchor, Drawing, FAINT, Figure, TICK, text_width};
use super::panel::{Panel, colour_bar, heading, rectangle};

/// A measure and how it is cut into cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Dimension {
    /// Its name, with the unit if it has one.
    pub name: String,
    /// Lower and upper end.
    pub range: [f64; 2],
    /// Number of cells.
    pub cells: usize,
}

/// What to draw.
#[derive(Debug, Clone, Copy)]
pub struct HeatMap<'a> {
    /// The title.
    pub title: &'a str,
    /// The measures, in the order in which cells are numbered: that of the last runs fastest.
    pub dimensions: &'a [Dimension],
    /// Name of the objective, with its unit if it has one.
    pub objective: &'a str,
    /// Number and objective of each cell that is filled.
    pub cells: &'a [(usize, f64)],
    /// The objectives at both ends of the colours, to compare pictures; the lowest and the highest if not given. What is
    /// outside gets the colour of the end.
    pub scale: Option<[f64; 2]>,
    /// Points to mark.
    pub points: Option<Points<'a>>,
    /// Width of the picture, [`WIDE`](super::WIDE) or [`NARROW`](super::NARROW); with more than two measures only the
    /// first has room for all fields.
    pub width: f64,
}

/// Points in the space of measures, such as demonstrations.
#[derive(Debug, Clone, Copy)]
pub struct Points<'a> {
    /// What they are.
    pub name: &'a str,
    /// One row of measures each; outside of the range they are drawn at its border.
    pub at: &'a [Vec<f64>],
}

/// Where fields begin, below the heading.
const TOP: f64 = 76.0;
const LEFT: f64 = 78.0;
/// Room for the colour bar with its numbers and name.
const BAR_ROOM: f64 = 120.0;
/// Room for ticks, numbers and a name below a field.
const BELOW: f64 = 58.0;

/// Draws an archive. With more than two measures there is a field for each pair of them, in which a cell shows the best
/// objective over all other measures.
///
/// # Errors
/// If the cells, ranges or points do not fit together, or an objective or a range is not finite.
pub fn heat_map(map: &HeatMap<'_>) -> Result<Figure, PlotError> {
    let total = check(map)?;
    let mut drawing = Drawing::new(map.width);
    let filled = map.cells.iter().map(|(index, _)| index).collect::<std::collections::BTreeSet<_>>().len();
    let mut subtitle = format!(
        "{} of {} cells filled ({:.1} %)",
        with_commas(filled),
        with_commas(total),
        100.0 * filled as f64 / total as f64
    );
    if map.dimensions.len() > 2 {
        subtitle.push_str("; each field shows the best over all other measures");
    }
    heading(&mut drawing, LEFT, map.title, &subtitle);
    if let Some(points) = map.points {
        let right = map.width - 24.0;
        drawing.text((right, 56.0), TICK, Anchor::End, FAINT, points.name);
        drawing.marker((right - text_width(points.name, TICK) - 8.0, 51.5));
    }
    let height = match map.dimensions {
        [one] => bars(&mut drawing, map, one),
        _ => maps(&mut drawing, map),
    };
    Ok(drawing.finish(height))
}

/// Refuses what cannot be drawn; the number of cells.
fn check(map: &HeatMap<'_>) -> Result<usize, PlotError> {
    let counts = map.dimensions.iter().map(|d| d.cells);
    let total = counts.clone().try_fold(1usize, usize::checked_mul).filter(|&total| total > 0);
    let Some(total) = total.filter(|_| !map.dimensions.is_empty()) else {
        let cells = counts.map(|n| n.to_string()).collect::<Vec<_>>().join(" × ");
        return Err(PlotError::Shape { dimensions: map.dimensions.len(), cells });
    };
    let ranges = map.dimensions.iter().map(|d| (d.name.as_str(), d.range));
    for (what, [low, high]) in ranges.chain(map.scale.map(|scale| ("the scale of colours", scale))) {
        if !(low < high && low.is_finite() && high.is_finite()) {
            return Err(PlotError::Range { what: what.to_owned(), low, high });
        }
    }
    for &(index, objective) in map.cells {
        if index >= total {
            return Err(PlotError::Cell { index, cells: total });
        }
        if !objective.is_finite() {
            return Err(PlotError::Objective { index, objective });
        }
    }
    let expected = map.dimensions.len();
    for (index, point) in map.points.iter().flat_map(|points| points.at).enumerate() {
        if point.len() != expected {
            return Err(PlotError::Point { index, found: point.len(), expected });
        }
    }
    Ok(total)
}

/// The objectives at both ends of the colours.
fn scale(map: &HeatMap<'_>) -> [f64; 2] {
    let found = map
        .cells
        .iter()
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &(_, v)| [low.min(v), high.max(v)]);
    map.scale.unwrap_or(if map.cells.is_empty() { [0.0, 1.0] } else { widened(found) })
}

fn level(axis: &Axis, objective: f64) -> usize {
    let levels = Axis { pixels: [0.0, LEVELS as f64], ..*axis };
    (levels.pixel(objective) as usize).min(LEVELS - 1)
}

/// Bars over one measure; the height of the picture.
fn bars(drawing: &mut Drawing, map: &HeatMap<'_>, dimension: &Dimension) -> f64 {
    let tall = 0.3 * map.width + 120.0;
    let [low, high] = scale(map);
    // Bars stand on zero, unless a scale says otherwise.
    let range = map.scale.unwrap_or([low.min(0.0), high.max(0.0)]);
    let room = map.width - LEFT - 30.0;
    let panel = Panel::new(dimension.range, range, [LEFT, TOP], [whole(room, dimension.cells), tall]);
    drawing.fill(&panel.outline(), EMPTY, 1.0, true);
    let edges = Edges::new(panel.x, dimension.cells);
    let ground = panel.y.pixel(0.0).round();
    let colours = Axis { range: [low, high], pixels: [0.0, 1.0], whole: false };
    for (index, objective) in best(map.cells.iter().copied()) {
        let [left, right] = edges.of(index);
        let top = panel.y.pixel(objective).round();
        let [high, low] = [top.min(ground), top.max(ground).max(top.min(ground) + 1.0)];
        // A filled cell is white up to its bar; an empty one stays grey.
        drawing.fill(&rectangle([left, panel.y.pixels[1]], [right, panel.y.pixels[0]]), "#ffffff", 1.0, true);
        let colour = viridis(level(&colours, objective));
        drawing.cells(&rectangle([left, high], [right, low]), &colour, objective);
    }
    panel.axes(drawing, [&dimension.name, map.objective], 6, TICK);
    for point in map.points.iter().flat_map(|points| points.at) {
        drawing.marker((panel.x.pixel(point[0]), panel.y.pixels[0]));
    }
    drawing.field([&panel.x, &panel.y], [dimension.cells, 0]);
    TOP + tall + BELOW
}

/// A field for each pair of measures; the height of the picture.
fn maps(drawing: &mut Drawing, map: &HeatMap<'_>) -> f64 {
    let count = map.dimensions.len();
    let pairs: Vec<[usize; 2]> = (0..count).flat_map(|i| (i + 1..count).map(move |j| [i, j])).collect();
    let columns = if pairs.len() == 1 { 1 } else { (pairs.len() as f64).sqrt().ceil().max(3.0) as usize };
    // One field has large letters and room; several share.
    let (size, before) = if columns == 1 { (TICK, LEFT) } else { (11.0, 62.0) };
    let pitch = (map.width - BAR_ROOM) / columns as f64;
    let room = pitch - before - 10.0;
    let side = map.dimensions.iter().map(|d| whole(room, d.cells)).fold(0.0, f64::max);
    let rows = pairs.len().div_ceil(columns);
    let pixels = [TOP + (rows - 1) as f64 * (side + BELOW) + side, TOP];
    let colours = Axis { range: scale(map), pixels, whole: false };
    for (n, [i, j]) in pairs.into_iter().enumerate() {
        let (x, y) = (&map.dimensions[i], &map.dimensions[j]);
        let corner = [(n % columns) as f64 * pitch + before, TOP + (n / columns) as f64 * (side + BELOW)];
        let extent = [whole(room, x.cells), whole(room, y.cells)];
        let panel =
            Panel::new(x.range, y.range, [corner[0].round(), (corner[1] + side - extent[1]).round()], extent);
        field(drawing, map, &panel, [i, j], &colours);
        panel.axes(drawing, [&x.name, &y.name], if columns == 1 { 6 } else { 3 }, size);
        drawing.field([&panel.x, &panel.y], [x.cells, y.cells]);
        for point in map.points.iter().flat_map(|points| points.at) {
            drawing.marker((panel.x.pixel(point[i]), panel.y.pixel(point[j])));
        }
    }
    colour_bar(drawing, colours, map.width - BAR_ROOM + 16.0, map.objective);
    TOP + rows as f64 * (side + BELOW)
}

/// The cells of one field.
fn field(drawing: &mut Drawing, map: &HeatMap<'_>, panel: &Panel, [i, j]: [usize; 2], colours: &Axis) {
    drawing.fill(&panel.outline(), EMPTY, 1.0, true);
    let [x, y] = [&map.dimensions[i], &map.dimensions[j]];
    let along = |cell: usize, dimension: usize| {
        let faster: usize = map.dimensions[dimension + 1..].iter().map(|d| d.cells).product();
        cell / faster % map.dimensions[dimension].cells
    };
    let columns = Edges::new(panel.x, x.cells);
    let rows = Edges::new(panel.y, y.cells);
    // One path a colour keeps the text short.
    let mut paths: BTreeMap<usize, String> = BTreeMap::new();
    for ((column, row), objective) in
        best(map.cells.iter().map(|&(cell, objective)| ((along(cell, i), along(cell, j)), objective)))
    {
        let ([left, right], [bottom, top]) = (columns.of(column), rows.of(row));
        let path = paths.entry(level(colours, objective)).or_default();
        path.push_str(&rectangle([left, top], [right, bottom]));
    }
    for (level, path) in paths {
        let value =
            colours.range[0] + (level as f64 + 0.5) / LEVELS as f64 * (colours.range[1] - colours.range[0]);
        drawing.cells(&path, &viridis(level), value);
    }
}

/// The best objective of each cell.
fn best<K: Ord>(cells: impl Iterator<Item = (K, f64)>) -> BTreeMap<K, f64> {
    let mut best = BTreeMap::new();
    for (cell, objective) in cells {
        best.entry(cell).and_modify(|old: &mut f64| *old = old.max(objective)).or_insert(objective);
    }
    best
}

/// As much of `room` as gives all cells the same whole number of pixels, if that is most of it.
fn whole(room: f64, cells: usize) -> f64 {
    let even = (room / cells as f64).floor() * cells as f64;
    if even > 0.8 * room { even } else { room.floor() }
}

/// Where cells begin and end, on whole pixels so that no seams show.
struct Edges {
    axis: Axis,
}

impl Edges {
    fn new(axis: Axis, cells: usize) -> Edges {
        Edges { axis: Axis { range: [0.0, cells as f64], ..axis } }
    }

    /// Both edges of a cell, in the direction of the axis, at least a pixel apart.
    fn of(&self, cell: usize) -> [f64; 2] {
        let direction = (self.axis.pixels[1] - self.axis.pixels[0]).signum();
        let [near, far] = [cell, cell + 1].map(|edge| self.axis.pixel(edge as f64).round());
        if near == far { [near, near + direction] } else { [near, far] }
    }
}
