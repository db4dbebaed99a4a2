//! Resolved configurations against those of before there were methods and budgets, to the last digit.

use std::collections::BTreeMap;

use magpie_envs::TASKS;
use toml::Value;

use super::*;

/// Values by their keys.
type Flat = BTreeMap<String, String>;

/// The first block whole, and what is different in the others, by their heads.
fn golden() -> (Flat, Vec<(String, Flat)>) {
    let mut whole = BTreeMap::new();
    let mut blocks: Vec<(Vec<String>, BTreeMap<String, String>)> = Vec::new();
    let lines = include_str!("golden.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        match (line.strip_prefix("    ").and_then(|line| line.split_once(" = ")), blocks.last_mut()) {
            (Some((key, value)), Some((_, block))) => drop(block.insert(key.to_owned(), value.to_owned())),
            (Some((key, value)), None) => drop(whole.insert(key.to_owned(), value.to_owned())),
            (None, _) if line == "all" => {}
            (None, Some((heads, block))) if block.is_empty() => heads.push(line.to_owned()),
            (None, _) => blocks.push((vec![line.to_owned()], BTreeMap::new())),
        }
    }
    let each = |(heads, block): (Vec<String>, BTreeMap<String, String>)| {
        heads.into_iter().map(move |head| (head, block.clone()))
    };
    (whole, blocks.into_iter().flat_map(each).collect())
}

fn flat(config: &Config) -> BTreeMap<String, String> {
    fn collect(path: &str, value: &Value, found: &mut BTreeMap<String, String>) {
        match value {
            Value::Table(table) => {
                for (key, value) in table {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    collect(&path, value, found);
                }
            }
            value => drop(found.insert(path.to_owned(), value.to_string())),
        }
    }
    let mut found = BTreeMap::new();
    collect("", &Value::Table(toml::to_string(config).unwrap().parse().unwrap()), &mut found);
    for chosen in ["task", "measure", "reward.model"] {
        found.remove(chosen);
    }
    found
}

#[test]
fn methods_and_budgets_are_what_the_presets_were() {
    let (whole, blocks) = golden();
    assert_eq!((whole.len(), blocks.len()), (123, 35));
    let mut used = vec![false; blocks.len()];
    for preset in Budget::ALL {
        let (method, budget) = Budget::of_preset(preset);
        for task in TASKS {
            for model in ModelName::ALL {
                for measure in ["feet_contact", "jump", "angle"] {
                    let config = Config::new(task, measure, model, method, budget).unwrap();
                    let mut wanted = whole.clone();
                    for (place, (head, block)) in blocks.iter().enumerate() {
                        let [m, b, t, models, measures] = head.split(' ').collect::<Vec<_>>()[..] else {
                            panic!("{head}")
                        };
                        let of_model = models == if model == ModelName::True { "true" } else { "learned" };
                        let of_measure = measures == "*" || measures.split(',').any(|name| name == measure);
                        if [m, b, t] == [method.name(), budget.name(), task] && of_model && of_measure {
                            wanted.extend(block.clone());
                            used[place] = true;
                        }
                    }
                    assert_eq!(flat(&config), wanted, "{method} {budget} {} {model} {measure}", task);
                }
            }
        }
    }
    assert!(used.iter().all(|&used| used));
}
