//! Numbers about runs.

pub mod bootstrap;
pub mod ccdf;
pub mod curves;
pub mod effect;
mod error;
pub mod studentised_range;
pub mod summary;
pub mod tukey;

pub use error::StatisticsError;
