//! What a run was told to do.
//!
//! A configuration is read key by key and not as the record of today's version: a report puts runs beside each other that
//! were made in different months.

use std::collections::BTreeMap;
use std::path::Path;

use magpie_demos::Demonstrations;
use magpie_rewards::ModelName;
use magpie_run::settings::{bring_up_to_date, idle_for, is_retired, read_text, registry};
use magpie_settings::Kind;
use toml::{Table, Value};

use crate::error::ReportError;

/// How the name of a family with curiosity ends.
pub(crate) const CURIOUS: &str = "-EBC";

/// The settings of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The task.
    pub task: String,
    /// How behaviour is measured.
    pub measure: String,
    /// Where the reward comes from.
    pub model: ModelName,
    /// Weight of the curiosity bonus; 0 is none.
    pub curiosity: f64,
    /// The seed.
    pub seed: u64,
    /// Iterations to make.
    pub iterations: u64,
    /// Everything else that could change the result, by its key.
    pub others: BTreeMap<String, String>,
}

impl Settings {
    /// The settings of a run in `folder`; `None` if it is a run of another kind than a search.
    pub fn read(folder: &Path) -> Result<Option<Settings>, ReportError> {
        let path = folder.join("config.toml");
        let wrong = |problem: String| ReportError::Config { path: path.clone(), problem };
        let text = read_text(&path)?;
        let mut table: Table =
            text.parse().map_err(|e: toml::de::Error| wrong(format!("this is not TOML: {}", e.message())))?;
        if !table.contains_key("search") {
            return Ok(None);
        }
        bring_up_to_date(&mut table);
        let mut others = BTreeMap::new();
        flatten("", &Value::Table(table.clone()), &mut others);
        let mut take = |key: &str| others.remove(key).ok_or_else(|| wrong(format!("there is no `{key}`")));
        let no = |key: &str, found: &str| wrong(format!("`{key}` is {found}"));
        let mut name = |key: &str| match take(key)? {
            // They become parts of the names of files.
            plain if plain.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')) => Ok(plain),
            other => Err(wrong(format!("`{key}` is {other:?}: there is no {key} of such a name"))),
        };
        let (task, measure) = (name("task")?, name("measure")?);
        let model = take("reward.model")?;
        let model = model.parse::<ModelName>().map_err(|e| wrong(e.to_string()))?;
        let seed = take("seed")?;
        let seed = seed.parse().map_err(|_| no("seed", &seed))?;
        let iterations = take("iterations")?;
        let iterations = iterations.parse().map_err(|_| no("iterations", &iterations))?;
        let weight = "search.curiosity.weight";
        let curiosity = others.get(weight).ok_or_else(|| wrong(format!("there is no `{weight}`")))?;
        let curiosity: f64 = curiosity.parse().map_err(|_| no(weight, curiosity))?;
        // What has no effect tells no runs apart.
        others.retain(|key, _| idle_for(key, &table).is_none());
        // Files lie in the folder, all under the same name: what is in them tells them apart.
        for setting in registry().iter().filter(|setting| setting.kind == Kind::Path) {
            if let Some(file) = others.get_mut(&setting.key) {
                let path = folder.join(Path::new(&*file).file_name().unwrap_or_default());
                let content =
                    if setting.key == "demos.file" { demonstrations(&path) } else { text_of(&path) };
                *file = content.map_or_else(
                    || "that cannot be read".to_owned(),
                    |bytes| format!("{:08x}", crc32fast::hash(&bytes)),
                );
            }
        }
        Ok(Some(Settings { task, measure, model, curiosity, seed, iterations, others }))
    }

    /// Model and curiosity as the paper names them: `GAIL`, `GAIL-EBC`.
    pub fn family(&self) -> String {
        format!("{}{}", self.model.label(), if self.curiosity > 0.0 { CURIOUS } else { "" })
    }
}

/// Whether leaving the key out says something: that the robot is the task's own, say. For any other key it says that the
/// run was made before there was such a key.
pub(crate) fn may_be_left_out(key: &str) -> bool {
    // A retired setting is only there if it says something else than what everything behaves by.
    key.starts_with("world.") || key.starts_with("demos.") || is_retired(key)
}

