//! What the commands print, and what their options do.

mod common;

use std::process::{Command, Stdio};

use common::{golden_start, magpie, succeed, text, write_npz};
use magpie_golden::Npz;
use zip::CompressionMethod;

#[test]
fn every_command_explains_itself() {
    let general = succeed(&["--help"]);
    for command in ["envs", "rollout", "bench", "completions", "man"] {
        assert!(general.contains(command), "{general}");
        let help = succeed(&[command, "--help"]);
        assert!(help.contains(&format!("Usage: magpie {command}")), "{help}");
        assert!(help.contains("--json") && help.contains("--quiet"), "{help}");
    }
    assert!(general.contains("Exit codes: 0") && general.contains("130"), "{general}");
}

#[test]
fn envs_lists_sizes_and_measures_of_every_task() {
    let table = succeed(&["envs"]);
    for task in ["halfcheetah", "walker2d", "hopper", "ant", "humanoid"] {
        let golden: serde_json::Value =
            serde_json::from_str(&magpie_golden::text(&format!("physics/systems/{task}.json"))).unwrap();
        let line: serde_json::Value = serde_json::from_str(&succeed(&["envs", task, "--json"])).unwrap();
        assert_eq!(line["env"], task);
        for size in ["action_size", "observation_size"] {
            assert_eq!(line[size], golden[size], "{task} {size}");
        }
        assert_eq!(line["bodies"], golden["bodies"].as_array().unwrap().len() - 1);
        let row = table.lines().find(|row| row.starts_with(task)).unwrap();
        assert!(row.contains(&format!(" {} ", line["observation_size"])), "{row}");
        assert!(row.contains("feet_contact"), "{row}");
    }
    assert_eq!(succeed(&["envs", "--json"]).lines().count(), 5);
}

#[test]
fn a_reader_that_is_gone_is_no_error() {
    let bench = ["bench", "--tasks", "hopper", "--seconds", "0.01", "--environments", "16", "--json"];
    for arguments in [&["envs"][..], &["envs", "--json"], &["--help"], &bench] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_magpie"))
            .args(arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert!(output.status.success(), "{arguments:?}");
    }
}

/// Words of the library are answered like clap's own.
#[test]
fn a_misspelt_word_is_answered_with_the_nearest_one() {
    for (arguments, nearest) in [
        (&["train", "Walker2d"][..], "did you mean \"walker2d\"?"),
        (&["train", "walker2d", "--reward", "gial"], "did you mean \"gail\"?"),
        (&["train", "walker2d", "--budget", "deskop"], "did you mean \"desktop\"?"),
        (&["train", "walker2d", "--measure", "feet_contct"], "did you mean \"feet_contact\"?"),
        (&["trian", "walker2d"], "'train'"),
        (&["bench", "--tasks", "Hopper"], "'hopper'"),
    ] {
        let message = common::said(&magpie(arguments));
        assert!(message.contains(nearest), "{arguments:?}: {message}");
    }
}

