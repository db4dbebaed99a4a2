//! Words of messages: why a file cannot be had, how many there are of something, and texts from elsewhere.

use std::borrow::Cow;
use std::io::{self, ErrorKind};

/// Why the operating system refused, with what to do where that is known.
pub fn in_words(reason: &io::Error) -> String {
    match reason.kind() {
        ErrorKind::NotFound => "there is no such file or folder; check the path".to_owned(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            format!("the disk is full ({reason}); make room and try again")
        }
        _ => reason.to_string(),
    }
}

/// `1 iteration`, `2 branches`, `3 entries`.
pub fn count(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    match (number, noun.strip_suffix("ry")) {
        (1, _) => format!("1 {noun}"),
        (_, Some(start)) => format!("{number} {start}ries"),
        (_, None) if noun.ends_with("anch") => format!("{number} {noun}es"),
        (_, None) => format!("{number} {noun}s"),
    }
}

/// A text from elsewhere with escapes in place of what would control a terminal: control characters other than the ends
/// of lines and tabs, and those that turn the direction of what follows.
pub fn printable(text: &str) -> Cow<'_, str> {
    let controls = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(controls) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match controls(c) {
            true => escaped.extend(c.escape_unicode()),
            false => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let zero_to_four = [
            count(0_u32, "step"),
            count(1_u64, "branch"),
            count(2_usize, "branch"),
            count(3_u8, "entry"),
            count(4_u8, "epoch"),
        ];
        assert_eq!(zero_to_four, ["0 steps", "1 branch", "2 branches", "3 entries", "4 epochs"]);
    }

    #[test]
    fn a_full_disk_is_called_that() {
        for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded] {
            let text = in_words(&kind.into());
            assert!(text.contains("the disk is full") && text.contains("make room"), "{text}");
        }
    }

    #[test]
    fn what_controls_a_terminal_is_escaped_and_nothing_else() {
        assert_eq!(
            printable("a\u{1b}[2Jb\u{7}\u{9b}31m\u{202e}c\rd"),
            "a\\u{1b}[2Jb\\u{7}\\u{9b}31m\\u{202e}c\\u{d}d"
        );
        assert!(matches!(printable("Größe 10⁷\n\tµ 蛇"), Cow::Borrowed(_)));
    }
}