/// What demonstrations say, wherever they come from.
fn demonstrations(path: &Path) -> Option<Vec<u8>> {
    Demonstrations::load(path).ok()?.anonymous().to_bytes().ok()
}

fn text_of(path: &Path) -> Option<Vec<u8>> {
    Some(read_text(path).ok()?.into_bytes())
}

/// Every value under its dotted key.
fn flatten(prefix: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                flatten(&key, value, into);
            }
        }
        Value::String(text) => drop(into.insert(prefix.to_owned(), text.clone())),
        // 1.0 and 1 are the same setting.
        Value::Float(number) => drop(into.insert(prefix.to_owned(), number.to_string())),
        other => drop(into.insert(prefix.to_owned(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Settings>, ReportError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.toml"), text).unwrap();
        Settings::read(folder.path())
    }

    const SEARCH: &str = "task = \"hopper\"\nmeasure = \"jump\"\nseed = 3\niterations = 150\n";

    #[test]
    fn a_configuration_of_today_and_an_older_one_are_read() {
        let today = format!(
            "{SEARCH}[reward]\nmodel = \"gail\"\nthinning = 20\n[reward.gail]\nrate = 0.1\n[reward.vail]\nrate = 0.2\n\
             [search]\nbranches = 30\n[search.curiosity]\nweight = 2.0\n"
        );
        let settings = read(&today).unwrap().unwrap();
        assert_eq!((settings.task.as_str(), settings.measure.as_str(), settings.seed), ("hopper", "jump", 3));
        assert_eq!((settings.family().as_str(), settings.curiosity), ("GAIL-EBC", 2.0));
        let keys: Vec<&str> = settings.others.keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "reward.gail.rate",
                "reward.scaled",
                "reward.thinning",
                "search.actions",
                "search.actor",
                "search.archive.kind",
                "search.branches",
                "search.critic",
                "search.curiosity.frontier",
                "search.curiosity.novelty",
                "search.curiosity.on_termination",
                "search.curiosity.reference_archive",
                "search.curiosity.scale",
                "search.curiosity.weight",
                "search.emitters",
                "search.intermediate_policies",
                "search.measure_shaping",
                "search.patience"
            ]
        );
        // What is said and what has not been asked yet are the same.
        let said = today.replace("branches = 30", "branches = 30\ninward = false\npatience = 0")
            + "novelty = \"empty\"\nwidth = 3.0\ncredit = 1.0\n";
        assert_eq!(read(&said).unwrap().unwrap(), settings);
        let other = said.replace("empty", "density");
        assert_eq!(read(&other).unwrap().unwrap().others["search.curiosity.width"], "3");
        let other = said.clone() + "frontier = true\n";
        assert_eq!(read(&other).unwrap().unwrap().others["search.curiosity.width"], "3");
        let plain = said.replace("weight = 2.0", "weight = 0.0") + "scope = \"segment\"\nunit = \"reward\"\n";
        let asked = |key: &String| key.starts_with("search.curiosity.") && key != "search.curiosity.weight";
        assert!(!read(&plain).unwrap().unwrap().others.keys().any(asked));
        // There is no such setting any more: only another value than the one that everything behaves by says something.
        let other = said.replace("credit = 1.0", "credit = 0.9");
        assert_eq!(read(&other).unwrap().unwrap().others["search.curiosity.credit"], "0.9");
        let older = format!("reward = \"true\"\n{SEARCH}[search.curiosity]\nweight = 0.0\n");
        assert_eq!(read(&older).unwrap().unwrap().family(), "true reward");
    }

    #[test]
    fn what_is_no_search_or_no_configuration_is_told_apart() {
        assert_eq!(read("task = \"hopper\"\n[train]\n").unwrap(), None);
        for (text, problem) in [
            ("= 3", "not TOML"),
            ("[search]\n", "no `task`"),
            (&format!("{SEARCH}reward = \"gal\"\n[search]\n"), "gal"),
            (&format!("{SEARCH}reward = \"gail\"\n[search]\n"), "search.curiosity.weight"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains("config.toml") && error.contains(problem), "{error}");
        }
    }
}
