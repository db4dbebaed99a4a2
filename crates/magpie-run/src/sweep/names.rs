//! Names of runs: readable and unique.

use std::collections::BTreeSet;
use std::path::Path;

use super::Choice;
use super::file::{Axis, NAMED};
use crate::settings::{Layer, Value};
use crate::train::{Config, FEET_CONTACT};
use crate::world::plain;

/// `TASK[-MEASURE]-REWARD-qCURIOSITY[-DEMOS][-SETTING…]-sSEED`: measures other than feet contact are named,
/// demonstrations and other settings where they are axes. `all_axes` are the keys of the whole sweep.
pub(super) fn name(config: &Config, choice: &Choice<'_>, all_axes: &BTreeSet<&str>) -> String {
    let mut parts = vec![config.task.clone()];
    if config.measure != FEET_CONTACT {
        parts.push(config.measure.to_string());
    }
    parts.push(config.reward.model.to_string());
    parts.push(format!("q{}", config.search.curiosity.weight));
    for (axis, value) in choice {
        match axis.key.as_str() {
            "demos.file" => parts.push(of_file(value)),
            "iterations" => parts.push(format!("{}iterations", config.iterations)),
            key if NAMED.iter().any(|(_, named)| *named == key) => {}
            _ => parts.push(of_setting(axis, value, all_axes)),
        }
    }
    parts.push(format!("s{}", config.seed));
    parts.retain(|part| !part.is_empty());
    plain(&parts.join("-"))
}

/// The name of a demonstration file without the task, which is already part of the run's name.
fn of_file(value: &Layer) -> String {
    let text = value.value.to_string();
    let stem = Path::new(&text).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_default().replace("{task}", "").trim_matches(['-', '_', '.']).to_owned()
}

/// `gamma0.99`; words are used alone: `softplus`.
fn of_setting(axis: &Axis, value: &Layer, all_axes: &BTreeSet<&str>) -> String {
    let last = |key: &str| key.rsplit('.').next().map(str::to_owned);
    let alike = all_axes.iter().filter(|other| last(other) == last(&axis.key)).count();
    let key = if alike > 1 { axis.key.clone() } else { last(&axis.key).unwrap_or_default() };
    let text = value.value.to_string();
    match &value.value {
        Value::Text(_) => text,
        Value::Flag(_) => format!("{key}-{text}"),
        _ => format!("{key}{text}"),
    }
}
