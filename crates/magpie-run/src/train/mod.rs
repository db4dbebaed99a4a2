//! A search as a run: configuration, demonstrations, folder, metrics, checkpoints.

mod choices;
mod cloned;
mod config;
mod demos;
mod doubts;
mod drive;
mod metrics;
mod objective;
mod recover;
mod run;
mod settle;
mod validated;

pub use choices::{Choices, Resolved};
pub(crate) use choices::{NO_TASK, Place, about_preset, find_task, of_layers};
pub use config::{Budget, Config};
pub(crate) use config::{FEET_CONTACT, LARGEST_WHOLE};
pub use demos::Demos;
pub(crate) use demos::FILE as DEMONSTRATIONS;
pub(crate) use doubts::doubts;
pub use drive::Watch;
pub(crate) use metrics::COLUMNS;
pub use metrics::row;
pub use recover::rebuild_archive;
pub(crate) use recover::{newer_archive, newer_outline, newer_rows};
pub(crate) use run::{ARCHIVE, CHECKPOINT, PICTURE, Searching};
pub use run::{OwnParts, Progress, TrainRun};
pub(crate) use settle::FILE as SETTLE;
pub use settle::{SettledArchive, SettlingListener};
