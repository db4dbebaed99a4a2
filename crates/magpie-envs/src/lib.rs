//! The tasks: reset, observe, reward, end; measures of behaviour; batches of environments.
//!
//! Three nouns. A [`Task`] is data: what is observed, what is paid, when it is over. An [`Environment`] is a task with
//! a robot, a [`Measure`] of behaviour and a perturbed or unperturbed world; it is shared and never changes. A
//! [`Batch`] is N environments in motion: cut into [`Chunk`]s that one core drives, those into [`Group`]s of sixteen
//! lanes. What happens in an environment depends on the seed, its number and the actions it gets, and on nothing else.
//!
//! Whose physics it is, nobody else knows: an environment holds a [`Simulator`], which makes a [`Simulation`] for each
//! chunk. [`Environment::new`] takes the rigid bodies of `magpie-physics`, [`Environment::from_simulator`] anything else.
//!
//! Beside batches there is [`replay_f64`], which runs the same formulas in double precision from recorded states.
//!
//! ```
//! use std::sync::Arc;
//! use magpie_envs::{Batch, Environment, Options};
//!
//! let env = Arc::new(Environment::new("hopper", Options::default())?);
//! let mut batch = Batch::new(Arc::clone(&env), 0..100, 42); // environments 0 to 99 under seed 42
//! let mut rows = batch.rows();
//! batch.reset(&mut rows);
//! let actions = vec![0.1; batch.len() * env.action_size()];
//! for _ in 0..10 {
//!     batch.step(&actions, &mut rows);
//! }
//! let snapshot = batch.save();
//! batch.step(&actions, &mut rows);
//! let reward = rows.reward.clone();
//! batch.restore(&snapshot)?;
//! batch.step(&actions, &mut rows);
//! assert_eq!(rows.reward, reward);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod chunk;
mod environment;
mod group;
mod measure;
mod rigid_bodies;
mod simulator;
mod snapshot;
mod task;

pub use batch::{Batch, Rows};
pub use chunk::{CHUNK, Chunk};
pub use environment::{Description, DescriptionError, Entry, Environment, MOST_MEASURES};
pub use group::{Group, LaneSet, members};
pub use measure::{Dimension, Measure, MeasurePart, Quantity};
pub use rigid_bodies::{
    Clip, EnvironmentError, Options, Replayed, Stage, States, examine, replay_f32, replay_f64,
};
pub use simulator::{ResetDraws, Simulation, Simulator};
pub use snapshot::{Snapshot, SnapshotMismatch};
pub use task::{ForwardOf, Healthy, ObservationPart, Reward, SearchHints, TASKS, Task, TaskRobot};
