//! docs/tasks.md: its example is a task file with every key, and its tables name all there is to observe and to measure.

use std::path::Path;

use magpie_envs::{Environment, Options, Task};

const PAGE: &str = include_str!("../../../docs/tasks.md");

fn example() -> &'static str {
    PAGE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example")
}

/// What the error message lists as valid in a file that has `wrong` in place of `right`.
fn valid(right: &str, wrong: &str) -> Vec<String> {
    assert!(example().contains(right), "{right}");
    let text = example().replacen(right, wrong, 1);
    let error = Task::from_toml(&text, "page", Path::new("")).unwrap_err().to_string();
    let (_, list) = error.split_once("valid here: ").unwrap_or_else(|| panic!("{error}"));
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
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
    for known in ["\"height\"", "\"lowest_foot\"", "\"root\""] {
        for word in valid(known, "\"qqqq\"") {
            let said = [format!("`{word}`"), format!("`\"{word}\"`")];
            assert!(said.iter().any(|said| PAGE.contains(said)), "docs/tasks.md does not name {word}");
        }
    }
}

#[test]
fn every_key_is_in_the_example() {
    let tables = ["[reward]", "[healthy]", "[reset]", "[search]"];
    let keys = tables.map(|table| valid(&format!("{table}\n"), &format!("{table}\nqqqq = 1\n")));
    for key in keys.concat().into_iter().chain(valid("name = ", "qqqq = 1\nname = ")) {
        let written = [format!("\n{key} = "), format!("\n[{key}]"), format!("\n[[{key}]]")];
        let text = format!("\n{}", example());
        assert!(written.iter().any(|written| text.contains(written)), "the example does not have {key}");
    }
}
