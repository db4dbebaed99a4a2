//! What a run was told to do.
//!
//! A configuration is read key by key and not as the record of today's version: a report puts runs beside each other that
//! were made in different months.

use std::collections::BTreeMap;
use std::path::Path;

use magpie_demos::Demonstrations;
use magpie_rewards::ModelName;
use magpie_run::settings::{bring_up_to_date, idle_for, is_retired, read_text, registry};
use magpie_run::train::{Budget, Config};
use magpie_settings::{Kind, Method};
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
        let table: Table =
            text.parse().map_err(|e: toml::de::Error| wrong(format!("this is not TOML: {}", e.message())))?;
        if !table.contains_key("search") {
            return Ok(None);
        }
        let mut settings = Settings::of_table(table).map_err(wrong)?;
        // Files lie in the folder, all under the same name: what is in them tells them apart.
        for setting in registry().iter().filter(|setting| setting.kind == Kind::Path) {
            if let Some(file) = settings.others.get_mut(&setting.key) {
                let path = folder.join(Path::new(&*file).file_name().unwrap_or_default());
                let content =
                    if setting.key == "demos.file" { demonstrations(&path) } else { text_of(&path) };
                *file = content.map_or_else(
                    || "that cannot be read".to_owned(),
                    |bytes| format!("{:08x}", crc32fast::hash(&bytes)),
                );
            }
        }
        Ok(Some(settings))
    }

    /// The settings of a search's configuration; what is missing or wrong in it.
    fn of_table(mut table: Table) -> Result<Settings, String> {
        bring_up_to_date(&mut table);
        let mut others = BTreeMap::new();
        flatten("", &Value::Table(table.clone()), &mut others);
        let mut take = |key: &str| others.remove(key).ok_or_else(|| format!("there is no `{key}`"));
        let no = |key: &str, found: &str| format!("`{key}` is {found}");
        let task = take("task")?;
        let measure = take("measure")?;
        let model = take("reward.model")?;
        let model = model.parse::<ModelName>().map_err(|e| e.to_string())?;
        let seed = take("seed")?;
        let seed = seed.parse().map_err(|_| no("seed", &seed))?;
        let iterations = take("iterations")?;
        let iterations = iterations.parse().map_err(|_| no("iterations", &iterations))?;
        let weight = "search.curiosity.weight";
        let curiosity = others.get(weight).ok_or_else(|| format!("there is no `{weight}`"))?;
        let curiosity: f64 = curiosity.parse().map_err(|_| no(weight, curiosity))?;
        // What has no effect tells no runs apart.
        others.retain(|key, _| idle_for(key, &table).is_none());
        Ok(Settings { task, measure, model, curiosity, seed, iterations, others })
    }

    /// The settings of the paper's own run of this task, measure, reward model and, if there is any, curiosity; `None` if
    /// magpie has no such task.
    fn of_the_paper(&self) -> Option<Settings> {
        let mut config =
            Config::new(&self.task, &self.measure, self.model, Method::Paper, Budget::Paper).ok()?;
        if self.curiosity == 0.0 {
            config.search.curiosity.weight = 0.0;
        }
        Settings::of_table(toml::to_string(&config).ok()?.parse().ok()?).ok()
    }

    /// The settings that make this another experiment than the paper's, wherever they differ from its own: the world, what
    /// curiosity pays for, who proposes policies, the cells. How much is spent, and on what, does not.
    pub fn departures(&self) -> Vec<Departure> {
        let Some(paper) = self.of_the_paper() else { return Vec::new() };
        // A key that an older run does not have says nothing: the world was that of the task, say.
        let departs = |(key, here): &(&String, &String)| {
            // Without curiosity these say where a search restarts.
            let of_restarts = self.curiosity == 0.0 && OF_RESTARTS.contains(&key.as_str());
            let decides = EXPERIMENT.iter().any(|start| key.starts_with(start)) && !of_restarts;
            decides && paper.others.get(*key) != Some(here)
        };
        let departure = |(key, here): (&String, &String)| Departure {
            key: key.clone(),
            here: here.clone(),
            paper: paper.others.get(key).cloned(),
        };
        self.others.iter().filter(departs).map(departure).collect()
    }

    /// Model and curiosity as the paper names them: `GAIL`, `GAIL-EBC`.
    pub fn family(&self) -> String {
        format!("{}{}", self.model.label(), if self.curiosity > 0.0 { CURIOUS } else { "" })
    }
}

