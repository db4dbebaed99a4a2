//! A search that is killed, or finds its disk full, loses nothing and goes on as if nothing had been.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{magpie, said};
use magpie_random::Stream;

/// A search so small that an iteration takes a tenth of a second.
const TINY: [&str; 20] = [
    "train",
    "hopper",
    "--reward",
    "true",
    "--curiosity",
    "1",
    "--seed",
    "4",
    "--threads",
    "2",
    "--set",
    "search.environments=48",
    "--set",
    "search.branches=6",
    "--set",
    "search.train.rollout_length=24",
    "--set",
    "search.archive.threshold_min=0",
    "--checkpoint-every",
    "1",
];

fn start(folder: &Path, iterations: &str) -> Child {
    let resumable = folder.join("config.toml").is_file();
    let path = folder.to_str().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_magpie"));
    match resumable {
        true => command.args(["train", "--checkpoint-every", "1", "--resume", path]),
        false => command.args(TINY).args(["--out", path]),
    };
    command.args(["--iterations", iterations]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Everything that a run leaves behind, without what the clock said.
fn results(folder: &Path) -> (Vec<u8>, String, String) {
    let metrics = fs::read_to_string(folder.join("metrics.csv")).unwrap();
    let clocks = metrics.lines().next().unwrap().split(',').take_while(|c| !c.starts_with("seconds")).count();
    let timeless = |line: &str| line.split(',').take(clocks).collect::<Vec<_>>().join(",");
    (
        fs::read(folder.join("archive.safetensors")).unwrap(),
        metrics.lines().map(timeless).collect::<Vec<_>>().join("\n"),
        fs::read_to_string(folder.join("config.toml")).unwrap(),
    )
}

/// Runs to the end in many lives, each ended after about a `pace`; returns how many.
fn storm(folder: &Path, iterations: &str, pace: Duration) -> u32 {
    let mut draws = Stream::new(1, "moments").draws(0, 0);
    let mut kills = 0;
    loop {
        let mut child = start(folder, iterations);
        let moment = Instant::now() + pace.mul_f32(draws.uniform(0.2, 1.6));
        let end = loop {
            match child.try_wait().unwrap() {
                Some(status) => break Some(status),
                None if kills < 40 && Instant::now() >= moment => break None,
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        match end {
            Some(status) => {
                assert!(status.success());
                return kills;
            }
            None => {
                child.kill().unwrap();
                child.wait().unwrap();
                kills += 1;
            }
        }
    }
}

#[test]
fn killed_at_random_moments_it_gives_the_bytes_of_an_undisturbed_run() {
    const ITERATIONS: &str = "25";
    let temporary = tempfile::tempdir().unwrap();
    let (calm, stormy) = (temporary.path().join("calm"), temporary.path().join("stormy"));
    let started = Instant::now();
    assert!(start(&calm, ITERATIONS).wait().unwrap().success());
    // A life lasts about one iteration, so that there are about as many lives as iterations whatever the machine. If it
    // has become faster since, because other tests have ended, once more with shorter lives.
    let mut pace = started.elapsed() / 25;
    let kills = loop {
        let kills = storm(&stormy, ITERATIONS, pace);
        if kills >= 20 || pace < Duration::from_millis(5) {
            break kills;
        }
        fs::remove_dir_all(&stormy).unwrap();
        pace /= 2;
    };
    assert!(kills >= 20, "only {kills} kills found their mark");
    // One more iteration shows also what a run keeps to itself: critics, xNES, thresholds.
    for folder in [&calm, &stormy] {
        assert!(start(folder, "26").wait().unwrap().success());
    }
    let (calm, stormy) = (results(&calm), results(&stormy));
    assert!(calm.0 == stormy.0, "the archives differ");
    assert_eq!(calm.1, stormy.1);
    assert_eq!(calm.2, stormy.2);
}

fn tiny(folder: &Path, iterations: &str) -> std::process::Output {
    let mut arguments = TINY.to_vec();
    arguments.extend(["--iterations", iterations, "--out", folder.to_str().unwrap()]);
    magpie(&arguments)
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_named_and_the_last_checkpoint_stays() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("run");
    assert!(tiny(&folder, "2").status.success());
    let before = fs::read(folder.join("checkpoint/search")).unwrap();
    // No file may grow beyond a hundred blocks, as if that were all that the disk has left.
    let path = folder.to_str().unwrap();
    let further = ["train", "--resume", path, "--iterations", "4", "--checkpoint-every", "1"];
    let limited = "trap '' XFSZ; ulimit -f 100; exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", limited, env!("CARGO_BIN_EXE_magpie")])
        .args(further)
        .output()
        .unwrap();
    let message = said(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("the disk is full"), "{message}");
    assert!(
        message.contains(&format!("free some space; `magpie train --resume {path}` then continues")),
        "{message}"
    );
    assert!(fs::read(folder.join("checkpoint/search")).unwrap() == before);
    // With room on the disk again, it ends where it would have.
    common::succeed(&further);
    let undisturbed = temporary.path().join("undisturbed");
    assert!(tiny(&undisturbed, "4").status.success());
    assert!(results(&folder) == results(&undisturbed));
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let output = tiny(Path::new("/proc/magpie"), "1");
    let message = said(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("/proc/magpie: making the folder"), "{message}");
}

#[test]
fn a_damaged_checkpoint_is_named_and_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("run");
    assert!(tiny(&folder, "1").status.success());
    let file = folder.join("checkpoint/search");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    let output = magpie(&["train", "--resume", folder.to_str().unwrap()]);
    let message = said(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("checkpoint/search") && message.contains("checksum"), "{message}");
}

#[test]
fn a_folder_in_use_is_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("run");
    let mut first = start(&folder, "1000000");
    let patience = Instant::now() + Duration::from_secs(60);
    while !folder.join("config.toml").is_file() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = magpie(&["train", "--resume", folder.to_str().unwrap()]);
    first.kill().unwrap();
    first.wait().unwrap();
    let message = said(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("is in use by process "), "{message}");
}
