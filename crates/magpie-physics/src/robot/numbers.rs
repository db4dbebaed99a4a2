//! Numbers of a robot file: finite, in range, and in single precision.
//!
//! `at` and `key` name the field for the error message: `body "torso"` and `mass`.

use magpie_settings::DataFault as Fault;

use magpie_settings::Row;

/// The number in single precision, widened.
pub(super) fn single(at: &str, key: &str, x: f64) -> Result<f64, Fault> {
    let fault = |remedy| Err(Fault::new(format!("{at}.{key}"), format!("found {x:?}"), remedy));
    if !x.is_finite() {
        return fault("write a finite number");
    }
    let narrow = x as f32;
    if !narrow.is_finite() {
        return fault("numbers are read in single precision: stay below 3.4e38");
    }
    Ok(f64::from(narrow))
}

/// A number above zero.
pub(super) fn positive(at: &str, key: &str, x: f64) -> Result<f64, Fault> {
    match single(at, key, x)? {
        narrow if narrow > 0.0 => Ok(narrow),
        _ => Err(Fault::new(format!("{at}.{key}"), format!("found {x:?}"), "must be above zero")),
    }
}

/// A number that is zero or above.
pub(super) fn non_negative(at: &str, key: &str, x: f64) -> Result<f64, Fault> {
    match single(at, key, x)? {
        narrow if narrow >= 0.0 => Ok(narrow),
        _ => Err(Fault::new(format!("{at}.{key}"), format!("found {x:?}"), "must not be negative")),
    }
}

/// A vector, or several angles.
pub(super) fn vector<const N: usize>(at: &str, key: &str, row: Row<f64, N>) -> Result<[f64; N], Fault> {
    let Row(mut narrow) = row;
    for (i, x) in narrow.iter_mut().enumerate() {
        *x = single(at, &format!("{key}[{i}]"), *x)?;
    }
    Ok(narrow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_single_precision_constants() {
        assert_eq!(single("world", "control_dt", 0.05).unwrap(), 0.05000000074505806);
        assert_eq!(single("world", "control_dt", 0.25).unwrap(), 0.25);
    }

    #[test]
    fn a_number_too_small_for_single_precision_is_not_positive() {
        assert!(positive("body", "mass", 1e-60).is_err());
        assert!(non_negative("body", "mass", 1e-60).is_ok());
    }
}
