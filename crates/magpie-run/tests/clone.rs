//! A cloning run on disk: a linear expert, exact resume, refusals.

use std::path::{Path, PathBuf};

use magpie_demos::{About, Columns, Demonstrations, Episode, Sizes};
use magpie_learn::Actions;
use magpie_random::Stream;
use magpie_run::clone::{Choices, CloneRun, Config};
use magpie_run::operations::check;
use magpie_run::{RunChoices, load_policy};

/// Two episodes in which a linear expert acts on random observations of hopper.
fn demonstrations(folder: &Path, length: usize) -> PathBuf {
    let sizes = Sizes { observation: 11, action: 3 };
    let mut draws = Stream::new(1, "expert").draws(0, 0);
    let mut columns = Columns {
        about: About { task: "hopper".to_owned(), horizon: 1000, ..About::default() },
        sizes,
        ..Columns::default()
    };
    for _ in 0..2 {
        for _ in 0..length {
            let o: [f32; 11] = std::array::from_fn(|i| (1 + i) as f32 * draws.uniform(-1.0, 1.0));
            columns.observations.extend(o);
            columns.actions.extend([0.5 * o[0], 0.2 * o[1] - 0.1 * o[2], 0.3 + 0.05 * o[10]]);
        }
        columns.final_observations.extend([0.0; 11]);
        let (true_return, demonstrator) = (None, None);
        columns.episodes.push(Episode {
            length,
            terminated: false,
            true_return,
            measures: Vec::new(),
            demonstrator,
        });
    }
    let path = folder.join("linear.safetensors");
    Demonstrations::new(columns).unwrap().save(&path).unwrap();
    path
}

fn config(demos: PathBuf, epochs: u64) -> Config {
    let sets = vec!["actor=32".to_owned()];
    let run = RunChoices { task: Some("hopper".to_owned()), sets, seed: Some(3), ..RunChoices::default() };
    let choices = Choices { run, demos: Some(demos), epochs: Some(epochs) };
    choices.resolve().unwrap().0
}

/// The lowest validation error.
fn finish(mut run: CloneRun) -> f64 {
    let mut best = f64::INFINITY;
    while !run.is_finished() {
        best = run.iterate().unwrap().report.best_error;
    }
    best
}

#[test]
fn a_linear_expert_is_cloned_into_a_policy_that_can_be_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let run = CloneRun::start(config(demonstrations(folder.path(), 600), 120), &path).unwrap();
    // The variance of its actions is about 0.09.
    let error = finish(run);
    assert!(error < 2e-3, "{error}");
    let file = load_policy(&path.join("policy.safetensors")).unwrap();
    assert_eq!((file.task.as_str(), file.actor.sizes()), ("hopper", &[11, 32, 32, 3][..]));
    assert_eq!(file.actions, Actions::Mean);
    // Of the training rows: the last fifth of each episode is held out.
    assert!((file.policy.normaliser.count() - 960.0).abs() < 0.01, "{}", file.policy.normaliser.count());
    let metrics = std::fs::read_to_string(path.join("metrics.csv")).unwrap();
    assert!(metrics.starts_with("iteration,training_error,validation_error,"), "{metrics}");
    let report = check(&path).unwrap();
    assert_eq!(report.damaged().count(), 0, "{report:?}");
    assert!(report.files.iter().any(|file| file.path.ends_with("checkpoint/cloning")), "{report:?}");
}

#[test]
fn a_run_that_was_stopped_ends_like_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let demos = demonstrations(folder.path(), 100);
    let at = |name: &str| folder.path().join(name);
    finish(CloneRun::start(config(demos.clone(), 8), &at("whole")).unwrap());
    finish(CloneRun::start(config(demos.clone(), 8), &at("again")).unwrap());
    let mut run = CloneRun::start(config(demos.clone(), 8), &at("stopped")).unwrap();
    for _ in 0..3 {
        run.iterate().unwrap();
    }
    run.save().unwrap();
    // Work after the checkpoint is lost, as when the process is killed.
    run.iterate().unwrap();
    drop(run);
    std::fs::remove_file(&demos).unwrap();
    finish(CloneRun::resume(&at("stopped"), None).unwrap());
    for file in ["policy.safetensors", "config.toml", "demonstrations.safetensors"] {
        let bytes = |name: &str| std::fs::read(at(name).join(file)).unwrap();
        assert!(bytes("whole") == bytes("again"), "{file} differs between two runs with the same seed");
        assert!(bytes("whole") == bytes("stopped"), "{file} differs after a stop");
    }
    assert_eq!(std::fs::read_to_string(at("stopped/metrics.csv")).unwrap().lines().count(), 9);

    std::fs::copy(at("whole/policy.safetensors"), at("whole/demonstrations.safetensors")).unwrap();
    let error = CloneRun::resume(&at("whole"), Some(9)).unwrap_err().to_string();
    assert!(error.contains("demonstrations.safetensors: differs"), "{error}");
}

#[test]
fn what_cannot_be_cloned_is_refused_before_there_is_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let demos = demonstrations(folder.path(), 2);
    let refused = |config: Config| CloneRun::start(config, &path).unwrap_err().to_string();
    let short = refused(config(demos.clone(), 8));
    assert!(short.contains("linear.safetensors: 2 episodes, too short to hold out"), "{short}");
    let mut other = config(demos.clone(), 8);
    other.task = "walker2d".to_owned();
    let sizes = refused(other);
    assert!(sizes.contains("11") && sizes.contains("17"), "{sizes}");
    let mut share = config(demos, 8);
    share.cloning.validation = 1.5;
    let range = refused(share);
    assert!(range.contains("cloning.validation is 1.5"), "{range}");
    assert!(!path.exists());
    let nameless = Choices::default().resolve().unwrap_err().to_string();
    assert!(nameless.contains("no task is named"), "{nameless}");
}
