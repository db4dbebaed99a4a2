//! `--json`: every line of every command is an object that docs/reference/json.md describes.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{magpie, said, succeed, text};
use serde_json::Value;

/// Fields of each event, as the page has them.
fn documented() -> BTreeMap<String, Vec<String>> {
    let page = include_str!("../../../docs/reference/json.md");
    let mut events: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut event = String::new();
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("### ") {
            event = name.trim_matches('`').to_owned();
            events.insert(event.clone(), Vec::new());
        } else if let Some(row) = line.strip_prefix("| `")
            && let Some(fields) = events.get_mut(&event)
        {
            fields.push(row.split('`').next().unwrap().to_owned());
        }
    }
    events
}

/// What was printed, line by line; anything but objects of the page is a failure.
#[track_caller]
fn events(output: &Output) -> Vec<Value> {
    let documented = documented();
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(!lines.is_empty(), "{}", said(output));
    let parse = |line: &str| -> Value {
        let event: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let object = event.as_object().unwrap();
        assert_eq!(object["version"], 1, "{line}");
        let name = object["event"].as_str().unwrap();
        let expected = documented.get(name).unwrap_or_else(|| panic!("{name} is not documented"));
        let found: Vec<&String> =
            object.keys().filter(|key| !["version", "event"].contains(&key.as_str())).collect();
        assert!(
            found.len() == expected.len() && found.iter().all(|key| expected.contains(key)),
            "{name}: {found:?}"
        );
        event
    };
    lines.lines().map(parse).collect()
}

