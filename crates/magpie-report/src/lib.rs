//! What the runs say.
//!
//! A run leaves numbers behind: curves over its iterations and an archive at its end. This crate puts the numbers of
//! many runs together, several *methods* on several *tasks* with several seeds each, and says how sure one can be.
//!
//! - [`statistics`] computes: summaries, intervals, tests, tables.

pub mod statistics;
