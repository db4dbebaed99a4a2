//! Runs that are settled at their end: killed, resumed, and gone on with.

use std::ops::ControlFlow;
use std::path::Path;

use magpie_rewards::ModelName;
use magpie_run::operations::{EvaluateOptions, OpenArchive, Selection, check, evaluate_archive};
use magpie_run::train::{Budget, Config, SettledArchive, TrainRun};
use magpie_search::Effort;
use magpie_settings::Method;

fn start(iterations: u64, path: &Path) -> TrainRun {
    let mut config =
        Config::new("hopper", "feet_contact", ModelName::True, Method::Magpie, Budget::Quick).unwrap();
    (config.iterations, config.search.environments, config.search.branches) = (iterations, 48, 60);
    (config.search.gradient_iterations, config.search.walk_iterations) = (2, 2);
    (config.search.actor, config.search.critic, config.search.episodes) = (16, 16, 3);
    (config.search.reevaluations, config.search.settle) = (5, 4.0);
    config.search.train.rollout_length = 24;
    config.search.archive.threshold_min = 0.0;
    config.search.archive.resolution = 200;
    TrainRun::start(config, path, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn iterate(run: &mut TrainRun) {
    while !run.is_finished() {
        run.iterate().unwrap();
    }
}

/// What a run leaves, but for times and for the sums of files that hold some.
fn left(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let metrics = String::from_utf8(read("metrics.csv")).unwrap();
    let columns: Vec<&str> = metrics.lines().next().unwrap().split(',').collect();
    let untimed = |line: &str| {
        let cells = columns.iter().zip(line.split(','));
        cells
            .filter(|(name, _)| !name.starts_with("seconds"))
            .map(|(_, cell)| format!("{cell},"))
            .collect::<String>()
    };
    let metrics: String = metrics.lines().map(|line| untimed(line) + "\n").collect();
    vec![
        ("metrics.csv".to_owned(), metrics.into_bytes()),
        ("archive.safetensors".to_owned(), read("archive.safetensors")),
        ("reevaluation.csv".to_owned(), read("reevaluation.csv")),
        ("checkpoint/settle".to_owned(), read("checkpoint/settle")),
    ]
}

fn assert_same(a: &Path, b: &Path) {
    for ((name, a), (_, b)) in left(a).into_iter().zip(left(b)) {
        assert!(a == b, "{name} differs");
    }
}

fn last_row(folder: &Path) -> Vec<(String, String)> {
    let metrics = std::fs::read_to_string(folder.join("metrics.csv")).unwrap();
    let names = metrics.lines().next().unwrap().split(',').map(str::to_owned);
    names.zip(metrics.lines().last().unwrap().split(',').map(str::to_owned)).collect()
}

#[test]
fn a_run_is_settled_at_its_end_and_killed_at_any_moment_ends_in_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, killed] = ["whole", "killed"].map(|name| folder.path().join(name));
    let mut run = start(3, &whole);
    iterate(&mut run);
    let unsettled = run.search().metrics();
    let (mut heard, mut rounds) = (0, 0);
    let ended = run
        .finish_with(&mut |progress| {
            (heard, rounds) = (heard + 1, progress.round);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert!(ended && heard >= 3 && rounds >= 2, "{heard} steps, {rounds} rounds");
    let SettledArchive { stored, verified } = run.settled().unwrap();
    assert!(stored.metrics() != unsettled && run.search().metrics() == unsettled);
    drop(run);

    // What is said of the archive is what `eval` finds with the same seed.
    let open = OpenArchive::open(&whole).unwrap();
    let (episodes, seed) = (verified.episodes, verified.seed);
    let options = EvaluateOptions { episodes, actions: None, seed, world: None };
    let again = evaluate_archive(&open, Selection::All, &options).unwrap();
    assert_eq!(again.verified, Some(verified.metrics));
    assert_eq!(again.reevaluation, Some(verified.clone()));
    let row = last_row(&whole);
    let cell = |name: &str| row.iter().find(|(column, _)| column == name).unwrap().1.clone();
    assert_eq!(cell("verified_qd_score"), verified.metrics.qd_score.to_string());
    assert_eq!(cell("verified_coverage"), verified.metrics.coverage.to_string());
    assert_eq!(check(&whole).unwrap().damaged().count(), 0);

    let mut run = start(3, &killed);
    iterate(&mut run);
    drop(run);
    for step in 0.. {
        let mut run = TrainRun::resume(&killed, None).unwrap();
        assert!(run.settled().is_none());
        if run.finish_with(&mut |_| ControlFlow::Break(())).unwrap() {
            assert_eq!(step + 1, heard, "work was lost");
            break;
        }
    }
    assert_same(&whole, &killed);

    // A settled run has nothing to do.
    let mut run = TrainRun::resume(&whole, None).unwrap();
    assert!(run.finish_with(&mut |_| panic!("it was settled")).unwrap());
    assert_eq!(run.settled().unwrap().verified, verified);
    drop(run);
    assert_same(&whole, &killed);
}

#[test]
fn a_settled_run_goes_on_as_if_it_had_never_been_settled() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, halves] = ["whole", "halves"].map(|name| folder.path().join(name));
    let mut run = start(4, &whole);
    iterate(&mut run);
    run.finish().unwrap();
    drop(run);
    let mut run = start(2, &halves);
    iterate(&mut run);
    run.finish().unwrap();
    drop(run);
    let mut run = TrainRun::resume(&halves, Some(4)).unwrap();
    assert!(run.settled().is_none());
    let score = last_row(&halves).into_iter().find(|(name, _)| name == "verified_qd_score").unwrap().1;
    assert_eq!(score, "", "the row is that of an iteration again");
    iterate(&mut run);
    run.finish().unwrap();
    drop(run);
    assert_same(&whole, &halves);
}

#[test]
fn a_run_can_be_settled_with_more_episodes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut run = start(2, &path);
    iterate(&mut run);
    run.finish().unwrap();
    drop(run);
    let mut run = TrainRun::resume(&path, None).unwrap();
    let effort = Effort::Episodes(run.settled().unwrap().verified.episodes + 1);
    assert!(run.settle(effort, &mut |_| ControlFlow::Break(())).unwrap().is_break());
    assert!(run.settle(effort, &mut |_| ControlFlow::Continue(())).unwrap().is_continue());
    let SettledArchive { stored, verified } = run.settled().unwrap();
    assert_eq!(Effort::Episodes(verified.episodes), effort);
    assert!(stored.elites.iter().all(|elite| elite.episodes >= Some(verified.episodes)));
    drop(run);
    let mut run = TrainRun::resume(&path, None).unwrap();
    assert!(run.finish_with(&mut |_| panic!("it was settled")).unwrap());
}
