//! A layer of settings: a tree of values, each of which knows where it is from.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::Serialize;
use toml::de::{DeTable, DeValue};

use super::fault::{Fault, Origin};

/// A value and where it is from.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    /// Where its key is written.
    pub(crate) key: Origin,
    /// Where it is written.
    pub(crate) at: Origin,
    pub(crate) value: Value,
}

/// What TOML can say, dates aside.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Table(BTreeMap<String, Layer>),
    List(Vec<Layer>),
    Text(String),
    Whole(i64),
    Real(f64),
    Flag(bool),
}

impl fmt::Display for Value {
    /// For messages and names: `2` is `2.0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.write_str(text),
            Value::Whole(number) => write!(f, "{number}"),
            Value::Real(number) => write!(f, "{number}"),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::List(list) => {
                let entries = list.iter().map(|entry| entry.value.to_string());
                f.write_str(&entries.collect::<Vec<_>>().join("x"))
            }
            Value::Table(table) => {
                let entries = table.iter().map(|(key, entry)| format!("{key}{}", entry.value));
                f.write_str(&entries.collect::<Vec<_>>().join("-"))
            }
        }
    }
}

/// No configuration has tables so deep.
const DEEPEST_KEY: usize = 32;

impl Layer {
    /// Everything that a configuration says.
    pub(crate) fn preset<T: Serialize>(config: &T) -> Result<Layer, Fault> {
        match toml::Table::try_from(config) {
            Ok(table) => Ok(Layer::written(toml::Value::Table(table))),
            Err(e) => {
                Err(Fault { at: Origin::Preset, message: format!("a value cannot be written as TOML: {e}") })
            }
        }
    }

    pub(super) fn written(value: toml::Value) -> Layer {
        let value = match value {
            toml::Value::Table(table) => {
                Value::Table(table.into_iter().map(|(key, value)| (key, Layer::written(value))).collect())
            }
            toml::Value::Array(list) => Value::List(list.into_iter().map(Layer::written).collect()),
            toml::Value::String(text) => Value::Text(text),
            toml::Value::Integer(number) => Value::Whole(number),
            toml::Value::Float(number) => Value::Real(number),
            toml::Value::Boolean(flag) => Value::Flag(flag),
            toml::Value::Datetime(date) => Value::Text(date.to_string()),
        };
        Layer { key: Origin::Preset, at: Origin::Preset, value }
    }

    /// What a file says.
    pub(crate) fn file(text: &str) -> Result<Layer, Fault> {
        let at = |span: Range<usize>| Origin::File(span.start);
        let table = DeTable::parse(text).map_err(|e| malformed(&e, at(e.span().unwrap_or_default())))?;
        let whole = at(table.span());
        Layer::read(DeValue::Table(table.into_inner()), whole, whole, &at)
    }

    /// What the pair `a.b=c` says.
    pub(crate) fn set(index: usize, pair: &str) -> Result<Layer, Fault> {
        let at = Origin::Set(index);
        let fault = |message: &str| Fault { at, message: message.to_owned() };
        let (path, value) =
            pair.split_once('=').ok_or_else(|| fault("there is no `=` in it; write it as a.b=value"))?;
        let value = value.trim();
        let layer = match DeValue::parse(value) {
            Ok(value) => Layer::read(value.into_inner(), at, at, &|_| at)?,
            Err(e) if value.starts_with(['[', '{', '"', '\'']) => return Err(malformed(&e, at)),
            Err(_) => Layer { key: at, at, value: Value::Text(value.to_owned()) },
        };
        layer.under(path, at).ok_or_else(|| fault("the part before `=` is not a key; write it as a.b=value"))
    }

    /// This as the value of the key `a.b`, which is written at `at`; nothing if that is no key.
    pub(crate) fn under(mut self, path: &str, at: Origin) -> Option<Layer> {
        let keys: Vec<&str> = path.split('.').map(str::trim).collect();
        let is_name = |key: &&str| {
            !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        };
        if !keys.iter().all(is_name) || keys.len() > DEEPEST_KEY {
            return None;
        }
        for key in keys.iter().rev() {
            self.key = at;
            let table = BTreeMap::from([((*key).to_owned(), self)]);
            self = Layer { key: at, at, value: Value::Table(table) };
        }
        Some(self)
    }

