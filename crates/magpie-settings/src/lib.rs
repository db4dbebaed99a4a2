//! Settings that are declared once, on the field of the struct that uses them.
//!
//! A [`settings!`] declaration defines a struct and everything there is to know about its fields: type, default for
//! each [`Method`], range, unit, the first version that has the setting, and the condition under which it has an
//! effect. It generates the struct with `serde`, its defaults, its range checks ([`Settings::check_ranges`]), and a
//! table that help, reference, sweeps and reports read ([`settings_of`]). [`words!`] declares a type whose values are
//! words.
//!
//! ```
//! use magpie_settings::{Method, Settings, When, idle_for, settings, settings_of, words};
//!
//! words! {
//!     /// How novelty is computed.
//!     pub enum Novelty {
//!         /// An empty cell.
//!         Empty = "empty",
//!         /// The share of empty cells around it.
//!         Density = "density",
//!     }
//! }
//!
//! settings! {
//!     /// A bonus for novel behaviour.
//!     pub struct Bonus {
//!         /// Bonus per step of a novel episode.
//!         weight: f64 = 0.0, magpie 2.0, in 0.0..;
//!         /// How novelty is computed.
//!         novelty: Novelty = Novelty::Empty, magpie Novelty::Density, when When::NonZero("bonus.weight");
//!         /// Width of the neighbourhood.
//!         width: f64 = 2.0, in 0.1..=100.0, unit "cells", when When::Is("bonus.novelty", "density");
//!     }
//! }
//!
//! settings! {
//!     /// A search.
//!     pub struct Search {
//!         /// Policies evaluated per iteration.
//!         branches: u32 = 300, in 1..=10_000;
//!         /// The bonus.
//!         bonus: Bonus;
//!     }
//! }
//!
//! let mut search = Search::of(Method::Magpie);
//! assert_eq!((search.branches, search.bonus.weight), (300, 2.0));
//! search.bonus.width = 0.0;
//! assert_eq!(
//!     search.check_ranges().unwrap_err().to_string(),
//!     "bonus.width is 0, but must be from 0.1 to 100"
//! );
//!
//! let table = settings_of::<Search>();
//! let width = table.iter().find(|setting| setting.key == "bonus.width").unwrap();
//! assert_eq!(width.sentence, "Width of the neighbourhood.");
//! let plain = toml::toml! { bonus = { weight = 2.0, novelty = "empty" } };
//! let why = idle_for::<Search>("bonus.width", &plain).unwrap();
//! assert_eq!(why.to_string(), "bonus.novelty = \"density\"");
//! ```

mod data_file;
mod declare;
mod kind;
mod names;
mod range;
mod relevance;
mod retired;
mod table;
mod words;

pub use data_file::{DataFault, DataFileError, MAX_FILE_BYTES, Row, parse_data_file, read_data_file};
pub use declare::{By, Field, FieldSort, Leaf, Method, Settings};
pub use kind::{Kind, SettingValue, Word};
pub use names::{list, nearest, remedy};
pub use range::{InRange, Number, SettingError, above, above_to, in_words, within};
pub use relevance::When;
pub use retired::{Retired, RetiredSetting, Was};
pub use table::{Setting, bring_up_to_date, idle_for, renamed_of, retired_of, settings_of};
pub use words::UnknownWord;

/// Re-exports for the macros.
#[doc(hidden)]
pub mod private {
    pub use serde;
    pub use toml::Value;

    pub use crate::declare::{FIRST_VERSION, allowed};
}
