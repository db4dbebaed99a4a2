//! Moving pictures.
//!
//! All frames share one palette: the colours that cover most pixels of some frames, each group by its mean (median cut).
//! Pixels that stay as they were are left out of a frame, which makes it small.

use std::collections::HashMap;

use gif::{DisposalMethod, Encoder, Frame, Repeat};
use rayon::prelude::*;

use super::canvas::{Canvas, Theme};
use super::panels::{Layout, Panel, draw};
use crate::error::ViewError;

/// What a moving picture shows.
#[derive(Debug, Clone, PartialEq)]
pub struct GifOptions {
    /// Where it begins, in s of the gait.
    pub from: f64,
    /// How much it shows, in s.
    pub seconds: f64,
    /// Frames a second; a GIF knows hundredths of seconds only.
    pub rate: u32,
    /// In pixels.
    pub width: usize,
    /// Light or dark.
    pub theme: Theme,
    /// Colours, 8 to 255: fewer make a smaller file.
    pub colours: usize,
    /// What stands on the left, such as a [`map`](super::map()).
    pub beside: Option<Canvas>,
}

impl Default for GifOptions {
    fn default() -> GifOptions {
        GifOptions {
            from: 1.0,
            seconds: 4.0,
            rate: 20,
            width: 960,
            theme: Theme::Light,
            colours: 64,
            beside: None,
        }
    }
}

/// Around what stands on the left, in pixels.
const MARGIN: usize = 12;
/// More frames than this are no picture.
const MOST_FRAMES: usize = 2_000;

/// Draws gaits side by side, in step. `progress` is told how many frames of how many are done.
pub fn gif(
    panels: &[Panel],
    options: &GifOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<u8>, ViewError> {
    let left = options.beside.as_ref().map_or(0, |canvas| canvas.width + MARGIN);
    let layout = Layout::row(panels.len(), options.width.saturating_sub(left), options.theme);
    let hundredths = (100.0 / f64::from(options.rate.max(1))).round().max(2.0);
    let frames = (options.seconds * 100.0 / hundredths).round() as usize;
    if panels.is_empty() || frames == 0 || frames > MOST_FRAMES || !options.from.is_finite() {
        let message = format!("a moving picture has 1 to {MOST_FRAMES} frames; change --seconds or --fps");
        return Err(ViewError::Option(message));
    }
    let done = std::sync::atomic::AtomicUsize::new(0);
    let dt = panels[0].trajectory.robot.control_dt;
    let canvases: Vec<Canvas> = (0..frames)
        .into_par_iter()
        .map(|frame| {
            let time = options.from.max(0.0) + frame as f64 * hundredths / 100.0;
            let canvas = draw(panels, (time / dt).round() as usize, &layout).map(|drawn| {
                let Some(beside) = &options.beside else { return drawn };
                let height = drawn.height.max(beside.height + MARGIN);
                let mut both = Canvas::new(left + drawn.width, height, options.theme.paper());
                both.paste(beside, [MARGIN / 2, MARGIN / 2]);
                both.paste(&drawn, [left, 0]);
                both
            });
            progress(done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1, frames);
            canvas
        })
        .collect::<Result<_, _>>()?;
    let pictures: Vec<Vec<u8>> = canvases.iter().map(Canvas::bytes).collect();
    let colours = options.colours.clamp(8, 255);
    let palette = Palette::of(pictures.iter().step_by(frames.div_ceil(12)), colours);
    let indexed: Vec<Vec<u8>> = pictures.par_iter().map(|picture| palette.index(picture)).collect();
    encode(&indexed, [canvases[0].width, canvases[0].height], hundredths as u16, &palette)
}

fn encode(
    frames: &[Vec<u8>],
    [width, height]: [usize; 2],
    delay: u16,
    palette: &Palette,
) -> Result<Vec<u8>, ViewError> {
    let failed = |e: gif::EncodingError| ViewError::Encode(e.to_string());
    let transparent = palette.colours.len() as u8;
    let mut colours = palette.colours.concat();
    colours.extend([0; 3]);
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, width as u16, height as u16, &colours).map_err(failed)?;
    encoder.set_repeat(Repeat::Infinite).map_err(failed)?;
    for (number, indices) in frames.iter().enumerate() {
        let mut buffer = indices.clone();
        if number > 0 {
            for (now, before) in buffer.iter_mut().zip(&frames[number - 1]) {
                if now == before {
                    *now = transparent;
                }
            }
        }
        let mut frame = Frame::from_indexed_pixels(width as u16, height as u16, buffer, Some(transparent));
        (frame.delay, frame.dispose, frame.palette) = (delay, DisposalMethod::Keep, None);
        encoder.write_frame(&frame).map_err(failed)?;
    }
    drop(encoder);
    Ok(file)
}

