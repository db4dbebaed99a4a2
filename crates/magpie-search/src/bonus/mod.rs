//! Bonuses: what a policy earns beside the objective, so that a search goes where it has not been.
//!
//! To add one: a file beside [`curiosity`](self), and its place in the list [`Novelty`] with [`build`].

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
pub(crate) use novelty_map::{Spacing, empty_share, nearness};
pub use payment::pay_episodes;

/// Pays agents for something that the objective does not ask for.
///
/// While a phase of training goes on, several agents are paid side by side, so that [`pay`](Bonus::pay) only looks;
/// what a bonus learns, it learns between their rollouts.
pub trait Bonus: Send + Sync {
    /// A phase of training begins, with the archives like this.
    fn begin_phase(&mut self, archives: &ArchivePair);

    /// Adds the bonus to the rewards of an agent's rollout. `episodes` is what is known of its episodes under way, and is
    /// the agent's own. Returns how new the steps were in the mean, from 0 to 1.
    fn pay(
        &self,
        rollout: &mut RolloutBuffer,
        episodes: &mut EpisodeAccumulator,
    ) -> Result<f64, TrainingError>;

    /// Learns from a rollout that it has paid for, of the agent that serves the objective.
    fn learn(&mut self, rollout: &RolloutBuffer, episodes: &EpisodeAccumulator) -> Result<(), TrainingError> {
        let _ = (rollout, episodes);
        Ok(())
    }

    /// Everything that lives on, for a checkpoint.
    fn save(&self) -> Result<Vec<u8>, SearchError> {
        Ok(Vec::new())
    }

    /// Goes on from what [`save`](Bonus::save) gave.
    fn restore(&mut self, record: &[u8]) -> Result<(), SearchError> {
        match record {
            [] => Ok(()),
            _ => Err(SearchError::Foreign("state of the bonus")),
        }
    }
}

words! {
    /// What makes behaviour new.
    pub enum Novelty {
        /// Its cell is empty: 1, otherwise 0. The paper's.
        Empty = "empty",
        /// The share of empty cells around it, nearer ones counting more: there is something to climb before the first
        /// empty cell is reached.
        Density = "density",
        /// 1/√(1 + n), when n episodes have been judged to lie in its cell before: what chance alone reaches is soon paid no
        /// more.
        Visits = "visits",
    }
}

/// The bonus that the configuration asks for, if any.
pub(crate) fn build(config: &Curiosity, cells: &Cells) -> Option<Box<dyn Bonus>> {
    if !config.is_on() {
        return None;
    }
    Some(match config.pays_for() {
        Novelty::Empty | Novelty::Density => Box::new(CuriosityBonus::new(*config, cells)),
        Novelty::Visits => Box::new(VisitCount::new(*config, cells)),
    })
}
