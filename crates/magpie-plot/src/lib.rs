//! Pictures of plain numbers: an archive as a [`heat_map`], learning curves as [`curves`], estimates as [`intervals`], points
//! in the space of measures as a [`scatter`] plot.
//!
//! A [`Figure`] is SVG, for pages, and can be turned into PNG, for everything else; the font comes with the crate, so that
//! a picture has the same pixels everywhere. Nothing here knows what a run is, or reads a file.
//!
//! ```
//! use magpie_plot::{Dimension, HeatMap, Partition, heat_map};
//!
//! let foot = |name: &str| Dimension { name: name.to_owned(), range: [0.0, 1.0] };
//! let dimensions = [foot("left foot contact"), foot("right foot contact")];
//! let cells = [(0, 91.0), (51, 74.5), (2499, 88.0)];
//! let figure = heat_map(&HeatMap {
//!     title: "walker2d, 3 elites",
//!     dimensions: &dimensions,
//!     partition: Partition::Grid(&[50, 50]),
//!     objective: "mean return",
//!     cells: &cells,
//!     scale: None,
//!     points: None,
//!     width: magpie_plot::WIDE,
//! })?;
//! assert!(figure.svg().starts_with("<svg"));
//! assert!(figure.png()?.starts_with(b"\x89PNG"));
//! # Ok::<(), magpie_plot::PlotError>(())
//! ```

mod axis;
mod caption;
mod colour;
mod curves;
mod error;
mod figure;
mod heat_map;
mod intervals;
mod panel;
mod scatter;
mod voronoi;

pub use caption::{Caption, caption};
pub use colour::shade;
pub use curves::{Labels, Series, curves};
pub use error::PlotError;
pub use figure::{Figure, NARROW, WIDE, escaped};
pub use heat_map::{Dimension, HeatMap, Partition, Points, heat_map};
pub use intervals::{Dot, intervals};
pub use scatter::{Crowd, Mark, Scatter, scatter};
