//! Why there is no report, or why a run is not in it.

use std::path::PathBuf;

use crate::statistics::StatisticsError;
use magpie_plot::PlotError;

/// An error of a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file of a run, or of the report.
    #[error(transparent)]
    Run(#[from] magpie_run::RunError),
    /// A configuration that says less than a report needs.
    #[error("{}: {problem}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is missing or wrong.
        problem: String,
    },
    /// A table of metrics that has no rows to show.
    #[error("{}: {problem}", path.display())]
    Metrics {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A folder of the report that cannot be made, or cleared of an earlier one.
    #[error("{}: {reason}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        reason: std::io::Error,
    },
    /// There is nothing to report on.
    #[error(
        "no search was found in {places}; name folders that `magpie train` made, or folders that hold some{why}"
    )]
    NoRuns {
        /// Where was looked.
        places: String,
        /// What was found instead.
        why: String,
    },
    /// A picture.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A statistic.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}
