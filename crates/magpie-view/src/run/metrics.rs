//! The curves and the settings of a run, for the page.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::Serialize;

#[derive(Serialize, Default)]
struct Metrics {
    columns: Vec<String>,
    /// Column by column; `null` where there is no number.
    values: Vec<Vec<Option<f32>>>,
    /// Keys and values of the configuration, by name.
    settings: Vec<(String, String)>,
    problems: Vec<String>,
}

/// Rows that are kept, evenly spread: a screen has no more.
const MOST_ROWS: usize = 1_000;
/// What is read of a file: 100,000 rows of a search are 60 MB.
const LONGEST: u64 = 64 << 20;
const MOST_COLUMNS: usize = 200;
const MOST_SETTINGS: usize = 1_000;

pub fn json(folder: &Path) -> Vec<u8> {
    let mut metrics = Metrics::default();
    if let Err(problem) = curves(&folder.join("metrics.csv"), &mut metrics) {
        metrics.problems.push(problem);
    }
    if let Err(problem) = settings(&folder.join("config.toml"), &mut metrics) {
        metrics.problems.push(problem);
    }
    // Numbers and text can always be written.
    serde_json::to_vec(&metrics).unwrap_or_default()
}

/// The text of a file; the beginning and the end of one that is too long. `None` if there is none.
fn text(path: &Path) -> Result<Option<String>, String> {
    if !path.exists() {
        return Ok(None);
    }
    let problem = |e: std::io::Error| format!("{}: {}", path.display(), magpie_files::in_words(&e));
    let mut file = magpie_files::open(path).map_err(problem)?;
    let length = file.metadata().map_err(problem)?.len();
    let mut bytes = Vec::new();
    file.by_ref().take(LONGEST / 2).read_to_end(&mut bytes).map_err(problem)?;
    if length > LONGEST {
        file.seek(SeekFrom::Start(length - LONGEST / 2)).map_err(problem)?;
    }
    file.take(LONGEST / 2).read_to_end(&mut bytes).map_err(problem)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn curves(path: &Path, metrics: &mut Metrics) -> Result<(), String> {
    let Some(text) = text(path)? else { return Ok(()) };
    // A row that is being written has no end yet.
    let text = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').take(MOST_COLUMNS).collect();
    let whole = |line: &&str| line.split(',').count() == columns.len();
    let rows: Vec<&str> = lines.filter(whole).collect();
    let shown = rows.len().min(MOST_ROWS);
    metrics.columns = columns.iter().map(|&name| name.to_owned()).collect();
    metrics.values = vec![Vec::with_capacity(shown); columns.len()];
    for i in 0..shown {
        // The first and the last row are always among them.
        let row = rows[if shown < 2 { 0 } else { i * (rows.len() - 1) / (shown - 1) }];
        for (cell, values) in row.split(',').zip(&mut metrics.values) {
            values.push(cell.trim().parse().ok().filter(|v: &f32| v.is_finite()));
        }
    }
    Ok(())
}

fn settings(path: &Path, metrics: &mut Metrics) -> Result<(), String> {
    let Some(text) = text(path)? else { return Ok(()) };
    let value: toml::Table = toml::from_str(&text)
        .map_err(|_| format!("{}: it is not a configuration; `magpie check` says more", path.display()))?;
    flatten("", &toml::Value::Table(value), &mut metrics.settings);
    metrics.settings.truncate(MOST_SETTINGS);
    Ok(())
}

fn flatten(key: &str, value: &toml::Value, into: &mut Vec<(String, String)>) {
    match value {
        toml::Value::Table(table) => {
            for (name, value) in table {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                flatten(&key, value, into);
            }
        }
        toml::Value::String(text) => into.push((key.to_owned(), text.clone())),
        other => into.push((key.to_owned(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(metrics: &str, config: &str) -> serde_json::Value {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("metrics.csv"), metrics).unwrap();
        std::fs::write(folder.path().join("config.toml"), config).unwrap();
        serde_json::from_slice(&json(folder.path())).unwrap()
    }

    #[test]
    fn curves_are_read_to_the_last_whole_row() {
        let found = read("iteration,best,kl\n1,2.5,\n2,nan,1e-3\n3,4", "task = \"hopper\"\n[a]\nb = 1\n");
        assert_eq!(found["columns"], serde_json::json!(["iteration", "best", "kl"]));
        assert_eq!(found["values"][1], serde_json::json!([2.5, null]));
        assert_eq!(found["settings"], serde_json::json!([["a.b", "1"], ["task", "hopper"]]));
    }

    #[test]
    fn a_long_table_keeps_its_ends_and_damage_is_told() {
        let rows: String = (1..=5000).map(|i| format!("{i},{i}\n")).collect();
        let found = read(&format!("iteration,best\n{rows}"), "= damaged");
        let values = found["values"][0].as_array().unwrap();
        assert_eq!(values.len(), MOST_ROWS);
        assert_eq!((&values[0], &values[MOST_ROWS - 1]), (&1.0.into(), &5000.0.into()));
        assert!(found["problems"][0].as_str().unwrap().contains("config.toml"));
    }
}
