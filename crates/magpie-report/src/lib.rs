//! What the runs say.
//!
//! A run leaves numbers behind: curves over its iterations and an archive at its end. This crate puts the numbers of
//! many runs together, several *methods* on several *tasks* with several seeds each, says how sure one can be, and
//! draws them.
//!
//! - [`statistics`] computes: summaries, intervals, tests, tables.
//! - [`plot`] draws: a [`plot::Figure`] is SVG, for pages, and can be turned into PNG, for everything else; the font
//!   comes with the crate, so that a picture has the same pixels everywhere.
//!
//! Input is plain data: nothing here knows what a run is.

pub mod plot;
pub mod statistics;
