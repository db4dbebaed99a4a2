//! `magpie train`, and what reads its archive.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use common::{magpie, said, succeed};

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
    assert!(head.ends_with(",objective,measures_0,threshold,index"));
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
    for word in ["stored", "corrected", "QD-Score", "coverage"] {
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
    succeed(&["eval", path, "--episodes", "1", "--actions", "mean"]);
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
    let again = results.lines().find(|line| line.contains("run again")).unwrap();
    let found: f64 =
        again.rsplit_once("run again,1,,").unwrap().1.split(',').next().unwrap().parse().unwrap();
    assert_eq!(found.round(), score, "{results}");
    let page = fs::read_to_string(folder.join("report/report.html")).unwrap();
    assert!(page.contains("hopper, feet contact") && !page.contains("have not been run again"));
}
