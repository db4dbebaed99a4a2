//! Settings that there were once.

use toml::Value;

use crate::relevance::When;

/// A setting that files of earlier versions may still name.
#[derive(Debug, Clone, Copy)]
pub struct Retired {
    /// Its key, without the tables above it.
    pub key: &'static str,
    /// What it may still say.
    pub was: Was,
    /// When it had any effect; always, if not given.
    pub when: Option<When>,
}

/// The same with its whole key and all conditions.
#[derive(Debug, Clone)]
pub struct RetiredSetting {
    /// Its key, with the tables above it.
    pub key: String,
    /// What it may still say.
    pub was: Was,
    /// All of these had to hold, else it had no effect.
    pub when: Vec<When>,
}

/// What a retired setting may still say without anything being lost.
#[derive(Debug, Clone, Copy)]
pub enum Was {
    /// The value that everything behaves by now.
    Always(fn() -> Value),
    /// What this setting says, which has taken its place.
    Now(&'static str),
}
