//! `magpie eval` on many runs, in other worlds and again; what `magpie archive export` leaves out.

mod common;

use std::fs;
use std::path::Path;

use common::{magpie, said, succeed, text};

/// A search of two iterations.
fn train(folder: &Path, seed: &str, more: &[&str]) {
    let small =
        ["search.environments=48", "search.branches=6", "search.train.rollout_length=24", "search.settle=0"];
    let sets = small.iter().flat_map(|set| ["--set", set]);
    let named = ["train", "hopper", "--reward", "true", "--seed", seed, "--out", text(folder)];
    succeed(
        &named
            .into_iter()
            .chain(sets)
            .chain(["--iterations", "2"])
            .chain(more.iter().copied())
            .collect::<Vec<_>>(),
    );
}

#[test]
fn every_finished_run_below_a_folder_is_evaluated_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    train(&at("part/a"), "1", &[]);
    train(&at("part/b"), "2", &[]);
    // One that was stopped half-way.
    let config = fs::read_to_string(at("part/b/config.toml")).unwrap();
    fs::create_dir(at("part/c")).unwrap();
    fs::copy(at("part/b/archive.safetensors"), at("part/c/archive.safetensors")).unwrap();
    fs::write(at("part/c/config.toml"), config.replace("iterations = 2", "iterations = 9")).unwrap();
    // One that is damaged, and one with nothing.
    for name in ["part/d", "part/e"] {
        fs::create_dir(at(name)).unwrap();
        fs::write(at(name).join("config.toml"), &config).unwrap();
    }
    fs::write(at("part/d/archive.safetensors"), "junk").unwrap();

    let output = magpie(&["eval", text(folder.path()), "--episodes", "2", "--save"]);
    assert_eq!(output.status.code(), Some(1), "one of them is damaged");
    assert!(said(&output).contains("1 of 5 runs could not be evaluated"), "{}", said(&output));
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    for (line, expected) in lines.iter().zip([
        "2 episodes each, QD-Score",
        "2 episodes each, QD-Score",
        "skipped: 2 of 9 iterations",
        "failed: ",
        "skipped: it holds no archive",
    ]) {
        assert!(line.contains(expected), "{expected} is not in {line}");
    }
    assert!(lines[0].starts_with("1/5 ") && lines[0].contains("part/a: "), "{lines:?}");
    for run in ["part/a", "part/b"] {
        let kept = fs::read_to_string(at(run).join("reevaluation.csv")).unwrap();
        assert!(kept.lines().nth(1).unwrap().split(',').nth(2) == Some("2"), "{kept}");
        assert!(at(run).join("archive-verified.safetensors").is_file());
    }
    assert!(!at("part/c/reevaluation.csv").exists());

    // Again: what is there stays. With one missing, only that one is made.
    fs::remove_file(at("part/a/reevaluation.csv")).unwrap();
    fs::remove_dir_all(at("part/d")).unwrap();
    let again = succeed(&["eval", text(&at("part/a")), text(&at("part/b")), "--episodes", "2", "--save"]);
    let lines: Vec<&str> = again.lines().collect();
    assert!(
        lines[0].contains("2 episodes each") && lines[1].contains("skipped: reevaluation.csv is current")
    );
    // More episodes are not there yet.
    let more = succeed(&["eval", text(folder.path()), "--episodes", "3"]);
    assert_eq!(more.matches("3 episodes each").count(), 2, "{more}");

    // The verified archive is an archive like any other.
    let verified = at("part/a/archive-verified.safetensors");
    let info = succeed(&["archive", "info", text(&verified)]);
    assert!(info.starts_with("hopper, measured by feet_contact, after 2 iterations"), "{info}");
    succeed(&["eval", text(&verified), "--best", "--episodes", "1"]);
    let over_itself = said(&magpie(&["eval", text(&verified), "--episodes", "1", "--save"]));
    assert!(over_itself.contains("the file to read"), "{over_itself}");
    for (arguments, message) in [
        (["eval", "RUNS", "--best"], "for a single run"),
        (["eval", "RUNS", "--table=t.csv"], "for a single run"),
    ] {
        let runs = at("part");
        let arguments = arguments.map(|argument| if argument == "RUNS" { text(&runs) } else { argument });
        assert!(said(&magpie(&arguments)).contains(message), "{arguments:?}");
    }
    let nothing = at("nothing");
    fs::create_dir(&nothing).unwrap();
    assert!(said(&magpie(&["eval", text(&nothing)])).contains("no run was found"));
}

#[test]
fn fewer_episodes_and_other_worlds_do_not_pass_for_a_correction() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    train(&run, "1", &[]);
    let run = text(&run);
    let kept = || fs::read_to_string(folder.path().join("run/reevaluation.csv")).unwrap();
    let all = succeed(&["eval", run, "--episodes", "3"]);
    assert!(all.contains("verified") && all.contains("kept for `magpie report`"), "{all}");
    let before = kept();
    let output = magpie(&["eval", run, "--episodes", "1"]);
    assert!(output.status.success() && said(&output).contains("has 3 episodes for each elite, and this 1"));
    assert_eq!(kept(), before);

    let slippery = succeed(&["eval", run, "--episodes", "1", "--friction", "0.3"]);
    assert!(!slippery.contains("verified") && slippery.contains(" now\n"), "{slippery}");
    assert!(slippery.contains("world: friction × 0.3\n"), "{slippery}");
    assert!(slippery.contains("the elites were found in another world: the task as published"), "{slippery}");
    let best = succeed(&["eval", run, "--best", "--episodes", "1", "--friction", "0.3"]);
    assert!(best.contains("world: friction × 0.3"), "{best}");
    let drawn = succeed(&["eval", run, "--episodes", "1", "--actions", "drawn"]);
    assert!(!drawn.contains("verified"), "they did not act as they were found: {drawn}");
    let refused = said(&magpie(&["eval", run, "--episodes", "1", "--friction", "0.3", "--save"]));
    assert!(refused.contains("another world"), "{refused}");
    assert_eq!(kept(), before);
}

#[test]
fn a_table_names_cells_as_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (run, table) = (folder.path().join("run"), folder.path().join("table.csv"));
    train(&run, "1", &["--measure", "angle"]);
    succeed(&["eval", text(&run), "--episodes", "1", "--table", text(&table)]);
    let rows = fs::read_to_string(&table).unwrap();
    assert!(rows.starts_with("index,cell,stored_objective,"), "{rows}");
    let cell = rows.lines().nth(1).unwrap().split('"').nth(1).unwrap();
    assert_eq!(cell.split(',').count(), 2, "two measures: {cell}");
    let one = succeed(&["eval", text(&run), "--cell", cell, "--episodes", "1"]);
    assert!(one.contains(&format!("elite of cell {cell},")), "{one}");
}

#[test]
fn solutions_can_be_left_out_and_qdax_has_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    train(&run, "1", &[]);
    let export = |more: &[&str]| magpie(&[&["archive", "export", text(&run), "--format"], more].concat());
    let size = |name: &str| fs::metadata(run.join(name)).unwrap().len();
    assert!(export(&["csv"]).status.success());
    let whole = size("archive.csv");
    assert!(export(&["csv", "--no-solutions"]).status.success());
    assert!(size("archive.csv") * 100 < whole, "{} of {whole} bytes", size("archive.csv"));
    assert!(export(&["qdax"]).status.success());
    for name in ["genotypes", "fitnesses", "descriptors", "centroids"] {
        assert!(size(&format!("archive-qdax/{name}.npy")) > 128, "{name}");
    }
    assert!(said(&export(&["qdax", "--no-solutions"])).contains("without its solutions"));
}
