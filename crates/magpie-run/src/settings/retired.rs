//! Keys of earlier versions: renamed keys are accepted, flags that became words choose these, and retired keys are
//! accepted if ignoring them changes nothing.

use magpie_settings::{RetiredSetting, Settings, Was, renamed_of, retired_of};
use serde::Serialize;

use super::fault::{Fault, Origin};
use super::layer::{Layer, Value};

/// A retired setting and its value in a layer.
pub(super) struct RetiredValue {
    setting: RetiredSetting,
    said: Layer,
}

/// Renames the settings of a layer that had another name in earlier versions.
pub(super) fn rename<T: Settings>(layer: &mut Layer) -> Result<(), Fault> {
    for (old, new) in renamed_of::<T>() {
        let Some(said) = layer.take(&old) else { continue };
        if layer.get(&new).is_some() {
            let message =
                format!("`{old}` is the old name of `{new}`, which is also given; leave out `{old}`");
            return Err(Fault { at: said.key, message });
        }
        let at = said.key;
        layer.lay_over(said.under(&new, at).expect("a declared key is a key"));
    }
    Ok(())
}

/// Removes and returns the retired settings of a layer.
pub(super) fn take_retired<T: Settings>(layers: &mut Layer) -> Vec<RetiredValue> {
    let take = |setting: RetiredSetting| Some(RetiredValue { said: layers.take(&setting.key)?, setting });
    retired_of::<T>().into_iter().filter_map(take).collect()
}

/// Lets flags that became words choose these, where nothing else does.
pub(super) fn choose_words(retired: &[RetiredValue], layers: &mut Layer) {
    for RetiredValue { setting, said } in retired {
        let Some((now, word)) = word_for(setting, said) else { continue };
        if layers.get(now).is_some_and(|layer| layer.at == Origin::Preset) {
            let layer = Layer { key: said.key, at: said.at, ..Layer::written(word) };
            layers.lay_over(layer.under(now, said.key).expect("a declared key is a key"));
        }
    }
}

/// The setting that a flag became, and the word that it chooses.
fn word_for(setting: &RetiredSetting, said: &Layer) -> Option<(&'static str, toml::Value)> {
    match said.value {
        Value::Flag(flag) => setting.was.word_for(&flag.into()),
        _ => None,
    }
}

/// Refuses retired values that differ from the behaviour of `config`.
pub(super) fn check<T: Serialize>(retired: &[RetiredValue], config: &T) -> Result<(), Fault> {
    if retired.is_empty() {
        return Ok(());
    }
    let unwritten = |e: toml::ser::Error| Fault { at: Origin::Preset, message: e.to_string() };
    let text = toml::to_string(config).map_err(unwritten)?;
    let table: toml::Table = text.parse().unwrap_or_default();
    let now = Layer::preset(&table)?;
    for RetiredValue { setting, said } in retired {
        let key = &setting.key;
        let message = match setting.was {
            Was::Always(value) => {
                let always = Layer::written(value());
                match said.value.same_as(&always.value) {
                    true => continue,
                    false => format!(
                        "`{key}` is {}, but this setting was removed, and its value is now always {}; leave it out",
                        said.value, always.value
                    ),
                }
            }
            Was::Now(other) => {
                let never_mattered = setting.when.iter().any(|when| when.holds(&table) == Some(false));
                match now.get(other) {
                    Some(current) if !never_mattered && !said.value.same_as(&current.value) => {
                        moved(key, said, other, current)
                    }
                    _ => continue,
                }
            }
            Was::Word { now: other, on, off } => {
                let word = word_for(setting, said).map(|(_, word)| Layer::written(word).value);
                match (word, now.get(other)) {
                    (Some(word), Some(current)) if current.value.same_as(&word) => continue,
                    (Some(_), Some(current)) => moved(key, said, other, current),
                    _ => format!(
                        "`{key}` is {}, but must be true or false; it is now part of `{other}`: \"{on}\" or \"{off}\"",
                        said.value
                    ),
                }
            }
        };
        return Err(Fault { at: said.key, message });
    }
    Ok(())
}

/// The message for a value that contradicts the setting of today.
fn moved(key: &str, said: &Layer, other: &str, current: &Layer) -> String {
    let (said, current) = (&said.value, &current.value);
    format!("`{key}` is {said}, but it is now part of `{other}`, which is {current}; leave it out")
}

impl Value {
    /// Whether both values are equal; 1 equals 1.0.
    fn same_as(&self, other: &Value) -> bool {
        self.to_string() == other.to_string()
    }
}
