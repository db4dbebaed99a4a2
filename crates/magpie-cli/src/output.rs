//! How the program speaks: to people or to programs, and how much.

use std::io::{StdoutLock, Write};

use crate::json::{self, Event};
use crate::screen::{Screen, stderr, stdout};

/// Where results, warnings and progress go.
///
/// Results go to the standard output, all else to the standard error. With `--json` the standard output has a JSON object a
/// line, warnings included.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct Output {
    /// Print one JSON object per line instead of text (docs/reference/json.md lists them).
    #[arg(long, global = true)]
    json: bool,
    /// Print only results, warnings and errors: no progress, no notes.
    #[arg(long, short, global = true)]
    quiet: bool,
}

impl Output {
    /// As the arguments say, for errors that come before they have been understood.
    pub fn of(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Output {
        let json = arguments
            .into_iter()
            .take_while(|argument| argument != "--")
            .any(|argument| argument == "--json");
        Output { json, quiet: false }
    }

    /// Whether a program reads what is printed.
    pub fn is_json(self) -> bool {
        self.json
    }

    /// Whether people want to see how far the work is.
    pub fn shows_progress(self) -> bool {
        !self.json && !self.quiet
    }

    /// A result, for a program or as text for people.
    pub fn result<E: Event>(
        self,
        event: &E,
        text: impl FnOnce(&mut Screen<StdoutLock<'static>>) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        match self.json {
            true => self.event(event),
            false => text(&mut stdout().lock()),
        }
    }

    /// Something that only programs are told.
    pub fn event<E: Event>(self, event: &E) -> std::io::Result<()> {
        if !self.json {
            return Ok(());
        }
        let line = json::line(event)?;
        let mut out = stdout().lock();
        writeln!(out, "{line}")?;
        out.flush()
    }

    /// How far the work is, for programs. A reader that is gone is no reason to stop.
    pub fn progress<E: Event>(self, event: &E) {
        if !self.quiet {
            let _ = self.event(event);
        }
    }

    /// How far the work is, in a line for people.
    pub fn say(self, line: &str) {
        if self.shows_progress() {
            let _ = writeln!(stderr(), "{line}");
        }
    }

    /// Something worth knowing.
    pub fn note(self, message: &str) {
        if !self.quiet {
            let _ = writeln!(stderr(), "note: {message}");
            let _ = self.event(&json::Note { message: message.to_owned() });
        }
    }

    /// Something that is likely to be a mistake.
    pub fn warn(self, message: &str) {
        let _ = writeln!(stderr(), "warning: {message}");
        let _ = self.event(&json::Warning { message: message.to_owned() });
    }

    /// Several of them.
    pub fn warn_all(self, messages: &[String]) {
        messages.iter().for_each(|message| self.warn(message));
    }

    /// Why the command failed, and what to type.
    pub fn error(self, message: &str, hint: Option<&str>) {
        // If even this cannot be written, the exit code has to do.
        let _ = stderr().write_all(format!("error: {message}\n").as_bytes());
        if let Some(hint) = hint {
            let _ = writeln!(stderr(), "hint: {hint}");
        }
        let (message, hint) = (message.to_owned(), hint.map(str::to_owned));
        let _ = self.event(&json::Error { message, hint, exit_code: 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_recognised_before_the_arguments_are_understood() {
        let of = |arguments: &[&str]| Output::of(arguments.iter().map(Into::into)).is_json();
        assert!(of(&["magpie", "trian", "--json"]));
        assert!(!of(&["magpie", "train"]) && !of(&["magpie", "train", "--", "--json"]));
    }
}
