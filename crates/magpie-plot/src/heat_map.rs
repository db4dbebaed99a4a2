//! An archive as a picture: bars for one measure, a map for two, all pairs of measures for more.

use std::collections::BTreeMap;

use crate::axis::{Axis, widened, with_commas};
use crate::colour::{EMPTY, LEVELS, viridis};
use crate::error::PlotError;
use crate::figure::{Anchor, Drawing, FAINT, Figure, TICK, text_width};
use crate::panel::{Panel, colour_bar, heading, rectangle};
use crate::voronoi;

/// A measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Dimension {
    /// Its name, with the unit if it has one.
    pub name: String,
    /// Lower and upper end of what is shown.
    pub range: [f64; 2],
}

/// How the space of measures is cut into numbered cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Partition<'a> {
    /// Boxes of equal size between the ends of the ranges: how many along each measure. The number of the last measure
    /// runs fastest.
    Grid(&'a [usize]),
    /// What is nearest to each of these centroids, rows of one number a measure.
    Voronoi(&'a [f64]),
}

/// What to draw.
#[derive(Debug, Clone, Copy)]
pub struct HeatMap<'a> {
    /// The title.
    pub title: &'a str,
    /// The measures.
    pub dimensions: &'a [Dimension],
    /// The cells.
    pub partition: Partition<'a>,
    /// Name of the objective, with its unit if it has one.
    pub objective: &'a str,
    /// Number and objective of each cell that is filled.
    pub cells: &'a [(usize, f64)],
    /// The objectives at both ends of the colours, to compare pictures; the lowest and the highest if not given. What is
    /// outside gets the colour of the end.
    pub scale: Option<[f64; 2]>,
    /// Points to mark.
    pub points: Option<Points<'a>>,
    /// Width of the picture, [`WIDE`](crate::WIDE) or [`NARROW`](crate::NARROW); with more than two measures only the
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
/// objective over all other measures. Voronoi cells of more than two measures have no outlines in such a field, which is
/// cut into boxes instead: each shows the best of the cells whose centroids lie in it.
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
    let dimensions = map.dimensions.len();
    let (total, cells) = match map.partition {
        Partition::Grid(counts) => {
            let total = counts.iter().try_fold(1usize, |total, &count| total.checked_mul(count));
            let text = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ");
            (total.filter(|_| counts.len() == dimensions), text)
        }
        Partition::Voronoi(centroids) => {
            let whole = dimensions > 0 && centroids.len().is_multiple_of(dimensions);
            let usable = whole && centroids.iter().all(|c| c.is_finite());
            let text = format!("{} coordinates of centroids", centroids.len());
            (usable.then(|| centroids.len() / dimensions), text)
        }
    };
    let Some(total) = total.filter(|&total| total > 0 && dimensions > 0) else {
        return Err(PlotError::Shape { dimensions, cells });
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
    let width = match map.partition {
        Partition::Grid(counts) => whole(room, counts[0]),
        Partition::Voronoi(_) => room.floor(),
    };
    let panel = Panel::new(dimension.range, range, [LEFT, TOP], [width, tall]);
    drawing.fill(&panel.outline(), EMPTY, 1.0, true);
    let (edges, across) = match map.partition {
        Partition::Grid(counts) => (Edges::even(panel.x, counts[0]), counts[0]),
        Partition::Voronoi(centroids) => (Edges::between(panel.x, centroids), 0),
    };
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
    drawing.field([&panel.x, &panel.y], [across, 0]);
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
    let layout = Layout::of(map);
    let side = (0..count).map(|i| layout.extent(room, i)).fold(0.0, f64::max);
    let rows = pairs.len().div_ceil(columns);
    let pixels = [TOP + (rows - 1) as f64 * (side + BELOW) + side, TOP];
    let colours = Axis { range: scale(map), pixels, whole: false };
    for (n, [i, j]) in pairs.into_iter().enumerate() {
        let (x, y) = (&map.dimensions[i], &map.dimensions[j]);
        let corner = [(n % columns) as f64 * pitch + before, TOP + (n / columns) as f64 * (side + BELOW)];
        let extent = [layout.extent(room, i), layout.extent(room, j)];
        let panel =
            Panel::new(x.range, y.range, [corner[0].round(), (corner[1] + side - extent[1]).round()], extent);
        drawing.fill(&panel.outline(), EMPTY, 1.0, true);
        field(drawing, layout.paths(map, &panel, [i, j], &colours), &colours);
        panel.axes(drawing, [&x.name, &y.name], if columns == 1 { 6 } else { 3 }, size);
        drawing.field([&panel.x, &panel.y], layout.cells([i, j]));
        for point in map.points.iter().flat_map(|points| points.at) {
            drawing.marker((panel.x.pixel(point[i]), panel.y.pixel(point[j])));
        }
    }
    colour_bar(drawing, colours, map.width - BAR_ROOM + 16.0, map.objective);
    TOP + rows as f64 * (side + BELOW)
}

/// Cells in a field with two axes.
enum Layout<'a> {
    /// How many cells each measure has.
    Grid(&'a [usize]),
    /// Regions of centroids of two measures.
    Regions(&'a [f64]),
    /// Boxes, this many along each axis, for centroids of more than two measures.
    Boxes(&'a [f64], usize),
}

impl<'a> Layout<'a> {
    fn of(map: &HeatMap<'a>) -> Layout<'a> {
        match map.partition {
            Partition::Grid(counts) => Layout::Grid(counts),
            Partition::Voronoi(centroids) if map.dimensions.len() == 2 => Layout::Regions(centroids),
            Partition::Voronoi(centroids) => {
                // Four centroids to a box, so that few boxes are without one.
                let boxes = (centroids.len() as f64 / map.dimensions.len() as f64 / 4.0).sqrt().ceil();
                Layout::Boxes(centroids, boxes as usize)
            }
        }
    }

    /// How much of `room` the axis of measure `i` takes.
    fn extent(&self, room: f64, i: usize) -> f64 {
        match self {
            Layout::Grid(counts) => whole(room, counts[i]),
            Layout::Regions(_) => whole(room, (room / voronoi::PIXEL) as usize),
            Layout::Boxes(_, count) => whole(room, *count),
        }
    }

    /// How many cells a pointer meets along both axes of a field; none where they have no rows and columns.
    fn cells(&self, [i, j]: [usize; 2]) -> [usize; 2] {
        match self {
            Layout::Grid(counts) => [counts[i], counts[j]],
            Layout::Regions(_) | Layout::Boxes(..) => [0; 2],
        }
    }

    /// The filled cells of the field of measures `i` and `j`, one path a colour, which keeps the text short.
    fn paths(
        &self,
        map: &HeatMap<'_>,
        panel: &Panel,
        [i, j]: [usize; 2],
        colours: &Axis,
    ) -> BTreeMap<usize, String> {
        let boxes = |[across, up]: [usize; 2], place: &dyn Fn(usize) -> (usize, usize)| {
            let (columns, rows) = (Edges::even(panel.x, across), Edges::even(panel.y, up));
            let placed = map.cells.iter().map(|&(cell, objective)| (place(cell), objective));
            let mut paths: BTreeMap<usize, String> = BTreeMap::new();
            for ((column, row), objective) in best(placed) {
                let ([left, right], [bottom, top]) = (columns.of(column), rows.of(row));
                let path = paths.entry(level(colours, objective)).or_default();
                path.push_str(&rectangle([left, top], [right, bottom]));
            }
            paths
        };
        match *self {
            Layout::Grid(counts) => {
                let along = |cell: usize, i: usize| {
                    let faster: usize = counts[i + 1..].iter().product();
                    cell / faster % counts[i]
                };
                boxes([counts[i], counts[j]], &|cell| (along(cell, i), along(cell, j)))
            }
            Layout::Boxes(centroids, count) => {
                let measures = map.dimensions.len();
                let along = |cell: usize, i: usize| {
                    let [low, high] = map.dimensions[i].range;
                    let part = (centroids[cell * measures + i] - low) / (high - low);
                    // The cast saturates: what is outside lies in the box at the border.
                    ((part * count as f64) as usize).min(count - 1)
                };
                boxes([count; 2], &|cell| (along(cell, i), along(cell, j)))
            }
            Layout::Regions(centroids) => {
                let levels: BTreeMap<usize, usize> = best(map.cells.iter().copied())
                    .into_iter()
                    .map(|(cell, objective)| (cell, level(colours, objective)))
                    .collect();
                voronoi::paths(centroids, panel, &levels)
            }
        }
    }
}

/// Cells of one field, in their colours.
fn field(drawing: &mut Drawing, paths: BTreeMap<usize, String>, colours: &Axis) {
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
    /// Both ends of each cell that is not as wide as all others, in the units of the axis.
    uneven: Option<Vec<[f64; 2]>>,
}

impl Edges {
    fn even(axis: Axis, cells: usize) -> Edges {
        Edges { axis: Axis { range: [0.0, cells as f64], ..axis }, uneven: None }
    }

    /// Regions of centroids on a line: they meet halfway.
    fn between(axis: Axis, centroids: &[f64]) -> Edges {
        let mut order: Vec<usize> = (0..centroids.len()).collect();
        order.sort_by(|&a, &b| centroids[a].total_cmp(&centroids[b]));
        let halfway = |a: usize, b: usize| centroids[a] / 2.0 + centroids[b] / 2.0;
        let mut ends = vec![axis.range; centroids.len()];
        for pair in order.windows(2) {
            let border = halfway(pair[0], pair[1]);
            (ends[pair[0]][1], ends[pair[1]][0]) = (border, border);
        }
        Edges { axis, uneven: Some(ends) }
    }

    /// Both edges of a cell, in the direction of the axis, at least a pixel apart.
    fn of(&self, cell: usize) -> [f64; 2] {
        let direction = (self.axis.pixels[1] - self.axis.pixels[0]).signum();
        let ends = match &self.uneven {
            Some(ends) => ends[cell],
            None => [cell, cell + 1].map(|edge| edge as f64),
        };
        let [near, far] = ends.map(|end| self.axis.pixel(end).round());
        if near == far { [near, near + direction] } else { [near, far] }
    }
}
