//! Why a search cannot start or go on.

use magpie_learn::{SettingError, UpdateError};
use magpie_nn::ShapeError;
use magpie_rewards::RewardError;

/// Why a search cannot start or go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// A value makes no sense.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A network of an impossible shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// An archive or xNES.
    #[error(transparent)]
    Archive(#[from] magpie_qd::Error),
    /// A saved state belongs to another search.
    #[error("the saved state does not fit the configuration: {0}")]
    Foreign(&'static str),
    /// The reward model cannot be made, saved or restored.
    #[error(transparent)]
    Reward(#[from] RewardError),
    /// Training failed.
    #[error("{phase}: {reason}")]
    Training {
        /// Gradients or walk.
        phase: &'static str,
        /// What.
        reason: Trouble,
    },
}

/// What can go wrong in training.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Trouble {
    /// Of PPO.
    #[error(transparent)]
    Ppo(#[from] UpdateError),
    /// Of the reward model.
    #[error(transparent)]
    Reward(#[from] RewardError),
}

impl SearchError {
    pub(crate) fn during(phase: &'static str) -> impl FnOnce(Trouble) -> SearchError {
        move |reason| SearchError::Training { phase, reason }
    }
}
