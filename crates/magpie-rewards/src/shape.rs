//! Network shapes from configured hidden layers.

use magpie_nn::Shape;

use magpie_settings::SettingError;

use crate::error::RewardError;

/// A tanh network with one output.
pub(crate) fn scalar_shape(
    field: &'static str,
    inputs: usize,
    hidden: &[usize],
) -> Result<Shape, RewardError> {
    let sizes: Vec<usize> = [inputs].into_iter().chain(hidden.iter().copied()).chain([1]).collect();
    Shape::tanh(&sizes).map_err(|_| bad_widths(field, hidden))
}

/// The error for invalid hidden layers.
pub(crate) fn bad_widths(field: &'static str, hidden: &[usize]) -> RewardError {
    let (value, range) = (format!("{hidden:?}"), "widths above 0".to_owned());
    RewardError::Setting(SettingError { field: format!("reward.{field}"), value, range })
}