/// Settings of curiosity that restarts use too.
const OF_RESTARTS: [&str; 2] = ["search.curiosity.reference_archive", "search.curiosity.width"];

/// How the keys of settings begin that decide what an experiment is about. Numbers of runs that differ in these are no
/// answers to the same question; all else is how well it is answered. Demonstrations count too, and are compared by content.
const EXPERIMENT: [&str; 5] = [
    "world.",
    "search.curiosity.",
    "search.emitters",
    "search.archive.kind",
    // QD-Scores of different numbers of cells cannot be compared.
    "search.archive.resolution",
];

/// A setting in which a run differs from the paper's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// Its key.
    pub key: String,
    /// Its value.
    pub here: String,
    /// Its value in the paper; `None` if it is not set there.
    pub paper: Option<String>,
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
        // Words in a row, such as the emitters.
        Value::Array(values) if !values.is_empty() && values.iter().all(Value::is_str) => {
            let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            drop(into.insert(prefix.to_owned(), words.join(" + ")));
        }
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
                "reward.gail.inputs",
                "reward.gail.rate",
                "reward.scaled",
                "reward.thinning",
                "search.actions",
                "search.actor",
                "search.archive.caution",
                "search.archive.depth",
                "search.archive.kind",
                "search.branches",
                "search.climbers",
                "search.critic",
                "search.curiosity.novelty",
                "search.curiosity.on_termination",
                "search.curiosity.reference_archive",
                "search.curiosity.scale",
                "search.curiosity.weight",
                "search.curiosity.weighted",
                "search.emitters",
                "search.intermediate_policies",
                "search.measure_shaping",
                "search.objective_floor",
                "search.patience",
                "search.policies",
                "search.reevaluations",
                "search.restarts",
                "search.settle",
                "search.start",
                "search.train.learner",
                "search.turns",
                "search.walk",
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
    fn the_papers_own_settings_depart_in_nothing_and_any_other_world_or_curiosity_does() {
        let of = |change: &dyn Fn(&mut Config), method| {
            let mut config =
                Config::new("walker2d", "feet_contact", ModelName::Gail, method, Budget::Quick).unwrap();
            change(&mut config);
            let settings = read(&toml::to_string(&config).unwrap()).unwrap().unwrap();
            settings.departures().into_iter().map(|departure| departure.key).collect::<Vec<_>>()
        };
        let none: [&str; 0] = [];
        assert_eq!(of(&|_| {}, Method::Paper), none);
        assert_eq!(of(&|config| config.search.branches = 30, Method::Paper), none, "spends less");
        assert_eq!(of(&|config| config.search.curiosity.weight = 0.0, Method::Magpie), none);
        let plain_to_the_frontier = |config: &mut Config| {
            config.search.curiosity.weight = 0.0;
            config.search.restarts = magpie_search::Restarts::Frontier;
        };
        assert_eq!(of(&plain_to_the_frontier, Method::Magpie), none);
        assert_eq!(
            of(&|config| config.search.curiosity.weight = 5.0, Method::Paper),
            ["search.curiosity.weight"]
        );
        assert!(of(&|_| {}, Method::Magpie).contains(&"search.curiosity.novelty".to_owned()));
        assert_eq!(of(&|config| config.world.friction = 0.3, Method::Paper), ["world.friction"]);
        let weak = |config: &mut Config| config.world.strength.extend([("left_knee".to_owned(), 0.5)]);
        assert_eq!(of(&weak, Method::Paper), ["world.strength.left_knee"]);
        let hurdles = |config: &mut Config| config.world.hurdles = Some(Default::default());
        assert!(of(&hurdles, Method::Paper).contains(&"world.hurdles.height".to_owned()));
        assert_eq!(
            of(&|config| config.world.robot = Some("robot.toml".into()), Method::Paper),
            ["world.robot"]
        );
        assert_eq!(
            of(&|config| config.search.archive.resolution = 20, Method::Paper),
            ["search.archive.resolution"]
        );
        let iso_line = |config: &mut Config| config.search.emitters = vec!["iso_line".parse().unwrap()];
        assert_eq!(of(&iso_line, Method::Paper), ["search.emitters"]);
        // A run of a version that knew no other worlds.
        let old = "task = \"walker2d\"\nmeasure = \"feet_contact\"\nseed = 3\niterations = 9\nreward = \"gail\"\n\
                   [search.archive]\nresolution = 50\n[search.curiosity]\nweight = 0.0\n";
        assert_eq!(read(old).unwrap().unwrap().departures(), []);
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
