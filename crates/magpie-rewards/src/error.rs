//! Errors of reward models.

/// An error of a reward model. The model keeps the state it had before the batch that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RewardError {
    /// A column does not have the length that its rows require.
    #[error("{whose} transitions: {field} has {found} numbers, but {expected} were expected")]
    Length {
        /// `expert`, `policy` or `given`.
        whose: &'static str,
        /// The column.
        field: &'static str,
        /// Rows times width.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// No transitions to learn from.
    #[error("there are no {whose} transitions to learn from")]
    Empty {
        /// `expert` or `policy`.
        whose: &'static str,
    },
    /// A value in the data or computed from it is not finite.
    #[error(
        "{model}: {what} is not finite; look for numbers that are not finite in the data, or lower the learning rate"
    )]
    NotFinite {
        /// Name of the model.
        model: &'static str,
        /// The value: a loss, a gradient, the reward of a row.
        what: String,
    },
    /// The model must be prepared first.
    #[error(
        "{model} is not prepared: it must be trained on the demonstrations before it can compute rewards"
    )]
    Unprepared {
        /// Name of the model.
        model: &'static str,
    },
    /// A saved state does not fit this model.
    #[error("the saved reward model cannot be restored: {problem}")]
    Record {
        /// The reason.
        problem: String,
    },
    /// A model failed for its own reason.
    #[error("{model}: {problem}")]
    Failed {
        /// Name of the model.
        model: &'static str,
        /// The reason.
        problem: String,
    },
    /// An invalid setting.
    #[error(transparent)]
    Setting(#[from] magpie_settings::SettingError),
}
