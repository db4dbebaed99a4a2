//! All settings of a struct and its tables, with their full keys.

use serde::Serialize;
use toml::{Table, Value};

use crate::declare::{By, Field, FieldSort, Leaf, Method, Settings};
use crate::kind::Kind;
use crate::relevance::{When, find};
use crate::retired::{Retired, RetiredSetting, Was};

/// A setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Its key, including its tables: `search.train.gamma`.
    pub key: String,
    /// The kind of value.
    pub kind: Kind,
    /// The paper's default; `None` if it is not set.
    pub paper: Option<Value>,
    /// magpie's default.
    pub magpie: Option<Value>,
    /// What the default depends on, in addition to the method.
    pub by: &'static [By],
    /// The valid numbers, in words.
    pub range: Option<String>,
    /// Its unit.
    pub unit: Option<&'static str>,
    /// What it does.
    pub sentence: String,
    /// The first version that has it.
    pub since: &'static str,
    /// The value that corresponds to the behaviour before the setting existed.
    pub before: Option<Value>,
    /// The conditions under which it has an effect: all of these.
    pub when: Vec<When>,
    /// The difference from another implementation that it exists for, if it exists only for comparisons.
    pub parity: Option<&'static str>,
    /// Its full key in earlier versions, if it was another.
    pub was: Option<String>,
}

/// Why a key has no effect in a configuration: the condition that does not hold; `None` if it has an effect. For a key
/// of the user's own, a retired or an unknown one, the conditions of its tables count. A setting that depends on a
/// missing one is assumed to have an effect.
pub fn idle_for<T: Settings>(key: &str, config: &Table) -> Option<When> {
    let (mut fields, mut retired) = (T::FIELDS, T::RETIRED);
    for part in key.split('.') {
        let gone = retired.iter().find(|retired| retired.key == part).and_then(|retired| retired.when);
        let field = fields.iter().find(|field| field.name == part);
        let unmet = |when: &When| when.holds(config) == Some(false);
        if let Some(when) = field.and_then(|field| field.when).or(gone).filter(unmet) {
            return Some(when);
        }
        match field.map(|field| field.sort) {
            Some(FieldSort::Table { fields: inner, retired: gone }) => (fields, retired) = (inner, gone),
            Some(FieldSort::Setting(_)) | None => return None,
        }
    }
    None
}

/// All settings of a configuration, in order of declaration.
pub fn settings_of<T: Settings + Serialize>() -> Vec<Setting> {
    let [paper, magpie] = [Method::Paper, Method::Magpie].map(|method| written(&T::of(method)));
    let mut found = Vec::new();
    collect(T::FIELDS, "", &[], &mut |key, field, leaf, when| {
        found.push(Setting {
            kind: leaf.kind,
            paper: find(&paper, &key).cloned(),
            magpie: find(&magpie, &key).cloned(),
            by: leaf.by,
            range: leaf.range.map(|range| range()),
            unit: leaf.unit,
            sentence: field.sentence.split_whitespace().collect::<Vec<_>>().join(" "),
            since: leaf.since,
            before: leaf.before.map(|before| before()),
            when,
            parity: leaf.parity,
            was: leaf.was.map(|was| sibling(&key, was)),
            key,
        });
    });
    found
}

/// Old and current keys of the settings that were renamed.
pub fn renamed_of<T: Settings>() -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(T::FIELDS, "", &[], &mut |key, _, leaf, _| {
        found.extend(leaf.was.map(|was| (sibling(&key, was), key)));
    });
    found
}

/// All retired settings of a configuration.
pub fn retired_of<T: Settings>() -> Vec<RetiredSetting> {
    fn collect(
        fields: &[Field],
        retired: &[Retired],
        path: &str,
        above: &[When],
        found: &mut Vec<RetiredSetting>,
    ) {
        found.extend(retired.iter().map(|retired| RetiredSetting {
            key: joined(path, retired.key),
            was: retired.was,
            when: above.iter().copied().chain(retired.when).collect(),
        }));
        for field in fields {
            if let FieldSort::Table { fields, retired } = field.sort {
                let when: Vec<When> = above.iter().copied().chain(field.when).collect();
                collect(fields, retired, &joined(path, field.name), &when, found);
            }
        }
    }
    let mut found = Vec::new();
    collect(T::FIELDS, T::RETIRED, "", &[], &mut found);
    found
}

