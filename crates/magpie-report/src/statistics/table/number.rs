//! "mean ± std" with as many digits as they deserve.
//!
//! The standard deviation gets two significant digits and the mean ends at the same place: 8724 ± 384 is 8720 ± 380. Of
//! the mean at most six significant digits are shown, and four where there is no deviation to go by. Numbers from 10⁵
//! on, or below 10⁻³, are written with a power of ten in common.

use super::Cell;

/// Significant digits of a mean at most.
const MOST_DIGITS: i32 = 6;
/// Significant digits of a mean whose deviation is zero or unknown.
const DIGITS_ALONE: i32 = 4;

/// A mean and its deviation as digits, both in units of a power of ten.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Digits {
    pub mean: String,
    pub std: Option<String>,
    /// The power of ten, if it is not 0.
    pub exponent: i32,
}

impl Digits {
    pub fn of(cell: Cell) -> Digits {
        let size = cell.mean.abs().max(cell.std.unwrap_or(0.0));
        let exponent = match magnitude(size, MOST_DIGITS) {
            power if size != 0.0 && !(-3..5).contains(&power) => power,
            _ => 0,
        };
        // In two steps where 10^exponent alone would not be a normal number.
        let scaled = |value: f64| value / 10f64.powi(exponent / 2) / 10f64.powi(exponent - exponent / 2);
        let (mean, std) = (scaled(cell.mean), cell.std.map(scaled));
        let most = MOST_DIGITS - magnitude(mean, MOST_DIGITS) - 1;
        let places = match std {
            Some(std) if std > 0.0 => (1 - magnitude(std, 2)).min(most.max(0)),
            _ => DIGITS_ALONE - magnitude(mean, DIGITS_ALONE) - 1,
        };
        Digits { mean: rounded(mean, places), std: std.map(|std| rounded(std, places)), exponent }
    }
}

/// The power of ten of the first digit, after rounding to this number of significant digits; 0 for 0.
fn magnitude(value: f64, digits: i32) -> i32 {
    let written = format!("{:.*e}", digits as usize - 1, value.abs());
    written.split_once('e').and_then(|(_, power)| power.parse().ok()).filter(|_| value != 0.0).unwrap_or(0)
}

/// Rounded to this number of decimal places, or to tens, hundreds ... if these are negative.
fn rounded(value: f64, places: i32) -> String {
    let text = match usize::try_from(places) {
        Ok(places) => format!("{value:.places$}"),
        Err(_) => {
            let unit = 10f64.powi(-places);
            format!("{:.0}", (value / unit).round() * unit)
        }
    };
    // There is no negative zero.
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(mean: f64, std: Option<f64>) -> String {
        let Digits { mean, std, exponent } = Digits::of(Cell { mean, std, n: 3 });
        format!("{mean}|{}|{exponent}", std.unwrap_or_default())
    }

    #[test]
    fn the_deviation_says_where_digits_end() {
        assert_eq!(written(8724.0, Some(384.0)), "8720|380|0");
        assert_eq!(written(94.68, Some(1.11)), "94.7|1.1|0");
        assert_eq!(written(523.0, Some(152.0)), "520|150|0");
        assert_eq!(written(2.0, Some(0.0996)), "2.00|0.10|0");
        assert_eq!(written(2.0, Some(9.96)), "2|10|0");
        assert_eq!(written(-484_468.0, Some(3264.0)), "-4.845|0.033|5");
        assert_eq!(written(-52_521.0, Some(383_213.0)), "-0.5|3.8|5");
    }

    #[test]
    fn large_and_small_numbers_share_a_power_of_ten() {
        assert_eq!(written(2_640_000.0, Some(92_100.0)), "2.640|0.092|6");
        assert_eq!(written(0.000_123_4, Some(0.000_002)), "1.234|0.020|-4");
        assert_eq!(written(1e-300, None), "1.000||-300");
        assert_eq!(written(f64::MAX, Some(f64::MAX)), "1.8|1.8|308");
        assert_eq!(written(99_999.4, None), "100000||0");
    }

    #[test]
    fn without_a_deviation_there_are_four_digits() {
        assert_eq!(written(100.0, Some(0.0)), "100.0|0.0|0");
        assert_eq!(written(0.0, Some(0.0)), "0.000|0.000|0");
        assert_eq!(written(-0.5, None), "-0.5000||0");
        assert_eq!(written(12_345.6, None), "12350||0");
        assert_eq!(written(95_000.0, None), "95000||0");
        assert_eq!(written(9.9996, None), "10.00||0");
        assert_eq!(written(-0.0, None), "0.000||0");
    }

    #[test]
    fn a_tiny_deviation_does_not_blow_up_the_mean() {
        assert_eq!(written(1.0, Some(1e-9)), "1.00000|0.00000|0");
        assert_eq!(written(-1e-9, Some(1.0)), "0.0|1.0|0");
    }
}
