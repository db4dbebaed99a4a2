//! Numbers along an edge: where ticks go and what they say.

/// From numbers to pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis {
    /// The numbers at the two ends.
    pub(crate) range: [f64; 2],
    /// Where the ends are.
    pub(crate) pixels: [f64; 2],
    /// Whether only whole numbers get ticks, as there is nothing between what is counted.
    pub(crate) whole: bool,
}

/// A tick and its label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

impl Axis {
    /// Where a number is, limited to the axis.
    pub(crate) fn pixel(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        // Halved, because the difference of two large numbers may be too large to be one.
        let part = ((value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)).clamp(0.0, 1.0);
        self.pixels[0] + part * (self.pixels[1] - self.pixels[0])
    }

    /// At most about `count` ticks at round numbers.
    pub(crate) fn ticks(&self, count: usize) -> Vec<Tick> {
        ticks(self.range, count, self.whole)
    }
}

/// A range that has an extent and shows all of `[low, high]`.
pub(crate) fn widened([low, high]: [f64; 2]) -> [f64; 2] {
    if low < high {
        return [low, high];
    }
    let margin = if low == 0.0 { 1.0 } else { 0.5 * low.abs() };
    [low - margin, high + margin]
}

/// Round numbers within a range: multiples of 1, 2, 2.5 or 5 times a power of ten; only `whole` ones if asked.
pub(crate) fn ticks([low, high]: [f64; 2], count: usize, whole: bool) -> Vec<Tick> {
    let rough = (high / 2.0 - low / 2.0) / (count.max(1) as f64 / 2.0);
    let rough = if whole { rough.max(1.0) } else { rough };
    let power = 10f64.powf(rough.log10().floor());
    // From 1 on, 2.5 is the only step that is not whole.
    let fits = |step: &f64| *step >= rough * 0.999 && !(whole && *step == 2.5);
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|m| m * power).find(fits);
    let Some(step) = step.filter(|step| step.is_normal()) else { return Vec::new() };
    let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
    // None if a short range lies between two whole numbers.
    let found = (last - first + 1.0).max(0.0) as usize;
    let values: Vec<f64> = (0..found).map(|i| (first + i as f64) * step).collect();
    let largest = values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    values.into_iter().map(|value| Tick { value, label: label(value, step, largest) }).collect()
}

/// A number in the words of its axis: as it is, in thousands (k), millions (M), billions (G), or as a power of ten.
fn label(value: f64, step: f64, largest: f64) -> String {
    let (unit, letter) = match largest {
        x if x < 1e4 => (1.0, ""),
        x if x < 1e6 => (1e3, "k"),
        x if x < 1e9 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    // A step is 1, 2, 2.5 or 5 times a power of ten.
    let power = (step / unit).log10().floor();
    let decimals = -power + f64::from((step / unit / 10f64.powf(power) - 2.5).abs() < 1e-6);
    let text = if value.abs() < step * 1e-6 {
        "0".to_owned()
    } else if decimals > 4.0 || largest >= 1e13 {
        format!("{}", Exponent(value))
    } else {
        format!("{:.*}{letter}", decimals.max(0.0) as usize, value / unit)
    };
    text.replace('-', "\u{2212}")
}

/// Three digits and a power of ten.
struct Exponent(f64);

impl std::fmt::Display for Exponent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2e}", self.0);
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        write!(f, "{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A count with commas between thousands.
pub(crate) fn with_commas(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_say_so_shortly() {
        let labels = |range, count| -> Vec<String> {
            ticks(range, count, false).into_iter().map(|tick| tick.label).collect()
        };
        assert_eq!(labels([0.0, 1.0], 5), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels([0.0, 0.25], 5), ["0", "0.05", "0.10", "0.15", "0.20", "0.25"]);
        assert_eq!(labels([-500.0, 8724.0], 5), ["0", "2000", "4000", "6000", "8000"]);
        assert_eq!(labels([0.0, 30e6], 6), ["0", "5M", "10M", "15M", "20M", "25M", "30M"]);
        assert_eq!(labels([0.0, 1e6], 4), ["0", "0.25M", "0.50M", "0.75M", "1.00M"]);
        assert_eq!(labels([-2e4, 1e4], 3), ["\u{2212}20k", "\u{2212}10k", "0", "10k"]);
        assert_eq!(labels([0.0, 3e-7], 3), ["0", "1e\u{2212}7", "2e\u{2212}7", "3e\u{2212}7"]);
    }

    #[test]
    fn what_is_counted_has_whole_ticks() {
        let labels =
            |range| -> Vec<String> { ticks(range, 6, true).into_iter().map(|tick| tick.label).collect() };
        assert_eq!(labels([1.0, 2.0]), ["1", "2"]);
        assert_eq!(labels([0.5, 1.5]), ["1"]);
        assert_eq!(labels([0.0, 15.0]), ["0", "5", "10", "15"], "and not 2.5");
        assert_eq!(labels([0.0, 150.0]), ["0", "25", "50", "75", "100", "125", "150"]);
        assert_eq!(labels([0.2, 0.8]), [""; 0]);
    }

    #[test]
    fn any_range_has_few_ticks() {
        let numbers = [0.0, 1.0, -1.0, 1e-300, -1e300, 1e300, f64::MAX, f64::MIN, 1e16, 1e16 + 2.0, 5e-324];
        for low in numbers {
            for high in numbers {
                if low < high {
                    for whole in [false, true] {
                        let found = ticks([low, high], 5, whole);
                        assert!(found.len() < 20, "{low} {high}: {}", found.len());
                        assert!(found.iter().all(|tick| tick.value.is_finite()));
                    }
                }
            }
        }
    }

    #[test]
    fn commas_stand_between_thousands() {
        assert_eq!([0, 999, 1000, 1234567].map(with_commas), ["0", "999", "1,000", "1,234,567"]);
    }
}
