//! The structure of a task file: one struct per TOML table.

use magpie_settings::Row;
use serde::Deserialize;

use super::{ObservationPart, Reward, SearchHints};
use crate::measure::Quantity;

/// A whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskFile {
    pub name: String,
    pub robot: String,
    pub episode_steps: i64,
    #[serde(default)]
    pub clip: Option<f64>,
    pub observation: Vec<ObservationPart>,
    pub reward: Reward,
    #[serde(default)]
    pub healthy: HealthyEntry,
    #[serde(default)]
    pub reset: Reset,
    pub measure: Vec<MeasureEntry>,
    #[serde(default)]
    pub search: SearchHints,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HealthyEntry {
    #[serde(default)]
    pub height: Option<Row<f64, 2>>,
    #[serde(default)]
    pub pitch: Option<Row<f64, 2>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reset {
    #[serde(default)]
    pub noise: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeasureEntry {
    pub name: String,
    pub dimensions: Vec<DimensionEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DimensionEntry {
    pub of: Quantity,
    #[serde(default)]
    pub range: Option<Row<f64, 2>>,
}
