//! `magpie train`, and what reads its archive.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::{magpie, said, succeed, text};

/// A run of two iterations on a small search.
fn tiny(folder: &Path, more: &[&str]) -> Output {
    let mut arguments = vec![
        "train",
        "hopper",
        "--reward",
        "true",
        "--iterations",
        "2",
        "--set",
        "search.environments=48",
        "--set",
        "search.branches=6",
        "--set",
        "search.train.rollout_length=24",
        "--set",
        "search.settle=0",
        "--out",
        folder.to_str().unwrap(),
    ];
    arguments.extend(more);
    magpie(&arguments)
}

fn finished() -> (tempfile::TempDir, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("run");
    let output = tiny(&folder, &[]);
    assert!(output.status.success(), "{}", said(&output));
    (temporary, folder)
}

#[test]
fn a_run_leaves_what_the_readme_promises() {
    let (_temporary, folder) = finished();
    for file in
        ["config.toml", "metrics.csv", "archive.safetensors", "checkpoint/search", "plots/archive.png"]
    {
        assert!(folder.join(file).is_file(), "{file} is missing");
    }
    let metrics = fs::read_to_string(folder.join("metrics.csv")).unwrap();
    assert_eq!(metrics.lines().count(), 3, "{metrics}");
    assert!(metrics.starts_with("iteration,qd_score,qd_score_offset,coverage,best,mean,"), "{metrics}");
}

#[test]
fn without_a_terminal_there_is_one_line_an_iteration() {
    let temporary = tempfile::tempdir().unwrap();
    let output = tiny(&temporary.path().join("run"), &[]);
    let lines = said(&output);
    let lines: Vec<&str> = lines.lines().filter(|line| line.contains("QD-Score")).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for word in ["coverage", "best", "mean", "new cells", "restarts", "steps/s", "left"] {
        assert!(lines[1].contains(word), "{word} is missing: {}", lines[1]);
    }
}

#[test]
fn a_run_goes_on_further_than_first_planned() {
    let (_temporary, folder) = finished();
    let path = folder.to_str().unwrap();
    succeed(&["train", "--resume", path, "--iterations", "3"]);
    let metrics = fs::read_to_string(folder.join("metrics.csv")).unwrap();
    assert_eq!(metrics.lines().count(), 4, "{metrics}");
    assert!(fs::read_to_string(folder.join("config.toml")).unwrap().contains("iterations = 3"));
    let backwards = said(&magpie(&["train", "--resume", path, "--iterations", "2"]));
    assert!(backwards.contains("iterations is 2, but must be at least 3: 3 have been made"), "{backwards}");
}

#[test]
fn where_returns_are_negative_the_score_with_offset_is_shown() {
    let temporary = tempfile::tempdir().unwrap();
    let run = temporary.path().join("run");
    let small = [
        "search.environments=16",
        "search.branches=4",
        "search.episodes=1",
        "search.train.rollout_length=8",
        "search.actions=drawn",
    ];
    let sets = small.iter().flat_map(|set| ["--set", set]);
    let mut arguments = vec!["train", "ant", "--reward", "true", "--iterations", "1", "--out", text(&run)];
    arguments.extend(sets);
    let output = magpie(&arguments);
    assert!(output.status.success(), "{}", said(&output));
    let told = [said(&output), String::from_utf8_lossy(&output.stdout).into_owned()];
    assert!(told.iter().all(|told| told.contains(" with offset)")), "{told:?}");
}

#[test]
fn wrong_settings_are_refused_with_the_right_ones() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("run");
    for (setting, hint) in [
        ("search.brunches=3", "search.branches"),
        ("search.branches=0", "must be from 1 to 10000"),
        ("search.train.gamma=1.5", "`search.train.gamma` is 1.5"),
        ("search.curiosity.scope=epizode", "episode"),
    ] {
        let output = tiny(&folder, &["--set", setting]);
        let message = said(&output);
        assert_eq!(output.status.code(), Some(1), "{setting}: {message}");
        assert!(message.contains(hint), "{setting}: {message}");
        assert!(!folder.join("config.toml").exists(), "{setting} has left a run behind");
    }
}

