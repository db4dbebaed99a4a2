//! From elites to demonstrations, and from demonstrations to a search.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use magpie_demos::Demonstrations;

use common::{Npy, magpie, said, succeed, text, write_npz};
use zip::CompressionMethod;

const TINY: [&str; 10] = [
    "--set",
    "search.environments=48",
    "--set",
    "search.branches=6",
    "--set",
    "search.train.rollout_length=24",
    "--set",
    "search.archive.threshold_min=0",
    "--threads",
    "2",
];

/// A small search on hopper.
fn train(folder: &Path, iterations: &str, more: &[&str]) -> Output {
    let start = ["train", "hopper", "--out", text(folder), "--iterations", iterations];
    magpie(&[&start[..], &TINY, more].concat())
}

/// A small search with a reward learned from all steps of the demonstrations.
fn imitate(folder: &Path, iterations: &str, model: &str, demos: &Path) -> Output {
    let learned = ["--reward", model, "--demos", text(demos), "--set", "reward.thinning=1"];
    train(folder, iterations, &[&learned[..], &["--set", "reward.giril.epochs=20"]].concat())
}

#[track_caller]
fn fine(output: &Output) {
    assert!(output.status.success(), "{}", said(output));
}

/// A folder with a search in it, and its demonstrations.
fn demonstrated() -> (tempfile::TempDir, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let run = temporary.path().join("true");
    fine(&train(&run, "2", &["--reward", "true"]));
    let demos = temporary.path().join("two.safetensors");
    let said = succeed(&["demos", "make", text(&run), "-n", "2", "--out", text(&demos)]);
    assert!(said.contains("2 episodes") && said.contains("written to"), "{said}");
    (temporary, demos)
}

/// The numbers of the last row of `metrics.csv` whose columns begin with `reward_`; `None` for an empty cell.
fn health(folder: &Path) -> Vec<(String, Option<f64>)> {
    let metrics = fs::read_to_string(folder.join("metrics.csv")).unwrap();
    let (head, last) = (metrics.lines().next().unwrap(), metrics.lines().last().unwrap());
    let pairs = head.split(',').zip(last.split(','));
    pairs
        .filter(|(name, _)| name.starts_with("reward_"))
        .map(|(name, cell)| (name.to_owned(), cell.parse().ok()))
        .collect()
}

#[test]
fn every_model_learns_from_what_elites_demonstrate() {
    let (temporary, demos) = demonstrated();
    assert!(health(&temporary.path().join("true")).iter().all(|(_, value)| value.is_none()));
    for model in ["gail", "vail", "diffail", "airl", "giril", "maxent"] {
        let folder = temporary.path().join(model);
        let output = imitate(&folder, "2", model, &demos);
        fine(&output);
        assert_eq!(said(&output).contains("training the giril reward model: epoch"), model == "giril");
        let ending = String::from_utf8_lossy(&output.stdout);
        for line in [
            "learned  from 2 demonstrations (all steps; returns ",
            "archive  ",
            "picture  ",
            "next     magpie eval ",
            "further  magpie train --resume ",
        ] {
            assert!(ending.lines().any(|said| said.starts_with(line)), "no {line:?}: {ending}");
        }
        let health = health(&folder);
        assert_eq!(health.len(), 10);
        for (name, value) in health {
            let absent = model != "vail" && ["reward_kl", "reward_beta"].contains(&name.as_str());
            assert_eq!(value.is_some_and(f64::is_finite), !absent, "{model}: {name} is {value:?}");
        }
        let config = fs::read_to_string(folder.join("config.toml")).unwrap();
        assert!(config.contains(&format!("model = \"{model}\"")), "{config}");
        assert!(config.contains("file = \"demonstrations.safetensors\""), "{config}");
        assert!(config.contains("[search.curiosity]\nweight = 2.0"), "{config}");
    }
    let plain = fs::read_to_string(temporary.path().join("true/config.toml")).unwrap();
    assert!(plain.contains("[search.curiosity]\nweight = 0.0"), "{plain}");
}

