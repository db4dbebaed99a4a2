//! The environment's own reward, for comparison with learned ones.

use magpie_demos::Sizes;
use magpie_nn::normaliser::Frozen;
use magpie_random::Draws;

use crate::blocks;
use crate::error::RewardError;
use crate::health::Health;
use crate::model::RewardModel;
use crate::models::ModelName;
use crate::record::Record;
use crate::transitions::{Needs, Transitions};

/// The environment's own reward: nothing is learned.
#[derive(Debug, Clone, Copy)]
pub struct True {
    /// Widths of the tables.
    pub sizes: Sizes,
}

impl RewardModel for True {
    fn name(&self) -> &'static str {
        ModelName::True.name()
    }

    fn needs(&self) -> Needs {
        Needs { rewards: true, ..Needs::default() }
    }

    fn reward(
        &self,
        transitions: &Transitions,
        _normaliser: &Frozen,
        out: &mut [f32],
    ) -> Result<(), RewardError> {
        blocks::rows_for(transitions, self.sizes, self.needs(), out)?;
        out.copy_from_slice(transitions.rewards);
        blocks::finite(self.name(), out)
    }

    fn update(
        &mut self,
        _expert: &Transitions,
        _policy: &Transitions,
        _normaliser: &Frozen,
        _draws: &mut Draws,
    ) -> Result<Health, RewardError> {
        Ok(Health::default())
    }

    fn save(&self) -> Result<Record, RewardError> {
        Record::new(self.name(), &())
    }

    fn restore(&mut self, record: &Record) -> Result<(), RewardError> {
        record.state(self.name())
    }
}
