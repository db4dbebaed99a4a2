//! Errors of this crate.
//!
//! [`Error`] is a mistake of the caller (a wrong shape, an invalid setting, a damaged record) and leaves all state
//! unchanged. [`Refusal`] is the reason why a single candidate is not stored; the rest of its batch is not affected.

use thiserror::Error as ThisError;

/// An invalid setting, shape or restored record.
#[derive(Clone, Debug, PartialEq, ThisError)]
pub enum Error {
    /// A grid needs at least one dimension. Each needs at least one cell and a finite range, and the total number of
    /// cells is limited.
    #[error("grid dimension {dimension}: {reason}")]
    Grid {
        /// The dimension of the measures, from 0.
        dimension: usize,
        /// The reason.
        reason: &'static str,
    },
    /// Centroids cannot be computed from these samples, or are invalid.
    #[error("centroids: {0}")]
    Centroids(&'static str),
    /// The learning rate of a soft archive must lie in (0, 1].
    #[error("archive learning rate {0} is not in (0, 1]")]
    LearningRate(f64),
    /// The minimum threshold of a soft archive must be finite; an archive without one is elitist.
    #[error("threshold_min {0} is not finite; use the elitist acceptance for an archive without a minimum")]
    ThresholdMin(f64),
    /// A cell must have room for an elite, and caution cannot be negative.
    #[error(
        "{depth} solutions a cell, ranked with a caution of {caution}: at least 1 and a finite number from 0 are needed"
    )]
    Ranking {
        /// Solutions a cell.
        depth: usize,
        /// Standard errors that are subtracted.
        caution: f64,
    },
    /// A row does not have its declared length.
    #[error("{what} of candidate {row} has {found} values instead of {expected}")]
    Length {
        /// The field.
        what: &'static str,
        /// Position in the batch.
        row: usize,
        /// The declared number of values.
        expected: usize,
        /// The number of values found.
        found: usize,
    },
    /// The values given to xNES are too few, too many or invalid.
    #[error("xNES: {0}")]
    Xnes(&'static str),
    /// A restored record is inconsistent.
    #[error("archive record: {0}")]
    Record(&'static str),
}

/// Why a candidate or a point of measure space was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ThisError)]
pub enum Refusal {
    /// The number of measures is not the number of the archive's dimensions.
    #[error("number of measures differs from the archive's")]
    MeasureDim,
    /// The measures contain a NaN or an infinity, so there is no cell.
    #[error("measures are not finite")]
    Measures,
    /// The objective is NaN or infinite.
    #[error("objective is not finite")]
    Objective,
    /// The episode length is NaN or infinite.
    #[error("episode length is not finite")]
    Length,
    /// The parameters contain a NaN or an infinity.
    #[error("solution is not finite")]
    Solution,
    /// The extra fields contain a NaN or an infinity.
    #[error("extra fields are not finite")]
    Extra,
}
