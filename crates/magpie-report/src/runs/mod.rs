//! Runs as they lie on disk, read for comparison.
//!
//! A [`Run`] is a folder that `magpie train` made: its [`Settings`], its [`Row`]s of metrics, the outline of its archive.
//! [`collect`] finds runs in folders. [`scenes`] sorts them: a [`Scene`] is a task with a measure, a [`Method`] is a way to
//! search in it, and its runs differ in nothing but the seed and how far they have come.
//!
//! Nothing here fails because of one bad folder. What is missing, damaged or unfinished becomes a [`Note`], and the rest
//! is shown.

mod collect;
mod group;
mod progress;
mod run;
mod settings;

pub use collect::{Collection, collect};
pub use group::{Details, Method, Scene, scenes};
pub use progress::{Axis, Metric, Row};
pub use run::{Learned, Note, Origin, Run};
pub(crate) use settings::{CURIOUS, may_be_left_out};
pub use settings::{Departure, Settings};