#[test]
fn archives_are_described_and_exported() {
    let (_temporary, folder) = finished();
    let path = folder.to_str().unwrap();
    let info = succeed(&["archive", "info", path]);
    for word in ["hopper", "feet_contact", "coverage", "QD-Score", "best", "parameters"] {
        assert!(info.contains(word), "{word} is missing: {info}");
    }
    succeed(&["archive", "export", path, "--format", "csv"]);
    let csv = fs::read_to_string(folder.join("archive.csv")).unwrap();
    let head = csv.lines().next().unwrap();
    assert!(head.starts_with("solution_0,solution_1,"), "{}", &head[..80]);
    assert!(head.ends_with(",objective,measures_0,threshold,index,episodes,objective_var,measures_var_0"));
    let elites = csv.lines().count() - 1;
    assert!(info.contains(&format!("elites           {elites} ")), "{elites} elites in csv: {info}");
    succeed(&["archive", "export", path, "--format", "npz"]);
    let mut npz = magpie_golden::Npz::open(folder.join("archive.npz").to_str().unwrap());
    let fitnesses = npz.array("fitnesses");
    assert_eq!(fitnesses.shape, [50, 1]);
    let filled = fitnesses.data.iter().filter(|f| f.is_finite()).count();
    assert_eq!(filled, elites);
    assert_eq!(npz.array("centroids").shape, [50, 1]);
    assert_eq!(npz.array("genotypes").shape[0], 50);
}

#[test]
fn elites_run_again() {
    let (_temporary, folder) = finished();
    let path = folder.to_str().unwrap();
    let all = succeed(&["eval", path, "--all", "--episodes", "2"]);
    for word in ["stored", "verified", "QD-Score", "coverage"] {
        assert!(all.contains(word), "{word} is missing: {all}");
    }
    let best = succeed(&["eval", path, "--best", "--episodes", "2"]);
    assert!(best.contains("elite of cell"), "{best}");
    let cell = best.split("cell ").nth(1).unwrap().split(',').next().unwrap();
    let same = succeed(&["eval", path, "--cell", cell, "--episodes", "2"]);
    assert_eq!(same, best);
    for (cell, hint) in [("50", "0 to 49"), ("1,2", "0 to 49"), ("x", "0 to 49")] {
        let message = said(&magpie(&["eval", path, "--cell", cell]));
        assert!(message.contains(hint), "{message}");
    }
}

#[test]
fn a_report_has_what_elites_reached_when_they_ran_again() {
    let (_temporary, folder) = finished();
    let path = folder.to_str().unwrap();
    // In another world, or acting otherwise, elites do not correct the run's own numbers.
    succeed(&["eval", path, "--episodes", "1", "--friction", "0.5"]);
    succeed(&["eval", path, "--episodes", "1", "--actions", "drawn"]);
    assert!(!folder.join("reevaluation.csv").exists());
    let all = succeed(&["eval", path, "--episodes", "1"]);
    let score: f64 = all
        .lines()
        .find(|line| line.starts_with("QD-Score "))
        .unwrap()
        .split_whitespace()
        .nth(2)
        .unwrap()
        .parse()
        .unwrap();
    let said = succeed(&["report", path]);
    assert!(said.contains("1 run compared in") && said.contains("report.html"), "{said}");
    let results = fs::read_to_string(folder.join("report/tables/results.csv")).unwrap();
    let again = results.lines().find(|line| line.contains(",verified,")).unwrap();
    let found: f64 =
        again.rsplit_once("verified,1,,1,").unwrap().1.split(',').next().unwrap().parse().unwrap();
    assert_eq!(found.round(), score, "{results}");
    let page = fs::read_to_string(folder.join("report/report.html")).unwrap();
    assert!(page.contains("hopper, feet contact") && !page.contains("have not been verified"));
}

#[test]
fn a_run_is_settled_at_its_end_and_says_first_what_was_verified() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("settled");
    let output = tiny(&folder, &["--set", "search.settle=0.5"]);
    let summary = String::from_utf8_lossy(&output.stdout).into_owned();
    let place = |word: &str| summary.find(word).unwrap_or_else(|| panic!("no {word}: {summary}"));
    assert!(place("\nverified ") < place("\nstored "), "{summary}");
    assert!(said(&output).contains("verifying: "), "{}", said(&output));
    let path = folder.to_str().unwrap();
    assert!(succeed(&["archive", "info", path]).contains("\nverified "));
    assert!(said(&magpie(&["settle", path])).contains("nothing to do"));
    let more = succeed(&["settle", path, "--episodes", "3"]);
    assert!(more.contains("fresh episodes for each elite"), "{more}");
    let report = succeed(&["report", path]);
    assert!(report.contains("1 run compared in"), "{report}");
    let results = fs::read_to_string(folder.join("report/tables/results.csv")).unwrap();
    assert!(results.find(",verified,") < results.find(",as stored,"), "{results}");
    // Where a search goes on, it is not settled any more.
    let on = succeed(&["train", "--resume", path, "--iterations", "3"]);
    assert!(on.contains("after 3 iterations") && on.contains("\nverified "), "{on}");
}

