//! Numbers that must lie in a range.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};

use crate::error::RunError;

/// A number of a configuration.
pub trait Number: Copy + PartialOrd + Display {
    /// Neither infinite nor NaN.
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

/// Refuses a number that is outside of `range`, infinite or NaN, with the key `field`, the number and the range.
///
/// ```
/// use magpie_run::settings::{above, within};
///
/// assert!(within("train.gamma", 0.99, 0.0..=1.0).is_ok());
/// let error = within("train.gamma", 1.5, 0.0..=1.0).unwrap_err();
/// assert_eq!(error.to_string(), "train.gamma is 1.5, but must be from 0 to 1");
/// let error = within("learning_rate", f64::NAN, above(0.0)).unwrap_err();
/// assert_eq!(error.to_string(), "learning_rate is NaN, but must be above 0");
/// ```
pub fn within<N: Number>(
    field: impl Into<String>,
    value: N,
    range: impl RangeBounds<N>,
) -> Result<(), RunError> {
    if value.is_finite() && range.contains(&value) {
        return Ok(());
    }
    let range = match (range.start_bound(), range.end_bound()) {
        (Bound::Included(low), Bound::Included(high)) => format!("from {low} to {high}"),
        (Bound::Included(low), Bound::Excluded(high)) => format!("at least {low} and below {high}"),
        (Bound::Excluded(low), Bound::Included(high)) => format!("above {low} and at most {high}"),
        (Bound::Excluded(low), Bound::Excluded(high)) => format!("above {low} and below {high}"),
        (Bound::Included(low), Bound::Unbounded) => format!("at least {low}"),
        (Bound::Excluded(low), Bound::Unbounded) => format!("above {low}"),
        (Bound::Unbounded, Bound::Included(high)) => format!("at most {high}"),
        (Bound::Unbounded, Bound::Excluded(high)) => format!("below {high}"),
        (Bound::Unbounded, Bound::Unbounded) => "finite".to_owned(),
    };
    Err(RunError::Value { field: field.into(), value: value.to_string(), range })
}

/// All numbers above `low`.
pub fn above<N>(low: N) -> (Bound<N>, Bound<N>) {
    (Bound::Excluded(low), Bound::Unbounded)
}