#[test]
fn shells_get_completions_of_every_command_and_option() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = succeed(&["completions", shell]);
        for word in ["train", "checkpoint-every", "archive", "export", "dry-run", "quiet"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(magpie(&["completions", "bash", "--json"]).status.code(), Some(2));
    assert_eq!(magpie(&["completions", "cmd"]).status.code(), Some(2));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let gone = Command::new(env!("CARGO_BIN_EXE_magpie"))
        .args(["completions", "bash"])
        .stdout(writer)
        .output()
        .unwrap();
    assert!(gone.status.success() && gone.stderr.is_empty());
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let said = succeed(&["man", text(&pages)]);
    let names: Vec<String> = std::fs::read_dir(&pages)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(said.contains(&format!("{} pages written", names.len())), "{said}");
    for name in
        ["magpie.1", "magpie-train.1", "magpie-demos-make.1", "magpie-archive-export.1", "magpie-man.1"]
    {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    let train = std::fs::read_to_string(pages.join("magpie-train.1")).unwrap();
    assert!(train.contains("checkpoint\\-every") && train.contains("magpie train"), "{train}");
}

#[test]
fn the_version_names_the_program_and_not_its_crate() {
    assert_eq!(succeed(&["--version"]), concat!("magpie ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn usage_errors_have_their_own_exit_code() {
    for arguments in [&[][..], &["fly"], &["envs", "--robot", "a.toml"], &["rollout", "hopper"]] {
        assert_eq!(magpie(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// Steps and trajectories of the rollouts below.
const STEPS: usize = 100;
const TRAJECTORIES: usize = 4;

/// Positions of a rollout of hopper's golden starts, the first of them without actions.
fn positions(arguments: &[&str]) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("in.npz"), folder.path().join("out.npz"));
    let mut arrays = golden_start("hopper", TRAJECTORIES, STEPS);
    let actions = arrays.iter_mut().find(|array| array.name == "actions").unwrap();
    let one = actions.numbers.len() / TRAJECTORIES;
    actions.numbers[..one].fill(0);
    write_npz(&input, &arrays, CompressionMethod::Stored);
    succeed(&[&["rollout", "hopper", "--from", text(&input), "--out", text(&out)], arguments].concat());
    Npz::open(text(&out)).numbers("pos")
}

#[test]
fn perturbations_change_the_world() {
    let plain = positions(&[]);
    assert_eq!(plain, positions(&["--gravity", "1", "--friction", "1", "--strength", "leg_joint=1"]));
    assert_ne!(plain, positions(&["--friction", "0.1"]));
    assert_ne!(plain, positions(&["--gravity", "0.5"]));
    assert_ne!(plain, positions(&["--strength", "leg_joint=0.5"]));
    assert_ne!(plain, positions(&["--hurdles", "height=0.2,first=0,spacing=0.5"]));
    // Joints without strength behave as if there were no actions.
    let weak = ["--strength", "leg_joint=0", "--strength", "thigh_joint=0", "--strength", "foot_joint=0"];
    let still = positions(&weak);
    let (without_actions, with_actions) = still.split_at(plain.len() / TRAJECTORIES);
    assert_eq!(without_actions, &plain[..without_actions.len()]);
    assert_ne!(with_actions, &plain[without_actions.len()..]);
}

#[test]
fn without_a_recording_a_robot_starts_in_its_default_pose() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.npz");
    let roll = |task: &str, precision: &str| {
        succeed(&["rollout", task, "--out", text(&out), "--steps", "20", "--precision", precision]);
        let pos = Npz::open(text(&out)).array("pos");
        assert_eq!(pos.shape[..2], [1, 20], "{task}");
        // The first step: later, halfcheetah is chaotic.
        pos.data[..pos.data.len() / 20].to_vec()
    };
    for task in ["halfcheetah", "walker2d", "hopper", "ant", "humanoid"] {
        let (single, double) = (roll(task, "f32"), roll(task, "f64"));
        // The root is where the robot file or its own length puts it: off the ground, and not far from x = 0.
        assert!(double[0].abs() < 0.1 && double[2] > 0.1, "{task}: {:?}", &double[..3]);
        assert!(single.iter().zip(&double).all(|(a, b)| (a - b).abs() < 1e-3), "{task}");
    }
    let both = ["rollout", "ant", "--out", "o.npz", "--from", "i.npz", "--steps", "5"];
    assert_eq!(magpie(&both).status.code(), Some(2));
}

#[test]
fn instruction_sets_can_be_chosen() {
    assert_eq!(positions(&["--isa", "portable"]).len(), positions(&[]).len());
}

/// The example of docs/robots.md is a robot that every command takes.
#[test]
fn the_documented_robot_works() {
    let page = include_str!("../../../docs/robots.md");
    let example =
        page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let folder = tempfile::tempdir().unwrap();
    let (robot, input, out) =
        (folder.path().join("robot.toml"), folder.path().join("in.npz"), folder.path().join("out.npz"));
    std::fs::write(&robot, example).unwrap();
    for task in ["halfcheetah", "walker2d", "hopper", "ant", "humanoid"] {
        // Where the robot does not fit the task, a warning comes first.
        let lines = succeed(&["envs", task, "--robot", text(&robot), "--json"]);
        let line: serde_json::Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        assert_eq!((&line["robot"], &line["bodies"]), (&"pendulum_cart".into(), &2.into()));
        assert!(succeed(&["envs", task, "--robot", text(&robot)]).contains("pendulum_cart"));

        let rotation = [1.0, 0.0, 0.0, 0.0].repeat(3);
        let position = [[0.0, 0.0, 0.1], [0.0, 0.0, 0.5], [0.0; 3]].concat();
        let arrays = [
            common::Npy::f32s("init_pos", &[1, 3, 3], &position),
            common::Npy::f32s("init_rot", &[1, 3, 4], &rotation),
            common::Npy::f32s("init_vel", &[1, 3, 3], &[0.0; 9]),
            common::Npy::f32s("init_ang", &[1, 3, 3], &[0.0; 9]),
            common::Npy::f32s("actions", &[1, 20, 1], &[0.5; 20]),
        ];
        write_npz(&input, &arrays, CompressionMethod::Stored);
        succeed(&["rollout", task, "--from", text(&input), "--out", text(&out), "--robot", text(&robot)]);
        let mut got = Npz::open(text(&out));
        assert_eq!(got.array("pos").shape, [1, 20, 3, 3]);
        assert_eq!(got.array("obs").shape, [1, 20, line["observation_size"].as_u64().unwrap() as usize]);
        assert!(got.array("obs").data.iter().all(|v| v.is_finite()), "{task}");
    }
}

/// docs/tasks.md shows what `magpie envs` prints.
#[test]
fn the_page_about_tasks_is_up_to_date() {
    let listed = succeed(&["envs"]);
    let (tasks, _) = listed.split_once("\n\n").unwrap();
    assert!(include_str!("../../../docs/tasks.md").contains(&format!("```text\n{tasks}\n```")), "{tasks}");
}
