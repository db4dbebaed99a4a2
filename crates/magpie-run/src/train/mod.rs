//! A search as a run: configuration, demonstrations, folder, metrics, checkpoints.

mod config;
mod demos;
mod later;
mod metrics;
mod objective;
mod ready;
mod run;

pub use config::{Config, Preset};
pub use demos::Demos;
pub(crate) use demos::FILE as DEMONSTRATIONS;
pub use later::fill_in_later_settings;
pub(crate) use run::ARCHIVE;
pub use run::{Progress, TrainRun};