#[test]
fn a_stopped_imitation_goes_on_to_the_same_bytes_without_the_original_demonstrations() {
    let (temporary, demos) = demonstrated();
    for model in ["gail", "giril"] {
        let folder = |name: &str| temporary.path().join(format!("{model}-{name}"));
        let (whole, halves) = (folder("whole"), folder("halves"));
        fine(&imitate(&whole, "2", model, &demos));
        let other = temporary.path().join("moved.safetensors");
        fs::copy(&demos, &other).unwrap();
        fine(&imitate(&halves, "1", model, &other));
        fs::remove_file(&other).unwrap();
        succeed(&["train", "--resume", text(&halves), "--iterations", "2", "--threads", "1"]);
        for file in ["archive.safetensors", "config.toml", "demonstrations.safetensors"] {
            let bytes = |folder: &Path| fs::read(folder.join(file)).unwrap();
            assert!(bytes(&whole) == bytes(&halves), "{model}: {file} differs");
        }
    }
}

#[test]
fn a_search_that_begins_with_a_clone_goes_on_to_the_same_bytes() {
    let (temporary, demos) = demonstrated();
    let folder = |name: &str| temporary.path().join(name);
    let cloned = ["--reward", "gail", "--demos", text(&demos), "--set", "search.start=cloned"];
    let cloned = [&cloned[..], &["--set", "reward.thinning=1"]].concat();
    fine(&train(&folder("whole"), "2", &cloned));
    fine(&train(&folder("halves"), "1", &cloned));
    fine(&magpie(&["train", "--resume", text(&folder("halves")), "--iterations", "2"]));
    fine(&imitate(&folder("random"), "2", "gail", &demos));
    let archive = |name: &str| fs::read(folder(name).join("archive.safetensors")).unwrap();
    assert!(archive("whole") == archive("halves"));
    assert!(archive("whole") != archive("random"));
    let output = train(&folder("true-reward"), "1", &["--reward", "true", "--set", "search.start=cloned"]);
    let message = said(&output);
    assert!(message.contains("search.start is cloned, but must be random"), "{message}");
    assert!(!folder("true-reward").exists(), "nothing was written");
}

#[test]
fn a_run_whose_demonstrations_were_exchanged_does_not_go_on() {
    let (temporary, demos) = demonstrated();
    let run = temporary.path().join("run");
    fine(&imitate(&run, "1", "gail", &demos));
    let one = temporary.path().join("one.safetensors");
    succeed(&["demos", "make", text(&temporary.path().join("true")), "-n", "1", "--out", text(&one)]);
    fs::copy(&one, run.join("demonstrations.safetensors")).unwrap();
    let message = said(&magpie(&["train", "--resume", text(&run), "--iterations", "2"]));
    assert!(message.contains("demonstrations.safetensors: differs from what the run"), "{message}");
}

