//! Numbers about runs.

mod error;
pub mod studentised_range;
pub mod summary;
pub mod tukey;

pub use error::StatisticsError;
