//! Behaviour cloning as a run: one policy that acts as the demonstrators did, without any reward.

mod config;
mod metrics;
mod run;

pub use config::{Choices, Config};
pub(crate) use metrics::COLUMNS;
pub use metrics::row;
pub use run::{CloneRun, Progress};
pub(crate) use run::{Cloner, split};
