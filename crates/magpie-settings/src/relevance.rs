//! Under which condition a setting has any effect.

use std::fmt;

use toml::{Table, Value};

/// A condition over other settings, named by their full keys. Where one of them is missing, nobody knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum When {
    /// The setting is this word.
    Is(&'static str, &'static str),
    /// The setting is another word.
    IsNot(&'static str, &'static str),
    /// The list has this word.
    Has(&'static str, &'static str),
    /// The flag is set.
    On(&'static str),
    /// The flag is not set.
    Off(&'static str),
    /// The number is not 0.
    NonZero(&'static str),
    /// All of these hold.
    All(&'static [When]),
    /// One of these holds.
    Any(&'static [When]),
}

impl When {
    /// Whether it holds; nothing if that depends on a setting that is missing.
    pub fn holds(&self, config: &Table) -> Option<bool> {
        match self {
            When::Is(key, word) => Some(find(config, key)?.as_str()? == *word),
            When::IsNot(key, word) => Some(find(config, key)?.as_str()? != *word),
            When::Has(key, word) => {
                let list = find(config, key)?.as_array()?;
                Some(list.iter().any(|entry| entry.as_str() == Some(word)))
            }
            When::On(key) => find(config, key)?.as_bool(),
            When::Off(key) => Some(!find(config, key)?.as_bool()?),
            When::NonZero(key) => match find(config, key)? {
                Value::Integer(number) => Some(*number != 0),
                Value::Float(number) => Some(*number != 0.0),
                _ => None,
            },
            When::All(conditions) => decide(conditions, config, false),
            When::Any(conditions) => decide(conditions, config, true),
        }
    }
}

/// `deciding` if one of the conditions is that, its contrary if all are known not to be.
fn decide(conditions: &[When], config: &Table, deciding: bool) -> Option<bool> {
    let found: Vec<Option<bool>> = conditions.iter().map(|condition| condition.holds(config)).collect();
    match found.contains(&Some(deciding)) {
        true => Some(deciding),
        false => (!found.contains(&None)).then_some(!deciding),
    }
}

/// The value of a dotted key.
pub(crate) fn find<'a>(config: &'a Table, key: &str) -> Option<&'a Value> {
    let mut parts = key.split('.');
    let mut value = config.get(parts.next()?)?;
    for part in parts {
        value = value.as_table()?.get(part)?;
    }
    Some(value)
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |f: &mut fmt::Formatter<'_>, conditions: &[When], by: &str| {
            for (number, condition) in conditions.iter().enumerate() {
                if number > 0 {
                    write!(f, " {by} ")?;
                }
                match condition {
                    When::All(_) | When::Any(_) => write!(f, "({condition})")?,
                    _ => write!(f, "{condition}")?,
                }
            }
            Ok(())
        };
        match self {
            When::Is(key, word) => write!(f, "{key} = \"{word}\""),
            When::IsNot(key, word) => write!(f, "{key} ≠ \"{word}\""),
            When::Has(key, word) => write!(f, "{key} has \"{word}\""),
            When::On(key) => write!(f, "{key} = true"),
            When::Off(key) => write!(f, "{key} = false"),
            When::NonZero(key) => write!(f, "{key} ≠ 0"),
            When::All(conditions) => joined(f, conditions, "and"),
            When::Any(conditions) => joined(f, conditions, "or"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_known_as_soon_as_one_part_decides_it() {
        let config = toml::toml! {
            weight = 2
            flag = true
            list = ["x"]
            [a]
            word = "x"
        };
        const YES: When = When::NonZero("weight");
        const NO: When = When::Off("flag");
        const UNKNOWN: When = When::Is("a.other", "x");
        for (condition, holds) in [
            (YES, Some(true)),
            (NO, Some(false)),
            (UNKNOWN, None),
            (When::On("flag"), Some(true)),
            (When::Has("list", "x"), Some(true)),
            (When::Has("list", "y"), Some(false)),
            (When::Has("flag", "x"), None),
            (When::Is("a.word", "x"), Some(true)),
            (When::IsNot("a.word", "x"), Some(false)),
            (When::NonZero("flag"), None),
            (When::All(&[UNKNOWN, NO]), Some(false)),
            (When::All(&[NO, UNKNOWN]), Some(false)),
            (When::All(&[UNKNOWN, YES]), None),
            (When::All(&[YES, YES]), Some(true)),
            (When::Any(&[UNKNOWN, YES]), Some(true)),
            (When::Any(&[UNKNOWN, NO]), None),
            (When::Any(&[NO, NO]), Some(false)),
        ] {
            assert_eq!(condition.holds(&config), holds, "{condition}");
        }
    }

    #[test]
    fn conditions_are_readable() {
        const BOTH: When = When::Any(&[When::On("b"), When::Is("c", "x")]);
        assert_eq!(When::All(&[When::NonZero("a"), BOTH]).to_string(), "a ≠ 0 and (b = true or c = \"x\")");
    }
}
