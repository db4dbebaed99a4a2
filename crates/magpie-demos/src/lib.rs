//! Demonstrations for imitation learning: one file format, importers for others, and a few that come along.
//!
//! Three nouns. A **demonstration** is one whole [`Episode`] of an expert: observations, actions, perhaps
//! true rewards and measures, how it ended and who did it. [`Demonstrations`] are a few of them in flat tables
//! ([`Columns`]), checked: all sizes fit and all numbers are finite. [`Pairs`] are the rows that imitation learning
//! asks for, every Nth step of each episode ([`Demonstrations::thinned`]).
//!
//! Observations are raw; actions are as the environment took them, limited to ±1; both are of the same step.
//!
//! [`Demonstrations::load`] and [`Demonstrations::save`] read and write magpie's own format, a safetensors file.
//! [`import`] also reads files and folders of the library imitation, of Minari, of D4RL and of the PPGA paper, and
//! recognises which one it has by the first bytes. Nothing that a file claims is believed beyond what its bytes can hold,
//! and no import takes more than a gigabyte of memory, or ten times the file. What other programs recorded is marked as
//! [`Foreign`]. [`bundled`] gives the demonstrations that come with the crate.
//!
//! ```
//! use magpie_demos::{Demonstrations, bundled};
//!
//! let demonstrations = Demonstrations::from_bytes(bundled("walker2d").unwrap())?;
//! let columns = demonstrations.columns();
//! assert_eq!((columns.about.task.as_str(), columns.episodes.len()), ("walker2d", 4));
//! assert!(columns.episodes.iter().all(|episode| episode.true_return.is_some_and(|sum| sum > 1000.0)));
//!
//! // Every 20th step, without the observations that followed.
//! let pairs = demonstrations.thinned(20, false)?;
//! assert_eq!(pairs.actions.len(), pairs.terminated.len() * demonstrations.sizes().action);
//! # Ok::<(), magpie_demos::Problem>(())
//! ```
//!
//! # Another format
//!
//! An importer is one file in `src/import/`: it fills in [`Columns`], and [`Demonstrations::new`] checks them. A line
//! in `src/import/mod.rs` says by which bytes its files are recognised.

mod bundled;
mod check;
mod demonstrations;
mod error;
mod file;
mod import;
#[cfg(test)]
mod tests;
mod thinning;

pub use bundled::bundled;
pub use demonstrations::{About, Clipped, Columns, Demonstrations, Demonstrator, Episode, Foreign, Sizes};
pub use error::{DemonstrationError, Problem};
pub use import::{Given, import, import_bytes};
pub use thinning::Pairs;
