//! Training one policy on the task's own reward.

mod config;
mod metrics;
mod run;

pub use config::{Choices, Config};
pub(crate) use metrics::COLUMNS;
pub use metrics::row;
pub(crate) use run::{POLICY, Training};
pub use run::{PpoRun, Progress, Report};
