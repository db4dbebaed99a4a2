//! Training from the command line: settings from files and arguments, changed worlds, and what eval makes of them.

mod common;

use std::path::Path;

use common::{magpie, succeed, text};

/// A run of a few seconds; what `more` asks for.
fn train(out: &Path, more: &[&str]) -> String {
    let small =
        ["--steps", "2048", "--environments", "32", "--set", "train.rollout_length=16", "--out", text(out)];
    succeed(&[&["ppo"][..], more, &small].concat())
}

fn refuse(arguments: &[&str], message: &str) {
    let output = magpie(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains(message), "{arguments:?}: {error}");
}

#[test]
fn settings_come_from_a_file_from_pairs_and_from_options() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("my.toml"), folder.path().join("run"));
    std::fs::write(&file, "task = 'hopper'\nseed = 4\nsteps = 9e9\n[train]\nwindow = 8\ngamma = 1").unwrap();
    train(&out, &["--config", text(&file), "--set", "train.ppo.adam.learning_rate=1e-3"]);
    let config = std::fs::read_to_string(out.join("config.toml")).unwrap();
    for line in [
        "task = \"hopper\"",
        "seed = 4",
        "steps = 2048",
        "rollout_length = 16",
        "gamma = 1.0",
        "learning_rate = 0.001",
    ] {
        assert!(config.lines().any(|found| found == line), "{line}: {config}");
    }
}

#[test]
fn wrong_settings_are_refused_with_the_nearest_name() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("my.toml"), folder.path().join("run"));
    let start = ["ppo", "hopper", "--out", text(&out)];
    let with = |more: &[&str], message| refuse(&[&start[..], more].concat(), message);
    with(&["--set", "train.gama=1"], "unknown key `train.gama`: did you mean `train.gamma`?");
    with(&["--set", "gamma=2", "--set", "seed=1"], "did you mean `train.gamma`?");
    with(&["--set", "train.gamma=2"], "`train.gamma` is 2, but must be from 0 to 1");
    with(&["--strength", "knee=0.5"], "no actuator \"knee\"");
    std::fs::write(&file, "[train]\nepochs = 'many'").unwrap();
    with(&["--config", text(&file)], "my.toml:2:10: `train.epochs` is the string \"many\"");
    with(&["--environments", "1000000", "--set", "train.rollout_length=4096"], "GB of memory");
    let wide = ["train", "hopper", "--reward", "true", "--out", text(&out)];
    let wide =
        [&wide[..], &["--set", "search.environments=1000000", "--set", "search.train.rollout_length=4096"]];
    refuse(&wide.concat(), "search.environments is 1000000, but must be at most ");
    refuse(&["ppo", "--config", text(&file), "--set", "train.epochs=1"], "no task is named");
    refuse(&["ppo", "--config", "no.toml"], "no.toml");
    refuse(&["ppo", "--resume", text(&out), "--friction", "2"], "cannot be used with");
    assert!(!out.exists(), "nothing was written");
}

#[test]
fn a_changed_world_is_kept_for_eval_and_for_another_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let robot = include_str!("../../magpie-physics/robots/hopper.toml");
    std::fs::write(path("robot.toml"), robot.replace("2.7813568", "4.0")).unwrap();
    let file = path("robot.toml");
    let changed = ["--friction", "0.3", "--robot", text(&file)];
    train(&path("plain"), &["hopper"]);
    train(&path("changed"), &[&["hopper"][..], &changed].concat());
    let policy = |run: &str| std::fs::read(path(run).join("policy.safetensors")).unwrap();
    assert_ne!(policy("plain"), policy("changed"));
    std::fs::remove_file(path("robot.toml")).unwrap();

    // The configuration of a run makes the same run again, robot and all.
    let config = path("changed").join("config.toml");
    train(&path("again"), &["--config", text(&config)]);
    assert!(policy("changed") == policy("again"));

    let eval = |more: &[&str]| {
        let run = path("changed");
        succeed(&[&["eval", text(&run), "--episodes", "5"][..], more].concat())
    };
    let own = eval(&[]);
    assert_eq!(own, eval(&["--friction", "0.3"]));
    assert_ne!(own, eval(&["--friction", "2"]));
    assert_ne!(own, eval(&["--strength", "leg_joint=0"]));
}
