//! Errors of robots.

use magpie_settings::DataFileError;
use thiserror::Error;

/// Why a robot could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RobotError {
    /// There is no built-in robot of this name.
    #[error("there is no built-in robot {name:?}; {remedy}")]
    UnknownBuiltin {
        /// The requested name.
        name: String,
        /// The valid names.
        remedy: String,
    },
    /// The robot file is invalid.
    #[error(transparent)]
    File(#[from] DataFileError),
}
