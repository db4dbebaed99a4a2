//! The sweep file as it is written: method, budget, settings, axes.

use std::collections::BTreeMap;

use magpie_settings::Method;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::settings::{Decoder, Fault, Layer, Origin, Value};
use crate::train::{Budget, about_preset};

/// A sweep file, taken apart.
#[derive(Debug)]
pub(super) struct SweepFile {
    pub method: Method,
    pub budget: Budget,
    /// What may surprise who wrote the file.
    pub notes: Vec<String>,
    /// What all runs share.
    pub settings: Option<Layer>,
    /// Each a product.
    pub grids: Vec<Vec<Axis>>,
}

/// A setting and the values that it takes.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// As the file calls it.
    pub name: String,
    /// The setting, in full.
    pub key: String,
    pub values: Vec<Layer>,
    at: Origin,
}

/// Axes with a name of their own, as options of `magpie train` have, and the settings that they mean; the slowest first.
pub(super) const NAMED: [(&str, &str); 7] = [
    ("seed", "seed"),
    ("task", "task"),
    ("measure", "measure"),
    ("reward", "reward.model"),
    ("curiosity", "search.curiosity.weight"),
    ("demos", "demos.file"),
    ("iterations", "iterations"),
];

/// What there is in a file.
#[derive(Deserialize)]
struct Outline {
    method: Option<Method>,
    budget: Option<Budget>,
    preset: Option<Budget>,
    #[serde(default, rename = "settings")]
    _settings: Option<IgnoredAny>,
    #[serde(default, rename = "axes")]
    _axes: Option<IgnoredAny>,
    #[serde(default, rename = "grid")]
    _grid: Option<IgnoredAny>,
}

impl SweepFile {
    pub fn parse(text: &str) -> Result<SweepFile, Fault> {
        let mut root = Layer::file(text)?;
        let Outline { method, budget, preset, .. } = Outline::deserialize(Decoder::new(&root))?;
        let mut notes = Vec::new();
        let (method, budget) = match preset {
            None => (method.unwrap_or_default(), budget.unwrap_or_default()),
            Some(preset) if method.is_none() && budget.is_none() => {
                notes.push(about_preset(preset));
                Budget::of_preset(preset)
            }
            Some(_) => {
                let at = root.get("preset").map_or(Origin::File(0), |layer| layer.key);
                let message =
                    "`preset` is a method and a budget; leave it out where either is named".to_owned();
                return Err(Fault { at, message });
            }
        };
        let Value::Table(root) = &mut root.value else { return Err(empty()) };
        let settings = root.remove("settings");
        if let Some(settings) = &settings {
            table("settings", settings)?;
        }
        let common = root.remove("axes").map(|layer| axes("axes", &layer)).transpose()?;
        let mut grids: Vec<Vec<Axis>> = Vec::new();
        match root.remove("grid") {
            None => grids.push(common.ok_or_else(empty)?.into_values().collect()),
            Some(Layer { value: Value::List(list), .. }) if !list.is_empty() => {
                for (number, grid) in list.iter().enumerate() {
                    let mut all = common.clone().unwrap_or_default();
                    all.extend(axes(&format!("grid[{number}]"), grid)?);
                    grids.push(all.into_values().collect());
                }
            }
            Some(other) => {
                let message = "`grid` must be one table or more; write each under [[grid]]".to_owned();
                return Err(Fault { at: other.at, message });
            }
        }
        if grids.iter().any(Vec::is_empty) {
            return Err(empty());
        }
        for grid in &mut grids {
            grid.sort_by_key(Axis::speed);
        }
        Ok(SweepFile { method, budget, notes, settings, grids })
    }
}

fn empty() -> Fault {
    let message =
        "there is nothing to sweep over; add [axes] with lists such as `seed = [1, 2, 3]`".to_owned();
    Fault { at: Origin::File(0), message }
}

fn table<'a>(name: &str, layer: &'a Layer) -> Result<&'a BTreeMap<String, Layer>, Fault> {
    match &layer.value {
        Value::Table(table) => Ok(table),
        _ => Err(Fault { at: layer.at, message: format!("`{name}` must be a table; write it as [{name}]") }),
    }
}

/// The axes of a table, by the settings that they mean. A dotted key may be quoted or not.
fn axes(place: &str, layer: &Layer) -> Result<BTreeMap<String, Axis>, Fault> {
    let mut found = BTreeMap::new();
    let mut tables = vec![(String::new(), table(place, layer)?)];
    while let Some((path, table)) = tables.pop() {
        for (key, layer) in table {
            let name = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            if let Value::Table(inner) = &layer.value {
                tables.push((name, inner));
                continue;
            }
            let axis = Axis::new(name, layer)?;
            let (at, name) = (axis.at, axis.name.clone());
            if let Some(other) = found.insert(axis.key.clone(), axis) {
                let message = format!("`{name}` and `{}` are the same setting; leave one out", other.name);
                return Err(Fault { at, message });
            }
        }
    }
    Ok(found)
}

impl Axis {
    fn new(name: String, layer: &Layer) -> Result<Axis, Fault> {
        let fault = |at: Origin, message: String| Err(Fault { at, message });
        let key = match NAMED.iter().find(|(short, _)| *short == name) {
            Some((_, key)) => (*key).to_owned(),
            None if name.contains('.') => name.clone(),
            None => {
                let remedy = magpie_settings::remedy(&name, NAMED.map(|(short, _)| short));
                let message = format!(
                    "unknown axis `{name}`: {remedy} Any other setting is named in full, as in \"search.train.gamma\""
                );
                return fault(layer.key, message);
            }
        };
        let Value::List(values) = &layer.value else {
            let one = layer.value.to_string();
            return fault(
                layer.at,
                format!("`{name}` is {one}, but must be a list of values, as in [{one}]"),
            );
        };
        if values.is_empty() {
            return fault(layer.at, format!("`{name}` is empty; give it a value, or leave it out"));
        }
        for (number, value) in values.iter().enumerate() {
            let text = value.value.to_string();
            if values[..number].iter().any(|before| before.value.to_string() == text) {
                return fault(value.at, format!("`{name}` has {text} twice; leave one out"));
            }
        }
        let axis = Axis { name, key, values: values.clone(), at: layer.key };
        // So that a key which is none is found here, and not in every run.
        axis.setting(&axis.values[0])?;
        Ok(axis)
    }

    /// One of the values as a layer of settings.
    pub fn setting(&self, value: &Layer) -> Result<Layer, Fault> {
        value.clone().under(&self.key, self.at).ok_or_else(|| Fault {
            at: self.at,
            message: format!("`{}` is not a key; write it as \"a.b\"", self.name),
        })
    }

    /// Place in the order of the product: axes with a name first, then the others as they are written.
    fn speed(&self) -> (usize, usize) {
        let known = NAMED.iter().position(|(_, key)| *key == self.key);
        let byte = if let Origin::File(byte) = self.at { byte } else { 0 };
        (known.unwrap_or(NAMED.len()), byte)
    }
}
