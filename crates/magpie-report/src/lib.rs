//! What the runs say.
//!
//! A run leaves numbers behind: curves over its iterations and an archive at its end. This crate puts the numbers of
//! many runs together, several *methods* on several *tasks* with several seeds each, says how sure one can be, and
//! draws them.
//!
//! - [`statistics`] computes: summaries, intervals, tests, tables.
//! - [`plot`] draws: a [`plot::Figure`] is SVG, for pages, and can be turned into PNG, for everything else; the font
//!   comes with the crate, so that a picture has the same pixels everywhere.
//! - [`runs`] reads the folders of runs and sorts them.
//! - [`report()`] puts all of it together: one page, and its pictures and tables as files.
//!
//! Statistics and plots take plain data and know nothing of runs; nothing here knows how to train.

mod error;
pub mod plot;
mod report;
pub mod runs;
pub mod statistics;

pub use error::ReportError;
pub use report::{Report, report};
