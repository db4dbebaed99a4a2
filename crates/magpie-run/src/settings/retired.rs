//! Keys of earlier versions: renamed ones are understood, retired ones read if nothing is lost and refused otherwise.

use magpie_settings::{RetiredSetting, Settings, Was, renamed_of, retired_of};
use serde::Serialize;

use super::fault::{Fault, Origin};
use super::layer::{Layer, Value};

/// A retired setting and what a layer says of it.
pub(super) struct Gone {
    setting: RetiredSetting,
    said: Layer,
}

/// Gives the settings of a layer today's names.
pub(super) fn rename<T: Settings>(layer: &mut Layer) -> Result<(), Fault> {
    for (old, new) in renamed_of::<T>() {
        let Some(said) = layer.take(&old) else { continue };
        if layer.get(&new).is_some() {
            let message = format!("`{old}` is the earlier name of `{new}`, which is given too: leave it out");
            return Err(Fault { at: said.key, message });
        }
        let at = said.key;
        layer.lay_over(said.under(&new, at).expect("a declared key is a key"));
    }
    Ok(())
}

/// Takes what is retired out of the layers.
pub(super) fn take_out<T: Settings>(layers: &mut Layer) -> Vec<Gone> {
    let take = |setting: RetiredSetting| Some(Gone { said: layers.take(&setting.key)?, setting });
    retired_of::<T>().into_iter().filter_map(take).collect()
}

/// Refuses a value that `config` does not behave by.
pub(super) fn check<T: Serialize>(gone: &[Gone], config: &T) -> Result<(), Fault> {
    if gone.is_empty() {
        return Ok(());
    }
    let unwritten = |e: toml::ser::Error| Fault { at: Origin::Preset, message: e.to_string() };
    let text = toml::to_string(config).map_err(unwritten)?;
    let table: toml::Table = text.parse().unwrap_or_default();
    let now = Layer::preset(&table)?;
    for Gone { setting, said } in gone {
        let key = &setting.key;
        let message = match setting.was {
            Was::Always(value) => {
                let always = Layer::written(value());
                match said.value.same_as(&always.value) {
                    true => continue,
                    false => format!(
                        "`{key}` is {}, but there is no such setting any more: everything behaves as with {}",
                        said.value, always.value
                    ),
                }
            }
            Was::Now(other) => {
                let never_mattered = setting.when.iter().any(|when| when.holds(&table) == Some(false));
                match now.get(other) {
                    Some(current) if !never_mattered && !said.value.same_as(&current.value) => format!(
                        "`{key}` is {}, but is the same setting as `{other}` now, which is {}: leave it out",
                        said.value, current.value
                    ),
                    _ => continue,
                }
            }
        };
        return Err(Fault { at: said.key, message });
    }
    Ok(())
}

impl Value {
    /// Whether both say the same; 1 is 1.0.
    fn same_as(&self, other: &Value) -> bool {
        self.to_string() == other.to_string()
    }
}
