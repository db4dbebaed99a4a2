//! Data files: TOML that describes a robot or a task, read with errors that name file, line, field and remedy.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use crate::names;
use crate::range::SettingError;

/// The largest accepted data file, in bytes. The largest built-in file has 6 kB; larger files than this are of another
/// kind.
pub const MAX_FILE_BYTES: usize = 1_000_000;

/// Why a data file could not be read.
///
/// `origin` is the path of the file, or a description such as `built-in robot "ant"`; `kind` is `"robot file"` or
/// `"task file"`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataFileError {
    /// The file could not be opened or read.
    #[error("{origin}: cannot read the file ({reason}); check the path and the permissions")]
    Unreadable {
        /// The file.
        origin: String,
        /// The operating system's reason.
        reason: io::Error,
    },
    /// The file has more than [`MAX_FILE_BYTES`].
    #[error("{origin}: the file has more than {MAX_FILE_BYTES} bytes; check that it is a {kind}")]
    TooLarge {
        /// The file.
        origin: String,
        /// The expected kind of file.
        kind: &'static str,
    },
    /// The file is not text.
    #[error("{origin}:{line}: the line is not UTF-8 text; save the file as UTF-8")]
    NotUtf8 {
        /// The file.
        origin: String,
        /// The first line that is not UTF-8, counted from 1.
        line: usize,
    },
    /// The text is not TOML, or has an unknown key, a missing key or a wrong type.
    #[error("{origin}:{line}:{column}: {}{problem}; {remedy}", prefix(.field))]
    Format {
        /// The file.
        origin: String,
        /// Line, counted from 1.
        line: usize,
        /// Column in characters, counted from 1.
        column: usize,
        /// The field, such as `body[3].mass`; empty if the text is not TOML.
        field: String,
        /// The problem.
        problem: String,
        /// The remedy.
        remedy: String,
    },
    /// An invalid value.
    #[error("{origin}: {field}: {problem}; {remedy}")]
    Invalid {
        /// The file.
        origin: String,
        /// The field, such as `joint "left_knee".parent`.
        field: String,
        /// The problem.
        problem: String,
        /// The remedy.
        remedy: String,
    },
}

fn prefix(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("{field}: ") }
}

/// A [`DataFileError::Invalid`] without its file.
#[derive(Debug)]
pub struct DataFault {
    field: String,
    problem: String,
    remedy: String,
}

impl From<SettingError> for DataFault {
    fn from(SettingError { field, value, range }: SettingError) -> DataFault {
        DataFault::new(field, format!("found {value}"), format!("must be {range}"))
    }
}

impl DataFault {
    /// The problem found in `field`, and its remedy.
    pub fn new(field: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> DataFault {
        DataFault { field: field.into(), problem: problem.into(), remedy: remedy.into() }
    }

    /// The error for the file `origin`.
    pub fn within(self, origin: &str) -> DataFileError {
        let DataFault { field, problem, remedy } = self;
        DataFileError::Invalid { origin: origin.into(), field, problem, remedy }
    }
}

/// The contents of a data file.
pub fn read_data_file(path: &Path, kind: &'static str) -> Result<String, DataFileError> {
    let origin = path.display().to_string();
    let mut bytes = Vec::new();
    // One byte above the limit proves that the file is too long, even if it has no end.
    let limit = MAX_FILE_BYTES as u64 + 1;
    std::fs::metadata(path)
        .and_then(|about| match about.is_file() {
            true => File::open(path)?.take(limit).read_to_end(&mut bytes),
            // Opening a named pipe would wait for its other end.
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not an ordinary file")),
        })
        .map_err(|reason| DataFileError::Unreadable { origin: origin.clone(), reason })?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(DataFileError::TooLarge { origin, kind });
    }
    String::from_utf8(bytes).map_err(|e| {
        let (valid, bytes) = (e.utf8_error().valid_up_to(), e.as_bytes());
        DataFileError::NotUtf8 { origin, line: 1 + bytes[..valid].iter().filter(|&&b| b == b'\n').count() }
    })
}

/// Parses the text of a data file.
pub fn parse_data_file<T: DeserializeOwned>(
    text: &str,
    origin: &str,
    kind: &'static str,
) -> Result<T, DataFileError> {
    if text.len() > MAX_FILE_BYTES {
        return Err(DataFileError::TooLarge { origin: origin.into(), kind });
    }
    let tables = toml::Deserializer::parse(text)
        .map_err(|e| format_error(text, origin, String::new(), &e, "correct the TOML".into()))?;
    serde_path_to_error::deserialize(tables).map_err(|e| {
        let path = e.path().to_string();
        // The parser calls the whole document ".".
        let field = if path == "." { kind.into() } else { path };
        let remedy = remedy(e.inner().message());
        format_error(text, origin, field, e.inner(), remedy)
    })
}

fn format_error(
    text: &str,
    origin: &str,
    field: String,
    e: &toml::de::Error,
    remedy: String,
) -> DataFileError {
    let start = e.span().map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let mut problem = e.message();
    if problem.starts_with("unknown ") {
        // The valid names are in the remedy.
        problem = problem.split(", expected").next().unwrap_or(problem);
    }
    let problem = problem
        .replace("expected f64", "expected a number")
        .replace("expected f32", "expected a number")
        .replace("expected i64", "expected a whole number")
        .replace("expected u32", "expected a whole number from 0")
        .replace("expected usize", "expected a whole number from 0")
        .replace('\n', " ");
    DataFileError::Format {
        origin: origin.into(),
        line: 1 + before.matches('\n').count(),
        column: 1 + before[line_start..].chars().count(),
        field,
        problem,
        remedy,
    }
}

/// The remedy for a message of the deserialiser: "unknown field `mas`, expected one of `name`, `mass`", "missing field
/// `mass`", or a wrong type.
fn remedy(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    if message.starts_with("unknown ") {
        let found = quoted.next().unwrap_or_default();
        names::remedy(found, quoted)
    } else if message.starts_with("missing field") {
        format!("add `{} = ...`", quoted.next().unwrap_or_default())
    } else {
        "correct the value".into()
    }
}

/// A list of exactly N values. The TOML reader would silently drop values beyond the length of an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<T, const N: usize>(pub [T; N]);

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for Row<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = Vec::<T>::deserialize(deserializer)?;
        let found = values.len();
        values
            .try_into()
            .map(Row)
            .map_err(|_| D::Error::custom(format!("found {found} values, expected {N}")))
    }
}

impl<T: Copy + Default, const N: usize> Default for Row<T, N> {
    fn default() -> Row<T, N> {
        Row([T::default(); N])
    }
}