    fn read(
        value: DeValue<'_>,
        key: Origin,
        at: Origin,
        place: &dyn Fn(Range<usize>) -> Origin,
    ) -> Result<Layer, Fault> {
        let fault = |message: String| Fault { at, message };
        let value = match value {
            DeValue::Table(table) => Value::Table(
                table
                    .into_iter()
                    .map(|(key, value)| {
                        let (key_at, at) = (place(key.span()), place(value.span()));
                        Ok((
                            key.into_inner().into_owned(),
                            Layer::read(value.into_inner(), key_at, at, place)?,
                        ))
                    })
                    .collect::<Result<_, Fault>>()?,
            ),
            DeValue::Array(list) => Value::List(
                list.into_iter()
                    .map(|value| {
                        let at = place(value.span());
                        Layer::read(value.into_inner(), at, at, place)
                    })
                    .collect::<Result<_, Fault>>()?,
            ),
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(number) => Value::Whole(
                i64::from_str_radix(number.as_str(), number.radix())
                    .map_err(|_| fault(format!("{number} is too large for a whole number")))?,
            ),
            DeValue::Float(number) => Value::Real(
                number.as_str().parse().map_err(|_| fault(format!("{number} cannot be read as a number")))?,
            ),
            DeValue::Boolean(flag) => Value::Flag(flag),
            DeValue::Datetime(date) => {
                return Err(fault(format!(
                    "{date} is a date, and no setting is; put it in quotes if it is a name"
                )));
            }
        };
        Ok(Layer { key, at, value })
    }

    /// Lets `over` say again what it says.
    pub(crate) fn lay_over(&mut self, over: Layer) {
        match (&mut self.value, over.value) {
            (Value::Table(below), Value::Table(above)) => {
                for (key, value) in above {
                    match below.get_mut(&key) {
                        Some(old) => old.lay_over(value),
                        None => drop(below.insert(key, value)),
                    }
                }
                (self.key, self.at) = (over.key, over.at);
            }
            (_, value) => *self = Layer { value, ..over },
        }
    }

    /// What a dotted key has.
    pub(crate) fn get(&self, key: &str) -> Option<&Layer> {
        key.split('.').try_fold(self, |layer, part| match &layer.value {
            Value::Table(table) => table.get(part),
            _ => None,
        })
    }

    /// The same, which is gone then.
    pub(crate) fn take(&mut self, key: &str) -> Option<Layer> {
        let Value::Table(table) = &mut self.value else { return None };
        match key.split_once('.') {
            None => table.remove(key),
            Some((first, rest)) => table.get_mut(first)?.take(rest),
        }
    }

    /// Refuses what was set and has not arrived in `result`: the last guard against values that are skipped in silence.
    pub(crate) fn all_in(&self, result: &Layer) -> Result<(), Fault> {
        self.arrived(result, &mut Vec::new())
    }

    fn arrived<'a>(&'a self, result: &Layer, path: &mut Vec<&'a str>) -> Result<(), Fault> {
        let (Value::Table(given), Value::Table(result)) = (&self.value, &result.value) else { return Ok(()) };
        for (key, value) in given.iter().filter(|(_, value)| value.key != Origin::Preset) {
            path.push(key);
            match result.get(key) {
                Some(result) => value.arrived(result, path)?,
                None => {
                    let message = format!("unknown key `{}`", path.join("."));
                    return Err(Fault { at: value.key, message });
                }
            }
            path.pop();
        }
        Ok(())
    }
}

fn malformed(e: &toml::de::Error, at: Origin) -> Fault {
    Fault { at, message: format!("this is not TOML: {}", e.message().replace('\n', ", ")) }
}
