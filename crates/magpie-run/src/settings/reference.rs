//! The reference of all settings: sentences, ranges, and defaults as they depend on task, reward and budget.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use magpie_envs::TASKS;
use magpie_rewards::ModelName;
use magpie_settings::{By, Kind, Method, Setting, Settings, When, nearest, retired_of, settings_of, words};
use serde::Serialize;
use toml::{Table, Value};

use crate::error::RunError;
use crate::train::{Budget, Config, FEET_CONTACT};
use crate::{clone, ppo, train};

/// All settings of a search, in order of declaration.
pub fn registry() -> &'static [Setting] {
    static REGISTRY: LazyLock<Vec<Setting>> = LazyLock::new(settings_of::<train::Config>);
    &REGISTRY
}

/// Updates a search configuration of an earlier version: adds settings that did not exist yet, and removes retired ones
/// whose value matches today's behaviour. In the first versions, `reward` was just the name of the model.
pub fn bring_up_to_date(config: &mut Table) {
    if let Some(Value::String(model)) = config.get("reward") {
        let reward = Table::from_iter([("model".to_owned(), Value::String(model.clone()))]);
        config.insert("reward".to_owned(), Value::Table(reward));
    }
    magpie_settings::bring_up_to_date::<train::Config>(config);
}

/// The condition that keeps a key from having an effect in this configuration of a search, if there is one.
pub fn idle_for(key: &str, config: &Table) -> Option<When> {
    magpie_settings::idle_for::<train::Config>(key, config)
}

/// Whether this key is a retired setting of an earlier version.
pub fn is_retired(key: &str) -> bool {
    retired_of::<train::Config>().iter().any(|retired| retired.key == key)
}

/// A setting as shown in help and reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reference {
    /// Its key.
    pub key: String,
    /// The kind of value.
    pub kind: String,
    /// For words: each valid word and its meaning.
    pub words: Vec<(&'static str, String)>,
    /// magpie's default, with exceptions.
    pub magpie: String,
    /// The paper's default, with exceptions.
    pub paper: String,
    /// The valid numbers.
    pub range: Option<String>,
    /// Its unit.
    pub unit: Option<&'static str>,
    /// The conditions without which it has no effect.
    pub when: Vec<String>,
    /// What it does.
    pub sentence: String,
    /// The first version that has it.
    pub since: &'static str,
    /// The difference from another implementation that it exists for, if it exists only for comparisons.
    pub parity: Option<&'static str>,
}

/// All settings of a search.
pub fn reference() -> Result<Vec<Reference>, RunError> {
    let mut defaults = Defaults::default();
    let referred = |setting: &Setting| {
        let [magpie, paper] =
            [Method::Magpie, Method::Paper].map(|method| defaults.in_words(setting, method));
        Ok(Reference { magpie: magpie?, paper: paper?, ..Reference::of(setting) })
    };
    registry().iter().map(referred).collect()
}

words! {
    /// The commands that have settings.
    pub enum Run {
        /// A search.
        Train = "train",
        /// A single policy by PPO.
        Ppo = "ppo",
        /// A single policy by behaviour cloning.
        Clone = "clone",
    }
}

/// All settings of a command.
pub fn reference_of(run: Run) -> Result<Vec<Reference>, RunError> {
    match run {
        Run::Train => reference(),
        Run::Ppo => Ok(of_single(&ppo::Config::new("walker2d", 0, ppo::Config::default().steps)?)),
        Run::Clone => Ok(of_single(&clone::Config::default())),
    }
}

/// Of a command that trains a single policy; it has one method. Task and seed are those of nobody.
fn of_single<C: Settings + Serialize>(usual: &C) -> Vec<Reference> {
    let usual = table_of(usual);
    let referred = |setting: &Setting| {
        let default = match setting.key.as_str() {
            "task" => "none".to_owned(),
            key => shown(value(&usual, key)),
        };
        Reference { magpie: default.clone(), paper: default, when: Vec::new(), ..Reference::of(setting) }
    };
    settings_of::<C>().iter().map(referred).collect()
}

