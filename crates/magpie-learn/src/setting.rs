//! Settings that make no sense.

/// A value that is not allowed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field} is {value}, but must be {range}")]
pub struct SettingError {
    /// Key of the setting.
    pub field: &'static str,
    /// What was given.
    pub value: String,
    /// What is allowed.
    pub range: String,
}

impl SettingError {
    /// Refuses `value` unless it is `fine`.
    pub fn unless<T: ToString>(
        field: &'static str,
        value: T,
        fine: bool,
        range: impl Into<String>,
    ) -> Result<(), SettingError> {
        if fine { Ok(()) } else { Err(SettingError { field, value: value.to_string(), range: range.into() }) }
    }
}
