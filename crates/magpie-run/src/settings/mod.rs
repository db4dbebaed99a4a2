//! Configurations in layers: a preset, a TOML file over it, `--set a.b=c` over both.
//!
//! A configuration is any struct that serde can write and read. Nothing is declared twice: what keys there are, how
//! long an array is and what a word may be is asked of the struct itself, while it is read. So all of it is refused, and
//! never skipped: a key that does not exist, an entry too many, a word that names nothing.
//!
//! What a layer does not name keeps its value, table by table; a list is replaced whole. Where a number is wanted,
//! `1` will do for `1.0`, and `30e6` for a whole number. An `Option` that the preset leaves empty can be filled; one that
//! it fills cannot be emptied, because TOML has no word for nothing.

mod decode;
mod fault;
mod layer;
mod range;

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::directory::read;
use crate::error::RunError;
pub(crate) use decode::Decoder;
pub(crate) use fault::{Fault, Origin};
pub(crate) use layer::{Layer, Value};
pub use range::{above, within};

/// The preset `base`, changed by a file (its name and its text) and then by pairs such as `train.gamma=0.99`.
///
/// The value of a pair is TOML; what is not, is taken as a string: `task=hopper`.
///
/// # Errors
/// With the place (line and column of the file, or the pair), the key and the remedy.
///
/// ```
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Config { steps: u64, train: Train }
/// #[derive(Serialize, Deserialize)]
/// struct Train { gamma: f32, epochs: u32 }
///
/// let preset = || Config { steps: 1000, train: Train { gamma: 0.99, epochs: 4 } };
/// let file = (std::path::Path::new("my.toml"), "[train]\nepochs = 8");
/// let config = magpie_run::settings::resolve(preset(), Some(file), &["steps=30e6".into()])?;
/// assert_eq!((config.steps, config.train.gamma, config.train.epochs), (30_000_000, 0.99, 8));
///
/// let wrong = magpie_run::settings::resolve(preset(), None, &["train.gama=1".into()]);
/// assert_eq!(
///     wrong.err().unwrap().to_string(),
///     "--set train.gama=1: unknown key `train.gama`: did you mean `train.gamma`?"
/// );
/// # Ok::<(), magpie_run::RunError>(())
/// ```
pub fn resolve<T: Serialize + DeserializeOwned>(
    base: T,
    file: Option<(&Path, &str)>,
    sets: &[String],
) -> Result<T, RunError> {
    let from_file = file.map(|(_, text)| Layer::file(text));
    let pairs = sets.iter().enumerate().map(|(index, set)| Layer::set(index, set));
    let over: Result<Vec<Layer>, Fault> = from_file.into_iter().chain(pairs).collect();
    over.and_then(|over| lay_over(&base, over)).map_err(|fault| fault.into_error(file, sets))
}

/// The preset `base`, changed by layers one after the other.
pub(crate) fn lay_over<T: Serialize + DeserializeOwned>(
    base: &T,
    over: impl IntoIterator<Item = Layer>,
) -> Result<T, Fault> {
    let mut layers = Layer::preset(base)?;
    over.into_iter().for_each(|layer| layers.lay_over(layer));
    let config = T::deserialize(Decoder::new(&layers))?;
    layers.all_in(&Layer::preset(&config)?)?;
    Ok(config)
}

/// The text of a configuration file.
pub fn read_text(path: &Path) -> Result<String, RunError> {
    String::from_utf8(read(path)?).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let line = 1 + e.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count();
        let problem = format!("line {line} is not UTF-8; save the file as UTF-8");
        RunError::Config { path: path.to_owned(), problem }
    })
}

#[cfg(test)]
mod tests;
