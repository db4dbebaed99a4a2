//! Sweeps on clusters: shards from a job array, runs of other machines, status, and the jobs that are written.

mod common;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use common::{said, text};
use serde_json::Value;

const TINY: &str = "
[settings]
task = 'hopper'
iterations = 2
search.environments = 48
search.branches = 6
search.gradient_iterations = 2
search.walk_iterations = 2
search.train.rollout_length = 24

[axes]
reward = ['true']
seed = [4, 5, 6]
";
const RUNS: [&str; 3] = ["hopper-true-q0-s4", "hopper-true-q0-s5", "hopper-true-q0-s6"];

struct Sweep {
    folder: tempfile::TempDir,
}

impl Sweep {
    fn new(contents: &str) -> Sweep {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tiny.toml"), contents).unwrap();
        Sweep { folder }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_magpie"));
        for name in ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "SLURM_CPUS_PER_TASK"] {
            command.env_remove(name);
        }
        command.arg("sweep").args(words).current_dir(self.folder.path());
        command
    }

    fn make(&self, more: &[&str]) -> Output {
        let words = [&["tiny.toml", "--out", "out", "--threads", "2"], more].concat();
        self.command(&words).output().unwrap()
    }

    fn status(&self) -> Vec<(String, String)> {
        let output = self.command(&["status", "tiny.toml", "--out", "out", "--json"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let lines = String::from_utf8(output.stdout).unwrap();
        let runs = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        runs.filter(|event| event["event"] == "run_status")
            .map(|event| (word(&event["run"]), word(&event["state"])))
            .collect()
    }

    fn states(&self) -> Vec<String> {
        self.status().into_iter().map(|(_, state)| state).collect()
    }
}

#[track_caller]
fn fine(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// As a process of another machine leaves it in the folder of its run.
fn owner_elsewhere(run: &Path, beat: SystemTime) -> PathBuf {
    let file = run.join("owner-elsewhere-0123abcd");
    fs::create_dir_all(run).unwrap();
    fs::write(&file, "host = \"node7\"\nprocess = 42\n").unwrap();
    File::options().write(true).open(&file).unwrap().set_modified(beat).unwrap();
    file
}

#[test]
fn a_job_array_tells_each_process_its_shard() {
    let sweep = Sweep::new(TINY);
    let dry = ["tiny.toml", "--dry-run", "--shard"];
    let with = |choice: &str, set: &[(&str, &str)]| {
        let mut command = sweep.command(&[&dry[..], &[choice]].concat());
        command.envs(set.iter().copied()).output().unwrap()
    };
    let slurm = [
        ("SLURM_ARRAY_TASK_ID", "2"),
        ("SLURM_ARRAY_TASK_MIN", "0"),
        ("SLURM_ARRAY_TASK_MAX", "2"),
        ("SLURM_ARRAY_TASK_COUNT", "3"),
    ];
    assert!(fine(&with("auto", &slurm)).contains("shard 3/3: 1 run,"));
    assert!(fine(&with("auto/4", &slurm)).contains("shard 2/4: 1 run,"));
    assert!(fine(&with("auto/3", &[("JOB_COMPLETION_INDEX", "0")])).contains("shard 1/3: 1 run,"));
    for (choice, set, code, problem) in [
        ("auto", &[][..], 1, "this process is in no job array"),
        ("auto", &[("JOB_COMPLETION_INDEX", "0")], 1, "write auto/COUNT"),
        ("atuo", &[], 2, "or as auto, or auto/COUNT"),
    ] {
        let output = with(choice, set);
        assert_eq!(output.status.code(), Some(code), "{choice}");
        assert!(said(&output).contains(problem), "{}", said(&output));
    }
}

/// The lock of the folder is free, as on a file system that keeps locks to each machine: the heartbeat decides.
#[test]
fn a_run_that_another_machine_makes_is_left_alone_and_the_others_are_made() {
    let sweep = Sweep::new(TINY);
    let run = sweep.at("out").join(RUNS[0]);
    let owner = owner_elsewhere(&run, SystemTime::now());
    assert_eq!(sweep.states(), ["running", "waiting", "waiting"]);
    let over = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = File::options().write(true).open(&owner).unwrap();
            while !over.load(Ordering::Relaxed) {
                file.set_modified(SystemTime::now()).unwrap();
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let output = sweep.make(&[]);
        over.store(true, Ordering::Relaxed);
        output
    });
    let summary = fine(&output);
    assert!(
        summary.contains("2 of 3 runs are done") && summary.contains("skipped  hopper-true-q0-s4"),
        "{summary}"
    );
    assert!(said(&output).contains("process 42 on node7"), "{}", said(&output));
    assert!(!run.join("config.toml").exists(), "the run of another machine was begun");
    assert_eq!(sweep.states(), ["running", "done", "done"]);

    owner_elsewhere(&run, SystemTime::now() - Duration::from_secs(100));
    assert_eq!(sweep.states(), ["stale", "done", "done"]);
    let table = fine(&sweep.command(&["status", "tiny.toml", "--out", "out"]).output().unwrap());
    assert!(table.contains("node7, process 42, heartbeat 100 s ago"), "{table}");
    assert!(table.contains("3 runs in out: 2 done, 0 running, 1 stale, 0 failed, 0 waiting"), "{table}");

    // It has let go.
    fs::remove_file(owner).unwrap();
    fine(&sweep.make(&[]));
    assert_eq!(sweep.states(), ["done"; 3]);
    let of_folder = fine(&sweep.command(&["status", "out"]).output().unwrap());
    assert!(of_folder.contains("3 runs in out: 3 done"), "{of_folder}");
    assert!(fine(&sweep.command(&["--json", "status", "out"]).output().unwrap()).contains("\"done\":3"));
    let confused = sweep.command(&["tiny.toml", "status", "out"]).output().unwrap();
    assert!(said(&confused).contains("comes after that word"), "{}", said(&confused));
}

#[test]
fn the_reason_why_a_run_failed_is_kept_until_it_is_made_again() {
    let sweep = Sweep::new(TINY);
    let run = sweep.at("out").join(RUNS[1]);
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("checkpoint"), "where a folder should be").unwrap();
    let output = sweep.make(&[]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert_eq!(sweep.states(), ["done", "failed", "done"]);
    let table = fine(&sweep.command(&["status", "tiny.toml", "--out", "out"]).output().unwrap());
    assert!(table.contains("making the folder"), "{table}");
    fs::remove_file(run.join("checkpoint")).unwrap();
    fine(&sweep.make(&[]));
    assert_eq!(sweep.states(), ["done"; 3]);
    assert!(!run.join("failed").exists());
}

#[test]
fn jobs_are_written_with_what_was_measured() {
    let sweep = Sweep::new(TINY);
    let submit = |more: &[&str]| {
        let words = [&["submit", "tiny.toml", "--cores", "1"], more].concat();
        sweep.command(&words).output().unwrap()
    };
    let said_of = fine(&submit(&["--slurm", "--tasks", "2", "--memory", "3"]));
    assert!(
        said_of.contains("3 runs, at most") && said_of.contains("2 tasks, each with 1 core, 3 GiB"),
        "{said_of}"
    );
    assert!(said_of.contains("next     sbatch tiny.sbatch"), "{said_of}");
    let script = fs::read_to_string(sweep.at("tiny.sbatch")).unwrap();
    for line in ["#SBATCH --array=1-2", "#SBATCH --mem=3G", "#SBATCH --time=0-00:15:00"] {
        assert!(script.lines().any(|found| found == line), "{line}\n{script}");
    }
    assert!(script.contains("/runs/tiny --shard auto/2 --threads 1"), "{script}");
    assert!(!sweep.at("runs").exists(), "nothing was made");
    let pods = ["--kubernetes", "--image", "magpie:1", "--claim", "results"];
    fine(&submit(&[&pods[..], &["--time", "2"]].concat()));
    let manifest = fs::read_to_string(sweep.at("tiny.yaml")).unwrap();
    assert!(manifest.contains("completions: 3") && manifest.contains("\"/data/tiny\""), "{manifest}");

    for (more, code, problem) in [
        (&["--kubernetes"][..], 2, "--image"),
        (&[], 2, "--slurm"),
        (&["--slurm", "--kubernetes"], 2, "cannot be used with"),
        (&["--slurm", "--time", "0"], 2, "from 0.05 to 8760 hours"),
        (&["--slurm", "--to", "tiny.toml"], 1, "this is the file to read"),
    ] {
        let output = submit(more);
        assert_eq!(output.status.code(), Some(code), "{more:?}: {}", said(&output));
        assert!(said(&output).contains(problem), "{more:?}: {}", said(&output));
    }
    fs::copy("../magpie-physics/robots/hopper.toml", sweep.at("robot.toml")).unwrap();
    fs::write(sweep.at("tiny.toml"), TINY.replace("task =", "world.robot = 'robot.toml'\ntask =")).unwrap();
    let message = said(&submit(&pods));
    assert!(
        message.contains("which pods will not find") && message.contains("--file-on-volume"),
        "{message}"
    );
}

/// The affinity mask and not the number of cores says how many threads there are.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_bound_to_one_core_uses_one_thread_and_says_so() {
    let cores = std::thread::available_parallelism().unwrap().get();
    if cores < 2 {
        eprintln!("skipped: with one core there is nothing to be bound to");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let train = ["train", "hopper", "--reward", "true", "--iterations", "1", "--out", text(&out)];
    let small = ["search.environments=16", "search.branches=4", "search.train.rollout_length=8"];
    let set = small.iter().flat_map(|setting| ["--set", setting]);
    let output = Command::new("taskset")
        .args(["-c", "0", env!("CARGO_BIN_EXE_magpie")])
        .args(train)
        .args(set)
        .arg("--json")
        .env("OMPI_COMM_WORLD_SIZE", "2")
        .env_remove("RAYON_NUM_THREADS")
        .output()
        .unwrap();
    let lines = fine(&output);
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let started = events.iter().find(|event| event["event"] == "started").unwrap();
    assert_eq!(started["threads"], 1);
    let note = events.iter().find(|event| event["event"] == "note").unwrap()["message"].as_str().unwrap();
    assert!(note.contains("bound to 1 of the") && note.contains("mpirun --bind-to none"), "{note}");
}
