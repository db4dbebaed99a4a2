//! What can go wrong with a reward model.

/// An error of a reward model. The model is as it was before the batch that met it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RewardError {
    /// A column does not have as many numbers as its rows need.
    #[error("{whose} transitions: {field} has {found} numbers, but {expected} were expected")]
    Length {
        /// `expert`, `policy` or `given`.
        whose: &'static str,
        /// The column.
        field: &'static str,
        /// Rows times width.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// There is nothing to learn from.
    #[error("there are no {whose} transitions to learn from")]
    Empty {
        /// `expert` or `policy`.
        whose: &'static str,
    },
    /// A number that is not finite, in data or made from them.
    #[error(
        "{model}: {what} is not finite; look for numbers that are not finite in the data, or lower the learning rate"
    )]
    NotFinite {
        /// Name of the model.
        model: &'static str,
        /// What: a loss, a gradient, the reward of a row.
        what: String,
    },
    /// A model that has to be prepared first.
    #[error("{model} was not prepared: it learns from the demonstrations before it gives rewards")]
    Unprepared {
        /// Name of the model.
        model: &'static str,
    },
    /// A saved state that is not one of this model.
    #[error("the saved reward model cannot be restored: {problem}")]
    Record {
        /// What does not fit.
        problem: String,
    },
    /// A value that makes no sense.
    #[error(transparent)]
    Setting(#[from] magpie_settings::SettingError),
}