/// Updates a configuration of an earlier version: renames settings, turns flags that became words into these, adds
/// settings that did not exist yet with the value that corresponds to the old behaviour, and removes retired settings
/// whose value corresponds to today's behaviour.
pub fn bring_up_to_date<T: Settings + Serialize>(config: &mut Table) {
    for (old, new) in renamed_of::<T>() {
        if let Some(value) = take(config, &old) {
            fill_in(config, &new, value);
        }
    }
    for RetiredSetting { key, was, .. } in retired_of::<T>() {
        if let Some((now, word)) = find(config, &key).and_then(|said| was.word_for(said)) {
            fill_in(config, now, word);
        }
    }
    for setting in settings_of::<T>() {
        if let Some(before) = setting.before {
            fill_in(config, &setting.key, before);
        }
    }
    for RetiredSetting { key, was, when } in retired_of::<T>() {
        let Some(said) = find(config, &key) else { continue };
        let nothing_lost = match was {
            Was::Always(value) => same(said, &value()),
            Was::Now(other) => find(config, other).is_some_and(|now| same(said, now)),
            Was::Word { .. } => {
                was.word_for(said).is_some_and(|(now, word)| find(config, now) == Some(&word))
            }
        };
        if nothing_lost || when.iter().any(|when| when.holds(config) == Some(false)) {
            take(config, &key);
        }
    }
}

/// 1 equals 1.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Integer(whole), Value::Float(number)) | (Value::Float(number), Value::Integer(whole)) => {
            *whole as f64 == *number
        }
        _ => a == b,
    }
}

fn take(config: &mut Table, key: &str) -> Option<Value> {
    match key.split_once('.') {
        None => config.remove(key),
        Some((table, rest)) => take(config.get_mut(table)?.as_table_mut()?, rest),
    }
}

fn fill_in(config: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => drop(config.entry(key).or_insert(value)),
        Some((table, rest)) => {
            let table = config.entry(table).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(table) = table {
                fill_in(table, rest, value);
            }
        }
    }
}

