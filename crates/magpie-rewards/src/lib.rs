//! Rewards learnt from demonstrations.

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