/// Resuming the wrong run would be the worst that a hint can bring about.
#[test]
fn a_folder_with_another_run_is_told_apart_from_the_same_run() {
    let (_temporary, folder) = finished();
    let same = said(&tiny(&folder, &[]));
    assert!(same.contains("already holds a run") && same.contains("--resume"), "{same}");
    for (change, difference) in [
        (&["--friction", "0"][..], "world.friction is 1.0, and 0.0 was asked for"),
        (&["--set", "search.train.gamma=0.9"], "search.train.gamma is 0.99"),
        (&["--method", "paper"], "was asked for"),
    ] {
        let other = said(&tiny(&folder, change));
        assert!(other.contains("already holds a different run") && other.contains(difference), "{other}");
        assert!(other.contains("--out DIR") && !other.contains("--resume"), "{other}");
    }
}

#[test]
fn a_changed_world_is_named_by_every_command_and_corrects_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("slippery");
    let output = tiny(&folder, &["--friction", "0.5", "--strength", "leg_joint=0.7"]);
    let world = "friction × 0.5, leg_joint × 0.7";
    assert!(said(&output).contains(&format!("world: {world}")), "{}", said(&output));
    let path = folder.to_str().unwrap();
    let info = succeed(&["archive", "info", path]);
    assert!(info.contains(&format!("world            {world}")), "{info}");
    let own = succeed(&["eval", path, "--episodes", "1"]);
    assert!(own.contains(world) && own.contains("verified") && own.contains("1 episode each"), "{own}");
    let other = succeed(&["eval", path, "--episodes", "1", "--friction", "1"]);
    assert!(other.contains(&format!("the elites were found in another world: {world}")), "{other}");
    assert!(!other.contains("verified"), "{other}");
    assert!(other.contains("world: leg_joint × 0.7"), "{other}");
}

#[test]
fn physics_that_explodes_is_a_warning_wherever_policies_act() {
    let temporary = tempfile::tempdir().unwrap();
    let robot = temporary.path().join("stiff.toml");
    let hopper = include_str!("../../magpie-physics/robots/hopper.toml");
    let stiff = hopper.replace("stiffness = 10000", "stiffness = 200000");
    assert_ne!(stiff, hopper);
    fs::write(&robot, stiff).unwrap();
    let folder = temporary.path().join("run");
    let trained = tiny(&folder, &["--robot", robot.to_str().unwrap()]);
    let warnings = said(&trained);
    assert!(trained.status.success() && warnings.contains("random actions drive a body"), "{warnings}");
    assert_eq!(warnings.matches("warning: the elite of cell").count(), 1, "{warnings}");
    for more in [&["--best"][..], &["--all"]] {
        let output = magpie(&[&["eval", folder.to_str().unwrap(), "--episodes", "1"], more].concat());
        let warnings = said(&output);
        assert!(warnings.contains("its return means nothing"), "{warnings}");
    }
    // And nothing is said about a robot that is as it should be.
    let (_temporary, folder) = finished();
    let output = magpie(&["eval", folder.to_str().unwrap(), "--episodes", "1"]);
    assert_eq!(said(&output), "");
}

#[test]
fn quiet_leaves_results_and_warnings() {
    let temporary = tempfile::tempdir().unwrap();
    let output = tiny(&temporary.path().join("run"), &["--quiet", "--strength", "leg_joint=100000"]);
    let (warnings, results) = (said(&output), String::from_utf8_lossy(&output.stdout).into_owned());
    assert!(!warnings.is_empty() && warnings.lines().all(|line| line.starts_with("warning: ")), "{warnings}");
    assert!(results.starts_with("hopper after 2 iterations: "), "{results}");
}

#[test]
fn a_robot_without_actuators_is_refused_at_once() {
    let temporary = tempfile::tempdir().unwrap();
    let (robot, folder) = (temporary.path().join("limp.toml"), temporary.path().join("run"));
    let hopper = include_str!("../../magpie-physics/robots/hopper.toml");
    let limp: Vec<&str> = hopper.lines().filter(|line| !line.contains("actuator_strength")).collect();
    fs::write(&robot, limp.join("\n")).unwrap();
    for command in ["train", "ppo"] {
        let output = magpie(&[
            command,
            "hopper",
            "--robot",
            robot.to_str().unwrap(),
            "--out",
            folder.to_str().unwrap(),
        ]);
        let message = said(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("has no actuators, so there is nothing to learn"), "{command}: {message}");
        assert!(!folder.exists());
    }
    let shown = magpie(&["envs", "hopper", "--robot", robot.to_str().unwrap()]);
    assert!(
        said(&shown).contains("warning: ") && said(&shown).contains("has no actuators"),
        "{}",
        said(&shown)
    );
}