/// As represented in TOML. Written and read again, so that 0.1 in single precision is 0.1.
fn written<T: Serialize>(config: &T) -> Table {
    toml::to_string(config).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The key of another field of the same table.
fn sibling(key: &str, name: &str) -> String {
    key.rsplit_once('.').map_or_else(|| name.to_owned(), |(table, _)| joined(table, name))
}

fn collect(
    fields: &'static [Field],
    path: &str,
    above: &[When],
    found: &mut impl FnMut(String, &'static Field, &'static Leaf, Vec<When>),
) {
    for field in fields {
        let key = joined(path, field.name);
        let when: Vec<When> = above.iter().copied().chain(field.when).collect();
        match &field.sort {
            FieldSort::Table { fields, .. } => collect(fields, &key, &when, found),
            FieldSort::Setting(leaf) => found(key, field, leaf, when),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SettingError, above, settings, words};

    settings! {
        struct Inner {
            /// A rate,
            /// in two lines.
            rate: f32 = 0.1, magpie 0.2, by [Task, Measure], in above(0.0), unit "1/s", since "0.3.0" before 0.5, parity "others", was "speed";
            /// Only with the flag.
            list: Vec<u32> = vec![1, 2], in 1..=9, when When::On("flag");
        }
        retired {
            old = 1.0;
            moved => "other", when When::On("flag");
            steep => "way" [on "up", off "down"];
        }
    }

    settings! {
        struct Outer {
            /// A flag.
            flag: bool = false;
            /// Nothing, or a number.
            other: Option<u64> = None, in 1..;
            /// A word.
            way: Way = Way::Down, since "0.4.0" before "down";
            /// A table.
            inner: Inner, when When::NonZero("other");
        }
    }

    words! {
        /// Ways.
        enum Way {
            /// Downwards.
            Down = "down",
            /// Upwards.
            Up = "up",
        }
    }

    #[test]
    fn a_declaration_is_a_table_of_all_keys() {
        let table = settings_of::<Outer>();
        let keys: Vec<&str> = table.iter().map(|setting| setting.key.as_str()).collect();
        assert_eq!(keys, ["flag", "other", "way", "inner.rate", "inner.list"]);
        let expected = Setting {
            key: "inner.rate".to_owned(),
            kind: Kind::Number,
            paper: Some(Value::Float(0.1)),
            magpie: Some(Value::Float(0.2)),
            by: &[By::Task, By::Measure],
            range: Some("above 0".to_owned()),
            unit: Some("1/s"),
            sentence: "A rate, in two lines.".to_owned(),
            since: "0.3.0",
            before: Some(Value::Float(0.5)),
            when: vec![When::NonZero("other")],
            parity: Some("others"),
            was: Some("inner.speed".to_owned()),
        };
        assert_eq!(table[3], expected);
        assert_eq!((&table[1].paper, table[1].since, table[0].before.as_ref()), (&None, "0.1.0", None));
        assert_eq!(table[4].when, [When::NonZero("other"), When::On("flag")]);
        assert_eq!(table[4].kind, Kind::List(&Kind::Whole));
    }

    #[test]
    fn ranges_are_checked_with_the_whole_key() {
        let fine = Outer::of(Method::Magpie);
        assert_eq!((fine.check_ranges(), fine.inner.rate), (Ok(()), 0.2));
        let wrong = Outer { inner: Inner { list: vec![1, 10], ..Inner::default() }, ..fine };
        let error = SettingError {
            field: "inner.list".to_owned(),
            value: "[1, 10]".to_owned(),
            range: "a list of numbers from 1 to 9".to_owned(),
        };
        assert_eq!(wrong.check_ranges(), Err(error));
    }

    #[test]
    fn an_older_configuration_is_filled_in_and_keeps_what_it_says() {
        let current = |text: &str| {
            let mut table: Table = text.parse().unwrap();
            bring_up_to_date::<Outer>(&mut table);
            table
        };
        let table = |text: &str| text.parse::<Table>().unwrap();
        assert_eq!(current(""), table("way = 'down'\n[inner]\nrate = 0.5"));
        // A retired setting is removed if its value matches today's behaviour or that of another setting.
        let told = "other = 1\nflag = true\nway = 'down'\n[inner]\nrate = 1.0\n";
        assert_eq!(current(&format!("{told}old = 1\nmoved = 1.0")), table(told));
        let kept = format!("{told}old = 2.0\nmoved = 2.0");
        assert_eq!(current(&kept), table(&kept));
        // An old name is accepted; the current name takes precedence.
        let down = |text: &str| table(&format!("way = 'down'\n{text}"));
        assert_eq!(current("[inner]\nspeed = 2.0"), down("[inner]\nrate = 2.0"));
        assert_eq!(current("[inner]\nspeed = 2.0\nrate = 3.0"), down("[inner]\nrate = 3.0"));
        // A retired setting that never had an effect is removed as well.
        assert_eq!(current("other = 0\n[inner]\nold = 2.0"), down("other = 0\n[inner]\nrate = 0.5"));
    }

    #[test]
    fn a_flag_that_became_a_word_chooses_the_word() {
        let way = |text: &str| {
            let mut table: Table = text.parse().unwrap();
            bring_up_to_date::<Outer>(&mut table);
            let left = find(&table, "inner.steep").is_some();
            (table["way"].as_str().unwrap().to_owned(), left)
        };
        let is = |way: &str, left| (way.to_owned(), left);
        assert_eq!(way("other = 1\n[inner]\nsteep = true"), is("up", false));
        assert_eq!(way("other = 1\n[inner]\nsteep = false"), is("down", false));
        // What contradicts the setting of today is left for a message.
        assert_eq!(way("other = 1\nway = 'down'\n[inner]\nsteep = true"), is("down", true));
    }

    #[test]
    fn a_key_has_no_effect_where_a_condition_on_it_or_above_it_does_not_hold() {
        let config = "other = 1\nflag = false".parse().unwrap();
        let idle = |key: &str| idle_for::<Outer>(key, &config);
        for key in ["inner.list", "inner.list.of.my.own", "inner.moved"] {
            assert_eq!(idle(key), Some(When::On("flag")), "{key}");
        }
        for key in ["flag", "inner.rate", "inner.unknown", "unknown"] {
            assert_eq!(idle(key), None, "{key}");
            let table = key.starts_with("inner").then_some(When::NonZero("other"));
            assert_eq!(idle_for::<Outer>(key, &"other = 0".parse().unwrap()), table, "{key}");
        }
        // The result is unknown.
        assert_eq!(idle_for::<Outer>("inner.list", &Table::new()), None);
    }

    #[test]
    fn retired_settings_have_their_whole_key() {
        let found = retired_of::<Outer>();
        let keys: Vec<&str> = found.iter().map(|retired| retired.key.as_str()).collect();
        assert_eq!(keys, ["inner.old", "inner.moved", "inner.steep"]);
        assert!(matches!(found[0].was, Was::Always(value) if value() == Value::Float(1.0)));
        assert!(matches!(found[1].was, Was::Now("other")));
        assert_eq!(found[0].when, [When::NonZero("other")]);
        assert_eq!(found[1].when, [When::NonZero("other"), When::On("flag")]);
    }
}
