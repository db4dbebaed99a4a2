//! The rewards that agents are trained on: the objective and, optionally, a bonus. Emitters share them, and both can
//! learn.

use magpie_learn::{Agent, Networks, RolloutBuffer};
use magpie_qd::ArchivePair;
use magpie_random::Draws;
use magpie_rewards::{Health, Record};
use serde::{Deserialize, Serialize};

use crate::bonus::{Bonus, EpisodeAccumulator};
use crate::error::{SearchError, TrainingError};
use crate::objective::Objective;

/// The objective and the bonus.
pub struct Rewards {
    pub(crate) objective: Objective,
    pub(crate) bonus: Option<Box<dyn Bonus>>,
}

/// Their state in a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RewardsRecord {
    objective: Option<Record>,
    bonus: Option<Vec<u8>>,
}

impl Rewards {
    pub(crate) fn begin_phase(&mut self, archives: &ArchivePair) {
        if let Some(bonus) = &mut self.bonus {
            bonus.begin_phase(archives);
        }
    }

    /// Objective and bonus learn from a rollout of the agent that is trained on the objective.
    pub(crate) fn learn(
        &mut self,
        rollout: &RolloutBuffer,
        agent: &Agent,
        networks: &Networks,
        episodes: &EpisodeAccumulator,
        draws: &mut Draws,
    ) -> Result<Option<Health>, TrainingError> {
        if let Some(bonus) = &mut self.bonus {
            bonus.learn(rollout, episodes)?;
        }
        Ok(self.objective.learn(rollout, agent, networks, draws)?)
    }

    pub(crate) fn save(&self) -> Result<RewardsRecord, SearchError> {
        let bonus = self.bonus.as_ref().map(|bonus| bonus.save()).transpose()?;
        Ok(RewardsRecord { objective: self.objective.save()?, bonus })
    }

    pub(crate) fn restore(&mut self, record: &RewardsRecord) -> Result<(), SearchError> {
        self.objective.restore(record.objective.as_ref())?;
        match (&mut self.bonus, &record.bonus) {
            (Some(bonus), Some(record)) => bonus.restore(record),
            (None, None) => Ok(()),
            _ => Err(SearchError::Foreign("whether there is a bonus")),
        }
    }
}
