//! What a setting can be set to.

use std::fmt;
use std::path::PathBuf;

/// A word that a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// As in files.
    pub name: &'static str,
    /// What it means.
    pub sentence: &'static str,
}

/// What a setting can be set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// `true` or `false`.
    Flag,
    /// One of these.
    Words(&'static [Word]),
    /// Any text.
    Text,
    /// The name of a file.
    Path,
    /// Several of a kind.
    List(&'static Kind),
    /// Keys of the user's own, or none: what stands in it, in words.
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
            Kind::List(of) => write!(f, "list of {of}s"),
            Kind::Table(what) => write!(f, "table of {what}"),
        }
    }
}

/// A type that settings have.
pub trait SettingValue {
    /// What it can be set to.
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
