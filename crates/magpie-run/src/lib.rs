//! Runs: what is computed, where it is kept, and how it goes on after being stopped.
//!
//! Three nouns. A *configuration* is a typed record that is checked before anything starts and saved, whole, beside
//! the results ([`settings`] says how files and arguments make one). A [`RunDirectory`] is a folder that one process at a time may write; files in it appear complete or not
//! at all. A *checkpoint* is all state of a run in one file with a checksum: a run that is killed and resumed gives the
//! bytes of one that was left alone.
//!
//! There are two kinds of run: [`ppo`], one policy on the task's own reward, and [`train`], a search for many. What a
//! search has found is one file ([`SavedArchive`]) that everything else reads. A [`sweep`] is many searches, from one file.

mod archive_file;
mod archive_outline;
mod checkpoint;
mod directory;
mod error;
mod metrics;
mod policy_file;
pub mod ppo;
mod reevaluation;
pub mod settings;
pub mod sweep;
mod tensorboard;
pub mod train;
mod world;

pub use archive_file::{About, SavedArchive, SavedElite, is_archive, load_archive, save_archive};
pub use archive_outline::{ArchiveOutline, OutlinedElite, load_outline};
pub use directory::{RunDirectory, write_whole};
pub use error::RunError;
pub use metrics::Metrics;
pub use policy_file::{PolicyFile, load_policy, save_policy};
pub use reevaluation::Reevaluation;
pub use tensorboard::Events;
pub use world::World;
