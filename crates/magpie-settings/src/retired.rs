//! Settings that were removed.

use toml::Value;

use crate::relevance::When;

/// A removed setting that files of earlier versions may still contain.
#[derive(Debug, Clone, Copy)]
pub struct Retired {
    /// Its key, without the tables above it.
    pub key: &'static str,
    /// The value it may still have.
    pub was: Was,
    /// The condition under which it had an effect; `None` means always.
    pub when: Option<When>,
}

/// A retired setting with its full key and all conditions.
#[derive(Debug, Clone)]
pub struct RetiredSetting {
    /// Its key, with the tables above it.
    pub key: String,
    /// The value it may still have.
    pub was: Was,
    /// The conditions under which it had an effect: all of these.
    pub when: Vec<When>,
}

/// The value that a retired setting may have without changing the behaviour.
#[derive(Debug, Clone, Copy)]
pub enum Was {
    /// The value that corresponds to today's behaviour.
    Always(fn() -> Value),
    /// The value of this setting, which replaced it.
    Now(&'static str),
    /// A flag that became a word of the setting `now`.
    Word {
        /// The setting that replaced it.
        now: &'static str,
        /// The word that stands for true.
        on: &'static str,
        /// The word that stands for false.
        off: &'static str,
    },
}

impl Was {
    /// The setting that replaced this one and the value it takes over, if `said` is a flag that became a word.
    pub fn word_for(self, said: &Value) -> Option<(&'static str, Value)> {
        match (self, said) {
            (Was::Word { now, on, off }, Value::Boolean(flag)) => {
                Some((now, Value::from(if *flag { on } else { off })))
            }
            _ => None,
        }
    }
}
