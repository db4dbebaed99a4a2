use magpie_learn::{Actions, record};

use super::*;
use crate::operations::tests::{CELLS, hopper};
use crate::policy_file::{PolicyFile, save_policy};

/// An archive that says of its two elites what they do.
fn honest(cells: Cells) -> (tempfile::TempDir, OpenArchive) {
    let (folder, mut open) = hopper(cells);
    let anything = EliteOptions { min_return: 0.0, max_cells: f64::INFINITY, ..EliteOptions::default() };
    let options = DemonstrateOptions { number: 2, elites: anything, ..DemonstrateOptions::default() };
    let made = demonstrate(&open, &options).unwrap();
    for recorded in made.recorded {
        let cell = open.archive.about.cell_named(&recorded.elite.unwrap().cell).unwrap();
        let elite = open.archive.elites.iter_mut().find(|elite| elite.cell == cell).unwrap();
        elite.objective = recorded.fresh.mean_return;
        elite.measures = recorded.fresh.mean_measures;
    }
    (folder, open)
}

fn options(number: u32) -> DemonstrateOptions {
    DemonstrateOptions { number, ..DemonstrateOptions::default() }
}

fn best(choice: Choice) -> EliteOptions {
    EliteOptions { choice, ..EliteOptions::default() }
}

#[test]
fn the_chosen_demonstrate_in_the_order_of_choice() {
    for cells in CELLS {
        let (_folder, open) = honest(cells());
        let made = |options: DemonstrateOptions| demonstrate(&open, &options).unwrap();
        let both = made(options(2));
        assert!(both.skipped.is_empty());
        let stored: Vec<f64> = both.recorded.iter().map(|r| r.elite.as_ref().unwrap().objective).collect();
        assert!(stored[0] > stored[1], "the best one comes first: {stored:?}");
        let one = made(options(1)).demonstrations;
        assert_eq!(one, both.demonstrations.subset(1), "fewer are the first of more");
        let told = made(DemonstrateOptions { actions: Some(Actions::Mean), ..options(1) });
        assert_eq!(told.demonstrations, one, "the archive says that they act by their means");
        let random = |seed| {
            made(DemonstrateOptions { elites: best(Choice::Random), seed, ..options(1) }).demonstrations
        };
        assert_eq!(random(1).to_bytes().unwrap(), random(1).to_bytes().unwrap());
        assert_ne!(random(1), random(2));
    }
}

#[test]
fn elites_act_as_the_archive_says_unless_told_otherwise() {
    let (_folder, mut open) = honest(CELLS[0]());
    open.archive.about.actions = Actions::Sampled;
    let lenient = EliteOptions { min_return: 0.0, max_cells: f64::INFINITY, ..EliteOptions::default() };
    let made = |actions| {
        let options = DemonstrateOptions { actions, elites: lenient.clone(), ..options(1) };
        demonstrate(&open, &options).unwrap()
    };
    let (drawn, mean) = (made(None), made(Some(Actions::Mean)));
    assert_eq!([drawn.actions, mean.actions], [Actions::Sampled, Actions::Mean]);
    assert!(drawn.demonstrations.columns().about.source.contains("drawn actions"));
    assert_ne!(drawn.demonstrations.columns().actions, mean.demonstrations.columns().actions);
}

#[test]
fn what_is_recorded_is_the_typical_one_of_the_fresh_episodes() {
    let (_folder, open) = honest(CELLS[0]());
    let made = demonstrate(&open, &options(2)).unwrap();
    let env = Arc::new(open.environment(None).unwrap());
    let networks = acting(&open.archive.about.actor).unwrap();
    for (number, recorded) in made.recorded.iter().enumerate() {
        let stored = recorded.elite.as_ref().unwrap();
        let elite = open.archive.elites.iter().find(|e| e.objective == stored.objective).unwrap();
        let numbers = number as u32 * 10..number as u32 * 10 + 10;
        let episodes = record(&env, &networks, &elite.policy, numbers, Actions::Mean, 0);
        let mean = episodes.iter().map(Recording::true_return).sum::<f64>() / 10.0;
        assert_eq!(recorded.fresh.mean_return, mean);
        let apart = |r: f64| (r - mean).abs() / recorded.fresh.std_return;
        assert!(apart(recorded.true_return) < 1.0, "{recorded:?}");
        assert!(episodes.iter().any(|e| apart(e.true_return()) > 1.0), "some are not typical");
        assert!(episodes.iter().any(|e| e.true_return() == recorded.true_return));
    }
    // Random actors fall, and that is said.
    assert!(made.recorded.iter().all(|r| r.terminated && r.fresh.terminated == 10));
    assert!(made.warnings[0].starts_with("2 of 2 demonstrations ended before"), "{:?}", made.warnings);
}