struct Palette {
    colours: Vec<[u8; 3]>,
    /// The nearest of them for each colour of six bits a channel.
    nearest: Vec<u8>,
}

impl Palette {
    fn of<'a>(pictures: impl Iterator<Item = &'a Vec<u8>>, most: usize) -> Palette {
        let mut counts: HashMap<[u8; 3], u64> = HashMap::new();
        for pixel in pictures.flat_map(|picture| picture.as_chunks::<3>().0) {
            *counts.entry(pixel.map(|v| v & 0xfc)).or_default() += 1;
        }
        let mut all: Vec<([u8; 3], u64)> = counts.into_iter().collect();
        all.sort_unstable();
        let mut boxes = vec![all];
        while boxes.len() < most {
            // The one that would gain most: wide, and with many pixels.
            let gain = |group: &Vec<([u8; 3], u64)>| {
                let pixels: u64 = group.iter().map(|(_, count)| count).sum();
                (pixels as f64).sqrt() * f64::from(widest(group).1)
            };
            let Some((index, best)) = boxes
                .iter()
                .enumerate()
                .map(|(i, group)| (i, gain(group)))
                .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
            else {
                break;
            };
            if best <= 0.0 {
                break;
            }
            let mut group = boxes.swap_remove(index);
            let axis = widest(&group).0;
            group.sort_unstable_by_key(|(colour, _)| (colour[axis], *colour));
            let (low, high) = (group[0].0[axis], group[group.len() - 1].0[axis]);
            let middle = low + (high - low) / 2;
            let rest = group.split_off(group.partition_point(|(colour, _)| colour[axis] <= middle));
            boxes.extend([group, rest]);
        }
        let mean = |group: &Vec<([u8; 3], u64)>| {
            let pixels: u64 = group.iter().map(|(_, count)| count).sum();
            std::array::from_fn(|i| {
                let sum: u64 = group.iter().map(|(colour, count)| u64::from(colour[i]) * count).sum();
                (sum as f64 / pixels.max(1) as f64 + 1.5).min(255.0) as u8
            })
        };
        let colours: Vec<[u8; 3]> = boxes.iter().map(mean).collect();
        let wide = |part: usize| (part * 255 / 63) as i32;
        let nearest = (0..1usize << 18).map(|code| {
            let colour = [wide(code >> 12), wide(code >> 6 & 63), wide(code & 63)];
            let distance = |c: &[u8; 3]| -> i32 {
                (0..3).map(|i| (i32::from(c[i]) - colour[i]).pow(2) * [3, 6, 1][i]).sum()
            };
            let found = colours.iter().enumerate().min_by_key(|(_, c)| distance(c));
            found.map_or(0, |(i, _)| i as u8)
        });
        Palette { nearest: nearest.collect(), colours }
    }

    fn index(&self, picture: &[u8]) -> Vec<u8> {
        let pixels = picture.as_chunks::<3>().0.iter();
        pixels
            .map(|[r, g, b]| {
                let code = [r, g, b].map(|v| usize::from(*v) * 63 / 255);
                self.nearest[code[0] << 12 | code[1] << 6 | code[2]]
            })
            .collect()
    }
}

/// The channel along which colours differ most, and how much.
fn widest(group: &[([u8; 3], u64)]) -> (usize, u8) {
    let spread = |i: usize| {
        let values = group.iter().map(|(colour, _)| colour[i]);
        values.clone().max().unwrap_or(0) - values.min().unwrap_or(0)
    };
    let found = (0..3).map(|i| (i, spread(i))).max_by_key(|&(_, spread)| spread);
    found.unwrap_or((0, 0))
}
