//! The trait of all reward models.

use std::ops::ControlFlow;

use magpie_nn::normaliser::Frozen;
use magpie_random::Draws;

use crate::error::RewardError;
use crate::health::Health;
use crate::record::Record;
use crate::transitions::{Needs, Transitions};

/// Something that says how good a step was.
///
/// Whoever is handed a `Box<dyn RewardModel>` need not know what is in it, so a model of your own needs nothing but this
/// trait. A line in `models.rs` lets configurations name it.
pub trait RewardModel: Send + Sync {
    /// What configurations and messages call it.
    fn name(&self) -> &'static str;

    /// Which columns it looks at beside observations and actions.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Learns what it has to before the first reward, once. A model that was restored or prepared does nothing.
    ///
    /// `progress` is told how far things are and may end them: the model then stays unprepared.
    fn prepare(
        &mut self,
        expert: &Transitions,
        draws: &mut Draws,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(), RewardError> {
        let _ = (expert, draws, progress);
        Ok(())
    }

    /// The reward of each row. The same rows give the same bytes, on any number of threads.
    fn reward(
        &self,
        transitions: &Transitions,
        normaliser: &Frozen,
        out: &mut [f32],
    ) -> Result<(), RewardError>;

    /// Learns to tell expert from policy: one pass over the expert rows against as many policy rows.
    ///
    /// `normaliser` is the policy's, and both sides are seen through it.
    fn update(
        &mut self,
        expert: &Transitions,
        policy: &Transitions,
        normaliser: &Frozen,
        draws: &mut Draws,
    ) -> Result<Health, RewardError>;

    /// Everything that lives on, for a checkpoint.
    fn save(&self) -> Result<Record, RewardError>;

    /// Goes on from a checkpoint of the same configuration.
    fn restore(&mut self, record: &Record) -> Result<(), RewardError>;
}

/// How far preparation is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Epochs done.
    pub done: usize,
    /// Epochs in all.
    pub total: usize,
    /// Mean loss of the last epoch.
    pub loss: f64,
}
