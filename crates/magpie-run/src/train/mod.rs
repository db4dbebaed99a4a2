//! A search as a run: configuration, folder, metrics, checkpoints.

mod config;
mod run;

pub use config::{Config, Preset, Reward};
pub use run::{Progress, TrainRun};
