//! Tasks of one's own: a task file goes through every command.

mod common;

use std::fs;
use std::path::Path;

use common::{magpie, said, succeed, text};

/// A hopper that is paid for standing tall and still, with a measure of its own.
const STAND: &str = r#"
name = "stand"
robot = "my-hopper.toml"
episode_steps = 60
observation = ["height", "pitch", "joint_angles", "planar_velocity", "joint_rates"]
reward = { alive = 1.0, control_cost = 0.1, forward = -0.1 }
healthy = { height = [0.9, 2.0] }
reset = { noise = 0.01 }

[[measure]]
name = "posture"
dimensions = [{ of = "height", range = [0.9, 1.4] }, { of = "effort" }]

[search]
threshold_min = 5
"#;

const SMALL: [&str; 8] = [
    "--reward",
    "true",
    "--set",
    "search.environments=48",
    "--set",
    "search.branches=10",
    "--set",
    "search.episodes=2",
];

fn write(folder: &Path, task: &str) {
    let robot = include_str!("../../magpie-physics/robots/hopper.toml");
    fs::write(folder.join("my-hopper.toml"), robot.replace("name = \"hopper\"", "name = \"my-hopper\""))
        .unwrap();
    fs::write(folder.join("stand.toml"), task).unwrap();
}

#[test]
fn a_task_file_is_searched_resumed_and_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), STAND);
    let (task, run) = (folder.path().join("stand.toml"), folder.path().join("run"));
    let (task, run) = (text(&task), text(&run));

    let entries = succeed(&["envs", task, "--entries"]);
    assert!(entries.contains("root height") && entries.contains("thigh_joint torque"), "{entries}");
    succeed(&[&["train", task, "--iterations", "1", "--out", run], &SMALL[..]].concat());
    // The run has copies of both files.
    for file in ["stand.toml", "my-hopper.toml"] {
        fs::remove_file(folder.path().join(file)).unwrap();
    }
    let summary = succeed(&["train", "--resume", run, "--iterations", "2"]);
    assert!(summary.starts_with("stand after 2 iterations\nverified "), "{summary}");
    let info = succeed(&["archive", "info", run]);
    assert!(info.contains("posture") && info.contains("height"), "{info}");
    succeed(&["eval", run, "--best", "--episodes", "2"]);
    succeed(&["demos", "make", run, "-n", "1"]);
    let config = fs::read_to_string(folder.path().join("run/config.toml")).unwrap();
    assert!(config.contains("threshold_min = 5.0") && config.contains("task = \"task.toml\""), "{config}");
}

#[test]
fn a_task_file_is_trained_on_with_ppo() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), STAND);
    let (task, run) = (folder.path().join("stand.toml"), folder.path().join("run"));
    let (task, run) = (text(&task), text(&run));
    succeed(&["ppo", task, "--steps", "10e3", "--set", "environments=64", "--out", run]);
    let evaluated = succeed(&["eval", run, "--episodes", "2"]);
    assert!(evaluated.contains("stand"), "{evaluated}");
}

#[test]
fn a_wrong_task_file_is_answered_with_file_field_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stand.toml");
    for (right, wrong, message) in [
        ("control_cost", "controll_cost", "controll_cost"),
        ("\"pitch\"", "\"pich\"", "pich"),
        ("robot = \"my-hopper.toml\"", "robot = \"hoper\"", "hopper"),
        ("[0.9, 2.0]", "[2.0, 0.9]", "healthy.height: found [2.0, 0.9]"),
        ("of = \"height\"", "of = \"hight\"", "hight"),
        ("episode_steps = 60", "episode_steps = 0", "episode_steps: found 0"),
        ("name = \"stand\"", "name = \"ant\"", "name"),
    ] {
        assert!(STAND.contains(right), "{right}");
        write(folder.path(), &STAND.replacen(right, wrong, 1));
        let output = magpie(&["train", text(&path), "--reward", "true", "--out", "never"]);
        assert!(!output.status.success());
        let error = said(&output);
        assert!(error.contains("stand.toml") && error.contains(message), "{error}");
    }
}

/// Nothing can be learned where no episode survives its first step.
#[test]
fn a_robot_that_does_not_fit_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &STAND.replace("[0.9, 2.0]", "[1.9, 2.0]"));
    let (task, run) = (folder.path().join("stand.toml"), folder.path().join("run"));
    let output = magpie(&["train", text(&task), "--reward", "true", "--out", text(&run)]);
    let error = said(&output);
    assert!(!output.status.success() && error.contains("survives its first step"), "{error}");
    assert!(!run.exists());
}
