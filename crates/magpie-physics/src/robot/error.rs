//! What can be wrong with a robot file: where it was found and what to do about it.

use std::io;

use thiserror::Error;

/// Largest accepted robot file, in bytes. The biggest robot of this crate has 6 kB: whatever is above this
/// limit is not a robot file.
pub const MAX_FILE_BYTES: usize = 1_000_000;

/// Why a robot could not be read.
///
/// `origin` is the path of the file, or `built-in robot "name"`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RobotError {
    /// The file could not be opened or read.
    #[error("{origin}: cannot read the file ({reason}); check the path and the permissions")]
    Unreadable {
        /// The file.
        origin: String,
        /// What the operating system says.
        reason: io::Error,
    },
    /// The file has more than [`MAX_FILE_BYTES`].
    #[error("{origin}: the file has more than {MAX_FILE_BYTES} bytes; check that it is a robot file")]
    TooLarge {
        /// The file.
        origin: String,
    },
    /// The file is not text.
    #[error("{origin}:{line}: the line is not UTF-8 text; save the file as UTF-8")]
    NotUtf8 {
        /// The file.
        origin: String,
        /// First line with other bytes, counted from 1.
        line: usize,
    },
    /// No robot of that name comes with this crate.
    #[error("there is no built-in robot {name:?}; {remedy}")]
    UnknownBuiltin {
        /// What was asked for.
        name: String,
        /// The valid names.
        remedy: String,
    },
    /// The text is not TOML, or not the TOML of a robot: a wrong key, a missing key or a wrong type.
    #[error("{origin}:{line}:{column}: {field}{problem}; {remedy}", field = prefix(.field))]
    Format {
        /// The file.
        origin: String,
        /// Line, counted from 1.
        line: usize,
        /// Column in characters, counted from 1.
        column: usize,
        /// The field, such as `body[3].mass`; empty if the text is not TOML.
        field: String,
        /// What was found.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A value that makes no robot.
    #[error("{origin}: {field}: {problem}; {remedy}")]
    Invalid {
        /// The file.
        origin: String,
        /// The field, such as `joint "left_knee".parent`.
        field: String,
        /// What was found.
        problem: String,
        /// What to do.
        remedy: String,
    },
}

fn prefix(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("{field}: ") }
}

/// A [`RobotError::Invalid`] that does not know its file yet.
#[derive(Debug)]
pub(super) struct Fault {
    field: String,
    problem: String,
    remedy: String,
}

impl Fault {
    pub(super) fn new(
        field: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Fault {
        Fault { field: field.into(), problem: problem.into(), remedy: remedy.into() }
    }

    pub(super) fn within(self, origin: &str) -> RobotError {
        let Fault { field, problem, remedy } = self;
        RobotError::Invalid { origin: origin.into(), field, problem, remedy }
    }
}
