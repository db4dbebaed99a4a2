//! What happens to processes and files from outside: signals, folders that vanish, full disks, pipes, damage.
#![cfg(unix)]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{magpie, said, succeed, text};

/// A search whose iterations take a fraction of a second.
const TINY: [&str; 16] = [
    "train",
    "hopper",
    "--reward",
    "true",
    "--threads",
    "1",
    "--set",
    "search.environments=30",
    "--set",
    "search.branches=10",
    "--set",
    "search.train.rollout_length=16",
    "--set",
    "search.archive.resolution=4",
    "--checkpoint-every",
    "1",
];

fn tiny(folder: &Path, iterations: &str) -> Vec<String> {
    let mut arguments: Vec<String> = TINY.map(str::to_owned).into();
    arguments.extend(["--iterations", iterations, "--out", text(folder)].map(str::to_owned));
    arguments
}

fn shell(script: &str, arguments: &[String]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{script} \"$0\" \"$@\""), env!("CARGO_BIN_EXE_magpie")]).args(arguments);
    command.stdout(Stdio::null());
    command
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(120);
    while !is_there() {
        assert!(Instant::now() < patience, "{what} never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn rows(folder: &Path) -> usize {
    fs::read_to_string(folder.join("metrics.csv")).map_or(0, |text| text.lines().count().saturating_sub(1))
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

#[test]
fn nohup_protects_a_run_from_the_end_of_a_session_and_from_nothing_else() {
    let temporary = tempfile::tempdir().unwrap();
    for (script, sent, code) in [
        ("trap '' HUP; exec", "-HUP", 0),
        ("exec", "-HUP", 130),
        ("trap '' HUP; exec", "-TERM", 130),
        ("trap '' INT; exec", "-INT", 0),
    ] {
        let folder = temporary.path().join(format!("{}{sent}", script.len()));
        let mut child = shell(script, &tiny(&folder, "12")).stderr(Stdio::null()).spawn().unwrap();
        wait_for("the first row", || rows(&folder) > 0);
        signal(&child, sent);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{script} {sent}");
        assert_eq!(rows(&folder) == 12, code == 0, "{script} {sent}");
    }
}

#[test]
fn a_run_whose_folder_was_deleted_stops_and_leaves_a_new_one_alone() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("run");
    let first = shell("exec", &tiny(&folder, "100000")).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the first row", || rows(&folder) > 0);
    // The run may make a file while the folder is removed.
    wait_for("the end of the folder", || fs::remove_dir_all(&folder).is_ok() || !folder.exists());
    let mut other = tiny(&folder, "3");
    other.extend(["--seed".to_owned(), "7".to_owned()]);
    assert!(shell("exec", &other).status().unwrap().success());
    let output = first.wait_with_output().unwrap();
    let message = said(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("deleted or replaced"), "{message}");
    let undisturbed = temporary.path().join("undisturbed");
    other[TINY.len() + 3] = text(&undisturbed).to_owned();
    assert!(shell("exec", &other).status().unwrap().success());
    for file in ["archive.safetensors", "config.toml"] {
        assert!(fs::read(folder.join(file)).unwrap() == fs::read(undisturbed.join(file)).unwrap(), "{file}");
    }
    assert!(succeed(&["check", text(&folder)]).contains(" 0 damaged"));
}

#[test]
fn a_run_that_was_killed_before_its_first_checkpoint_starts_anew() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, calm) = (temporary.path().join("run"), temporary.path().join("calm"));
    assert!(shell("exec", &tiny(&calm, "2")).status().unwrap().success());
    // As a run leaves it that dies just before its configuration is written.
    fs::create_dir_all(folder.join("checkpoint")).unwrap();
    for (file, bytes) in [
        ("lock", &b""[..]),
        ("metrics.csv", b"iteration,"),
        ("checkpoint/search", b"magpie checkpoint 8\nhalf"),
        ("checkpoint/search.a1b2c3.part", b"half"),
    ] {
        fs::write(folder.join(file), bytes).unwrap();
    }
    for arguments in [["train", "--resume", text(&folder)], ["ppo", "--resume", text(&folder)]] {
        let message = said(&magpie(&arguments));
        assert!(message.contains("stopped before its first checkpoint"), "{message}");
        assert!(message.contains("without --resume"), "{message}");
    }
    assert!(shell("exec", &tiny(&folder, "2")).status().unwrap().success());
    let archive = |folder: &Path| fs::read(folder.join("archive.safetensors")).unwrap();
    assert!(archive(&folder) == archive(&calm));
    assert!(!folder.join("checkpoint/search.a1b2c3.part").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_log_on_a_full_disk_stops_no_run() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("run");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert!(shell("exec", &tiny(&folder, "2")).stderr(full).status().unwrap().success());
    assert_eq!(rows(&folder), 2);
}

