//! An error in a setting, and its location.

use std::path::Path;

use crate::error::RunError;

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Origin {
    /// The defaults.
    Preset,
    /// The file, at this byte offset.
    File(usize),
    /// The `key=value` pair with this index.
    Set(usize),
    /// A choice with its own name.
    Choice(&'static str),
    /// A file that describes the world; the message names that file.
    World,
}

/// An error message and the location it refers to.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) at: Origin,
    pub(crate) message: String,
}

impl Fault {
    /// An error in a task or robot.
    pub(crate) fn of_world(reason: RunError) -> Fault {
        Fault { at: Origin::World, message: reason.to_string() }
    }

    pub(crate) fn into_error(self, file: Option<(&Path, &str)>, sets: &[String]) -> RunError {
        if self.at == Origin::World {
            return RunError::World { problem: self.message };
        }
        let place = match (self.at, file) {
            (Origin::File(byte), Some((path, text))) => {
                let (line, column) = line_and_column(text, byte);
                format!("{}:{line}:{column}", path.display())
            }
            (Origin::Set(index), _) => sets.get(index).cloned().unwrap_or_default(),
            (Origin::Choice(choice), _) => choice.to_owned(),
            _ => "preset".to_owned(),
        };
        RunError::Setting { place, problem: self.message }
    }
}

/// Line and column, counted from 1; columns count characters.
fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (1 + before.matches('\n').count(), 1 + before[line_start..].chars().count())
}
