//! A field with two axes, and the colour bar beside it.

use crate::axis::Axis;
use crate::colour::{LEVELS, viridis};
use crate::figure::{Anchor, Drawing, FAINT, INK, LABEL, NARROW, Short, TICK, TITLE, text_width};

/// Length of a tick, in pixels.
const TICK_LENGTH: f64 = 5.0;
/// Colour of lines behind the data.
pub(crate) const GRID: &str = "#e3e3e3";

/// A field in which numbers become places.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panel {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
}

impl Panel {
    /// A field at `left`, `top` that shows these ranges; y grows upwards.
    pub(crate) fn new(x: [f64; 2], y: [f64; 2], [left, top]: [f64; 2], [width, height]: [f64; 2]) -> Panel {
        Panel {
            x: Axis { range: x, pixels: [left, left + width], whole: false },
            y: Axis { range: y, pixels: [top + height, top], whole: false },
        }
    }

    /// The field as a path.
    pub(crate) fn outline(&self) -> String {
        let ([left, right], [bottom, top]) = (self.x.pixels, self.y.pixels);
        rectangle([left, top], [right, bottom])
    }

    /// Ticks and numbers along the lower edge with lines above them, and the name of that axis: all that a field needs
    /// whose rows have names.
    pub(crate) fn ground(&self, drawing: &mut Drawing, name: &str, count: usize) {
        let ([left, right], [bottom, top]) = (self.x.pixels, self.y.pixels);
        for tick in self.x.ticks(count) {
            let x = self.x.pixel(tick.value).round();
            drawing.line((x, top), (x, bottom), GRID);
        }
        self.lower_edge(drawing, name, count, TICK);
        drawing.line((left, bottom), (right, bottom), INK);
    }

    fn lower_edge(&self, drawing: &mut Drawing, name: &str, count: usize, size: f64) {
        let ([left, right], [bottom, _]) = (self.x.pixels, self.y.pixels);
        for tick in self.x.ticks(count) {
            let x = self.x.pixel(tick.value).round();
            drawing.line((x, bottom), (x, bottom + TICK_LENGTH), INK);
            drawing.text((x, bottom + TICK_LENGTH + size + 1.0), size, Anchor::Middle, INK, &tick.label);
        }
        let (room, middle) = (right - left, left / 2.0 + right / 2.0);
        let below = bottom + TICK_LENGTH + 2.0 * size + 9.0;
        let size = fitting(name, size * LABEL / TICK, room);
        drawing.text((middle, below), size, Anchor::Middle, INK, name);
    }

    /// Ticks, numbers and names along the left and the lower edge, with at most `count` ticks each.
    pub(crate) fn axes(&self, drawing: &mut Drawing, names: [&str; 2], count: usize, size: f64) {
        let ([left, right], [bottom, top]) = (self.x.pixels, self.y.pixels);
        drawing.line((left, bottom), (right, bottom), INK);
        drawing.line((left, bottom), (left, top), INK);
        self.lower_edge(drawing, names[0], count, size);
        let mut widest = 0.0f64;
        for tick in self.y.ticks(count) {
            let y = self.y.pixel(tick.value).round();
            drawing.line((left - TICK_LENGTH, y), (left, y), INK);
            let at = (left - TICK_LENGTH - 3.0, y + 0.35 * size);
            drawing.text(at, size, Anchor::End, INK, &tick.label);
            widest = widest.max(text_width(&tick.label, size));
        }
        let name_size = size * LABEL / TICK;
        let beside = left - TICK_LENGTH - 3.0 - widest - 8.0;
        drawing.upward_text(
            (beside, top / 2.0 + bottom / 2.0),
            fitting(names[1], name_size, bottom - top),
            names[1],
        );
    }
}

/// Title and, below it, what else there is to say.
pub(crate) fn heading(drawing: &mut Drawing, left: f64, title: &str, subtitle: &str) {
    let size = if drawing.width > NARROW { TITLE } else { LABEL + 1.0 };
    let room = drawing.width - left - 20.0;
    for (text, size, height, ink) in [(title, size, 34.0, INK), (subtitle, TICK, 56.0, FAINT)] {
        let size = fitting(text, size, room);
        drawing.text((left, height), size, Anchor::Start, ink, &elided(text, size, room));
    }
}

/// What the colours mean: low at the bottom.
pub(crate) fn colour_bar(drawing: &mut Drawing, axis: Axis, left: f64, name: &str) {
    const BAR_WIDTH: f64 = 18.0;
    let [bottom, top] = axis.pixels;
    let right = left + BAR_WIDTH;
    for level in 0..LEVELS {
        let edge = |level: usize| (bottom + (top - bottom) * level as f64 / LEVELS as f64).round();
        if edge(level) > edge(level + 1) {
            let path = rectangle([left, edge(level + 1)], [right, edge(level)]);
            drawing.fill(&path, &viridis(level), 1.0, true);
        }
    }
    let mut widest = 0.0f64;
    for tick in axis.ticks(6) {
        let y = axis.pixel(tick.value).round();
        drawing.line((right, y), (right + TICK_LENGTH, y), INK);
        let at = (right + TICK_LENGTH + 3.0, y + 0.35 * TICK);
        drawing.text(at, TICK, Anchor::Start, INK, &tick.label);
        widest = widest.max(text_width(&tick.label, TICK));
    }
    let beside = right + TICK_LENGTH + 3.0 + widest + 8.0 + LABEL;
    let middle = top / 2.0 + bottom / 2.0;
    drawing.upward_text((beside.min(drawing.width - 8.0), middle), fitting(name, LABEL, bottom - top), name);
}

/// The size at which a text has room: `size`, or smaller, but never too small to be read.
fn fitting(text: &str, size: f64, room: f64) -> f64 {
    const SMALLEST: f64 = 9.0;
    let width = text_width(text, size);
    if width <= room { size } else { (size * room / width).max(SMALLEST.min(size)).round() }
}

/// As much of a text as there is room for, with an ellipsis if that is not all.
pub(crate) fn elided(text: &str, size: f64, room: f64) -> String {
    if text_width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept = text.to_owned();
    while kept.pop().is_some() {
        let short = format!("{}…", kept.trim_end());
        if text_width(&short, size) <= room {
            return short;
        }
    }
    String::new()
}

/// A rectangle between two corners, as a path.
pub(crate) fn rectangle([left, top]: [f64; 2], [right, bottom]: [f64; 2]) -> String {
    format!(
        "M{} {}h{}v{}h{}z",
        Short(left),
        Short(top),
        Short(right - left),
        Short(bottom - top),
        Short(left - right)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_cut_and_says_so() {
        assert_eq!(elided("short", TICK, 100.0), "short");
        let long = "a method with a name that goes on and on".repeat(5);
        let short = elided(&long, TICK, 200.0);
        assert!(short.ends_with('…') && long.starts_with(short.trim_end_matches('…')), "{short}");
        assert!(text_width(&short, TICK) <= 200.0 && text_width(&short, TICK) > 150.0, "{short}");
        assert_eq!(elided("text", TICK, 1.0), "");
    }
}
