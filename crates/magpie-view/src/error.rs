//! What can go wrong.

use std::path::PathBuf;

use magpie_run::RunError;

/// Why something cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// A run cannot be read, or an elite cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A run refers to files elsewhere.
    #[error("{}: this run refers to a file outside of its folder, {}, which is not opened; copy it into the folder and name the copy", run.display(), file.display())]
    Outside {
        /// The run.
        run: PathBuf,
        /// The file.
        file: PathBuf,
    },
    /// A robot or a task is too large to be run while somebody waits.
    #[error("{what} is {value}, and a page shows at most {most}; use `magpie replay`")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        value: usize,
        /// What is allowed.
        most: usize,
    },
    /// An option makes no sense.
    #[error("{0}")]
    Option(String),
    /// A page or a picture would be too large.
    #[error("the result would be {size} MB, more than {most} MB; {remedy}")]
    Size {
        /// In MB.
        size: f64,
        /// In MB.
        most: f64,
        /// What to change.
        remedy: &'static str,
    },
    /// The address cannot be listened on.
    #[error("{address}: listening: {reason}; choose another with --port, or 0 for any free one")]
    Listen {
        /// Host and port.
        address: String,
        /// Why not.
        reason: std::io::Error,
    },
    /// A picture cannot be encoded.
    #[error("the picture cannot be encoded: {0}")]
    Encode(String),
}
