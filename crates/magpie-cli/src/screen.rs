//! The terminal, as commands write to it.
//!
//! What they print holds names from files that may come from anywhere: control characters in them are escaped. Nothing
//! that is said on standard error is worth stopping for: a run goes on if its log is on a full disk.

use std::io::{self, Stderr, Stdout, StdoutLock, Write};

use magpie_run::printable;

/// Escapes what passes through.
pub struct Screen<W> {
    to: W,
    /// Whether a write that fails is an error.
    matters: bool,
}

/// Standard output.
pub fn stdout() -> Screen<Stdout> {
    Screen { to: io::stdout(), matters: true }
}

/// Standard error; writing to it always succeeds.
pub fn stderr() -> Screen<Stderr> {
    Screen { to: io::stderr(), matters: false }
}

impl Screen<Stdout> {
    pub fn lock(self) -> Screen<StdoutLock<'static>> {
        Screen { to: self.to.lock(), matters: self.matters }
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write_all(printable(&String::from_utf8_lossy(bytes)).as_bytes());
        written.or_else(|e| if self.matters { Err(e) } else { Ok(()) })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush().or_else(|e| if self.matters { Err(e) } else { Ok(()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_control_the_terminal() {
        let mut screen = Screen { to: Vec::new(), matters: true };
        let task = "hop\u{1b}[2Jper";
        writeln!(screen, "task {task}, {:>4} %", 5).unwrap();
        assert_eq!(String::from_utf8(screen.to).unwrap(), "task hop\\u{1b}[2Jper,    5 %\n");
    }

    /// Takes nothing, as a full disk.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::StorageFull.into())
        }
    }

    #[test]
    fn a_log_on_a_full_disk_is_no_error_and_a_result_is() {
        let write = |matters: bool| writeln!(Screen { to: Full, matters }, "iteration 1");
        assert!(write(false).is_ok());
        assert_eq!(write(true).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