#[test]
fn pipes_in_place_of_files_are_refused_and_not_waited_for() {
    let temporary = tempfile::tempdir().unwrap();
    let pipe = temporary.path().join("pipe.toml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (pipe, out) = (text(&pipe), temporary.path().join("out"));
    let out = text(&out);
    for arguments in [
        &["train", "hopper", "--config", pipe, "--out", out][..],
        &["train", "hopper", "--demos", pipe, "--out", out],
        &["ppo", pipe, "--out", out],
        &["sweep", pipe],
        &["archive", "info", pipe],
        &["eval", pipe],
        &["demos", "info", pipe],
        &["rollout", "hopper", "--from", pipe, "--out", out],
        &["rollout", "hopper", "--out", pipe],
        &["check", pipe],
    ] {
        let output = within_seconds(30, arguments);
        let message = said(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {message}");
        assert!(message.contains("pipe.toml") && message.contains("file"), "{arguments:?}: {message}");
    }
}

/// Runs the program, which has to end by itself.
fn within_seconds(seconds: u64, arguments: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_magpie"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let patience = Instant::now() + Duration::from_secs(seconds);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > patience {
            child.kill().unwrap();
            panic!("{arguments:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn results_are_not_written_over_files_of_a_run() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("run");
    assert!(shell("exec", &tiny(&folder, "1")).status().unwrap().success());
    let archive = folder.join("archive.safetensors");
    let link = temporary.path().join("link.npz");
    std::os::unix::fs::symlink(&archive, &link).unwrap();
    let before = fs::read(&archive).unwrap();
    for out in [&archive, &link] {
        for arguments in [
            &["rollout", "hopper", "--steps", "2", "--out", text(out)][..],
            &["archive", "export", text(&folder), "--format", "npz", "--out", text(out)],
            &["eval", text(&folder), "--episodes", "1", "--table", text(out)],
        ] {
            let message = said(&magpie(arguments));
            assert!(message.contains("a file that a run needs"), "{arguments:?}: {message}");
        }
    }
    assert!(fs::read(&archive).unwrap() == before);
}

#[test]
fn check_finds_a_flipped_bit() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("run");
    assert!(shell("exec", &tiny(&folder, "1")).status().unwrap().success());
    assert!(succeed(&["check", text(&folder)]).contains(" 0 damaged"));
    let archive = folder.join("archive.safetensors");
    let mut bytes = fs::read(&archive).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&archive, bytes).unwrap();
    for place in [&folder, &archive] {
        let output = magpie(&["check", text(place)]);
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{out}");
        assert!(out.contains("damaged") && out.contains("archive.safetensors: the checksum of"), "{out}");
    }
}

#[test]
fn names_do_not_control_the_terminal() {
    let message = said(&magpie(&["archive", "info", "no\u{1b}[2Jsuch"]));
    assert!(message.contains("no\\u{1b}[2Jsuch") && !message.contains('\u{1b}'), "{message}");
}
