//! Numbers about runs.
//!
//! From the inside out: a [`summary`] of a few values; their [`bootstrap`] interval; the [`effect`] of one method over
//! another in per cent; a test of all pairs of methods ([`tukey`], on the [`studentised_range`]). Over time,
//! [`curves`]; over archives, the [`ccdf`], and the [`split`] of a difference into better cells and more cells. A
//! [`table`] holds results and writes itself; [`paper`] has the published ones.
//!
//! Nothing here answers with NaN. Where a question has no answer, the answer is `None` or a [`StatisticsError`] that
//! says what to change.
//!
//! ```
//! use magpie_report::statistics::bootstrap::Bootstrap;
//! use magpie_report::statistics::effect::effect;
//! use magpie_report::statistics::table::{Cell, ResultsTable};
//! use magpie_report::statistics::tukey::{Group, tukey_hsd};
//!
//! # fn main() -> Result<(), magpie_report::statistics::StatisticsError> {
//! let (plain, curious) = ([1.71e6, 1.32e6, 2.09e6], [2.93e6, 2.86e6, 3.01e6]);
//!
//! let gain = effect(&curious, &plain, Bootstrap::default())?;
//! assert_eq!(gain.percent.round(), 72.0);
//!
//! let group = |name: &str, values: [f64; 3]| Group { name: name.to_owned(), values: values.to_vec() };
//! let test = tukey_hsd(&[group("GAIL", plain), group("GAIL-EBC", curious)], 0.95)?;
//! assert!(test.comparisons[0].significant && test.comparisons[0].difference > 0.0);
//!
//! let mut table = ResultsTable::default();
//! table.set("GAIL", "walker2d", "QD-Score", Cell::of(&plain)?);
//! table.set("GAIL-EBC", "walker2d", "QD-Score", Cell::of(&curious)?);
//! assert!(table.markdown().contains("| GAIL-EBC | (2.933 ± 0.075)×10⁶ |"));
//! # Ok(())
//! # }
//! ```

pub mod bootstrap;
pub mod ccdf;
pub mod curves;
pub mod effect;
mod error;
pub mod paper;
pub mod split;
pub mod studentised_range;
pub mod summary;
pub mod table;
pub mod tukey;

pub use error::StatisticsError;
