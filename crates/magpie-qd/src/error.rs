//! What can go wrong, as values.
//!
//! [`Error`] is a mistake of the caller (a wrong shape, an impossible setting, a damaged record) and leaves
//! all state as it was. [`Refusal`] is a candidate that cannot be stored; it concerns that candidate alone,
//! the rest of its batch goes in.

use thiserror::Error as ThisError;

/// A setting, a shape or a restored record that makes no sense.
#[derive(Clone, Debug, PartialEq, ThisError)]
pub enum Error {
    /// A grid needs at least one dimension, each with at least one cell, a finite range and a total that
    /// fits.
    #[error("grid dimension {dimension}: {reason}")]
    Grid {
        /// Which dimension of the measures, from 0.
        dimension: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Centroids cannot be made from these samples, or are not usable.
    #[error("centroids: {0}")]
    Centroids(&'static str),
    /// The learning rate of a soft archive lies in (0, 1].
    #[error("archive learning rate {0} is not in (0, 1]")]
    LearningRate(f64),
    /// A soft archive needs a finite minimum; an archive without one is the elitist archive.
    #[error("threshold_min {0} is not finite; use the elitist acceptance for an archive without a minimum")]
    ThresholdMin(f64),
    /// A row has another length than it was declared to have.
    #[error("{what} of candidate {row} has {found} values instead of {expected}")]
    Length {
        /// Which field.
        what: &'static str,
        /// Position in the batch.
        row: usize,
        /// Declared number of values.
        expected: usize,
        /// Number of values given.
        found: usize,
    },
    /// The numbers given to xNES do not have the right count, or are not usable.
    #[error("xNES: {0}")]
    Xnes(&'static str),
    /// A restored record contradicts itself.
    #[error("archive record: {0}")]
    Record(&'static str),
}

/// Why one candidate, or one point of measure space, was not considered at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ThisError)]
pub enum Refusal {
    /// There are more or fewer measures than the archive has dimensions.
    #[error("number of measures is not that of the archive")]
    MeasureDim,
    /// The measures hold a NaN or an infinity, so there is no cell.
    #[error("measures are not finite")]
    Measures,
    /// The objective is NaN or infinite.
    #[error("objective is not finite")]
    Objective,
    /// The episode length is NaN or infinite.
    #[error("episode length is not finite")]
    Length,
    /// The parameters hold a NaN or an infinity.
    #[error("solution is not finite")]
    Solution,
    /// The fields stored beside the parameters hold a NaN or an infinity.
    #[error("extra fields are not finite")]
    Extra,
}
