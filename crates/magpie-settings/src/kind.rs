//! The kinds of values that settings accept.

use std::fmt;
use std::path::PathBuf;

/// A word that a setting accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The word in files.
    pub name: &'static str,
    /// Its meaning.
    pub sentence: &'static str,
}

/// The kind of value that a setting accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Words(&'static [Word]),
    /// Any text.
    Text,
    /// A path.
    Path,
    /// A list of values of one kind.
    List(&'static Kind),
    /// A table with keys of the user's choice, or an optional table; the text describes its contents.
    Table(&'static str),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Whole => f.write_str("whole number"),
            Kind::Number => f.write_str("number"),
            Kind::Flag => f.write_str("true or false"),
            Kind::Words(words) => {
                let names: Vec<&str> = words.iter().map(|word| word.name).collect();
                write!(f, "one of {}", names.join(", "))
            }
            Kind::Text => f.write_str("text"),
            Kind::Path => f.write_str("path"),
            Kind::List(Kind::Words(words)) => {
                let names: Vec<&str> = words.iter().map(|word| word.name).collect();
                write!(f, "list of words: {}", names.join(", "))
            }
            Kind::List(of) => write!(f, "list of {of}s"),
            Kind::Table(what) => write!(f, "table of {what}"),
        }
    }
}

/// A type of settings.
pub trait SettingValue {
    /// The kind of its values.
    const KIND: Kind;
}

macro_rules! kinds {
    ($($kind:ident: $($type:ty)*;)*) => { $($(impl SettingValue for $type { const KIND: Kind = Kind::$kind; })*)* };
}
kinds! {
    Whole: u8 u16 u32 u64 usize i32 i64;
    Number: f32 f64;
    Flag: bool;
    Text: String;
    Path: PathBuf;
}

impl<T: SettingValue> SettingValue for Option<T> {
    const KIND: Kind = T::KIND;
}

impl<T: SettingValue> SettingValue for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);
}

impl<T: SettingValue, const LENGTH: usize> SettingValue for [T; LENGTH] {
    const KIND: Kind = Kind::List(&T::KIND);
}
