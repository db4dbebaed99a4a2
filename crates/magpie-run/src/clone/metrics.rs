//! The columns of `metrics.csv`.

use super::run::Progress;
use crate::column::{Column, clock};

type Entry = Column<Progress>;

/// Those that begin with `seconds` are what the clock said; all others are the same whenever and wherever the run is made.
pub(crate) const COLUMNS: &[Entry] = &[
    Entry::new("iteration", "", "epochs, from 1", |p| p.report.epoch as f64),
    Entry::new(
        "training_error",
        "",
        "mean squared error of the actions, over the training rows during the epoch",
        |p| p.report.training_error,
    )
    .known_as("losses/training_error", 1.0),
    Entry::new("validation_error", "", "the same over the held-out rows, after the epoch", |p| {
        p.report.validation_error
    })
    .known_as("losses/validation_error", 1.0),
    Entry::new("best_error", "", "the lowest validation error so far: that of the policy in the file", |p| {
        p.report.best_error
    }),
    Entry::new("best_epoch", "", "the epoch that had it", |p| p.report.best_epoch as f64),
    Entry::new(
        "explained_variance",
        "at most 1",
        "share of the variance of the held-out actions that this policy explains",
        |p| p.report.explained_variance,
    ),
    Entry::new(
        "seconds",
        "s",
        "wall clock since the beginning, earlier processes included up to their last checkpoint",
        |p| clock(p.seconds),
    ),
];

/// The row of an epoch as in `metrics.csv`: names of columns and their numbers. What there is none of is NaN.
pub fn row(progress: &Progress) -> Vec<(&'static str, f64)> {
    COLUMNS.iter().map(|column| (column.name(), column.of(progress))).collect()
}
