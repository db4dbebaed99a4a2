//! Gaits as pictures, drawn on the processor: moving ones ([`gif`]) and strips of moments ([`strip`]).
//!
//! A [`Shot`] is a moment of a gait. It is drawn ray by ray: a ray meets a capsule or the ground, and what it meets is lit
//! by one lamp whose shadow of a capsule has soft edges.

mod camera;
mod canvas;
mod gif;
mod map;
mod panels;
mod shot;
mod strip;
mod vector;

pub use canvas::{Canvas, Theme};
pub use gif::{GifOptions, gif};
pub use map::map;
pub use panels::Panel;
pub use shot::Shot;
pub use strip::strip;
