//! What can be wrong with a robot.

use magpie_settings::DataFileError;
use thiserror::Error;

/// Why a robot could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RobotError {
    /// No robot of that name comes with this crate.
    #[error("there is no built-in robot {name:?}; {remedy}")]
    UnknownBuiltin {
        /// What was asked for.
        name: String,
        /// The valid names.
        remedy: String,
    },
    /// The robot file is not one.
    #[error(transparent)]
    File(#[from] DataFileError),
}
