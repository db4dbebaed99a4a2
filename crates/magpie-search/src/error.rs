//! Why a search cannot start or continue.

use magpie_learn::UpdateError;
use magpie_nn::ShapeError;
use magpie_rewards::RewardError;
use magpie_settings::SettingError;

/// Why a search cannot start or continue.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// A setting is invalid.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A network has an invalid shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// An error in an archive or in xNES.
    #[error(transparent)]
    Archive(#[from] magpie_qd::Error),
    /// The saved state belongs to another search.
    #[error("the saved state does not fit the configuration: {0}")]
    Foreign(&'static str),
    /// The state of an emitter or a bonus cannot be saved or restored.
    #[error("the saved state of {whose} cannot be used: {problem}")]
    Record {
        /// Emitter or bonus.
        whose: String,
        /// The reason.
        problem: String,
    },
    /// The reward model cannot be created, saved or restored.
    #[error(transparent)]
    Reward(#[from] RewardError),
    /// Training failed.
    #[error("{phase}: {reason}")]
    Training {
        /// The phase: gradients or walk.
        phase: &'static str,
        /// The reason.
        reason: TrainingError,
    },
    /// An emitter never finishes an iteration.
    #[error("an emitter still proposes policies after {rounds} rounds of one iteration")]
    Endless {
        /// The largest number of rounds.
        rounds: u32,
    },
    /// An emitter failed for its own reason.
    #[error("emitter {name}: {problem}")]
    Emitter {
        /// Its name.
        name: &'static str,
        /// The reason.
        problem: String,
    },
}

/// An error in training.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrainingError {
    /// In the learner.
    #[error(transparent)]
    Update(#[from] UpdateError),
    /// In the reward model.
    #[error(transparent)]
    Reward(#[from] RewardError),
    /// In the bonus.
    #[error("the bonus: {0}")]
    Bonus(String),
}

impl TrainingError {
    /// An error in saving or restoring rewards.
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
