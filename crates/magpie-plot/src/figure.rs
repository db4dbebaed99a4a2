//! A picture as SVG text, and from there to PNG.

use std::fmt::{Display, Write};
use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::axis::Axis;
use crate::error::PlotError;

/// Width of a picture that stands alone, in pixels.
pub const WIDE: f64 = 800.0;
/// Width of a picture that stands beside another one, or on a telephone, in pixels; letters keep their size.
pub const NARROW: f64 = 460.0;
/// Colour of text and axes: softer than black.
pub(crate) const INK: &str = "#333333";
/// Colour of secondary text.
pub(crate) const FAINT: &str = "#767676";
/// Sizes of letters, in pixels.
pub(crate) const TITLE: f64 = 20.0;
pub(crate) const LABEL: f64 = 15.0;
pub(crate) const TICK: f64 = 13.0;

/// A finished picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    svg: String,
    width: f64,
    height: f64,
}

/// The font of all pictures; see `fonts/README.md`.
static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(include_bytes!("../fonts/Roboto-Regular.ttf").to_vec());
    Arc::new(fonts)
});

/// How text becomes pixels.
pub(crate) fn options() -> Options<'static> {
    Options { fontdb: Arc::clone(&FONTS), font_family: "Roboto".to_owned(), ..Options::default() }
}

impl Figure {
    /// The picture as SVG, to be put into a page or a file.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// Its width in pixels, before any enlargement.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Pictures side by side, as one: the panels of a figure. Pages say nothing about what is under a pointer there.
    pub fn side_by_side(panels: &[Figure]) -> Figure {
        let height = panels.iter().map(|panel| panel.height).fold(0.0, f64::max);
        let width = panels.iter().map(|panel| panel.width).sum();
        let mut drawing = Drawing::new(width);
        let mut x = 0.0;
        for panel in panels {
            let placed = panel.svg.replacen("<svg ", &format!("<svg x=\"{}\" ", Short(x)), 1);
            drawing.push(format_args!(
                "{}",
                placed.replacen(" data-fields=", " data-panel-fields=", 1).trim_end()
            ));
            x += panel.width;
        }
        drawing.finish(height)
    }

    /// The picture in pixels.
    pub fn png(&self) -> Result<Vec<u8>, PlotError> {
        self.enlarged_png(1)
    }

    /// The picture in pixels, several for each of its own: for fine screens and for print.
    pub fn enlarged_png(&self, scale: u8) -> Result<Vec<u8>, PlotError> {
        let pixels = |e: &dyn Display| PlotError::Pixels(e.to_string());
        let tree = Tree::from_str(&self.svg, &options()).map_err(|e| pixels(&e))?;
        let (size, scale) = (tree.size().to_int_size(), scale.max(1));
        let [width, height] = [size.width(), size.height()].map(|side| side * u32::from(scale));
        let mut pixmap = Pixmap::new(width, height).ok_or_else(|| pixels(&"it has no extent"))?;
        let scale = f32::from(scale);
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
        pixmap.encode_png().map_err(|e| pixels(&e))
    }
}

/// A picture being drawn. Lengths are pixels from the upper left corner.
pub(crate) struct Drawing {
    pub(crate) width: f64,
    body: String,
    /// Where the fields are, for pages that say what is under a pointer.
    fields: Vec<String>,
}

