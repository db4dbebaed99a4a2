//! Numbers, paths and times as people read them, and type them again.

use std::path::Path;

pub use magpie_run::count;

/// A path as a shell takes it, in quotes if it has to be.
pub fn quoted(path: &Path) -> String {
    let mut text = path.display().to_string();
    // What begins with a dash would be an option.
    if text.starts_with('-') {
        text.insert_str(0, "./");
    }
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:=@%".contains(c) || (cfg!(windows) && c == '\\');
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text,
        false if cfg!(windows) => format!("\"{text}\""),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// A number with this many digits after the point; a dash if there is none.
pub fn or_dash(number: Option<f64>, digits: usize) -> String {
    number.filter(|number| number.is_finite()).map_or("–".to_owned(), |number| format!("{number:.digits$}"))
}

/// `42 s`, `12 min`, `3 h 05 min`.
pub fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round();
    if !seconds.is_finite() {
        "?".to_owned()
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else if minutes < 120.0 {
        format!("{minutes} min")
    } else {
        format!("{} h {:02} min", (minutes / 60.0).floor(), minutes % 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn paths_that_a_shell_would_take_apart_are_quoted() {
        for (path, expected) in [
            ("runs/walker2d-gail-0", "runs/walker2d-gail-0"),
            ("my runs/a", "'my runs/a'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("-x", "./-x"),
            ("-x y", "'./-x y'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(Path::new(path)), expected);
        }
    }

    #[test]
    fn numbers_are_read_as_they_are_meant() {
        assert_eq!((or_dash(Some(0.25), 1), or_dash(None, 1)), ("0.2".into(), "–".into()));
        assert_eq!([30.0, 600.0, 11100.0].map(duration), ["30 s", "10 min", "3 h 05 min"]);
    }
}
