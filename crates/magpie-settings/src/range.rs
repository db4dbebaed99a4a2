//! Numbers with a valid range.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};

/// An invalid value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}, but must be {range}")]
pub struct SettingError {
    /// Key of the setting.
    pub field: String,
    /// The value found.
    pub value: String,
    /// The valid range.
    pub range: String,
}

impl SettingError {
    /// Refuses `value` unless it is `fine`, for conditions that no range can express.
    pub fn unless(
        fine: bool,
        field: impl Into<String>,
        value: impl Display,
        range: impl Into<String>,
    ) -> Result<(), SettingError> {
        if fine {
            return Ok(());
        }
        Err(SettingError { field: field.into(), value: value.to_string(), range: range.into() })
    }

    /// Prefixes the key with its table: `gamma` under `train` is `train.gamma`.
    pub fn under(mut self, table: &str) -> SettingError {
        self.field = format!("{table}.{}", self.field);
        self
    }
}

/// A number of a configuration.
pub trait Number: Copy + PartialOrd + Display {
    /// Whether it is neither infinite nor NaN.
    fn is_finite(self) -> bool;
}

macro_rules! whole {
    ($($type:ty)*) => { $(impl Number for $type { fn is_finite(self) -> bool { true } })* };
}
macro_rules! real {
    ($($type:ty)*) => { $(impl Number for $type { fn is_finite(self) -> bool { self.is_finite() } })* };
}
whole!(u8 u16 u32 u64 usize i32 i64);
real!(f32 f64);

/// A number, or a list of numbers that must each lie in the range; a list must not be empty.
pub trait InRange<N> {
    /// The value that is out of range, in words; `None` if all are valid.
    fn outside(&self, range: &impl RangeBounds<N>) -> Option<String>;

    /// The valid range, in words.
    fn allowed(range: &impl RangeBounds<N>) -> String;
}

impl<N: Number> InRange<N> for N {
    fn outside(&self, range: &impl RangeBounds<N>) -> Option<String> {
        (!(self.is_finite() && range.contains(self))).then(|| self.to_string())
    }

    fn allowed(range: &impl RangeBounds<N>) -> String {
        in_words(range)
    }
}

impl<N: Number> InRange<N> for Option<N> {
    fn outside(&self, range: &impl RangeBounds<N>) -> Option<String> {
        self.as_ref().and_then(|number| number.outside(range))
    }

    fn allowed(range: &impl RangeBounds<N>) -> String {
        in_words(range)
    }
}

impl<N: Number> InRange<N> for Vec<N> {
    fn outside(&self, range: &impl RangeBounds<N>) -> Option<String> {
        let wrong = self.is_empty() || self.iter().any(|number| number.outside(range).is_some());
        wrong.then(|| listed(self))
    }

    fn allowed(range: &impl RangeBounds<N>) -> String {
        format!("a list of numbers {}", in_words(range))
    }
}

impl<N: Number, const LENGTH: usize> InRange<N> for [N; LENGTH] {
    fn outside(&self, range: &impl RangeBounds<N>) -> Option<String> {
        self.iter().any(|number| number.outside(range).is_some()).then(|| listed(self))
    }

    fn allowed(range: &impl RangeBounds<N>) -> String {
        format!("{LENGTH} numbers {}", in_words(range))
    }
}

/// `[100, 0]`
fn listed<N: Number>(numbers: &[N]) -> String {
    format!("[{}]", numbers.iter().map(N::to_string).collect::<Vec<_>>().join(", "))
}

/// Refuses a number that is outside `range`, infinite or NaN; the error names the key `field`, the number and the
/// range.
///
/// ```
/// use magpie_settings::{above, within};
///
/// assert!(within("train.gamma", &0.99, 0.0..=1.0).is_ok());
/// let error = within("train.gamma", &1.5, 0.0..=1.0).unwrap_err();
/// assert_eq!(error.to_string(), "train.gamma is 1.5, but must be from 0 to 1");
/// let error = within("learning_rate", &f64::NAN, above(0.0)).unwrap_err();
/// assert_eq!(error.to_string(), "learning_rate is NaN, but must be above 0");
/// let error = within("hidden", &vec![100, 0], 1..=4096).unwrap_err();
/// assert_eq!(error.to_string(), "hidden is [100, 0], but must be a list of numbers from 1 to 4096");
/// ```
pub fn within<N: Number, V: InRange<N>>(
    field: impl Into<String>,
    value: &V,
    range: impl RangeBounds<N>,
) -> Result<(), SettingError> {
    match value.outside(&range) {
        None => Ok(()),
        Some(value) => Err(SettingError { field: field.into(), value, range: V::allowed(&range) }),
    }
}

/// A range as written in messages and the reference.
pub fn in_words<N: Number>(range: &impl RangeBounds<N>) -> String {
    match (range.start_bound(), range.end_bound()) {
        (Bound::Included(low), Bound::Included(high)) => format!("from {low} to {high}"),
        (Bound::Included(low), Bound::Excluded(high)) => format!("at least {low} and below {high}"),
        (Bound::Excluded(low), Bound::Included(high)) => format!("above {low} and at most {high}"),
        (Bound::Excluded(low), Bound::Excluded(high)) => format!("above {low} and below {high}"),
        (Bound::Included(low), Bound::Unbounded) => format!("at least {low}"),
        (Bound::Excluded(low), Bound::Unbounded) => format!("above {low}"),
        (Bound::Unbounded, Bound::Included(high)) => format!("at most {high}"),
        (Bound::Unbounded, Bound::Excluded(high)) => format!("below {high}"),
        (Bound::Unbounded, Bound::Unbounded) => "finite".to_owned(),
    }
}

/// All numbers above `low`.
pub fn above<N>(low: N) -> (Bound<N>, Bound<N>) {
    (Bound::Excluded(low), Bound::Unbounded)
}

/// All numbers above `low`, up to and including `high`.
pub fn above_to<N>(low: N, high: N) -> (Bound<N>, Bound<N>) {
    (Bound::Excluded(low), Bound::Included(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_range_refuses_what_lies_outside_and_says_what_does_not() {
        for (fine, wrong, words) in [
            (within("x", &1.0, 0.0..1.0).is_err(), within("x", &-0.1, 0.0..1.0), "at least 0 and below 1"),
            (
                within("x", &1.0, above_to(0.0, 1.0)).is_ok(),
                within("x", &0.0, above_to(0.0, 1.0)),
                "above 0 and at most 1",
            ),
            (within("x", &0.0, 0.0..).is_ok(), within("x", &f64::INFINITY, 0.0..), "at least 0"),
            (within("x", &-1e9, ..).is_ok(), within("x", &f64::NAN, ..), "finite"),
            (
                within("x", &[0.5, 1.0], ..=1.0).is_ok(),
                within("x", &[0.5, 1.5], ..=1.0),
                "2 numbers at most 1",
            ),
            (within("x", &None, ..=1.0).is_ok(), within("x", &Some(1.5), ..=1.0), "at most 1"),
            (
                within("x", &vec![1], 1..).is_ok(),
                within("x", &Vec::<u32>::new(), 1..),
                "a list of numbers at least 1",
            ),
        ] {
            assert!(fine, "{words}");
            assert_eq!(wrong.unwrap_err().range, words);
        }
    }
}
