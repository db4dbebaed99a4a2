//! Learning to act: proximal policy optimisation over many environments at once.
//!
//! Three nouns. An [`Agent`] is a record: a policy and a critic with their optimisers and normalisers; everything that
//! learning changes. A [`RolloutBuffer`] is what an agent did for a number of steps in all its environments, as tables with
//! one row a step. A [`Trainer`] owns an agent and its environments, and repeats: collect a rollout, let the caller rewrite
//! its rewards, hand it to the [`Learner`].
//!
//! ```text
//! environments ─collect─► rollout ─(rewards may be rewritten)─► learner: advantages, update ─► agent
//! ```
//!
//! A chunk of environments runs the whole rollout alone, policy, critic and physics in cache, without waiting for the
//! others; normalisers are frozen meanwhile and merge what was seen at its end, in the order of the chunks. So nothing
//! depends on the number of threads. [`evaluate`] runs whole episodes of many policies, [`record`] writes
//! one of each down, step by step.

mod agent;
mod cloning;
mod config;
mod evaluate;
mod learner;
mod likelihood;
mod player;
mod record;
mod rollout;
mod rollout_buffer;
mod trainer;

pub use agent::{Agent, Networks, Policy};
pub use cloning::{Cloning, CloningConfig, CloningData, CloningError, CloningReport, CloningState, Examples};
pub use config::{StopAfter, TrainConfig};
pub use evaluate::{Evaluation, evaluate};
pub use learner::{Learner, LearnerFactory, UpdateError, UpdateStats, gae};
pub use player::Actions;
pub use record::{Recording, record};
pub use trainer::{Episodes, Iteration, Trainer, TrainerState, iterate_all};

pub use rollout_buffer::{End, RolloutBuffer, Transitions};
