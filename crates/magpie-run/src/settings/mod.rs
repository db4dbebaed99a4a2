//! Configurations in layers: defaults, overridden by a TOML file, overridden by pairs `a.b=c`.
//!
//! A configuration is declared with [`magpie_settings::settings!`]. Its keys, array lengths and words follow from the
//! struct itself while it is deserialised, and its ranges from the declaration. Unknown keys, extra entries, unknown
//! words and numbers out of range are refused, never ignored. A retired key of an earlier version is accepted if its
//! value matches today's behaviour.
//!
//! A layer keeps all values it does not name, table by table; a list is replaced as a whole. `1` is accepted for `1.0`,
//! and `30e6` for a whole number. An `Option` that is empty by default can be set; one that is set by default cannot be
//! emptied, because TOML has no null.

mod decode;
mod fault;
mod layer;
mod reference;
mod retired;

use std::path::Path;

use magpie_settings::{SettingError, Settings};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::directory::read as read_bytes;
use crate::error::RunError;
pub(crate) use decode::Decoder;
pub(crate) use fault::{Fault, Origin};
pub(crate) use layer::{Layer, Value};
pub use reference::{
    Reference, Run, bring_up_to_date, find, idle_for, is_retired, markdown, reference, reference_of, registry,
};

/// Overrides the defaults `base` with a file (its name and contents) and then with pairs such as `train.gamma=0.99`.
///
/// The value of a pair is TOML; anything else is taken as a string: `task=hopper`.
///
/// # Errors
/// Names the location (line and column of the file, or the pair), the key and the remedy.
///
/// ```
/// use magpie_settings::settings;
///
/// settings! {
///     /// A run.
///     struct Config {
///         /// Steps to make.
///         steps: u64 = 1000, in 1..;
///         /// How to learn.
///         train: Train;
///     }
/// }
/// settings! {
///     /// How to learn.
///     struct Train {
///         /// Discount of a step.
///         gamma: f32 = 0.99, in 0.0..=1.0;
///         /// Passes over the data.
///         epochs: u32 = 4, in 1..;
///     }
/// }
///
/// let file = (std::path::Path::new("my.toml"), "[train]\nepochs = 8");
/// let config = magpie_run::settings::resolve(Config::default(), Some(file), &["steps=30e6".into()])?;
/// assert_eq!((config.steps, config.train.gamma, config.train.epochs), (30_000_000, 0.99, 8));
///
/// let wrong = |pair: &str| {
///     let error = magpie_run::settings::resolve(Config::default(), None, &[pair.into()]).unwrap_err();
///     error.to_string()
/// };
/// assert_eq!(
///     wrong("train.gama=1"),
///     "train.gama=1: unknown key `train.gama`: did you mean `train.gamma`?"
/// );
/// assert_eq!(
///     wrong("train.gamma=2"),
///     "train.gamma=2: `train.gamma` is 2, but must be from 0 to 1"
/// );
/// # Ok::<(), magpie_run::RunError>(())
/// ```
pub fn resolve<T: Settings + Serialize + DeserializeOwned>(
    base: T,
    file: Option<(&Path, &str)>,
    sets: &[String],
) -> Result<T, RunError> {
    let over = layers(file, sets).and_then(|over| lay_over(&base, over));
    over.map_err(|fault| fault.into_error(file, sets))
}

/// The layers of a file and of pairs.
pub(crate) fn layers(file: Option<(&Path, &str)>, sets: &[String]) -> Result<Vec<Layer>, Fault> {
    let from_file = file.map(|(_, text)| Layer::file(text));
    let pairs = sets.iter().enumerate().map(|(index, set)| Layer::set(index, set));
    from_file.into_iter().chain(pairs).collect()
}

/// Overrides the defaults `base` with layers, one after the other.
pub(crate) fn lay_over<T: Settings + Serialize + DeserializeOwned>(
    base: &T,
    over: impl IntoIterator<Item = Layer>,
) -> Result<T, Fault> {
    let mut layers = Layer::preset(base)?;
    for mut layer in over {
        retired::rename::<T>(&mut layer)?;
        layers.lay_over(layer);
    }
    let retired_values = retired::take_retired::<T>(&mut layers);
    retired::choose_words(&retired_values, &mut layers);
    let config: T = read(&layers)?;
    retired::check(&retired_values, &config)?;
    config.check_ranges().map_err(|SettingError { field, value, range }| {
        let at = layers.get(&field).map_or(Origin::Preset, |layer| layer.at);
        Fault { at, message: format!("`{field}` is {value}, but must be {range}") }
    })?;
    Ok(config)
}

/// A configuration from a complete tree.
fn read<T: Serialize + DeserializeOwned>(layers: &Layer) -> Result<T, Fault> {
    let config = T::deserialize(Decoder::new(layers))?;
    layers.all_in(&Layer::preset(&config)?)?;
    Ok(config)
}

/// The contents of a configuration file.
pub fn read_text(path: &Path) -> Result<String, RunError> {
    String::from_utf8(read_bytes(path)?).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = 1 + e.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count();
        let problem = format!("line {line} is not UTF-8; save the file as UTF-8");
        RunError::Config { path: path.to_owned(), problem }
    })
}

#[cfg(test)]
mod tests;
