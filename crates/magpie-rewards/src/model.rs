//! The trait of all reward models.

use std::ops::ControlFlow;

use magpie_nn::normaliser::Frozen;
use magpie_random::Draws;

use crate::error::RewardError;
use crate::health::Health;
use crate::record::Record;
use crate::transitions::{Needs, Transitions};

/// Computes the reward of transitions, and may learn from them.
///
/// Users of a `Box<dyn RewardModel>` do not know its type, so that a model of your own needs only this trait. A row in
/// `models/mod.rs` makes it available in configurations.
pub trait RewardModel: Send + Sync {
    /// The name in configurations and messages.
    fn name(&self) -> &'static str;

    /// The columns that the model reads in addition to observations and actions.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Trains what must be trained before the first reward, once. Does nothing for a model that was prepared or
    /// restored.
    ///
    /// `progress` is called regularly and can stop the preparation; the model then remains unprepared.
    fn prepare(
        &mut self,
        expert: &Transitions,
        draws: &mut Draws,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), RewardError> {
        let _ = (expert, draws, progress);
        Ok(())
    }

    /// Computes the reward of each row. The same rows give the same result, bit for bit, on any number of threads.
    fn reward(
        &self,
        transitions: &Transitions,
        normaliser: &Frozen,
        out: &mut [f32],
    ) -> Result<(), RewardError>;

    /// Learns to distinguish expert from policy: a pass over the expert rows, or several, with as many policy rows.
    ///
    /// `normaliser` is the policy's and is applied to both sides.
    fn update(
        &mut self,
        expert: &Transitions,
        policy: &Transitions,
        normaliser: &Frozen,
        draws: &mut Draws,
    ) -> Result<Health, RewardError>;

    /// The complete state, for a checkpoint.
    fn save(&self) -> Result<Record, RewardError>;

    /// Restores a state saved with the same configuration.
    fn restore(&mut self, record: &Record) -> Result<(), RewardError>;
}

/// Progress of the preparation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Completed epochs.
    pub done: usize,
    /// Total number of epochs.
    pub total: usize,
    /// Mean loss of the last epoch.
    pub loss: f64,
}
