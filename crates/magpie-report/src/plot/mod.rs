//! Pictures: an archive as a [`heat_map`], learning curves as [`curves`], estimates as [`intervals`].
//!
//! ```
//! use magpie_report::plot::{Dimension, HeatMap, heat_map};
//!
//! let foot = |name: &str| Dimension { name: name.to_owned(), range: [0.0, 1.0], cells: 50 };
//! let dimensions = [foot("left foot contact"), foot("right foot contact")];
//! let cells = [(0, 91.0), (51, 74.5), (2499, 88.0)];
//! let figure = heat_map(&HeatMap {
//!     title: "walker2d, 3 elites",
//!     dimensions: &dimensions,
//!     objective: "mean return",
//!     cells: &cells,
//!     scale: None,
//!     points: None,
//!     width: magpie_report::plot::WIDE,
//! })?;
//! assert!(figure.svg().starts_with("<svg"));
//! assert!(figure.png()?.starts_with(b"\x89PNG"));
//! # Ok::<(), magpie_report::plot::PlotError>(())
//! ```

mod axis;
mod colour;
mod curves;
mod error;
mod figure;
mod heat_map;
mod intervals;
mod panel;

pub use curves::{Labels, Series, curves};
pub use error::PlotError;
pub(crate) use figure::escaped;
pub use figure::{Figure, NARROW, WIDE};
pub use heat_map::{Dimension, HeatMap, Points, heat_map};
pub use intervals::{Dot, intervals};
