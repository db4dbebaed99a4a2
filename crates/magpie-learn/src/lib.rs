//! Learning to act: proximal policy optimisation over many environments at once.
//!
//! Three nouns. An [`Agent`] is a record: a policy and a critic with their optimisers and normalisers; everything that
//! learning changes. A [`Window`] is what an agent did for a number of steps in all its environments, as tables with
//! one row a step. A [`Trainer`] holds agents and windows together and repeats three verbs: collect a window, turn its
//! rewards into advantages ([`gae`]), update the agent.
//!
//! ```text
//! environments ─collect─► window ─(rewards may be rewritten)─► advantages ─update─► agent
//! ```
//!
//! A chunk of environments runs the whole window alone, policy, critic and physics in cache, without waiting for the
//! others; normalisers are frozen meanwhile and merge what was seen at its end, in the order of the chunks. So nothing
//! depends on the number of threads. [`evaluate`] runs whole episodes of many policies, [`record`] writes
//! one of each down, step by step.

mod agent;
mod evaluate;
pub mod gae;
mod likelihood;
mod player;
mod record;
mod rollout;
mod setting;
mod trainer;
mod update;
mod window;

pub use agent::{Agent, Networks, Policy};
pub use evaluate::{Evaluation, evaluate};
pub use player::Actions;
pub use record::{Recording, record};
pub use setting::SettingError;
pub use trainer::{Episodes, Iteration, Trainer, TrainerState, iterate_all};
pub use update::{StopAfter, TrainConfig, UpdateError, UpdateStats};
pub use window::{End, Transitions, Window};
