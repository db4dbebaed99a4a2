//! Comparisons of runs.
//!
//! A run leaves numbers behind: curves over its iterations and an archive at its end. This crate puts the numbers of
//! many runs together, several *methods* on several *tasks* with several seeds each, says how sure one can be, and
//! draws them.
//!
//! - [`statistics`] computes: summaries, intervals, tests, tables.
//! - [`runs`] reads the folders of runs and sorts them.
//! - [`demonstrations`] sums up what rewards are learned from, as the paper's appendix does.
//! - [`report()`] puts all of it together: one page, and its pictures and tables as files.
//!
//! Statistics take plain data and know nothing of runs; nothing here knows how to train. Pictures are drawn by `magpie-plot`.

pub mod demonstrations;
mod error;
mod report;
pub mod runs;
pub mod statistics;

pub use error::ReportError;
pub use report::{Report, report};
