//! What the models that tell expert from policy rows have in common.
//!
//! A [`Discriminator`] is what they do differently: what a row is worth, and how a step is learned from expert, policy
//! and mixed rows. [`Adversarial`] makes a [`RewardModel`](crate::RewardModel) of it: it gathers and normalises rows,
//! draws batches, mixes, and pays for absorbing states.

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
pub(crate) use penalty::{Penalty, Slopes};
