//! Runs sorted into tasks and methods.

use std::collections::{BTreeMap, BTreeSet};

use magpie_rewards::ModelName;
use magpie_run::settings::registry;
use magpie_settings::Setting;

use super::progress::Metric;
use super::run::{Note, Run};
use super::settings::may_be_left_out;

/// A task with a measure: what methods can be compared in.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The task.
    pub task: String,
    /// How behaviour is measured.
    pub measure: String,
    /// The methods.
    pub methods: Vec<Method>,
}

/// Settings: keys and values.
pub type Details = Vec<(String, String)>;

/// A way to search, and its runs.
#[derive(Debug, Clone)]
pub struct Method {
    /// The family, and what else tells it from others of its family.
    pub name: String,
    /// Model and curiosity as the paper names them.
    pub family: String,
    /// The other settings in which runs of one family differ.
    pub details: Details,
    /// Which of the colours it has, the same in all scenes.
    pub style: usize,
    /// In the order of their seeds, each seed once.
    pub runs: Vec<Run>,
}

impl Scene {
    /// For headings.
    pub fn title(&self) -> String {
        format!("{}, {}", self.task, self.measure.replace('_', " "))
    }

    /// Whether returns can be negative here: the QD-Score was, or more than one elite in twenty is. Filling a cell may then
    /// lower the plain QD-Score, so that it falls while the search improves.
    pub fn has_negative_returns(&self) -> bool {
        const SHARE: f64 = 0.05;
        let negative = |run: &Run| {
            let elites = run.archive.iter().flat_map(|archive| &archive.elites);
            let (all, below) =
                elites.fold((0, 0), |(all, below), e| (all + 1, below + usize::from(e.objective < 0.0)));
            f64::from(below as u32) > SHARE * f64::from(all as u32)
                || run.rows.iter().any(|row| row.qd_score < 0.0)
        };
        self.runs().any(negative)
    }

    /// What runs are compared by: the QD-Score, as in the paper, or the one with offset where the plain one is negative in
    /// the end and there is an offset.
    pub fn score(&self) -> Metric {
        let last = |metric: Metric| self.runs().filter_map(move |run| run.last(metric));
        let negative = last(Metric::QdScore).any(|score| score < 0.0);
        let offset = last(Metric::QdScore).ne(last(Metric::QdScoreOffset));
        if negative && offset { Metric::QdScoreOffset } else { Metric::QdScore }
    }

    fn runs(&self) -> impl Iterator<Item = &Run> {
        self.methods.iter().flat_map(|method| &method.runs)
    }

    /// For names of files.
    pub fn slug(&self) -> String {
        format!("{}-{}", self.task, self.measure)
    }
}

/// Sorts runs: by task and measure, then by reward model, curiosity and whatever else differs among runs of the same
/// model and curiosity. Says where seeds are missing or doubled, and where runs differ in length.
pub fn scenes(runs: Vec<Run>, notes: &mut Vec<Note>) -> Vec<Scene> {
    let mut sorted: BTreeMap<(String, String), Vec<Run>> = BTreeMap::new();
    for run in runs {
        sorted.entry((run.settings.task.clone(), run.settings.measure.clone())).or_default().push(run);
    }
    let mut scenes: Vec<Scene> = sorted.into_values().filter_map(scene).collect();
    let mut styles: Vec<(usize, String)> =
        scenes.iter().flat_map(|scene| &scene.methods).map(|m| (rank(&m.runs[0]), m.name.clone())).collect();
    styles.sort();
    styles.dedup();
    for scene in &mut scenes {
        for method in &mut scene.methods {
            method.style = styles.iter().position(|(_, name)| *name == method.name).unwrap_or_default();
            keep_each_seed_once(method, notes);
        }
        say_what_is_missing(scene, notes);
    }
    scenes
}

/// The true reward first, then the models in their own order, each without curiosity before with it.
fn rank(run: &Run) -> usize {
    let place = match run.settings.model {
        ModelName::True => 0,
        model => 1 + ModelName::ALL.iter().position(|&other| other == model).unwrap_or_default(),
    };
    2 * place + usize::from(run.settings.curiosity > 0.0)
}

/// The value of a setting that is not set.
const UNSET: &str = "–";

/// The scene of runs that have task and measure in common.
fn scene(runs: Vec<Run>) -> Option<Scene> {
    let (task, measure) =
        runs.first().map(|run| (run.settings.task.clone(), run.settings.measure.clone()))?;
    let differing = differing(&runs);
    let mut methods: BTreeMap<(usize, Details), Vec<Run>> = BTreeMap::new();
    for run in runs {
        let keys = differing.get(&run.settings.family()).into_iter().flatten();
        let detail = |key: &String| {
            (key.clone(), run.settings.others.get(key).cloned().unwrap_or_else(|| UNSET.to_owned()))
        };
        methods.entry((rank(&run), keys.map(detail).collect())).or_default().push(run);
    }
    let every: Vec<Details> = methods.keys().map(|(_, details)| details.clone()).collect();
    let method = |((_, details), runs): ((usize, Details), Vec<Run>)| {
        let family = runs[0].settings.family();
        let name = std::iter::once(family.clone()).chain(in_few_words(&details, &every));
        Method { name: name.collect::<Vec<_>>().join(", "), family, details, style: 0, runs }
    };
    Some(Scene { task, measure, methods: methods.into_iter().map(method).collect() })
}