#[test]
fn demonstrations_that_do_not_fit_are_refused_with_file_and_sizes() {
    let (temporary, demos) = demonstrated();
    let run = temporary.path().join("run");
    let refused = |arguments: &[&str], hints: &[&str]| {
        let output = magpie(&[&["train"], arguments, &["--out", text(&run)]].concat());
        let message = said(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        for hint in hints {
            assert!(message.contains(hint), "{hint} is missing: {message}");
        }
        assert!(!run.exists(), "{arguments:?} has left a folder behind");
    };
    let file = text(&demos);
    refused(
        &["walker2d", "--demos", file],
        &[
            file,
            "11 entries and actions 3; expected 17 and 6",
            "walker2d has: these are demonstrations of hopper",
        ],
    );
    refused(
        &["hopper", "--demos", "nowhere.pt"],
        &["nowhere.pt: opening: there is no such file or folder; check the path"],
    );
    refused(
        &["hopper", "--demos", file, "--reward", "true"],
        &["demos: the true reward is not learned from demonstrations"],
    );
    refused(&["hopper", "--demos", file, "--set", "demos.count=3"], &["demos.count is 3", "1 to 2", file]);
    refused(&["hopper", "--demos", file, "--set", "reward.thinning=0"], &["`reward.thinning` is 0"]);
    refused(&["hopper", "--demos", file, "--set", "reward.model=gale"], &["gail"]);
    let source = text(&temporary.path().join("true")).to_owned();
    let sparse = temporary.path().join("sparse.safetensors");
    let said = succeed(&["demos", "make", &source, "-n", "2", "--every", "5", "--out", text(&sparse)]);
    assert!(said.contains("every 5th"), "{said}");
    refused(
        &["hopper", "--demos", text(&sparse), "--set", "reward.thinning=12"],
        &["reward.thinning is 12", "a multiple of 5"],
    );
}

#[test]
fn demonstrations_of_another_task_that_fit_are_mentioned() {
    let (temporary, demos) = demonstrated();
    let mut columns = Demonstrations::load(&demos).unwrap().columns().clone();
    columns.about.task = "hoppet".to_owned();
    Demonstrations::new(columns).unwrap().save(&demos).unwrap();
    let output = imitate(&temporary.path().join("run"), "1", "gail", &demos);
    fine(&output);
    let message = said(&output);
    assert!(message.contains("the demonstrations are of hoppet, but the task is hopper"), "{message}");
}

#[test]
fn demonstrations_are_described_and_drawn() {
    let (temporary, demos) = demonstrated();
    let plot = temporary.path().join("plot.png");
    let info = succeed(&["demos", "info", text(&demos), "--plot", text(&plot)]);
    for word in
        ["hopper", "feet_contact", "2 episodes", "11 entries an observation, 3 an action", "objective"]
    {
        assert!(info.contains(word), "{word} is missing: {info}");
    }
    assert!(fs::read(&plot).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn who_demonstrates_can_be_chosen() {
    let (temporary, _) = demonstrated();
    let run = temporary.path().join("true");
    let made = |more: &[&str]| {
        succeed(&[&["demos", "make", text(&run), "--out", text(&run.join("d"))], more].concat());
        fs::read(run.join("d")).unwrap()
    };
    let random = |seed: &str| made(&["-n", "1", "--select", "random", "--seed", seed]);
    assert!(made(&["-n", "1"]) == made(&["-n", "1", "--select", "best"]), "the best one comes first");
    assert!(random("1") == random("1") && random("1") != random("2"));
    let message = said(&magpie(&["demos", "make", text(&run), "-n", "51"]));
    assert!(message.contains("51 demonstrations asked for, but only"), "{message}");
}

#[test]
fn a_policy_is_cloned_evaluated_and_demonstrates() {
    let (temporary, demos) = demonstrated();
    let run = temporary.path().join("clone");
    let said = succeed(&["clone", "hopper", "--demos", text(&demos), "--epochs", "5", "--out", text(&run)]);
    let again = ["clone", "hopper", "--demos", text(&demos), "--seed", "1", "--out", text(&run)];
    let message = common::said(&magpie(&again));
    assert!(
        message.contains("already holds a different run: its seed is 0, and 1 was asked for"),
        "{message}"
    );
    let fewer = common::said(&magpie(&["clone", "--resume", text(&run), "--epochs", "2"]));
    assert!(fewer.contains("cloning.epochs is 2, but must be at least 5: 5 have been made"), "{fewer}");
    let resumed = common::said(&magpie(&["clone", "--resume", text(&run)]));
    assert!(resumed.contains("nothing to do: 5 epochs made, as planned"), "{resumed}");
    for line in ["hopper: cloned from ", "error    ", "expert   mean return ", "clone    mean return "] {
        assert!(said.lines().any(|found| found.starts_with(line)), "no {line:?}: {said}");
    }
    let evaluated = succeed(&["eval", text(&run), "--episodes", "3"]);
    assert!(evaluated.starts_with("hopper, 3 episodes"), "{evaluated}");
    let made = succeed(&["demos", "make", text(&run), "-n", "2", "--episodes", "3"]);
    assert!(made.contains("a single policy, mean actions, each the typical one of 3 episodes"), "{made}");
    assert!(run.join("demos.safetensors").is_file());
    let output = magpie(&["demos", "make", text(&run), "--top", "3"]);
    let message = common::said(&output);
    assert!(!output.status.success() && message.contains("is one policy"), "{message}");
    let archive = temporary.path().join("true");
    let message = common::said(&magpie(&["demos", "make", text(&archive), "--measure", "angle"]));
    assert!(message.contains("knows its measure"), "{message}");
}

#[test]
fn demonstrations_from_elsewhere_are_imported() {
    let temporary = tempfile::tempdir().unwrap();
    let (npz, out) = (temporary.path().join("in.npz"), temporary.path().join("out.safetensors"));
    let numbers = |count: usize| (0..count).map(|i| (i as f64 * 0.7).sin()).collect::<Vec<_>>();
    let whole = |name: &str, descr: &str, shape: &str, numbers: Vec<u8>| Npy {
        name: name.to_owned(),
        descr: descr.to_owned(),
        fortran_order: false,
        shape: shape.to_owned(),
        numbers,
    };
    // Two episodes, of five and of three steps.
    let arrays = [
        Npy::f32s("obs", &[10, 11], &numbers(110)),
        Npy::f32s("acts", &[8, 3], &numbers(24)),
        Npy::f32s("rews", &[8], &numbers(8)),
        whole("indices", "'<i8'", "(1,)", 5_i64.to_le_bytes().to_vec()),
        whole("terminal", "'|b1'", "(2,)", vec![1, 1]),
    ];
    write_npz(&npz, &arrays, CompressionMethod::Stored);
    let import = |task: &str| magpie(&["demos", "import", text(&npz), "--task", task, "--out", text(&out)]);
    let message = said(&import("ant"));
    assert!(message.contains("in.npz") && message.contains("expected 87 and 8"), "{message}");
    assert!(!out.exists());
    let hopper = import("hopper");
    fine(&hopper);
    let warning = "warning: only the sizes (11, 3) were checked. This file does not name its simulator; entries must be in the \
                   order of magpie's hopper.";
    assert!(said(&hopper).contains(warning), "{}", said(&hopper));
    // What has been imported is still another program's when a reward is learned from it.
    // The run itself is refused, because a file lies where its folder should be.
    let train = magpie(&["train", "hopper", "--demos", text(&out), "--out", text(&npz)]);
    assert!(!train.status.success() && said(&train).contains(warning), "{}", said(&train));
    let info = succeed(&["demos", "info", text(&out)]);
    assert!(info.contains("8 in 2 episodes") && info.contains("in.npz"), "{info}");
    let message = said(&magpie(&["demos", "info", text(&out), "--plot", text(&npz.with_extension("png"))]));
    assert!(message.contains("they hold no measures"), "{message}");

    let before = fs::read(&out).unwrap();
    let over = magpie(&["demos", "info", text(&out), "--plot", text(&out)]);
    assert!(!over.status.success() && said(&over).contains("this is the file to read"), "{}", said(&over));
    assert_eq!(fs::read(&out).unwrap(), before);
    let own = magpie(&["demos", "import", text(&out), "--task", "hopper", "--out", text(&out)]);
    assert!(!own.status.success() && said(&own).contains("this is the file to read"), "{}", said(&own));
}

#[test]
fn measures_that_are_others_than_said_are_refused() {
    let (temporary, demos) = demonstrated();
    let out = temporary.path().join("out.safetensors");
    let import = ["demos", "import", text(&demos), "--task", "hopper", "--out", text(&out), "--measure"];
    fine(&magpie(&[&import[..], &["feet_contact"]].concat()));
    let angle = magpie(&[&import[..], &["angle"]].concat());
    let message = said(&angle);
    assert!(!angle.status.success(), "accepted");
    assert!(message.contains("measures per episode: 1 in the file, but angle on hopper has 2"), "{message}");
}

#[test]
fn files_of_a_run_are_not_written_over() {
    let (temporary, demos) = demonstrated();
    let run = temporary.path().join("true");
    for file in ["archive.safetensors", "config.toml", "metrics.csv", "checkpoint/search"] {
        let path = run.join(file);
        let before = fs::read(&path).unwrap();
        for command in [
            vec!["demos", "make", text(&run), "-n", "1", "--out", text(&path)],
            vec!["demos", "import", text(&demos), "--task", "hopper", "--out", text(&path)],
            vec!["demos", "info", text(&demos), "--plot", text(&path)],
            vec!["eval", text(&run), "--best", "--episodes", "1", "--table", text(&path)],
            vec!["archive", "export", text(&run), "--format", "csv", "--out", text(&path)],
        ] {
            let output = magpie(&command);
            assert!(!output.status.success(), "{command:?}");
            assert!(said(&output).contains("a file that a run needs"), "{}", said(&output));
            assert!(fs::read(&path).unwrap() == before, "{command:?}");
        }
    }
}
