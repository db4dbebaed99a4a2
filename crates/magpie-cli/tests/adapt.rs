//! `magpie adapt`: changed worlds, stopped and continued; trials; returns that are typed in.

mod common;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{magpie, said, succeed, text};
use magpie_run::adapt::Adaptation;

/// A small archive of hopper.
fn train(folder: &Path, seed: &str) {
    let small = ["search.environments=48", "search.branches=6", "search.train.rollout_length=24"];
    let sets = small.iter().flat_map(|set| ["--set", set]);
    let named = ["train", "hopper", "--reward", "true", "--seed", seed, "--out", text(folder)];
    succeed(&named.into_iter().chain(sets).chain(["--iterations", "2", "--quiet"]).collect::<Vec<_>>());
}

const TASK: &str = r#"
name = "worn"
task = "hopper"
measure = "jump"
level = { name = "wear", range = [0, 1], healthy = 0, levels = [0.5, 1] }
change = [
    { quantity = "strength.leg_joint", ends = [1, 0] },
    { quantity = "gravity", ends = [1, 2] },
    { quantity = "friction", ends = [1, 0.5] },
]
draw = 2
"#;

/// What the program does with this on its standard input.
fn typed(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_magpie"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn worlds_are_kept_one_by_one_and_the_results_do_not_depend_on_when() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    train(&at("run"), "1");
    fs::write(at("worn.toml"), TASK).unwrap();
    let (run, file) = (at("run"), at("worn.toml"));
    let few = ["--episodes", "3", "--report-episodes", "5"];
    let adapt = |more: &[&str]| {
        let output = magpie(&[&["adapt", text(&run), "--task", text(&file)], &few[..], more].concat());
        assert!(output.status.success(), "{}", said(&output));
        (String::from_utf8(output.stdout.clone()).unwrap(), said(&output))
    };
    let (table, warnings) = adapt(&["--trials", "4"]);
    assert!(warnings.contains("meant for archives of jump, and this one is of feet_contact"), "{warnings}");
    for part in ["no adaptation", "adapted", "oracle", "4 trials", "healthy", "best stored"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let json = run.join("adaptation-worn.json");
    let whole = fs::read(&json).unwrap();
    let results = Adaptation::load(&json).unwrap().unwrap();
    assert_eq!(results.cases.iter().map(|case| case.at).collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
    assert!(results.cases[0].healthy && results.cases[0].world == "the task as published");
    assert_eq!(results.cases[1].world, "gravity × 1.5, friction × 0.75, leg_joint × 0.5");
    assert_eq!(results.cases[0].adapted, results.cases[0].unadapted);
    let best = results.cases[0].adapted.elite;
    assert!(results.changed().all(|case| case.unadapted.elite == best));
    for case in results.changed() {
        let highest = case.returns.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(case.returns[case.adapted.elite], highest);
        assert_eq!(case.few_shots.as_ref().unwrap().trials.len(), 4);
    }
    assert_ne!(results.cases[0].returns, results.cases[1].returns);
    let csv = fs::read_to_string(run.join("adaptation-worn.csv")).unwrap();
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(run.join("adaptation-worn-regret.png").is_file());

    // Nothing is done twice, and stopped half-way it comes to the same.
    let reused = |printed: &str| {
        let last: serde_json::Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
        last["reused"].as_u64().unwrap()
    };
    assert_eq!(reused(&adapt(&["--trials", "4", "--json"]).0), 3);
    assert_eq!(fs::read(&json).unwrap(), whole);
    fs::remove_file(&json).unwrap();
    adapt(&["--levels", "1"]);
    assert_eq!(reused(&adapt(&["--trials", "4", "--json", "--threads", "1"]).0), 2);
    assert_eq!(fs::read(&json).unwrap(), whole, "the same bytes in another order and on one core");
    // Other episodes are another result, and damage is no result at all.
    let (printed, notes) = adapt(&["--seed", "9", "--json"]);
    assert!(reused(&printed) == 0 && notes.contains("replaced: the seed is another"), "{notes}");
    let sound = succeed(&["check", text(&run)]);
    assert!(sound.contains("adaptation-worn.json"), "{sound}");
    let written = fs::read_to_string(&json).unwrap();
    fs::write(&json, written.replace("\"episodes\":3", "\"episodes\":5")).unwrap();
    assert_eq!(magpie(&["check", text(&run)]).status.code(), Some(1));
    assert!(adapt(&["--seed", "9"]).1.contains("checksum does not match"));

    // Random worlds, and pictures of what is predicted.
    let out = at("out");
    let (table, _) = adapt(&["--random", "2", "--trials", "2", "--maps", "--out", text(&out)]);
    assert!(table.contains("of the return of exhaustive search after 2 trials"), "{table}");
    for number in ["1/00.png", "1/02.png", "2/02.png"] {
        assert!(out.join("adaptation-worn-random-maps").join(number).is_file(), "{number}");
    }
    let page = succeed(&["report", text(&run), "--out", text(&at("report"))]);
    assert!(page.contains("report.html"), "{page}");
    let rows = fs::read_to_string(at("report/tables/adaptation.csv")).unwrap();
    assert_eq!(rows.lines().count(), 4, "{rows}");
    assert!(rows.contains("0 (healthy)"), "{rows}");
    assert!(at("report/figures/hopper-feet_contact-adaptation-worn.svg").is_file());
}

#[test]
fn wrong_tasks_are_named_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    train(&at("run"), "1");
    let run = at("run");
    let own = |text: &str| {
        fs::write(at("own.toml"), text).unwrap();
        at("own.toml")
    };
    let refused = |task: &str, more: &[&str], parts: &[&str]| {
        let output = magpie(&[&["adapt", text(&run), "--task", task], more].concat());
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(parts.iter().all(|part| said.contains(part)) && !said.contains("panicked"), "{said}");
    };
    refused("motor", &[], &["is for humanoid", "archive is of hopper"]);
    refused("dammage", &[], &["did you mean \"damage\"?"]);
    refused("damage", &["--levels", "0.5,1.5"], &["1.5", "from 0 to 1"]);
    refused("damage", &["--levels", "nan"], &["NaN", "from 0 to 1"]);
    refused("damage", &["--trials", "2", "--noise", "0"], &["the noise is 0", "must be from"]);
    let file = own(&TASK.replace("leg_joint", "leg_jiont"));
    refused(text(&file), &[], &["no actuator \"leg_jiont\"", "did you mean \"leg_joint\"?"]);
    let file = own(&TASK.replace("gravity", "graviti"));
    refused(text(&file), &[], &["change[1].quantity", "did you mean \"gravity\"?"]);
    let output = magpie(&["adapt", text(&run)]);
    assert_eq!(output.status.code(), Some(2), "no task: {}", said(&output));
    let output = magpie(&["adapt", text(&at("nowhere")), "--task", "damage"]);
    assert!(said(&output).contains("nowhere"), "{}", said(&output));
    assert!(!run.join("adaptation-damage.json").exists());
}

#[test]
fn returns_are_typed_in_and_a_stopped_session_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    train(&at("a"), "1");
    train(&at("b"), "2");
    let (a, b) = (at("a"), at("b"));
    let args = ["adapt", text(&a), "--interactive", "--stop", "1", "--trials", "5"];
    let first = typed(&args, "NaN\n\nfine\n-1000\n");
    let words = said(&first);
    for part in ["NaN is not a finite number", "an empty line", "\"fine\" is no number", "end of input"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert!(first.status.success(), "{words}");
    let printed = String::from_utf8(first.stdout).unwrap();
    assert!(printed.contains("trial 1: cell ") && printed.contains("trial 2: cell "), "{printed}");
    assert!(printed.contains("the same command continues"), "{printed}");
    let log = fs::read_to_string(a.join("adaptation-trials.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");

    let second = typed(&args, "-1000\n-1000\n-1000\n-1000\n");
    let words = said(&second);
    assert!(words.contains("1 trial from before"), "{words}");
    let printed = String::from_utf8(second.stdout).unwrap();
    assert!(printed.starts_with("trial 2: cell ") && !printed.contains("trial 6"), "{printed}");
    // All at once it is the same.
    let out = at("out");
    let at_once = [&args[..], &["--maps", "--out", text(&out)]].concat();
    assert!(typed(&at_once, &"-1000\n".repeat(5)).status.success());
    let log = fs::read_to_string(a.join("adaptation-trials.jsonl")).unwrap();
    assert_eq!(fs::read_to_string(out.join("adaptation-trials.jsonl")).unwrap(), log);
    assert!(out.join("adaptation-trials-maps/05.png").is_file());
    // A good return ends it: nothing better is expected.
    let both = at("both");
    let args = ["adapt", text(&a), text(&b), "--interactive", "--json", "--out", text(&both)];
    let good = typed(&args, "1e9\n");
    let printed = String::from_utf8(good.stdout).unwrap();
    let last: serde_json::Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["event"], &last["trials"], &last["finished"]),
        (&"trials_ended".into(), &1.into(), &true.into())
    );
    // The log is of both archives.
    let other = typed(&["adapt", text(&b), "--interactive", "--out", text(&both)], "");
    assert!(said(&other).contains("trials on other archives"), "{}", said(&other));
}