/// For each family, the keys in which its runs differ. That a run does not have a key is a difference only where leaving
/// it out says something.
fn differing(runs: &[Run]) -> BTreeMap<String, BTreeSet<String>> {
    let mut families: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
    for run in runs {
        families.entry(run.settings.family()).or_default().push(run);
    }
    let of_family = |runs: Vec<&Run>| {
        let keys: BTreeSet<&String> = runs.iter().flat_map(|run| run.settings.others.keys()).collect();
        let differs = |key: &&String| {
            let mut values: BTreeSet<Option<&String>> =
                runs.iter().map(|run| run.settings.others.get(*key)).collect();
            if !may_be_left_out(key) {
                values.remove(&None);
            }
            values.len() > 1
        };
        keys.into_iter().filter(differs).cloned().collect()
    };
    families.into_iter().map(|(family, runs)| (family, of_family(runs))).collect()
}

/// Settings as a name has them. What is not set is not said. A table that only some runs have, such as hurdles, is named
/// with those of its values in which the runs that have it differ.
fn in_few_words(details: &Details, every: &[Details]) -> Vec<String> {
    let set =
        |details: &Details| details.iter().filter(|(_, value)| value != UNSET).cloned().collect::<Details>();
    let every: Vec<Details> = every.iter().map(set).collect();
    let mut words: Vec<String> = Vec::new();
    let mut tables: Vec<String> = Vec::new();
    for (key, value) in set(details) {
        let Some(table) = optional_table(&key) else {
            words.push(named(&key, &value, &every));
            continue;
        };
        if tables.contains(&table) {
            continue;
        }
        let differs = |(key, value): &&(String, String)| {
            every.iter().flatten().any(|(other, found)| other == key && found != value)
        };
        let inside = set(details);
        let inside = inside.iter().filter(|(key, _)| optional_table(key).as_ref() == Some(&table));
        let said = inside.filter(differs).map(|(key, value)| format!(" {} {value}", last(key)));
        words.push(last(&table) + &said.collect::<String>());
        tables.push(table);
    }
    words
}

/// The table that a key is in, if that is one which may be left out whole.
fn optional_table(key: &str) -> Option<String> {
    let (table, _) = key.rsplit_once('.')?;
    let is_optional =
        |setting: &&Setting| setting.key == table && setting.paper.is_none() && setting.magpie.is_none();
    registry().iter().find(is_optional).map(|setting| setting.key.clone())
}

/// The last part of a key, in words.
fn last(key: &str) -> String {
    key.rsplit('.').next().unwrap_or(key).replace('_', " ")
}

/// A setting in few words.
fn named(key: &str, value: &str, every: &[Details]) -> String {
    let content = || value.get(..4).filter(|_| value.len() == 8).unwrap_or(value);
    match key {
        "search.curiosity.weight" => format!("q {value}"),
        "demos.file" => format!("demos {}", content()),
        "world.robot" => format!("robot {}", content()),
        "world.task" => format!("task file {}", content()),
        "demos.count" if value == "1" => "1 demo".to_owned(),
        "demos.count" => format!("{value} demos"),
        key if key.starts_with("world.strength.") => format!("strength {} {value}", last(key)),
        key => {
            let same_end = every.iter().flatten().any(|(other, _)| other != key && last(other) == last(key));
            if same_end { format!("{key} {value}") } else { format!("{} {value}", last(key)) }
        }
    }
}

/// Of two runs with one seed, the one that got further stays, and of two that got as far the one with all its files:
/// counted twice, they would look like two.
fn keep_each_seed_once(method: &mut Method, notes: &mut Vec<Note>) {
    let lost = |run: &Run| usize::from(run.archive.is_none()) + usize::from(run.rows.is_empty());
    method.runs.sort_by(|a, b| {
        let seeds = a.settings.seed.cmp(&b.settings.seed);
        seeds.then(b.iterations().total_cmp(&a.iterations())).then(lost(a).cmp(&lost(b)))
    });
    method.runs.dedup_by(|later, kept| {
        let same = later.settings.seed == kept.settings.seed;
        if same {
            let problem = format!(
                "left out: {} with seed {} is there already, in {}",
                method.name,
                kept.settings.seed,
                kept.folder.display()
            );
            notes.push(Note { place: later.folder.display().to_string(), problem });
        }
        same
    });
}

fn say_what_is_missing(scene: &Scene, notes: &mut Vec<Note>) {
    let seeds =
        |method: &Method| -> BTreeSet<u64> { method.runs.iter().map(|run| run.settings.seed).collect() };
    let all: BTreeSet<u64> = scene.methods.iter().flat_map(seeds).collect();
    for method in &scene.methods {
        let missing: Vec<String> = all.difference(&seeds(method)).map(u64::to_string).collect();
        if !missing.is_empty() {
            let number = if missing.len() == 1 { "seed" } else { "seeds" };
            let problem = format!("no run with {number} {}, which other methods have", missing.join(", "));
            notes.push(Note { place: format!("{}: {}", scene.title(), method.name), problem });
        }
    }
    let lengths = scene.methods.iter().flat_map(|method| &method.runs).map(Run::iterations);
    let (least, most) = lengths.fold((f64::INFINITY, 0.0), |(least, most), n| (n.min(least), n.max(most)));
    if least < most {
        let problem = format!(
            "runs differ in length, from {least} to {most} iterations; tables and tests take each as far as it came"
        );
        notes.push(Note { place: scene.title(), problem });
    }
}
