//! Same seed, same bytes: whatever the number of threads, stopped and resumed or not.

use std::sync::Arc;

use magpie_envs::{Environment, Options};
use magpie_search::{Novelty, Objective, Scope, Search, SearchConfig, State};

const ITERATIONS: usize = 5;

fn config(env: &Environment) -> SearchConfig {
    let mut config = SearchConfig {
        environments: 70,
        branches: 7,
        waypoints: true,
        inward: true,
        critic: 64,
        gradient_iterations: 2,
        walk_iterations: 2,
        // So little patience that it is tried whether restarts repeat themselves too.
        patience: 1,
        ..SearchConfig::paper(env)
    };
    config.train.window = 32;
    config.curiosity.weight = 1.0;
    config.curiosity.scope = Scope::Episode;
    // The one that has a memory of its own.
    config.curiosity.novelty = Novelty::Visits;
    // Restarts then ask for more than a random number.
    config.curiosity.frontier = true;
    // A hopper that falls at once is accepted too, and cells are so few that they are soon filled.
    config.archive.threshold_min = 0.0;
    config.archive.resolution = 8;
    config
}

fn start() -> Search {
    let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
    let config = config(&env);
    Search::new(env, config, Objective::True, 11).unwrap()
}

fn bytes(search: &Search) -> Vec<u8> {
    postcard::to_stdvec(search.state()).unwrap()
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn run(threads: usize) -> Vec<u8> {
    with_threads(threads, || {
        let mut search = start();
        for _ in 0..ITERATIONS {
            search.iterate().unwrap();
        }
        assert!(search.state().restarts > 0, "nothing has tried a restart");
        assert!(!search.state().outposts.is_empty(), "no restart has led to the frontier");
        assert!(search.state().visits.iter().sum::<u32>() > 0, "nothing was counted");
        bytes(&search)
    })
}

#[test]
fn threads_do_not_matter() {
    assert!(run(1) == run(3));
}

#[test]
fn stopping_and_resuming_does_not_matter() {
    let resumed = with_threads(2, || {
        let mut search = start();
        for _ in 0..ITERATIONS {
            search.iterate().unwrap();
            let state: State = postcard::from_bytes(&bytes(&search)).unwrap();
            let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
            let config = config(&env);
            search = Search::resume(env, config, Objective::True, 11, state).unwrap();
        }
        bytes(&search)
    });
    assert!(resumed == run(2));
}

#[test]
fn the_archive_fills_and_another_seed_gives_another_one() {
    let mut search = start();
    let report = search.iterate().unwrap();
    assert!(report.metrics.elites > 0 && report.new_cells == report.metrics.elites);
    let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
    let config = config(&env);
    let mut other = Search::new(env, config, Objective::True, 12).unwrap();
    other.iterate().unwrap();
    assert!(bytes(&search) != bytes(&other));
}

#[test]
fn a_state_of_another_search_is_refused() {
    let env = Arc::new(Environment::new("walker2d", Options::default()).unwrap());
    let config = config(&env);
    let state = start().state().clone();
    let Err(error) = Search::resume(env, config, Objective::True, 11, state) else { panic!("accepted") };
    assert!(error.to_string().contains("size of the policy"), "{error}");
}

#[test]
fn a_state_that_has_set_out_from_nowhere_is_refused() {
    let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
    let mut state = start().state().clone();
    state.outposts.push(usize::MAX);
    let Err(error) = Search::resume(env.clone(), config(&env), Objective::True, 11, state) else {
        panic!("accepted")
    };
    assert!(error.to_string().contains("cells from which it has set out"), "{error}");
}

#[test]
fn without_an_elite_to_start_from_a_restart_still_walks() {
    let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
    let mut config = config(&env);
    config.archive.threshold_min = 1e9;
    let mut search = Search::new(env, config, Objective::True, 11).unwrap();
    let before = search.state().agent.learner.policy.clone();
    let report = search.iterate().unwrap();
    assert_eq!((report.accepted, report.restarts), (0, 1));
    assert!(search.state().agent.learner.policy != before);
}

#[test]
fn a_search_that_comes_to_a_standstill_starts_elsewhere() {
    let restarts = |patience| {
        let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
        let mut config = SearchConfig { patience, ..config(&env) };
        // One cell, and solutions that hardly differ: after the first iteration there is nothing to be gained.
        config.archive.resolution = 1;
        config.archive.threshold_min = -1e9;
        let mut search = Search::new(env, config, Objective::True, 11).unwrap();
        (0..3).map(|_| search.iterate().unwrap()).last().unwrap().restarts
    };
    assert!(restarts(1) > restarts(0));
}

#[test]
fn a_restart_at_the_frontier_sets_out_from_its_elite() {
    let mut search = start();
    let set_out = (0..ITERATIONS).find(|_| {
        let before = search.state().outposts.len();
        search.iterate().unwrap();
        search.state().outposts.len() > before
    });
    assert!(set_out.is_some(), "no restart has led to the frontier");
    let State { outposts, archives, xnes, agent, .. } = search.state();
    let elite = archives.elite(*outposts.last().unwrap()).expect("an elite to set out from");
    assert_eq!(agent.learner.policy, elite.solution);
    // A hopper has one measure; at random its coefficient would be anything.
    assert_eq!(xnes.mean()[1].abs(), 2.0);
}

#[test]
fn waypoints_fill_cells_and_xnes_does_not_learn_from_them() {
    let after_one = |waypoints| {
        let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
        let mut config = SearchConfig { waypoints, ..config(&env) };
        config.archive.resolution = 50;
        let mut search = Search::new(env, config, Objective::True, 11).unwrap();
        assert_eq!(search.iterate().unwrap().restarts, 0);
        search
    };
    let (with, without) = (after_one(true), after_one(false));
    let (with, without) = (with.state(), without.state());
    let found_from = |state: &State, first| {
        state.archives.elites().filter(|elite| elite.entry.provenance.branch >= Some(first)).count()
    };
    // After seven branches come those of two copies, two windows each, then those of the walk.
    let found_by_waypoints = |state: &State| found_from(state, 7);
    assert!(found_from(with, 11) > 0);
    assert!(
        found_by_waypoints(with) > 0 && with.archives.elites().count() > without.archives.elites().count()
    );
    assert_eq!(found_by_waypoints(without), 0);
    // They are offered after the branches, so xNES has seen the same.
    assert_eq!(with.xnes, without.xnes);
}
