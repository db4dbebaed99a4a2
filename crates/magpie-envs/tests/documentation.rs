//! docs/tasks.md: its example is a task file with every key, and its tables name all there is to observe and to measure.

use std::path::Path;

use magpie_envs::{Environment, Options, Task};

const PAGE: &str = include_str!("../../../docs/tasks.md");

fn example() -> &'static str {
    PAGE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example")
}

/// The words that an error message says are valid in place of `known`.
fn valid_instead_of(known: &str) -> Vec<String> {
    let wrong = example().replacen(known, "\"no such word\"", 1);
    let error = Task::from_toml(&wrong, "page", Path::new("")).unwrap_err().to_string();
    let quoted: Vec<String> = error.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    quoted.into_iter().filter(|word| *word != "no such word").collect()
}

#[test]
fn the_documented_task_works() {
    let task = Task::from_toml(example(), "page", Path::new("")).unwrap();
    for (measure, dimensions) in [("bounce", 2), ("place", 1)] {
        let options = Options { measure: Some(measure.to_owned()), ..Options::default() };
        assert_eq!(Environment::of_task(&task, options).unwrap().measure_size(), dimensions);
    }
}

#[test]
fn every_part_and_quantity_is_documented() {
    for (known, few) in [("\"height\"", 15), ("\"lowest_foot\"", 8), ("\"root\"", 2)] {
        let words = valid_instead_of(known);
        assert!(words.len() >= few, "{words:?}");
        for word in words {
            let said = [format!("`{word}`"), format!("`\"{word}\"`")];
            assert!(said.iter().any(|said| PAGE.contains(said)), "docs/tasks.md does not name {word}");
        }
    }
}

/// Without any one of its lines the example is another task, or none: no key in it is idle, misspelt or forgotten.
#[test]
fn every_key_is_in_the_example() {
    let keys = ["name", "robot", "episode_steps", "clip", "observation", "reward", "healthy", "reset", "measure", "search"];
    let all = valid_keys("");
    assert!(all.len() >= keys.len(), "{all:?}");
    for table in ["", "[reward]", "[healthy]", "[reset]", "[search]"] {
        for key in valid_keys(table) {
            let written = [format!("\n{key} = "), format!("\n[{key}]"), format!("\n[[{key}]]")];
            let text = format!("\n{}", example());
            assert!(written.iter().any(|written| text.contains(written)), "{table} {key}");
        }
    }
}

/// The keys that an error message lists for a table of the example; the top level is `""`.
fn valid_keys(table: &str) -> Vec<String> {
    let wrong = match table {
        "" => format!("no_such_key = 1\n{}", example()),
        _ => example().replacen(&format!("{table}\n"), &format!("{table}\nno_such_key = 1\n"), 1),
    };
    let error = Task::from_toml(&wrong, "page", Path::new("")).unwrap_err().to_string();
    let keys: Vec<String> = error.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    println!("{error}");
    keys.into_iter().filter(|key| key != "no_such_key").collect()
}
