//! Rewards learnt from demonstrations.
//!
//! Three nouns. [`Demonstrations`] are a few whole episodes of somebody who knows how. [`Transitions`] are what happened,
//! row by row: raw observation, action, what followed; rows of experts and of policies look alike. A [`RewardModel`]
//! says how good each row was, and learns from both kinds: GAIL, VAIL, DiffAIL, AIRL, GIRIL and deep maximum entropy
//! are here, one module each, and [`True`], which hands on what the environment said.
//!
//! All models see expert and policy through the same normaliser, that of the policy, so that none can tell them apart by
//! their scale; GIRIL, which is done learning before there is a policy, keeps one of its own. Rewards are computed in
//! blocks on all cores and do not depend on how many there are. Random draws come from the caller. A [`Record`] is all
//! that lives on, and a model that goes on from one goes on to the bit.
//!
//! An update is one pass over the (thinned) demonstrations against as many rows of the policy drawn at random. It gives
//! a [`Health`]: losses, accuracies, slopes, and what expert and policy earn.
//!
//! Where the paper and public code differ, both are options, and each option says whose it is.
//!
//! ```
//! use magpie_nn::normaliser::Running;
//! use magpie_random::Stream;
//! use magpie_rewards::{ModelName, RewardConfig, Sizes, Transitions, build};
//!
//! // An expert whose action is its observation, and a policy that always does the opposite.
//! let mut draws = Stream::new(1, "example").draws(0, 0);
//! let observations: Vec<f32> = (0..400).map(|_| draws.uniform(-1.0, 1.0)).collect();
//! let opposite: Vec<f32> = observations.iter().map(|o| -o).collect();
//! let expert = Transitions { observations: &observations, actions: &observations, ..Transitions::default() };
//! let policy = Transitions { actions: &opposite, ..expert };
//!
//! let config = RewardConfig { model: ModelName::Gail, ..RewardConfig::default() };
//! let mut model = build(&config, Sizes { observation: 1, action: 1 }, &mut draws)?;
//! let normaliser = Running::new(1).freeze(10.0);
//! let mut health = model.update(&expert, &policy, &normaliser, &mut draws)?;
//! for _ in 0..300 {
//!     health = model.update(&expert, &policy, &normaliser, &mut draws)?;
//! }
//! assert!(health.expert_reward > health.policy_reward);
//!
//! let mut rewards = vec![0.0; 400];
//! model.reward(&policy, &normaliser, &mut rewards)?;
//! assert!(rewards.iter().all(|&reward| reward > 0.0), "softplus rewards are never negative");
//! # Ok::<(), magpie_rewards::RewardError>(())
//! ```
//!
//! # A model of one's own
//!
//! is one file. A model that judges pairs of observation and action is a [`Judge`], which [`Adversarial`] makes a reward
//! model of: it has to say what a block of rows is worth and how a step is learnt. Any other implements
//! [`RewardModel`] itself. To be called by name it needs a few lines more, which the compiler asks for once it stands in
//! [`ModelName`]: there, in [`RewardConfig`] for its settings, in [`build`], and in `magpie-report` for what a report calls it.

mod adversarial;
pub mod airl;
mod batches;
mod blocks;
mod config;
pub mod demonstrations;
pub mod diffail;
mod error;
mod form;
pub mod gail;
pub mod giril;
#[cfg(test)]
mod golden;
mod health;
mod input;
pub mod maxent;
mod model;
mod penalty;
mod trained;
mod transitions;
pub mod vail;

pub use adversarial::{Adversarial, Docket, Judge, Mix, Rows};
pub use config::{ModelName, RewardConfig, UnknownModel};
pub use demonstrations::{Demonstrations, Pairs};
pub use error::RewardError;
pub use form::RewardForm;
pub use health::{Bottleneck, Health};
pub use model::{Progress, RewardModel, True, build};
pub use trained::Record;
pub use transitions::{Needs, Sizes, Transitions};
