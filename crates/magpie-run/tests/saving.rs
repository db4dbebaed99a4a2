//! What a search leaves in its folder between its saves, and what is read from there.

use std::ops::ControlFlow;
use std::path::Path;

use magpie_rewards::ModelName;
use magpie_run::operations::{OpenArchive, archive_info, holds_archive, open_outline};
use magpie_run::ppo::{self, PpoRun};
use magpie_run::train::{Budget, Config, TrainRun, rebuild_archive};
use magpie_run::{ArchiveOutline, RunError, load_archive};
use magpie_settings::Method;

fn config(iterations: u64) -> Config {
    let mut config =
        Config::new("hopper", "feet_contact", ModelName::True, Method::Magpie, Budget::Quick).unwrap();
    (config.iterations, config.search.environments, config.search.branches) = (iterations, 48, 6);
    (config.search.gradient_iterations, config.search.walk_iterations) = (2, 2);
    config.search.train.rollout_length = 24;
    config.search.archive.threshold_min = 0.0;
    config.search.settle = 0.0;
    config
}

fn start(iterations: u64, path: &Path) -> TrainRun {
    TrainRun::start(config(iterations), path, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn finish(mut run: TrainRun) {
    while !run.is_finished() {
        run.iterate().unwrap();
    }
    run.finish().unwrap();
}

#[test]
fn a_killed_run_shows_what_its_checkpoint_has() {
    let folder = tempfile::tempdir().unwrap();
    let [killed, whole, rebuilt] = ["killed", "whole", "rebuilt"].map(|name| folder.path().join(name));
    let mut run = start(9, &killed);
    run.save_every(2);
    for _ in 0..5 {
        run.iterate().unwrap();
    }
    // Without a word, as if killed: four of the five iterations are in the checkpoint, and none in the archive.
    drop(run);
    let archive = killed.join("archive.safetensors");
    assert_eq!(load_archive(&archive).unwrap().about.iteration, 0);
    finish(start(4, &whole));
    let file = whole.join("archive.safetensors");
    let expected = load_archive(&file).unwrap();
    assert!(expected.elites.len() > 3, "{}", expected.elites.len());

    let open = OpenArchive::open(&killed).unwrap();
    assert_eq!((&open.archive, &open.path), (&expected, &archive));
    let outline = open_outline(&killed).unwrap();
    assert_eq!(outline, ArchiveOutline::from(&expected));
    assert_eq!(archive_info(&outline), archive_info(&open_outline(&whole).unwrap()));
    assert_eq!(rebuild_archive(&killed, &rebuilt).unwrap(), 4);
    assert!(std::fs::read(&rebuilt).unwrap() == std::fs::read(&file).unwrap(), "the bytes differ");
    // Reading has changed nothing, and the file itself says what it says.
    assert_eq!(load_archive(&archive).unwrap().about.iteration, 0);
    std::fs::remove_file(&archive).unwrap();
    assert!(holds_archive(&killed).unwrap());
    assert_eq!(OpenArchive::open(&killed).unwrap().archive, expected);

    // Where the checkpoint is damaged as well, nothing is made up.
    let rows = std::fs::read_dir(killed.join("checkpoint")).unwrap().map(|entry| entry.unwrap().path());
    let rows = rows.into_iter().find(|path| path.file_name().unwrap() != "search").unwrap();
    let mut bytes = std::fs::read(&rows).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&rows, bytes).unwrap();
    for error in [OpenArchive::open(&killed).unwrap_err(), TrainRun::resume(&killed, None).unwrap_err()] {
        let error = error.to_string();
        assert!(error.contains("checkpoint/rows-") && error.contains("checksum"), "{error}");
    }
}

#[test]
fn a_run_under_way_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut run = start(12, &path);
    run.save_every(1);
    let reader = std::thread::spawn({
        let path = path.clone();
        move || {
            let mut seen = Vec::new();
            while seen.last() != Some(&12) {
                let open = OpenArchive::open(&path).unwrap();
                seen.push(open.archive.about.iteration);
            }
            seen
        }
    });
    while !run.is_finished() {
        run.iterate().unwrap();
    }
    let seen = reader.join().unwrap();
    assert!(seen.is_sorted() && seen.iter().any(|iteration| (1..12).contains(iteration)), "{seen:?}");
}

#[test]
fn stopped_anywhere_a_search_ends_in_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let files =
        |path: &Path| ["archive.safetensors", "config.toml"].map(|f| std::fs::read(path.join(f)).unwrap());
    let whole = folder.path().join("whole");
    finish(start(6, &whole));
    for (stop, every) in [(0, 1), (1, 3), (4, 1), (5, 2)] {
        let path = folder.path().join(format!("{stop}-{every}"));
        let mut run = start(6, &path);
        run.save_every(every);
        for _ in 0..stop {
            run.iterate().unwrap();
        }
        drop(run);
        finish(TrainRun::resume(&path, None).unwrap());
        assert!(files(&path) == files(&whole), "stopped after {stop}, saved every {every}");
    }
}

fn ppo_config() -> ppo::Config {
    let mut config = ppo::Config::new("hopper", 3, 40 * 40 * 8).unwrap();
    (config.environments, config.train.rollout_length) = (40, 8);
    (config.train.minibatches, config.train.epochs) = (2, 1);
    config
}

#[test]
fn a_save_that_fails_is_reported_by_a_later_iteration_and_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut run = PpoRun::start(ppo_config(), &path).unwrap();
    run.save_every(1);
    run.iterate().unwrap();
    // Waits for the save under way.
    run.save().unwrap();
    let (there, away) = (path.join("checkpoint"), path.join("away"));
    std::fs::rename(&there, &away).unwrap();
    run.iterate().unwrap();
    let error = (0..100).find_map(|_| run.iterate().err()).unwrap();
    assert!(matches!(error, RunError::Io { .. }), "{error}");
    assert!(error.to_string().contains("checkpoint/trainer"), "{error}");
    assert!(run.save().unwrap_err().to_string().contains("checkpoint/trainer"));
    // With the folder back, nothing is lost.
    std::fs::rename(&away, &there).unwrap();
    run.save().unwrap();
    let steps = run.steps();
    drop(run);
    assert_eq!(PpoRun::resume(&path, None).unwrap().steps(), steps);
}
