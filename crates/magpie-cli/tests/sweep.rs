//! `magpie sweep`: many runs, stopped, started again, shared.

mod common;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{magpie, said, succeed, text};
use magpie_random::Stream;

/// Four searches so small that an iteration takes a tenth of a second.
const TINY: &str = "
[settings]
task = 'hopper'
iterations = 3
search.environments = 48
search.branches = 6
search.gradient_iterations = 2
search.walk_iterations = 2
search.train.rollout_length = 24
search.archive.threshold_min = 0

[axes]
reward = ['true']
curiosity = [0, 1]
seed = [4, 5]
";
const RUNS: [&str; 4] = ["hopper-true-q0-s4", "hopper-true-q1-s4", "hopper-true-q0-s5", "hopper-true-q1-s5"];

fn sweep_file(temporary: &tempfile::TempDir, contents: &str) -> PathBuf {
    let path = temporary.path().join("tiny.toml");
    fs::write(&path, contents).unwrap();
    path
}

fn sweep(file: &Path, out: &Path, more: &[&str]) -> Output {
    magpie(&[&["sweep", text(file), "--out", text(out), "--threads", "2"], more].concat())
}

#[track_caller]
fn fine(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Everything that a run leaves behind, without what the clock said.
fn results(run: &Path) -> (Vec<u8>, Vec<u8>, usize) {
    let metrics = fs::read_to_string(run.join("metrics.csv")).unwrap();
    let file = |name: &str| fs::read(run.join(name)).unwrap();
    assert!(file("plots/archive.png").starts_with(b"\x89PNG"));
    (file("archive.safetensors"), file("config.toml"), metrics.lines().count())
}

#[cfg_attr(not(unix), ignore = "needs a signal to stop the process")]
#[test]
fn stopped_and_started_again_it_gives_the_bytes_of_one_that_was_left_alone() {
    let temporary = tempfile::tempdir().unwrap();
    let file = sweep_file(&temporary, &TINY.replace("iterations = 3", "iterations = 12"));
    let (calm, stopped) = (temporary.path().join("calm"), temporary.path().join("stopped"));
    let done = fine(&sweep(&file, &calm, &[]));
    assert!(done.starts_with("4 of 4 runs are done") && done.contains("next     magpie report"), "{done}");

    let child = Command::new(env!("CARGO_BIN_EXE_magpie"))
        .args(["sweep", text(&file), "--out", text(&stopped), "--threads", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The second run is under way when the request comes.
    let patience = Instant::now() + Duration::from_secs(120);
    let under_way =
        || fs::read_to_string(stopped.join(RUNS[1]).join("metrics.csv")).is_ok_and(|m| m.lines().count() > 1);
    while !under_way() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    let summary = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        summary.contains("1 of 4 runs are done")
            && summary.contains("Interrupted. To continue, repeat the command."),
        "{summary}"
    );

    let before = fs::metadata(stopped.join(RUNS[0]).join("archive.safetensors")).unwrap().modified().unwrap();
    let table = fine(&sweep(&file, &stopped, &["--dry-run"]));
    let states: Vec<&str> = table.lines().skip(1).take(4).map(|row| row[17..].trim_start()).collect();
    assert!(
        states[0].starts_with("done") && states[1].contains("/12 ") && states[2].starts_with("to do"),
        "{table}"
    );
    fine(&sweep(&file, &stopped, &[]));
    for run in RUNS {
        assert!(results(&calm.join(run)) == results(&stopped.join(run)), "{run} differs");
    }
    let after = fs::metadata(stopped.join(RUNS[0]).join("archive.safetensors")).unwrap().modified().unwrap();
    assert_eq!(before, after, "a finished run was touched");
}

/// Everything that a run leaves to others: all but checkpoint, events and what the clock said.
fn all_results(run: &Path) -> (Vec<Vec<u8>>, String) {
    let metrics = fs::read_to_string(run.join("metrics.csv")).unwrap();
    let clocks = metrics.lines().next().unwrap().split(',').take_while(|c| !c.starts_with("seconds")).count();
    let timeless = |line: &str| line.split(',').take(clocks).collect::<Vec<_>>().join(",");
    let files = ["archive.safetensors", "config.toml", "plots/archive.png"];
    let files = files.map(|file| fs::read(run.join(file)).unwrap()).into();
    (files, metrics.lines().map(timeless).collect::<Vec<_>>().join("\n"))
}

#[test]
fn killed_at_random_moments_it_leaves_what_one_leaves_that_was_not() {
    let temporary = tempfile::tempdir().unwrap();
    let file = sweep_file(&temporary, TINY);
    let (calm, stormy) = (temporary.path().join("calm"), temporary.path().join("stormy"));
    let started = Instant::now();
    fine(&sweep(&file, &calm, &["--checkpoint-every", "1"]));
    let pace = started.elapsed() / 8;
    let mut draws = Stream::new(3, "moments").draws(0, 0);
    let mut kills = 0;
    while kills < 30 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_magpie"))
            .args(["sweep", text(&file), "--out", text(&stormy), "--threads", "2", "--checkpoint-every", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let moment = Instant::now() + pace.mul_f32(draws.uniform(0.1, 1.9));
        while child.try_wait().unwrap().is_none() && Instant::now() < moment {
            std::thread::sleep(Duration::from_millis(1));
        }
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    assert!(kills >= 4, "only {kills} kills found their mark");
    fine(&sweep(&file, &stormy, &[]));
    for run in RUNS {
        assert!(all_results(&calm.join(run)) == all_results(&stormy.join(run)), "{run} differs");
    }
}

#[test]
fn a_run_with_an_old_picture_or_a_torn_file_is_not_done() {
    let temporary = tempfile::tempdir().unwrap();
    let file = sweep_file(&temporary, &TINY.replace("seed = [4, 5]", "seed = [4]"));
    let out = temporary.path().join("out");
    fine(&sweep(&file, &out, &[]));
    let run = out.join(RUNS[0]);
    let whole = all_results(&run);
    let state = || {
        let table = fine(&sweep(&file, &out, &["--dry-run"]));
        let row = table.lines().nth(1).unwrap();
        row[17..].split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(state(), "done");
    let damage = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = fs::read(run.join(name)).unwrap();
        change(&mut bytes);
        fs::write(run.join(name), bytes).unwrap();
    };
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - 1);
    let flip = |bytes: &mut Vec<u8>| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    };
    for (name, change) in [
        ("archive.safetensors", &cut as &dyn Fn(&mut Vec<u8>)),
        ("archive.safetensors", &flip),
        ("plots/archive.png", &cut),
        ("finished", &flip),
        ("finished", &|bytes| bytes["iteration = ".len()] = b'7'),
    ] {
        damage(name, change);
        assert_eq!(state(), "3/3", "{name}");
        fine(&sweep(&file, &out, &[]));
        assert_eq!(state(), "done", "{name}");
        assert!(all_results(&run) == whole, "{name}");
    }
    // As if killed between the last archive and the last picture.
    fs::remove_file(run.join("finished")).unwrap();
    fs::write(run.join("plots/archive.png"), "the picture of an earlier iteration").unwrap();
    assert_eq!(state(), "3/3");
    fine(&sweep(&file, &out, &[]));
    assert!(all_results(&run) == whole);

    // Runs of earlier versions have no mark and another checkpoint: what they show is looked at.
    fs::remove_file(run.join("finished")).unwrap();
    fs::write(run.join("checkpoint/search"), "magpie checkpoint 8\n and more").unwrap();
    assert_eq!(state(), "done");
    damage("archive.safetensors", &cut);
    assert_eq!(state(), "3/3");
    let refused = sweep(&file, &out, &[]);
    assert!(said(&refused).contains("another version of magpie"), "{}", said(&refused));
}

#[test]
fn without_a_terminal_plain_lines_say_how_far_all_is() {
    let temporary = tempfile::tempdir().unwrap();
    let file = sweep_file(&temporary, TINY);
    let output = sweep(&file, &temporary.path().join("out"), &["--checkpoint-every", "1"]);
    fine(&output);
    let lines = said(&output);
    let last: Vec<&str> = lines.lines().filter(|line| line.contains("3/3")).collect();
    assert_eq!(last.len(), 4, "{lines}");
    for (number, (line, run)) in last.iter().zip(RUNS).enumerate() {
        assert!(line.starts_with(&format!("run {} of 4, {run}  ", number + 1)), "{line}");
        assert!(line.contains("QD-Score") && line.ends_with("left in all"), "{line}");
    }
}

#[test]
fn a_run_that_fails_or_is_in_use_does_not_stop_the_others() {
    let temporary = tempfile::tempdir().unwrap();
    let file = sweep_file(&temporary, TINY);
    let out = temporary.path().join("out");
    fs::create_dir_all(out.join(RUNS[2])).unwrap();
    let lock = File::create(out.join(RUNS[2]).join("lock")).unwrap();
    lock.lock().unwrap();
    // Another process is at it: that is no failure.
    let output = sweep(&file, &out, &[]);
    let summary = fine(&output);
    assert!(
        summary.contains("3 of 4 runs are done")
            && summary.contains("skipped  hopper-true-q0-s5: another process"),
        "{summary}"
    );
    assert!(
        said(&output).contains("hopper-true-q0-s5 skipped: another process is running it"),
        "{}",
        said(&output)
    );
    assert!(!out.join(RUNS[2]).join("config.toml").exists());

    drop(lock);
    fs::remove_dir_all(out.join(RUNS[0])).unwrap();
    fs::write(out.join(RUNS[0]), "where a folder should be").unwrap();
    let output = sweep(&file, &out, &[]);
    let summary = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{summary}");
    assert!(summary.contains("3 of 4 runs are done"), "{summary}");
    assert!(
        summary.contains(&format!("failed   {}: ", RUNS[0])) && summary.contains("making the folder"),
        "{summary}"
    );
    assert_eq!(results(&out.join(RUNS[2])).2, 4);
}

#[test]
fn shards_make_every_run_once() {
    let temporary = tempfile::tempdir().unwrap();
    let file = sweep_file(&temporary, &TINY.replace("iterations = 3", "iterations = 1"));
    let out = temporary.path().join("out");
    let made = || -> BTreeSet<String> {
        let entries = fs::read_dir(&out).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    for (shard, runs) in [("1/3", 2), ("2/3", 1), ("3/3", 1)] {
        let before = made().len();
        let said = fine(&sweep(&file, &out, &["--shard", shard]));
        assert!(said.starts_with(&format!("{runs} of {runs} runs are done")), "{said}");
        assert_eq!(made().len(), before + runs, "{shard}");
    }
    assert_eq!(made(), RUNS.map(str::to_owned).into());
    let table = fine(&sweep(&file, &out, &["--dry-run", "--shard", "1/3"]));
    assert_eq!(table.matches(" 1/3").count(), 3, "{table}");
    assert!(table.contains("4 runs in") && table.contains("shard 1/3: 2 runs, at most"), "{table}");
    for shard in ["0/3", "4/3", "3"] {
        let message = said(&sweep(&file, &out, &["--shard", shard]));
        assert!(message.contains("from 1 to COUNT"), "{message}");
    }
}

#[test]
fn a_run_that_the_file_no_longer_describes_is_refused_before_anything_is_run() {
    let temporary = tempfile::tempdir().unwrap();
    let out = temporary.path().join("out");
    let file = sweep_file(&temporary, &TINY.replace("[4, 5]", "[4]"));
    fine(&sweep(&file, &out, &[]));
    let refused = |old: &str, new: &str, hint: &str| {
        let file = sweep_file(&temporary, &TINY.replace(old, new));
        for more in [&[][..], &["--dry-run"]] {
            let output = sweep(&file, &out, more);
            assert_eq!(output.status.code(), Some(1), "{new}");
            let message = said(&output);
            assert!(message.contains(&format!("{} holds a run with {hint}; put", RUNS[0])), "{message}");
        }
        assert!(!out.join(RUNS[2]).exists());
    };
    refused("branches = 6", "branches = 8", "search.branches 6, and the sweep file says 8");
    refused(
        "'hopper'",
        "'hopper'\ndemos.count = 2\nworld.friction = 0.5",
        "world.friction 1.0, and the sweep file says 0.5",
    );
    refused("iterations = 3", "iterations = 2", "iterations 3, and the sweep file says 2");
    refused(
        "task =",
        "world.strength.leg_joint = 0.5\ntask =",
        "world.strength.leg_joint not set, and the sweep file says 0.5",
    );
    // Further than first planned is fine.
    let file = sweep_file(&temporary, &TINY.replace("iterations = 3", "iterations = 4"));
    fine(&sweep(&file, &out, &[]));
    assert_eq!(results(&out.join(RUNS[0])).2, 5);
}

#[test]
fn demonstrations_that_are_missing_or_exchanged_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let out = temporary.path().join("out");
    let learned = TINY
        .replace("['true']", "['gail']")
        .replace("seed = [4, 5]", "seed = [4]\ndemos = ['two.safetensors']");
    let (fixed, learnt_file) = (sweep_file(&temporary, TINY), temporary.path().join("learned.toml"));
    fs::write(&learnt_file, learned.replace("task =", "reward.thinning = 1\ntask =")).unwrap();
    let output = sweep(&learnt_file, &out, &[]);
    let message = said(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("run hopper-gail-q0-two-s4: ") && message.contains("two.safetensors: opening"),
        "{message}"
    );
    assert!(!out.exists());
    let table = sweep(&learnt_file, &out, &["--dry-run"]);
    assert_eq!(table.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&table.stdout).contains("hopper-gail-q1-two-s4"),
        "the table is there all the same"
    );

    fine(&sweep(&fixed, &out, &["--shard", "1/4"]));
    let demos = temporary.path().join("two.safetensors");
    let make = |number: &str| {
        succeed(&["demos", "make", text(&out.join(RUNS[0])), "-n", number, "--out", text(&demos)])
    };
    make("2");
    fine(&sweep(&learnt_file, &out, &[]));
    // Seen from elsewhere the same file has another path.
    let elsewhere = Command::new(env!("CARGO_BIN_EXE_magpie"))
        .args(["sweep", "learned.toml", "--out", "out"])
        .current_dir(temporary.path())
        .output()
        .unwrap();
    assert!(fine(&elsewhere).starts_with("2 of 2 runs are done"));
    make("1");
    let message = said(&sweep(&learnt_file, &out, &[]));
    assert!(message.contains("another demonstrations.safetensors"), "{message}");
}

#[test]
fn a_dry_run_measures_how_long_runs_take_if_asked() {
    let temporary = tempfile::tempdir().unwrap();
    let file = sweep_file(&temporary, TINY);
    let out = temporary.path().join("out");
    let output = sweep(&file, &out, &["--dry-run", "--measure"]);
    let table = fine(&output);
    // Curiosity and seed do not matter to the clock: there is one kind of run.
    assert_eq!(said(&output).matches("measuring one iteration of").count(), 1, "{}", said(&output));
    assert!(table.lines().next().unwrap().ends_with("at most"), "{table}");
    assert!(table.lines().skip(1).take(4).all(|row| row.ends_with(" s")), "{table}");
    assert!(table.lines().last().unwrap().contains("on this machine"), "{table}");
    assert!(!out.exists(), "a dry run has written something");
    let output = sweep(&file, &out, &["--measure"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}