/// Which end of a text is at its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Drawing {
    pub(crate) fn new(width: f64) -> Drawing {
        Drawing { width, body: String::new(), fields: Vec::new() }
    }

    /// Notes where a field is: range and pixels of either axis, and how many cells they are cut into (0 for none).
    pub(crate) fn field(&mut self, [x, y]: [&Axis; 2], cells: [usize; 2]) {
        let axis =
            |a: &Axis| format!("{} {} {} {}", a.range[0], a.range[1], Short(a.pixels[0]), Short(a.pixels[1]));
        self.fields.push(format!("{} {} {} {}", axis(x), axis(y), cells[0], cells[1]));
    }

    /// Horizontal text, its baseline at `y`.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), size: f64, anchor: Anchor, ink: &str, text: &str) {
        self.turned_text((x, y), size, anchor, ink, text, "");
    }

    /// Text that reads upwards.
    pub(crate) fn upward_text(&mut self, (x, y): (f64, f64), size: f64, text: &str) {
        let turn = format!(r#" transform="rotate(-90 {} {})""#, Short(x), Short(y));
        self.turned_text((x, y), size, Anchor::Middle, INK, text, &turn);
    }

    fn turned_text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, ink: &str, text: &str, turn: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        self.push(format_args!(
            r#"<text x="{}" y="{}" font-size="{size}" fill="{ink}"{anchor}{turn}>{}</text>"#,
            Short(at.0),
            Short(at.1),
            escaped(text)
        ));
    }

    /// A line of one pixel.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: &str) {
        self.push(format_args!(
            r#"<path d="M{} {}L{} {}" stroke="{ink}" fill="none" shape-rendering="crispEdges"/>"#,
            Short(from.0),
            Short(from.1),
            Short(to.0),
            Short(to.1)
        ));
    }

    /// A filled path, with sharp edges or smooth ones.
    pub(crate) fn fill(&mut self, path: &str, colour: &str, opacity: f64, sharp: bool) {
        let edges = if sharp { r#" shape-rendering="crispEdges""# } else { "" };
        let opacity = if opacity < 1.0 { format!(r#" fill-opacity="{opacity}""#) } else { String::new() };
        self.push(format_args!(r#"<path d="{path}" fill="{colour}"{opacity}{edges}/>"#));
    }

    /// Cells of one colour, which stands for this value.
    pub(crate) fn cells(&mut self, path: &str, colour: &str, value: f64) {
        // Three digits are as many as the colours tell apart.
        self.push(format_args!(
            r#"<path d="{path}" fill="{colour}" shape-rendering="crispEdges" data-value="{}"/>"#,
            ThreeDigits(value)
        ));
    }

    /// A curve; `dash` as SVG has it, empty for a solid one. With a name it is data, without it is decoration.
    pub(crate) fn curve(&mut self, path: &str, colour: &str, dash: &str, name: Option<&str>) {
        let dash = if dash.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dash}""#) };
        let name = name.map(|name| format!(r#" data-name="{}""#, escaped(name))).unwrap_or_default();
        self.push(format_args!(
            r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"{dash}{name}/>"#
        ));
    }

    /// A ring on a curve.
    pub(crate) fn ring(&mut self, (x, y): (f64, f64), colour: &str) {
        self.push(format_args!(
            r##"<circle cx="{}" cy="{}" r="4" fill="#ffffff" stroke="{colour}" stroke-width="2"/>"##,
            Short(x),
            Short(y)
        ));
    }

    /// A filled spot.
    pub(crate) fn spot(&mut self, (x, y): (f64, f64), colour: &str) {
        self.push(format_args!(r#"<circle cx="{}" cy="{}" r="5" fill="{colour}"/>"#, Short(x), Short(y)));
    }

    /// A point that shows on every background.
    pub(crate) fn marker(&mut self, (x, y): (f64, f64)) {
        self.push(format_args!(
            r##"<circle cx="{}" cy="{}" r="5" fill="#ffffff" stroke="#d3227f" stroke-width="2.5"/>"##,
            Short(x),
            Short(y)
        ));
    }

    pub(crate) fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing into a string cannot fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    pub(crate) fn finish(self, height: f64) -> Figure {
        let (width, height) = (Short(self.width), Short(height.ceil()));
        let fields = match self.fields.is_empty() {
            true => String::new(),
            false => format!(" data-fields=\"{}\"", self.fields.join(";")),
        };
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\"{fields} font-family=\"Roboto, Helvetica, Arial, sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
            self.body
        );
        Figure { svg, width: self.width, height: height.0 }
    }
}

/// About how wide a text will be, from the widths of the font's letters.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let width = |letter: char| match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' => 0.26,
        'f' | 'r' | 't' | ' ' | '(' | ')' | '/' | '-' => 0.34,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.86,
        'A'..='Z' => 0.65,
        // The digits' own; letters are a little narrower.
        _ => 0.56,
    };
    size * text.chars().map(width).sum::<f64>()
}

/// A length with at most two decimals: finer differences are invisible.
pub(crate) struct Short(pub(crate) f64);

impl Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", (self.0 * 100.0).round() / 100.0)
    }
}

/// A number with three significant digits, without a power of ten where that can be.
struct ThreeDigits(f64);

impl Display for ThreeDigits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rounded = format!("{:.2e}", self.0).parse().unwrap_or(self.0);
        write!(f, "{rounded}")
    }
}

/// Text for XML, without the control characters that XML cannot have.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
