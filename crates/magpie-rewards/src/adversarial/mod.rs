//! What models with a discriminator have in common.
//!
//! A [`Discriminator`] holds what differs between them: the reward of a row, and a gradient step on expert, policy and
//! interpolated rows. [`Adversarial`] turns it into a [`RewardModel`](crate::RewardModel): it gathers and normalises
//! rows, draws minibatches, interpolates, and handles absorbing states.

mod batches;
mod discriminator;
mod logit;
mod model;
mod pairs;
mod penalty;

pub(crate) use batches::Batches;
pub use discriminator::Mix;
pub(crate) use discriminator::{BatchSpec, Discriminator, Rows};
pub use logit::RewardForm;
pub(crate) use logit::{Side, cross_entropy, softplus};
pub(crate) use model::Adversarial;
pub use pairs::Inputs;
pub(crate) use penalty::{Penalty, Slopes};