/// The setting with this key, or the settings of this table. Without a key, all settings except those for comparisons.
pub fn find(all: Vec<Reference>, asked: Option<&str>) -> Result<Vec<Reference>, RunError> {
    let Some(asked) = asked else {
        return Ok(all.into_iter().filter(|setting| setting.parity.is_none()).collect());
    };
    let is_below =
        |key: &str| key.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    if all.iter().any(|setting| is_below(&setting.key)) {
        return Ok(all.into_iter().filter(|setting| is_below(&setting.key)).collect());
    }
    let keys = || all.iter().map(|setting| setting.key.as_str());
    let last = |key: &str| key.rsplit('.').next().map(str::to_owned).unwrap_or_default();
    let same_end = keys().find(|key| last(key) == last(asked));
    // A last word that is misspelt, without its table.
    let near_end = || {
        let ends: Vec<String> = keys().map(last).collect();
        let end = nearest(asked, ends.iter().map(String::as_str))?;
        keys().find(|key| last(key) == end)
    };
    let problem = match same_end.or_else(|| nearest(asked, keys())).or_else(near_end) {
        Some(near) => format!("there is no such setting; did you mean `{near}`?"),
        None => "there is no such setting; leave out the name to list all".to_owned(),
    };
    Err(RunError::Setting { place: asked.to_owned(), problem })
}

impl Reference {
    fn of(setting: &Setting) -> Reference {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = match setting.kind {
            Kind::Words(words) => words.iter().map(|word| (word.name, one_line(word.sentence))).collect(),
            _ => Vec::new(),
        };
        Reference {
            key: setting.key.clone(),
            kind: setting.kind.to_string(),
            words,
            magpie: shown(setting.magpie.as_ref()),
            paper: shown(setting.paper.as_ref()),
            range: setting.range.clone(),
            unit: setting.unit,
            when: setting.when.iter().map(ToString::to_string).collect(),
            sentence: setting.sentence.clone(),
            since: setting.since,
            parity: setting.parity,
        }
    }
}

/// A value as written in files.
fn shown(value: Option<&Value>) -> String {
    match value {
        None => "none".to_owned(),
        Some(Value::String(text)) if text.is_empty() => "none".to_owned(),
        Some(Value::Table(table)) if table.is_empty() => "none".to_owned(),
        Some(Value::Float(number)) => number.to_string(),
        Some(value) => value.to_string(),
    }
}

/// Complete configurations, each built once.
#[derive(Default)]
struct Defaults(BTreeMap<String, Table>);

/// What a default may depend on.
#[derive(Clone, Copy)]
struct Place {
    task: &'static str,
    measure: &'static str,
    model: ModelName,
    budget: Budget,
}

/// The measures of the built-in tasks.
const MEASURES: [&str; 3] = [FEET_CONTACT, "jump", "angle"];

impl Defaults {
    fn of(&mut self, method: Method, place: Place) -> Result<&Table, RunError> {
        let Place { task, measure, model, budget } = place;
        let name = format!("{method} {task} {measure} {model} {budget}");
        if !self.0.contains_key(&name) {
            let config = Config::new(task, measure, model, method, budget)?;
            self.0.insert(name.clone(), table_of(&config));
        }
        Ok(&self.0[&name])
    }

