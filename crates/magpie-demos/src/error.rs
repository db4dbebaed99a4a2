//! What can go wrong with a file of demonstrations.

use std::path::PathBuf;

use magpie_files::in_words;

/// What is wrong with demonstrations: what was found and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Problem(pub String);

impl From<magpie_npz::NpzError> for Problem {
    fn from(error: magpie_npz::NpzError) -> Problem {
        Problem(error.to_string())
    }
}

/// An error with the file that it is about.
#[derive(Debug, thiserror::Error)]
pub enum DemonstrationError {
    /// The operating system refused.
    #[error("{}: {action}: {}", path.display(), in_words(reason))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// Why not.
        reason: std::io::Error,
    },
    /// The content is not what it should be.
    #[error("{}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: Problem,
    },
}

/// A name from a file as it may be shown: not too long, and without characters that a terminal acts on.
pub(crate) fn shown(name: &str) -> String {
    const MOST: usize = 80;
    let mut shown: String =
        name.chars().take(MOST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if name.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

/// Fails with a formatted problem.
macro_rules! problem {
    ($($text:tt)*) => { Err($crate::error::Problem(format!($($text)*))) };
}
pub(crate) use problem;
