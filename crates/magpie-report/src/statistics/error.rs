//! What can be wrong with the numbers that a statistic is asked about.

use thiserror::Error;

/// Why there is no answer. The statistics never answer with NaN.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum StatisticsError {
    /// A distribution or a method was given a parameter outside its domain.
    #[error("{name} is {found}; it must be {expected}")]
    Parameter {
        /// Which parameter.
        name: &'static str,
        /// What it was.
        found: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// A comparison of fewer than two groups.
    #[error("a comparison needs at least two groups, found {0}")]
    TooFewGroups(usize),
    /// Nothing can be said about no values.
    #[error("{0} has no values; leave it out or add runs")]
    Empty(String),
    /// A NaN or an infinity among the values.
    #[error("{group}: value {position} is {found}; leave out runs that failed")]
    NotFinite {
        /// Whose values.
        group: String,
        /// Which of them, from 0.
        position: usize,
        /// What it was.
        found: f64,
    },
    /// Values so large that their squares overflow.
    #[error("the values are too large to compute with; express them in a larger unit")]
    Overflow,
    /// Every group has one value, so nothing says how much values vary.
    #[error(
        "no group has two values, so nothing says how much they vary; run at least one method with two seeds"
    )]
    NoReplication,
    /// Every group is constant: the error variance is zero and no test is possible.
    #[error("within every group all values are equal: with zero variance there is nothing to test")]
    NoVariance,
    /// A percentage of something that is not positive.
    #[error(
        "the mean without is {}, and a change in per cent needs a positive one; report the difference",
        few_digits(*.0)
    )]
    BaselineNotPositive(f64),
    /// The two columns of a curve differ in length.
    #[error("a curve of {x} positions has {y} values")]
    CurveLength {
        /// Number of positions.
        x: usize,
        /// Number of values.
        y: usize,
    },
    /// The positions of a curve go backwards or are not numbers.
    #[error(
        "position {index} of a curve is {found} after {before}; positions must be finite and not decrease"
    )]
    CurveOrder {
        /// Which position, from 0.
        index: usize,
        /// What it is.
        found: f64,
        /// What stands before it.
        before: f64,
    },
    /// An archive that holds more elites than it has cells, or has no cells.
    #[error("archive {archive} has {elites} elites in {cells} cells")]
    Cells {
        /// Which archive, from 0.
        archive: usize,
        /// How many elites.
        elites: usize,
        /// How many cells.
        cells: usize,
    },
}

/// A number as a sentence has it: more digits than are known say nothing.
fn few_digits(value: f64) -> String {
    if (1e3..1e15).contains(&value.abs()) { format!("{value:.0}") } else { format!("{value:.4}") }
}

/// Fails unless there are values and all of them are finite.
pub(crate) fn check_values(group: &str, values: &[f64]) -> Result<(), StatisticsError> {
    if values.is_empty() {
        return Err(StatisticsError::Empty(group.to_owned()));
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(position) => {
            Err(StatisticsError::NotFinite { group: group.to_owned(), position, found: values[position] })
        }
        None => Ok(()),
    }
}