/// The events of a command that has to succeed.
#[track_caller]
fn fine(arguments: &[&str]) -> Vec<Value> {
    let output = magpie(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    events(&output)
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

const SMALL: [&str; 6] = [
    "--set",
    "search.environments=48",
    "--set",
    "search.branches=6",
    "--set",
    "search.train.rollout_length=24",
];

fn train(folder: &Path, more: &[&str]) -> Output {
    let head = ["train", "hopper", "--reward", "true", "--json", "--out", text(folder)];
    magpie(&[&head[..], &SMALL, more].concat())
}

#[test]
fn a_search_tells_what_it_does_and_its_archive_is_told() {
    let temporary = tempfile::tempdir().unwrap();
    let run = temporary.path().join("my run");
    let output = train(&run, &["--iterations", "2", "--friction", "0.5"]);
    assert_eq!((output.status.code(), said(&output)), (Some(0), String::new()));
    let told = events(&output);
    let (settling, told): (Vec<_>, Vec<_>) = told.into_iter().partition(|event| event["event"] == "settling");
    assert!(settling.last().is_some_and(|last| last["verifying"] == true && last["done"] == last["of"]));
    assert_eq!(names(&told), ["started", "iteration", "iteration", "finished"]);
    let started = &told[0];
    assert_eq!((&started["method"], &started["budget"]), (&"magpie".into(), &"quick".into()));
    assert_eq!((&started["world"], &started["iterations"]), (&"friction × 0.5".into(), &2.into()));
    assert_eq!(started["folder"], text(&run));
    // The same names and numbers as in metrics.csv.
    let table = fs::read_to_string(run.join("metrics.csv")).unwrap();
    let mut rows = table.lines();
    let columns: Vec<&str> = rows.next().unwrap().split(',').collect();
    for (event, row) in told[1..3].iter().zip(rows) {
        let metrics = event["metrics"].as_object().unwrap();
        assert_eq!(metrics.len(), columns.len());
        for (column, cell) in columns.iter().zip(row.split(',')) {
            let number = &metrics[*column];
            match cell {
                // Filled in once the archive is settled.
                _ if column.starts_with("verified_") => assert!(number.is_null(), "{column}"),
                "" => assert!(number.is_null(), "{column}"),
                cell => assert_eq!(number.as_f64(), cell.parse().ok(), "{column}"),
            }
        }
        assert!(event["seconds_left"].as_f64().is_some_and(|seconds| seconds >= 0.0));
    }
    let search = &told[3]["search"];
    assert!(search["scores"]["qd_score"].is_number());
    let last = table.lines().last().unwrap().split(',');
    let verified = columns.iter().zip(last).find(|(column, _)| **column == "verified_qd_score").unwrap().1;
    assert_eq!(search["verified"]["scores"]["qd_score"].as_f64(), verified.parse().ok());
    assert!(Path::new(search["archive"].as_str().unwrap()).is_file());

    // With --quiet there is the result alone.
    let quiet = fine(&["train", "--resume", text(&run), "--iterations", "3", "--quiet"]);
    assert_eq!(names(&quiet), ["finished"]);

    let info = fine(&["archive", "info", text(&run)]);
    assert_eq!(names(&info), ["archive"]);
    assert_eq!(info[0]["scores"], quiet[0]["search"]["scores"]);
    assert_eq!(info[0]["dimensions"][0]["low"], 0.0);
    assert_eq!(names(&fine(&["archive", "export", text(&run), "--format", "csv"])), ["written"]);

    let table = temporary.path().join("table.csv");
    let all = fine(&["eval", text(&run), "--episodes", "100", "--table", text(&table)]);
    assert_eq!(names(&all), ["evaluation", "written"]);
    assert_eq!((&all[0]["own_world"], &all[0]["stored"]), (&true.into(), &info[0]["scores"]));
    let best = fine(&["eval", text(&run), "--best", "--episodes", "1"]);
    assert_eq!((names(&best), &best[0]["cell"]), (vec!["elite"], &info[0]["best_cell"]));

    let demos = temporary.path().join("demos.safetensors");
    let mut made = fine(&["demos", "make", text(&run), "-n", "1", "--out", text(&demos)]);
    // Elites of so short a search fall, which is worth a warning.
    made.retain(|event| event["event"] != "warning");
    assert!(
        names(&made).starts_with(&["demonstrations"]) && names(&made).ends_with(&["written"]),
        "{made:?}"
    );
    let shown = fine(&["demos", "info", text(&demos)]);
    assert_eq!(shown[0], made[0]);
    assert_eq!(shown[0]["episodes"].as_array().unwrap().len(), 1);

    let report = fine(&["report", text(&run)]);
    assert_eq!(*names(&report).last().unwrap(), "report");
    let written: Vec<&Value> = report.iter().filter(|event| event["event"] == "written").collect();
    assert!(
        written.len() > 3 && written.iter().all(|event| Path::new(event["path"].as_str().unwrap()).is_file())
    );
    assert!(written.iter().any(|event| event["path"] == report.last().unwrap()["page"]));
}

#[test]
fn training_a_single_policy_is_told() {
    let temporary = tempfile::tempdir().unwrap();
    let run = temporary.path().join("run");
    let told = fine(&["ppo", "hopper", "--steps", "8e3", "--environments", "64", "--out", text(&run)]);
    assert_eq!(names(&told), ["started", "iteration", "iteration", "finished"]);
    let policy = &told[3]["policy"];
    assert!(policy["mean_return"].is_number() && Path::new(policy["policy"].as_str().unwrap()).is_file());
    let again = fine(&["eval", text(&run), "--episodes", "2"]);
    assert_eq!((names(&again), &again[0]["episodes"]), (vec!["policy"], &2.into()));
}

#[test]
fn a_sweep_tells_its_plan_and_its_runs() {
    let temporary = tempfile::tempdir().unwrap();
    let (file, out) = (temporary.path().join("my.toml"), temporary.path().join("out"));
    let sweep = "[settings]\ntask = 'hopper'\niterations = 1\nsearch.environments = 48\nsearch.branches = 6\n\
                 search.train.rollout_length = 24\n[axes]\nreward = ['true']\nseed = [1, 2]\n";
    fs::write(&file, sweep).unwrap();
    let arguments = ["sweep", text(&file), "--out", text(&out)];
    let plan = fine(&[&arguments[..], &["--dry-run"]].concat());
    assert_eq!(names(&plan), ["planned", "planned", "plan"]);
    assert_eq!((&plan[0]["state"], &plan[2]["runs"]), (&"to do".into(), &2.into()));
    let mut told = fine(&arguments);
    told.retain(|event| event["event"] != "settling");
    let one = ["started", "iteration", "finished"];
    assert_eq!(names(&told), [&["sweep_started"], &one[..], &one, &["finished"]].concat());
    assert_eq!(told[2]["run"], "hopper-true-q0-s1");
    assert_eq!(told[7]["sweep"]["done"], 2);
    let again = fine(&arguments);
    assert_eq!(names(&again), ["sweep_started", "skipped", "skipped", "finished"]);
}

#[test]
fn an_interrupted_search_says_how_to_resume_it() {
    let temporary = tempfile::tempdir().unwrap();
    let run = temporary.path().join("run");
    let head =
        ["train", "hopper", "--reward", "true", "--json", "--iterations", "1000000", "--out", text(&run)];
    let mut child = Command::new(env!("CARGO_BIN_EXE_magpie"))
        .args([&head[..], &SMALL].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The second line is that of the first iteration.
    let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut lines = String::new();
    for _ in 0..2 {
        assert!(std::io::BufRead::read_line(&mut reader, &mut lines).unwrap() > 0);
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    std::io::Read::read_to_string(&mut reader, &mut lines).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let told = events(&Output { stdout: lines.into_bytes(), ..output });
    let last = told.last().unwrap();
    assert_eq!(last["event"], "interrupted");
    assert_eq!(last["resume"], format!("magpie train --resume {}", text(&run)));
}

#[test]
fn tasks_settings_speeds_and_replays_are_told() {
    let tasks = fine(&["envs"]);
    assert_eq!(names(&tasks), ["task"; 5]);
    let entries = fine(&["envs", "ant", "--entries"]);
    assert_eq!(entries[0]["observation"].as_array().unwrap().len(), 87);
    let settings = fine(&["settings"]);
    assert!(settings.len() > 20 && settings.iter().all(|setting| setting["event"] == "setting"));
    let words = fine(&["settings", "reward.model"]);
    assert_eq!(words[0]["words"][0]["name"], "gail");
    let bench = ["bench", "--tasks", "hopper", "--seconds", "0.01", "--environments", "16", "--threads", "1"];
    let speeds = fine(&bench);
    assert_eq!((names(&speeds), &speeds[0]["bench"]), (vec!["benchmark"], &"env/hopper".into()));
    let temporary = tempfile::tempdir().unwrap();
    let out = temporary.path().join("out.npz");
    let rollout = fine(&["rollout", "hopper", "--steps", "3", "--out", text(&out)]);
    assert_eq!((names(&rollout), &rollout[0]["steps"]), (vec!["rollout"], &3.into()));
    let pages = fine(&["man", text(&temporary.path().join("man1"))]);
    assert!(names(&pages).iter().all(|name| *name == "written") && pages.len() > 10);
}

#[test]
fn an_error_is_the_last_line_and_stays_readable_for_people() {
    let temporary = tempfile::tempdir().unwrap();
    let run = temporary.path().join("run");
    assert!(train(&run, &["--iterations", "1"]).status.success());
    let output = train(&run, &["--iterations", "1"]);
    let told = events(&output);
    let last = told.last().unwrap();
    assert_eq!(
        (output.status.code(), &last["event"], &last["exit_code"]),
        (Some(1), &"error".into(), &1.into())
    );
    assert!(last["hint"].as_str().unwrap().contains("--resume"));
    assert!(said(&output).contains(last["message"].as_str().unwrap()), "{}", said(&output));

    let usage = magpie(&["train", "hopper", "--iterations", "0", "--json"]);
    let told = events(&usage);
    assert_eq!((usage.status.code(), &told[0]["exit_code"]), (Some(2), &2.into()));
    assert!(told[0]["message"].as_str().unwrap().contains("iterations") && !said(&usage).is_empty());
}

/// What people are warned of, programs are warned of too.
#[test]
fn warnings_are_events() {
    let temporary = tempfile::tempdir().unwrap();
    let output =
        train(&temporary.path().join("run"), &["--iterations", "1", "--strength", "leg_joint=100000"]);
    let told = events(&output);
    let warnings: Vec<&str> = told
        .iter()
        .filter(|event| event["event"] == "warning")
        .map(|event| event["message"].as_str().unwrap())
        .collect();
    assert!(!warnings.is_empty());
    assert!(warnings.iter().all(|warning| said(&output).contains(warning)), "{}", said(&output));
    // Text for people is not mixed in.
    assert!(!succeed(&["envs", "--json"]).contains("Bodies"));
}