#[test]
fn an_elite_that_does_not_do_what_the_archive_says_is_skipped() {
    for choice in [Choice::Diverse, Choice::Best] {
        let (_folder, mut open) = honest(CELLS[0]());
        let made = |open: &OpenArchive, elites: EliteOptions| {
            demonstrate(open, &DemonstrateOptions { elites, ..options(1) })
        };
        let better = usize::from(open.archive.elites[1].objective > open.archive.elites[0].objective);
        // One that fell is said to have stood.
        open.archive.elites[better].objective *= 1.3;
        let second = made(&open, best(choice)).unwrap();
        assert_eq!(second.skipped.len(), 1);
        assert_eq!(second.skipped[0].reason, Mismatch::Return);
        let other = open.archive.elites[1 - better].objective;
        assert_eq!(second.recorded[0].elite.as_ref().unwrap().objective, other);
        // Less is asked of it.
        let lenient = made(&open, EliteOptions { min_return: 0.7, ..best(choice) }).unwrap();
        assert!(lenient.skipped.is_empty());

        // The other one is said to behave in another way, so that none is left.
        let measure = open.archive.elites[1 - better].measures[0];
        open.archive.elites[1 - better].measures[0] = measure + 3.1 * 0.2;
        let message = made(&open, best(choice)).unwrap_err().to_string();
        for part in
            ["none of the 2 elites tried", "1 returned less than 80 %", "1 behaved differently", "3 cells"]
        {
            assert!(message.contains(part), "{part} is missing: {message}");
        }
        let moved = made(&open, EliteOptions { max_cells: 3.2, ..best(choice) }).unwrap();
        assert_eq!(moved.skipped.len(), 1);
    }
}

#[test]
fn of_too_few_good_elites_it_is_said_how_many_there_are() {
    let (_folder, mut open) = honest(CELLS[1]());
    open.archive.elites[0].objective = 1e6;
    let message = demonstrate(&open, &options(2)).unwrap_err().to_string();
    assert!(
        message.contains("only 1 of the 2 elites tried") && message.contains("ask for at most 1"),
        "{message}"
    );
    let drawn = DemonstrateOptions { actions: Some(Actions::Sampled), ..options(2) };
    let message = demonstrate(&open, &drawn).unwrap_err().to_string();
    assert!(message.contains("act as they did when they were found"), "{message}");
}

#[test]
fn negative_returns_have_a_tolerance_too() {
    let (_folder, mut open) = honest(CELLS[0]());
    let stage = |open: &OpenArchive, options: &DemonstrateOptions, objective: f64, fresh: f64| {
        let env = Arc::new(open.environment(None).unwrap());
        let networks = acting(&open.archive.about.actor).unwrap();
        let stage = Stage { env: &env, networks, actions: Actions::Mean, options, widths: vec![0.2] };
        let elite = SavedElite { objective, ..open.archive.elites[0].clone() };
        let fresh = FreshEpisodes {
            episodes: 10,
            terminated: 0,
            mean_return: fresh,
            std_return: 1.0,
            mean_measures: elite.measures.clone(),
        };
        mismatch(&elite, &fresh, &[], &stage)
    };
    open.archive.about.actions = Actions::Mean;
    let options = options(1);
    assert_eq!(stage(&open, &options, -100.0, -119.0), None);
    assert_eq!(stage(&open, &options, -100.0, -121.0), Some(Mismatch::Return));
    assert_eq!(stage(&open, &options, 100.0, 81.0), None);
    assert_eq!(stage(&open, &options, 100.0, 79.0), Some(Mismatch::Return));
}

#[test]
fn a_single_policy_demonstrates() {
    let (folder, open) = honest(CELLS[0]());
    let path = folder.path().join(POLICY);
    let file = PolicyFile {
        task: "hopper".to_owned(),
        actor: open.archive.about.actor.clone(),
        actions: Actions::Mean,
        policy: open.archive.elites[0].policy.clone(),
    };
    save_policy(&path, &file).unwrap();
    let made = demonstrate_policy(&path, None, &options(3)).unwrap();
    let columns = made.demonstrations.columns();
    assert_eq!((columns.episodes.len(), columns.about.measure.as_str()), (3, "feet_contact"));
    assert!(columns.about.source.starts_with("a single policy, mean actions"), "{}", columns.about.source);
    assert_eq!(columns.measures.len(), made.demonstrations.steps());
    assert!(made.recorded.iter().all(|recorded| recorded.elite.is_none()));
    let returns: Vec<f64> = made.recorded.iter().map(|recorded| recorded.true_return).collect();
    assert!(
        returns[0] != returns[1] && returns[1] != returns[2],
        "each has episodes of its own: {returns:?}"
    );
    assert_eq!(demonstrate_policy(folder.path(), None, &options(3)).unwrap(), made);
    let angle = demonstrate_policy(&path, Some("angle"), &options(1)).unwrap();
    assert_eq!(angle.demonstrations.places()[0].as_ref().unwrap().len(), 2);
}

#[test]
fn more_than_there_are_is_refused() {
    let (_folder, open) = hopper(CELLS[0]());
    let refused = |number, top| {
        let elites = EliteOptions { top, ..EliteOptions::default() };
        demonstrate(&open, &DemonstrateOptions { elites, ..options(number) }).unwrap_err().to_string()
    };
    let message = refused(3, 500);
    assert!(message.contains("3 demonstrations asked for, but only 2 elites to choose from"), "{message}");
    assert!(message.ends_with("ask for fewer"), "{message}");
    assert!(refused(2, 1).contains("choose among more"), "{}", refused(2, 1));
    let none = DemonstrateOptions { episodes: 0, ..options(1) };
    let message = demonstrate(&open, &none).unwrap_err().to_string();
    assert!(message.contains("episodes is 0, but must be from 1 to 100"), "{message}");
}
