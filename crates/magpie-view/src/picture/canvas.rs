//! Pixels, and the colours of light and dark pictures.

use magpie_plot::{Caption, caption};

use crate::error::ViewError;

/// Red, green and blue from 0 to 1, as the eye sees them.
pub type Colour = [f32; 3];

/// Light or dark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on light.
    #[default]
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    /// Behind everything.
    pub fn paper(self) -> Colour {
        match self {
            Theme::Light => hex(0xf6f4ef),
            Theme::Dark => hex(0x14171c),
        }
    }

    /// Text.
    pub fn ink(self) -> Colour {
        match self {
            Theme::Light => hex(0x23272e),
            Theme::Dark => hex(0xe8e6e1),
        }
    }

    /// The fields of the ground.
    pub fn ground(self) -> [Colour; 2] {
        match self {
            Theme::Light => [hex(0xe9e5dc), hex(0xdcd7cb)],
            Theme::Dark => [hex(0x1d2229), hex(0x272d36)],
        }
    }
}

/// A foot that touches the ground.
pub const CONTACT: Colour = hex(0xf2a900);

/// The robots of a picture, which differ for the colour-blind as well: blue, vermilion, green and purple of Okabe and Ito.
pub const ROBOTS: [Colour; 4] = [hex(0x0072b2), hex(0xd55e00), hex(0x009e73), hex(0xb5679d)];

pub const fn hex(number: u32) -> Colour {
    [(number >> 16 & 255) as f32 / 255.0, (number >> 8 & 255) as f32 / 255.0, (number & 255) as f32 / 255.0]
}

/// A picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Canvas {
    /// In pixels.
    pub width: usize,
    /// In pixels.
    pub height: usize,
    /// Row by row.
    pub pixels: Vec<Colour>,
}

impl Canvas {
    /// A picture of one colour.
    pub fn new(width: usize, height: usize, colour: Colour) -> Canvas {
        Canvas { width, height, pixels: vec![colour; width * height] }
    }

    /// Copies another picture into this one; what does not fit is left out.
    pub fn paste(&mut self, other: &Canvas, [x, y]: [usize; 2]) {
        for (row, line) in other.pixels.chunks(other.width).enumerate().take(self.height.saturating_sub(y)) {
            let room = self.width.saturating_sub(x).min(other.width);
            self.pixels[(y + row) * self.width + x..][..room].copy_from_slice(&line[..room]);
        }
    }

    /// Writes a line of text, its left upper corner at this place.
    pub fn write(&mut self, text: &str, size: f64, [x, y]: [usize; 2], ink: Colour) -> Result<(), ViewError> {
        self.lay(text, size, ink, |column, row| (x + column, Some(y + row)))
    }

    /// Writes a line of text that reads upwards, its first letter at this place.
    pub fn write_upwards(
        &mut self,
        text: &str,
        size: f64,
        [x, y]: [usize; 2],
        ink: Colour,
    ) -> Result<(), ViewError> {
        self.lay(text, size, ink, |column, row| (x + row, y.checked_sub(column)))
    }

    /// Lays a line of text over the pixels that `place` says.
    fn lay(
        &mut self,
        text: &str,
        size: f64,
        ink: Colour,
        place: impl Fn(usize, usize) -> (usize, Option<usize>),
    ) -> Result<(), ViewError> {
        let Caption { width, coverage, .. } =
            caption(text, size).map_err(|e| ViewError::Encode(e.to_string()))?;
        for (row, line) in coverage.chunks(width).enumerate() {
            for (column, &alpha) in line.iter().enumerate() {
                if let (at, Some(under)) = place(column, row)
                    && at < self.width
                    && under < self.height
                {
                    let pixel = &mut self.pixels[under * self.width + at];
                    *pixel = mix(*pixel, ink, f32::from(alpha) / 255.0);
                }
            }
        }
        Ok(())
    }

    /// Red, green and blue, a byte each.
    pub fn bytes(&self) -> Vec<u8> {
        self.pixels.iter().flatten().map(|v| (v.clamp(0.0, 1.0) * 255.0).round() as u8).collect()
    }

    /// As a PNG.
    pub fn png(&self) -> Result<Vec<u8>, ViewError> {
        let encode = |e: png::EncodingError| ViewError::Encode(e.to_string());
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().map_err(encode)?;
        writer.write_image_data(&self.bytes()).map_err(encode)?;
        writer.finish().map_err(encode)?;
        Ok(file)
    }
}

pub fn mix(a: Colour, b: Colour, share: f32) -> Colour {
    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * share)
}