    /// The usual default, with exceptions.
    fn in_words(&mut self, setting: &Setting, method: Method) -> Result<String, RunError> {
        let asks = |by: By| setting.by.contains(&by);
        let usual =
            Place { task: "walker2d", measure: FEET_CONTACT, model: ModelName::Gail, budget: Budget::Quick };
        if asks(By::Budget) {
            let mut values = Vec::new();
            for budget in Budget::ALL {
                let value = shown(value(self.of(method, Place { budget, ..usual })?, &setting.key));
                values.push(format!("{budget} {value}"));
            }
            return Ok(values.join(", "));
        }
        let common = match setting.by {
            [] => {
                return Ok(shown(if method == Method::Paper {
                    setting.paper.as_ref()
                } else {
                    setting.magpie.as_ref()
                }));
            }
            _ => shown(value(self.of(method, usual)?, &setting.key)),
        };
        let models: &[ModelName] =
            if asks(By::Reward) { &[ModelName::Gail, ModelName::True] } else { &[ModelName::Gail] };
        let measures: &[&'static str] = if asks(By::Measure) { &MEASURES } else { &[FEET_CONTACT] };
        let mut exceptions: Vec<(String, String)> = Vec::new();
        for &model in models {
            for &measure in measures {
                let mut of_tasks = Vec::new();
                for task in TASKS {
                    let table = self.of(method, Place { task, measure, model, ..usual })?;
                    of_tasks.push((task, shown(value(table, &setting.key))));
                }
                let everywhere = of_tasks.iter().all(|(_, value)| *value == of_tasks[0].1);
                let beside = match (asks(By::Reward), asks(By::Measure)) {
                    (true, _) if model == ModelName::True => " with the true reward".to_owned(),
                    (_, true) => format!(" with {measure}"),
                    _ => String::new(),
                };
                if everywhere && of_tasks[0].1 != common {
                    exceptions.push((beside.trim().to_owned(), of_tasks[0].1.clone()));
                } else {
                    let other = of_tasks.into_iter().filter(|(_, value)| *value != common);
                    exceptions.extend(other.map(|(task, value)| (format!("{task}{beside}"), value)));
                }
            }
        }
        let mut words = common;
        for (place, value) in exceptions {
            let _ = write!(words, "; {place} {value}");
        }
        Ok(words)
    }
}

fn table_of<T: Serialize>(config: &T) -> Table {
    toml::to_string(config).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// The value of a dotted key.
fn value<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    let (first, rest) = match key.split_once('.') {
        None => return table.get(key),
        Some(parts) => parts,
    };
    value(table.get(first)?.as_table()?, rest)
}

/// Changes to the world are those of a search.
fn in_the_page(setting: &&Reference) -> bool {
    !setting.key.starts_with("world.")
}

/// The settings page of the documentation.
pub fn markdown() -> Result<String, RunError> {
    let mut text = HEAD.to_owned();
    let (compared, public): (Vec<_>, Vec<_>) =
        reference()?.into_iter().partition(|setting| setting.parity.is_some());
    sections(&mut text, &public, "##");
    let _ = writeln!(
        text,
        "\n## Only for comparisons\n\nThese settings exist to match other implementations; `magpie settings --all` shows them.\n\n\
         | key | magpie | paper | range | what it does |\n|---|---|---|---|---|"
    );
    for setting in &compared {
        row(&mut text, setting, &setting.key, 0);
    }
    text.push_str(PPO);
    let _ = writeln!(text, "| key | default | default of a search |\n|---|---|---|");
    let searched = reference()?;
    for setting in reference_of(Run::Ppo)?.iter().filter(in_the_page) {
        let same = format!("search.{}", setting.key);
        let there = searched.iter().find(|other| other.key == same || other.key == setting.key);
        let there = there.map_or("—".to_owned(), |other| code(&other.magpie));
        let _ = writeln!(text, "| `{}` | {} | {there} |", setting.key, code(&setting.magpie));
    }
    text.push_str(CLONE);
    let _ = writeln!(text, "| key | default | range | what it does |\n|---|---|---|---|");
    for setting in reference_of(Run::Clone)?.iter().filter(in_the_page) {
        let Reference { key, magpie, range, kind, sentence, .. } = setting;
        let range = range.as_ref().unwrap_or(kind);
        let _ = writeln!(text, "| `{key}` | {} | {range} | {sentence} |", code(magpie));
    }
    Ok(text)
}

const HEAD: &str = "\
# Settings

<!-- Generated: magpie settings --markdown > docs/reference/settings.md -->

Every setting of a search, with the defaults of both methods (`--method magpie` and `--method paper`). How
settings override each other is described in [docs/search.md](../search.md#settings). `magpie settings KEY` shows a setting or a table, with `--of ppo` or
`--of clone` of those commands.
";

const PPO: &str = "
## `magpie ppo`

The settings of a run that trains a single policy. Its `train` table corresponds to `search.train` of a search. For robots with time
steps shorter than 20 ms, `train.gamma` defaults to 0.995, otherwise to 0.99.

";

const CLONE: &str = "
## `magpie clone`

The settings of a run that clones a single policy from demonstrations.

";

fn sections(text: &mut String, settings: &[Reference], level: &str) {
    let mut before = None;
    for setting in settings {
        let of = |setting: &'_ Reference| match setting.key.rsplit_once('.') {
            Some((table, _)) => table.to_owned(),
            None => String::new(),
        };
        let (table, name) = setting.key.rsplit_once('.').unwrap_or(("", &setting.key));
        // Conditions shared by the whole table are stated once.
        let mut together = settings.iter().filter(|other| of(other) == table).map(|other| &other.when[..]);
        let first = together.next().unwrap_or_default();
        let shared = together.fold(first, |shared, when| {
            let same = shared.iter().zip(when).take_while(|(a, b)| a == b).count();
            &shared[..same]
        });
        if before != Some(table) {
            let title = if table.is_empty() { "Top level".to_owned() } else { format!("`[{table}]`") };
            let _ = writeln!(text, "\n{level} {title}\n");
            if !shared.is_empty() {
                let _ = writeln!(
                    text,
                    "These settings have an effect only with {}.\n",
                    code(&shared.join(" and "))
                );
            }
            let _ = writeln!(text, "| key | magpie | paper | range | what it does |\n|---|---|---|---|---|");
            before = Some(table);
        }
        row(text, setting, name, shared.len());
    }
}

/// A row of a table; its heading has stated the first `said` conditions.
fn row(text: &mut String, setting: &Reference, name: &str, said: usize) {
    let Reference { words, magpie, paper, range, unit, when, sentence, parity, kind, .. } = setting;
    let mut what = sentence.clone();
    for (word, meaning) in words {
        let _ = write!(what, " `{word}`: {meaning}");
        if !meaning.ends_with('.') {
            what.push('.');
        }
    }
    if let Some(when) = when.get(said..).filter(|when| !when.is_empty()) {
        let _ = write!(what, " Only with {}.", code(&when.join(" and ")));
    }
    if let Some(parity) = parity {
        let _ = write!(what, " For comparisons: {parity}.");
    }
    let mut allowed = match (range, words.is_empty()) {
        (Some(range), _) => range.clone(),
        (None, false) => "a word".to_owned(),
        (None, true) => kind.clone(),
    };
    if let Some(unit) = unit {
        let _ = write!(allowed, " ({unit})");
    }
    let _ = writeln!(
        text,
        "| `{name}` | {} | {} | {allowed} | {} |",
        code(magpie),
        code(paper),
        what.replace('|', "\\\\|")
    );
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_search::Restarts;
    use magpie_settings::Settings;
    use std::path::Path;

    #[test]
    fn every_default_passes_its_own_range() {
        for method in Method::ALL {
            assert_eq!(Config::of(method).check_ranges(), Ok(()));
        }
        assert_eq!(ppo::Config::default().check_ranges(), Ok(()));
    }

    #[test]
    fn what_depends_on_nothing_is_the_same_everywhere_and_what_does_differs() {
        let mut defaults = Defaults::default();
        for setting in
            registry().iter().filter(|setting| !["task", "measure", "reward.model"].contains(&&*setting.key))
        {
            for method in Method::ALL {
                let mut values = std::collections::BTreeSet::new();
                for task in TASKS {
                    for measure in MEASURES {
                        for model in [ModelName::Gail, ModelName::True] {
                            for budget in Budget::ALL {
                                let place = Place { task, measure, model, budget };
                                values
                                    .insert(shown(value(defaults.of(method, place).unwrap(), &setting.key)));
                            }
                        }
                    }
                }
                let declared = shown(if method == Method::Paper {
                    setting.paper.as_ref()
                } else {
                    setting.magpie.as_ref()
                });
                assert_eq!(values.len() > 1, !setting.by.is_empty(), "{}: {values:?}", setting.key);
                assert!(values.contains(&declared), "{}: {values:?}", setting.key);
            }
        }
    }

    #[test]
    fn a_key_or_a_table_is_found_and_a_slip_answered() {
        let all = reference().unwrap();
        let keys = |asked| -> Vec<String> {
            find(all.clone(), asked).unwrap().into_iter().map(|setting| setting.key).collect()
        };
        assert_eq!(keys(Some("search.train.gamma")), ["search.train.gamma"]);
        assert_eq!(keys(Some("demos")), ["demos.file", "demos.count"]);
        assert_eq!(keys(Some("reward.gail.mix")), ["reward.gail.mix"]);
        assert!(!keys(None).contains(&"reward.gail.mix".to_owned()));
        for (asked, message) in [
            ("gamma", "gamma: there is no such setting; did you mean `search.train.gamma`?"),
            ("search.brunches", "search.brunches: there is no such setting; did you mean `search.branches`?"),
            ("gama", "gama: there is no such setting; did you mean `search.train.gamma`?"),
            ("zzz", "zzz: there is no such setting; leave out the name to list all"),
        ] {
            assert_eq!(find(all.clone(), Some(asked)).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn defaults_are_shown_as_they_turn_out() {
        let all = reference().unwrap();
        let of = |key: &str| all.iter().find(|setting| setting.key == key).unwrap();
        assert_eq!(of("search.sigma0").paper, "1; humanoid 0.5");
        assert_eq!(of("iterations").magpie, "quick 40, desktop 500, paper 2000");
        assert_eq!(of("search.curiosity.weight").magpie, "2; with the true reward 0");
        assert_eq!(of("search.curiosity.base").magpie, "0; ant with the true reward 2");
        assert_eq!(of("search.archive.resolution").paper, "50; ant with feet_contact 10");
        assert_eq!((of("search.critic").magpie.as_str(), of("search.critic").paper.as_str()), ("64", "256"));
    }

    /// A file of an earlier version may contain retired settings.
    #[test]
    fn a_retired_setting_is_read_where_nothing_is_lost() {
        let base = || Config::new("hopper", "jump", ModelName::Airl, Method::Magpie, Budget::Quick).unwrap();
        let read = |text: &str| super::super::resolve(base(), Some((Path::new("my.toml"), text)), &[]);
        for fine in [
            "search.curiosity.credit = 1",
            "reward.airl.gamma = 0.99",
            "reward.airl.gamma = 0.5\nsearch.train.gamma = 0.5",
            // This had no effect: GAIL was not chosen, and has no absorbing state.
            "reward.gail.gamma = 0.5",
            "reward.airl.opponent = 'policy'",
            // A flag that became a word.
            "search.curiosity.frontier = true",
            "search.curiosity.frontier = false\nsearch.restarts = 'random'",
        ] {
            read(fine).unwrap_or_else(|e| panic!("{fine}: {e}"));
        }
        for (wrong, message) in [
            (
                "search.curiosity.credit = 0.9",
                "my.toml:1:1: `search.curiosity.credit` is 0.9, but this setting was removed, and its value is now \
                 always 1; leave it out",
            ),
            (
                "reward.airl.gamma = 0.9",
                "my.toml:1:1: `reward.airl.gamma` is 0.9, but it is now part of `search.train.gamma`, which is 0.99; \
                 leave it out",
            ),
            (
                "search.curiosity.frontier = true\nsearch.restarts = 'random'",
                "my.toml:1:1: `search.curiosity.frontier` is true, but it is now part of `search.restarts`, which is \
                 random; leave it out",
            ),
            (
                "search.curiosity.frontier = 3",
                "my.toml:1:1: `search.curiosity.frontier` is 3, but must be true or false; it is now part of \
                 `search.restarts`: \"auto\" or \"random\"",
            ),
        ] {
            let error = read(wrong).unwrap_err().to_string();
            let after = |text: &str| text.split_once(": ").map(|(_, rest)| rest.to_owned());
            assert_eq!(after(&error), after(message));
            assert!(error.starts_with("my.toml:1:"), "{error}");
        }
    }

    #[test]
    fn a_flag_of_earlier_versions_still_chooses_where_to_restart() {
        let restarts = |method, text: &str| {
            let base = Config::new("hopper", "jump", ModelName::Gail, method, Budget::Quick).unwrap();
            let config = super::super::resolve(base, Some((Path::new("my.toml"), text)), &[]).unwrap();
            config.search.restarts
        };
        let flag = |value| format!("search.curiosity.frontier = {value}");
        assert_eq!(restarts(Method::Magpie, &flag(false)), Restarts::Random);
        assert_eq!(restarts(Method::Paper, &flag(true)), Restarts::Auto);
    }

    #[test]
    fn the_reference_of_the_documentation_is_current() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/settings.md");
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            found == markdown().unwrap(),
            "run: cargo run -p magpie-cli -- settings --markdown > docs/reference/settings.md"
        );
    }

    /// Settings that did not exist yet default to the behaviour of the paper.
    #[test]
    fn an_older_configuration_is_filled_in_with_what_the_paper_does() {
        let config =
            Config::new("walker2d", FEET_CONTACT, ModelName::Gail, Method::Paper, Budget::Paper).unwrap();
        let whole = table_of(&config);
        let mut older = whole.clone();
        let mut later = 0;
        for setting in registry().iter().filter(|setting| setting.before.is_some()) {
            let (table, name) = setting.key.rsplit_once('.').unwrap();
            let mut place = &mut older;
            for part in table.split('.') {
                place = place.get_mut(part).unwrap().as_table_mut().unwrap();
            }
            assert!(place.remove(name).is_some(), "{}", setting.key);
            later += 1;
        }
        assert_eq!(later, 40);
        bring_up_to_date(&mut older);
        for setting in registry() {
            assert_eq!(value(&older, &setting.key), value(&whole, &setting.key), "{}", setting.key);
        }
    }
}
