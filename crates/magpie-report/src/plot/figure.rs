//! A picture as SVG text, and from there to PNG.

use std::fmt::{Display, Write};
use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::error::PlotError;

/// Width of all pictures, in pixels.
pub(super) const WIDTH: f64 = 800.0;
/// Colour of text and axes: softer than black.
pub(super) const INK: &str = "#333333";
/// Colour of what is said by the way.
pub(super) const FAINT: &str = "#767676";
/// Sizes of letters, in pixels.
pub(super) const TITLE: f64 = 20.0;
pub(super) const LABEL: f64 = 15.0;
pub(super) const TICK: f64 = 13.0;

/// A finished picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    svg: String,
}

/// The font of all pictures; see `fonts/README.md`.
static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(include_bytes!("../../fonts/Roboto-Regular.ttf").to_vec());
    Arc::new(fonts)
});

impl Figure {
    /// The picture as SVG, to be put into a page or a file.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// The picture in pixels.
    pub fn png(&self) -> Result<Vec<u8>, PlotError> {
        let options =
            Options { fontdb: Arc::clone(&FONTS), font_family: "Roboto".to_owned(), ..Options::default() };
        let pixels = |e: &dyn Display| PlotError::Pixels(e.to_string());
        let tree = Tree::from_str(&self.svg, &options).map_err(|e| pixels(&e))?;
        let size = tree.size().to_int_size();
        let mut pixmap =
            Pixmap::new(size.width(), size.height()).ok_or_else(|| pixels(&"it has no extent"))?;
        resvg::render(&tree, Transform::identity(), &mut pixmap.as_mut());
        pixmap.encode_png().map_err(|e| pixels(&e))
    }
}

/// A picture being drawn. Lengths are pixels from the upper left corner.
pub(super) struct Drawing {
    body: String,
}

/// Which end of a text is at its place.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Drawing {
    pub(super) fn new() -> Drawing {
        Drawing { body: String::new() }
    }

    /// Horizontal text, its baseline at `y`.
    pub(super) fn text(&mut self, (x, y): (f64, f64), size: f64, anchor: Anchor, ink: &str, text: &str) {
        self.turned_text((x, y), size, anchor, ink, text, "");
    }

    /// Text that reads upwards.
    pub(super) fn upward_text(&mut self, (x, y): (f64, f64), size: f64, text: &str) {
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
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: &str) {
        self.push(format_args!(
            r#"<path d="M{} {}L{} {}" stroke="{ink}" fill="none" shape-rendering="crispEdges"/>"#,
            Short(from.0),
            Short(from.1),
            Short(to.0),
            Short(to.1)
        ));
    }

    /// A filled path, with sharp edges or smooth ones.
    pub(super) fn fill(&mut self, path: &str, colour: &str, opacity: f64, sharp: bool) {
        let edges = if sharp { r#" shape-rendering="crispEdges""# } else { "" };
        let opacity = if opacity < 1.0 { format!(r#" fill-opacity="{opacity}""#) } else { String::new() };
        self.push(format_args!(r#"<path d="{path}" fill="{colour}"{opacity}{edges}/>"#));
    }

    /// A curve; `dash` as SVG has it, empty for a solid one.
    pub(super) fn curve(&mut self, path: &str, colour: &str, dash: &str) {
        let dash = if dash.is_empty() { String::new() } else { format!(r#" stroke-dasharray="{dash}""#) };
        self.push(format_args!(
            r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"{dash}/>"#
        ));
    }

    /// A point that shows on every background.
    pub(super) fn marker(&mut self, (x, y): (f64, f64)) {
        self.push(format_args!(
            r##"<circle cx="{}" cy="{}" r="5" fill="#ffffff" stroke="#d3227f" stroke-width="2.5"/>"##,
            Short(x),
            Short(y)
        ));
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing into a string cannot fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    pub(super) fn finish(self, height: f64) -> Figure {
        let (width, height) = (Short(WIDTH), Short(height.ceil()));
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"Roboto, Helvetica, Arial, sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
            self.body
        );
        Figure { svg }
    }
}

/// About how wide a text will be, from the widths of the font's letters.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
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

/// A length with at most two decimals: finer is not to be seen.
pub(super) struct Short(pub(super) f64);

impl Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", (self.0 * 100.0).round() / 100.0)
    }
}

/// Text for XML, without the control characters that XML cannot have.
fn escaped(text: &str) -> String {
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
