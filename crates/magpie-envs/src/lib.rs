//! Tasks (observation, reward, termination), measures of behaviour, and batches of environments.
//!
//! There are three main types. A [`Task`] is data: its observation, reward and termination. An [`Environment`] is a
//! task with a robot, a [`Measure`] of behaviour and an optional perturbation of the world; it is immutable and shared.
//! A [`Batch`] is N running environments, divided into [`Chunk`]s that one core steps, and those into [`Group`]s of
//! sixteen lanes. The course of an environment depends only on the seed, its number and its actions.
//!
//! Only the [`Simulator`] of an environment knows the physics; it creates a [`Simulation`] for each chunk.
//! [`Environment::new`] uses the rigid bodies of `magpie-physics`, [`Environment::from_simulator`] any other simulator.
//!
//! In addition, [`replay_f64`] runs the same formulas in double precision from recorded states.
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

pub use batch::{Batch, Rows, RowsMut};
pub use chunk::{CHUNK, Chunk};
pub use environment::{Description, DescriptionError, Entry, Environment, MOST_MEASURES};
pub use group::{Group, LaneSet, members};
pub use measure::{Dimension, Measure, MeasurePart, Quantity};
pub use rigid_bodies::{
    Clip, EnvironmentError, Options, Replayed, Stage, States, examine, replay_f32, replay_f64, unstable_speed,
};
pub use simulator::{ResetDraws, Simulation, Simulator};
pub use snapshot::{Snapshot, SnapshotMismatch};
pub use task::{ForwardOf, Healthy, ObservationPart, Reward, SearchHints, TASKS, Task, TaskRobot};
