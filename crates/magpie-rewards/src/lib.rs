//! Rewards learned from demonstrations.
//!
//! There are three main types. [`Pairs`] are rows of demonstrations, which `magpie-demos` reads. [`Transitions`] are
//! rows of observation, action and next observation, in the same form for experts and policies. A [`RewardModel`]
//! computes the reward of each row and learns from both kinds: GAIL, VAIL, DiffAIL, AIRL, GIRIL and deep maximum
//! entropy IRL, one folder each, and [`True`], which returns the environment's reward.
//!
//! All models see expert and policy through the policy's normaliser, so that none can tell them apart by their scale.
//! GIRIL, which is trained before there is a policy, has its own. Rewards are computed in blocks on all cores and do
//! not depend on the number of cores. Random draws come from the caller. A [`Record`] holds the complete state of a
//! model, which continues from it bit for bit.
//!
//! An update is one pass over the (thinned) demonstrations, or several, paired with the same number of randomly drawn
//! policy rows.
//! It returns a [`Health`]: losses, accuracies, gradient norms, and the mean rewards of expert and policy.
//!
//! If the paper and the published code differ, both are options, and each option states its origin.
//!
//! ```
//! use magpie_nn::normaliser::RunningMeanStd;
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
//! let normaliser = RunningMeanStd::new(1).freeze(10.0);
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
//! Outside of this crate, a model is a type that implements [`RewardModel`]; see `tests/custom_model.rs`. Inside, it is
//! a folder `src/models/NAME/`: `mod.rs` with the model and its trait implementation, `config.rs` with its settings,
//! `learning.rs` with the loss and gradient of a step, and `tests.rs`; and a row in `src/models/mod.rs`, which makes it
//! known to configurations, messages and reports. A model with a discriminator on pairs of observation and action
//! starts from `adversarial::Discriminator`, as GAIL does.

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

pub use adversarial::{Inputs, Mix, RewardForm};
pub use error::RewardError;
pub use health::{Bottleneck, Health};
pub use magpie_demos::{Pairs, Sizes};
pub use model::{Progress, RewardModel};
pub use models::true_reward::True;
pub use models::{ModelName, RewardConfig, airl, build, diffail};
pub use record::Record;
pub use transitions::{Needs, Transitions};
