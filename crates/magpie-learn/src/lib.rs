//! Reinforcement learning: proximal policy optimisation in many parallel environments.
//!
//! There are three main types. An [`Agent`] is a policy and a critic with their optimisers and normalisers: everything
//! that learning changes. A [`RolloutBuffer`] holds the steps of an agent in all its environments, as tables with one
//! row per step. A [`Trainer`] owns an agent and its environments and repeats: collect a rollout, let the caller
//! rewrite its rewards, pass it to the [`Learner`].
//!
//! ```text
//! environments ─collect─► rollout ─(rewards may be rewritten)─► learner: advantages, update ─► agent
//! ```
//!
//! Each chunk of environments runs a whole rollout on its own, with policy, critic and physics in cache, without
//! waiting for the others. Normalisers are frozen during a rollout and updated at its end, in the order of the chunks,
//! so that results do not depend on the number of threads. [`evaluate`] runs full episodes of many policies; [`record`]
//! records one episode of each, step by step.

mod agent;
mod cloning;
mod config;
mod evaluate;
mod learner;
mod likelihood;
mod mean_actions;
mod policy_runner;
mod record;
mod rollout;
mod rollout_buffer;
mod top_speed;
mod trainer;

pub use agent::{Agent, Networks, Policy};
pub use cloning::{Cloning, CloningConfig, CloningData, CloningError, CloningReport, CloningState, Examples};
pub use config::{StopAfter, TrainConfig};
pub use evaluate::{Evaluation, evaluate, evaluate_part, full_lanes};
pub use learner::{Learner, LearnerFactory, LearnerName, UpdateError, UpdateStats, gae};
pub use policy_runner::Actions;
pub use record::{Recording, record, record_watched};
pub use top_speed::top_speed;
pub use trainer::{Episodes, Iteration, Trainer, TrainerState, iterate_all};

pub use rollout_buffer::{End, RolloutBuffer, Transitions};
