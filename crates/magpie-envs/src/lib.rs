//! The tasks: reset, observe, reward, end; measures of behaviour; batches of environments.
mod batch;
mod chunk;
mod environment;
mod group;
mod measure;
mod observe;
mod replay;
mod snapshot;
mod stage;
mod task;

pub use batch::{Batch, Rows};
pub use chunk::{CHUNK, Chunk};
pub use environment::{Clip, Environment, EnvironmentError, Options};
pub use group::{Group, LaneSet, members};
pub use measure::{Dimension, Measure, UnknownMeasure};
pub use replay::{Replayed, States, replay_f32, replay_f64};
pub use snapshot::{Snapshot, SnapshotMismatch};
pub use stage::Stage;
pub use task::{EPISODE_STEPS, ForwardOf, Healthy, Observation, Reward, TASKS, Task};
