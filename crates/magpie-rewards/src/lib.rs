//! Rewards learned from demonstrations.
//!
//! Three nouns. [`Pairs`] are rows of demonstrations, which `magpie-demos` reads. [`Transitions`] are what happened,
//! row by row: raw observation, action, what followed; rows of experts and of policies look alike. A [`RewardModel`]
//! says how good each row was, and learns from both kinds: GAIL, VAIL, DiffAIL, AIRL, GIRIL and deep maximum entropy
//! are here, one folder each, and [`True`], which hands on what the environment said.
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
//! let mut model = build(&config, Sizes { observation: 1, action: 1 }, 0.99, &mut draws)?;
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
//! # A model of your own
//!
//! Outside of this crate it is a type that implements [`RewardModel`] (`tests/custom_model.rs` has one). Inside it is a
//! folder, `src/models/NAME/`: `mod.rs` with the model and its trait, `config.rs` with its settings, `learning.rs` with loss and
//! gradient of a step, `tests.rs`; and a row in `src/models/mod.rs`, from which configurations, messages and reports know
//! its name. A model that tells expert pairs of observation and action from the policy's starts from
//! `adversarial::Discriminator`, as GAIL does.

mod adversarial;
mod blocks;
mod error;
#[cfg(test)]
mod golden;
mod health;
mod model;
mod models;
mod panels;
mod record;
mod shape;
mod trained;
mod transitions;

pub use adversarial::{Mix, RewardForm};
pub use error::RewardError;
pub use health::{Bottleneck, Health};
pub use magpie_demos::{Pairs, Sizes};
pub use model::{Progress, RewardModel};
pub use models::true_reward::True;
pub use models::{ModelName, RewardConfig, build, diffail};
pub use record::Record;
pub use transitions::{Needs, Transitions};
