//! A search as a run: configuration, demonstrations, folder, metrics, checkpoints.

mod config;
mod demos;
mod metrics;
mod objective;
mod run;

pub use config::{Config, Preset};
pub use demos::Demos;
pub use run::{Progress, TrainRun};
