//! Why a search cannot start or go on.

use magpie_learn::UpdateError;
use magpie_nn::ShapeError;
use magpie_rewards::RewardError;
use magpie_settings::SettingError;

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
    /// The state of an emitter or a bonus cannot be written or read.
    #[error("the saved state of {whose} cannot be used: {problem}")]
    Record {
        /// Emitter or bonus.
        whose: String,
        /// What does not fit.
        problem: String,
    },
    /// The reward model cannot be made, saved or restored.
    #[error(transparent)]
    Reward(#[from] RewardError),
    /// Training failed.
    #[error("{phase}: {reason}")]
    Training {
        /// Gradients or walk.
        phase: &'static str,
        /// What went wrong.
        reason: TrainingError,
    },
    /// An emitter does not come to an end.
    #[error("some emitter still proposes policies after {rounds} rounds of one iteration")]
    Endless {
        /// How many rounds there may be.
        rounds: u32,
    },
    /// An emitter failed for a reason of its own.
    #[error("emitter {name}: {problem}")]
    Emitter {
        /// Its name.
        name: &'static str,
        /// What it says.
        problem: String,
    },
}

/// What can go wrong in training.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrainingError {
    /// Of the learner.
    #[error(transparent)]
    Update(#[from] UpdateError),
    /// Of the reward model.
    #[error(transparent)]
    Reward(#[from] RewardError),
    /// Of the bonus.
    #[error("the bonus: {0}")]
    Bonus(String),
}

impl TrainingError {
    /// What rewards cannot be saved or restored by.
    pub(crate) fn of_rewards(error: SearchError) -> TrainingError {
        match error {
            SearchError::Reward(error) => TrainingError::Reward(error),
            other => TrainingError::Bonus(other.to_string()),
        }
    }
}

impl SearchError {
    pub(crate) fn during(phase: &'static str) -> impl FnOnce(TrainingError) -> SearchError {
        move |reason| SearchError::Training { phase, reason }
    }
}
