//! Bonuses: rewards in addition to the objective that draw a search to unexplored behaviour.
//!
//! To add one, add a file beside [`curiosity`](self) and its entry in [`Novelty`] and [`build`].

mod count;
mod curiosity;
mod episodes;
mod novelty_map;
mod payment;

use magpie_learn::RolloutBuffer;
use magpie_qd::{ArchivePair, Cells};
use magpie_settings::words;

use crate::config::Curiosity;
use crate::error::{SearchError, TrainingError};
use count::VisitCount;
use curiosity::CuriosityBonus;
pub use episodes::EpisodeAccumulator;
pub(crate) use novelty_map::{Spacing, empty_share, mean_around, nearness};
pub use payment::pay_episodes;

/// Rewards agents for something that is not part of the objective.
///
/// During a phase of training several agents are rewarded in parallel, so that [`pay`](Bonus::pay) takes `&self`; a
/// bonus learns between their rollouts.
pub trait Bonus: Send + Sync {
    /// Starts a phase of training with the current archives.
    fn begin_phase(&mut self, archives: &ArchivePair);

    /// Adds the bonus to the rewards of an agent's rollout. `episodes` holds the state of that agent's unfinished
    /// episodes. Returns the mean novelty of the steps, from 0 to 1.
    fn pay(
        &self,
        rollout: &mut RolloutBuffer,
        episodes: &mut EpisodeAccumulator,
    ) -> Result<f64, TrainingError>;

    /// Learns from a rollout of the agent that is trained on the objective, after [`pay`](Bonus::pay).
    fn learn(&mut self, rollout: &RolloutBuffer, episodes: &EpisodeAccumulator) -> Result<(), TrainingError> {
        let _ = (rollout, episodes);
        Ok(())
    }

    /// The state to be saved in a checkpoint.
    fn save(&self) -> Result<Vec<u8>, SearchError> {
        Ok(Vec::new())
    }

    /// Restores what [`save`](Bonus::save) returned.
    fn restore(&mut self, record: &[u8]) -> Result<(), SearchError> {
        match record {
            [] => Ok(()),
            _ => Err(SearchError::Foreign("state of the bonus")),
        }
    }
}

words! {
    /// How the novelty of behaviour is computed.
    pub enum Novelty {
        /// 1 if its cell is empty, otherwise 0, as in the paper.
        Empty = "empty",
        /// The share of empty cells around it, weighted by distance. It rises towards empty cells before the first one
        /// is reached.
        Density = "density",
        /// 1/√(1 + n), where n is the number of earlier episodes in its cell. Behaviour that chance alone reaches soon
        /// earns little.
        Visits = "visits",
    }
}

/// Builds the configured bonus, if there is one.
pub(crate) fn build(config: &Curiosity, cells: &Cells) -> Option<Box<dyn Bonus>> {
    if !config.is_on() {
        return None;
    }
    Some(match config.pays_for() {
        Novelty::Empty | Novelty::Density => Box::new(CuriosityBonus::new(*config, cells)),
        Novelty::Visits => Box::new(VisitCount::new(*config, cells)),
    })
}
