//! A line of text as coverage, to be laid over pictures that are made elsewhere.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::Tree;

use crate::error::PlotError;
use crate::figure::{escaped, options};

/// How much of each pixel a line of text covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caption {
    /// In pixels.
    pub width: usize,
    /// In pixels.
    pub height: usize,
    /// From 0 to 255, row by row.
    pub coverage: Vec<u8>,
}

/// Draws a line of text with letters of this size, in pixels.
pub fn caption(text: &str, size: f64) -> Result<Caption, PlotError> {
    let pixels = |problem: String| PlotError::Pixels(problem);
    // No letter of the font is wider than it is high.
    let room = (size * (text.chars().count() as f64 + 1.0)).ceil().min(10_000.0);
    let height = (size * 1.4).ceil();
    let svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{room}" height="{height}"><text x="0" y="{size}" font-family="Roboto" font-size="{size}">{}</text></svg>"#,
        escaped(text)
    );
    let tree = Tree::from_str(&svg, &options()).map_err(|e| pixels(e.to_string()))?;
    let mut pixmap = Pixmap::new(room as u32, height as u32).ok_or_else(|| pixels("no extent".to_owned()))?;
    resvg::render(&tree, Transform::default(), &mut pixmap.as_mut());
    let all: Vec<u8> = pixmap.pixels().iter().map(|pixel| pixel.alpha()).collect();
    let (room, height) = (room as usize, height as usize);
    let width = all
        .chunks(room)
        .filter_map(|row| row.iter().rposition(|&alpha| alpha > 0))
        .max()
        .map_or(1, |last| last + 1);
    let coverage = all.chunks(room).flat_map(|row| row[..width].iter().copied()).collect();
    Ok(Caption { width, height, coverage })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_text_is_wider() {
        let [short, long] = ["return <1>", "return <1234>"].map(|text| caption(text, 14.0).unwrap());
        assert!(short.width < long.width && short.height == long.height);
        assert_eq!(short.coverage.len(), short.width * short.height);
        assert!(short.coverage.iter().any(|&alpha| alpha > 200));
    }
}
