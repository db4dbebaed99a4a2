//! The same seed gives the same bytes, for any number of threads and after a resume.

use std::sync::Arc;

use magpie_envs::{Environment, Options};
use magpie_search::{
    EmitterName, Novelty, Objective, Parts, PpgaState, Restarts, Scheduler, Scope, SearchConfig, SearchError,
    State, Turns, Walk,
};

const ITERATIONS: usize = 5;

fn config(env: &Environment) -> SearchConfig {
    let mut config = SearchConfig {
        environments: 70,
        branches: 7,
        intermediate_policies: true,
        measure_shaping: true,
        critic: 64,
        gradient_iterations: 2,
        walk_iterations: 2,
        // Low patience, to test whether restarts are repeated too.
        patience: 1,
        ..SearchConfig::paper(env)
    };
    config.train.rollout_length = 32;
    config.curiosity.weight = 1.0;
    config.curiosity.scope = Scope::Episode;
    // A bonus that has its own state.
    config.curiosity.novelty = Novelty::Visits;
    // Restarts then use more than a random number.
    config.restarts = Restarts::Frontier;
    // A hopper that falls at once is accepted too, and there are so few cells that they are soon occupied.
    config.archive.threshold_min = 0.0;
    config.archive.resolution = 8;
    config
}

fn parts(change: impl FnOnce(&mut SearchConfig)) -> Parts {
    let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
    let mut config = config(&env);
    change(&mut config);
    Parts::new(env, config, Objective::True, 11)
}

fn start() -> Scheduler {
    Scheduler::start(parts(|_| {})).unwrap()
}

fn ppga(search: &Scheduler) -> PpgaState {
    PpgaState::from_record(&search.state().emitters[0].state).unwrap()
}

fn bytes(search: &Scheduler) -> Vec<u8> {
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
        assert!(ppga(&search).restarts > 0, "there was no restart");
        assert!(!ppga(&search).restart_targets.is_empty(), "no restart has led to the frontier");
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
            search = Scheduler::resume(parts(|_| {}), state).unwrap();
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
    let mut other = Scheduler::start(Parts { seed: 12, ..parts(|_| {}) }).unwrap();
    other.iterate().unwrap();
    assert!(bytes(&search) != bytes(&other));
}

#[test]
fn a_state_of_another_search_is_refused() {
    let env = Arc::new(Environment::new("walker2d", Options::default()).unwrap());
    let config = config(&env);
    let refused = |parts: Parts, what: &str| {
        let Err(error) = Scheduler::resume(parts, start().state().clone()) else { panic!("accepted") };
        assert!(error.to_string().contains(what), "{error}");
    };
    refused(Parts::new(env, config, Objective::True, 11), "cells of the archive");
    refused(parts(|config| config.actor = 8), "size of the policy");
}

#[test]
fn a_state_that_restarted_at_no_cell_is_refused() {
    let mut state = start().state().clone();
    let mut ppga = PpgaState::from_record(&state.emitters[0].state).unwrap();
    ppga.restart_targets.push(usize::MAX);
    state.emitters[0].state = postcard::to_stdvec(&ppga).unwrap();
    let Err(error) = Scheduler::resume(parts(|_| {}), state) else { panic!("accepted") };
    assert!(error.to_string().contains("cells at which it has restarted"), "{error}");
}

#[test]
fn a_state_with_other_emitters_is_refused() {
    let state = start().state().clone();
    let two = parts(|config| config.emitters.push(EmitterName::IsoLine));
    assert_eq!(Scheduler::resume(two, state).err(), Some(SearchError::Foreign("emitters")));
}

#[test]
fn without_an_elite_to_start_from_a_restart_still_walks() {
    let mut search = Scheduler::start(parts(|config| config.archive.threshold_min = 1e9)).unwrap();
    let before = ppga(&search).agent.weights.policy;
    let report = search.iterate().unwrap();
    assert_eq!((report.ppgas().next().unwrap().accepted, report.restarts()), (0, 1));
    assert!(ppga(&search).agent.weights.policy != before);
}

#[test]
fn a_search_that_comes_to_a_standstill_starts_elsewhere() {
    let restarts = |patience| {
        let parts = parts(|config| {
            config.patience = patience;
            // One cell, and solutions that hardly differ: after the first iteration there is nothing to gain.
            config.archive.resolution = 1;
            config.archive.threshold_min = -1e9;
        });
        let mut search = Scheduler::start(parts).unwrap();
        (0..3).map(|_| search.iterate().unwrap()).last().unwrap().restarts()
    };
    assert!(restarts(1) > restarts(0));
}

#[test]
fn a_restart_at_the_frontier_sets_out_from_its_elite() {
    let mut search = start();
    let set_out = (0..ITERATIONS).find(|_| {
        let before = ppga(&search).restart_targets.len();
        search.iterate().unwrap();
        ppga(&search).restart_targets.len() > before
    });
    assert!(set_out.is_some(), "no restart has led to the frontier");
    let PpgaState { restart_targets, xnes, agent, .. } = ppga(&search);
    let archives = &search.state().archives;
    let elite = archives.elite(*restart_targets.last().unwrap()).expect("an elite to restart from");
    assert_eq!(agent.weights.policy, elite.solution);
    // A hopper has one measure; at random its coefficient could have any value.
    assert_eq!(xnes.mean()[1].abs(), 2.0);
}

#[test]
fn intermediate_policies_fill_cells_and_xnes_does_not_learn_from_them() {
    let after_one = |intermediate_policies| {
        let parts = parts(|config| {
            config.intermediate_policies = intermediate_policies;
            config.archive.resolution = 50;
        });
        let mut search = Scheduler::start(parts).unwrap();
        assert_eq!(search.iterate().unwrap().restarts(), 0);
        search
    };
    let (with, without) = (after_one(true), after_one(false));
    let xnes = [&with, &without].map(|search| ppga(search).xnes);
    let (with, without) = (with.state(), without.state());
    let found_from = |state: &State, first| {
        state.archives.elites().filter(|elite| elite.entry.provenance.branch >= Some(first)).count()
    };
    // After seven branches come those of two copies, two rollouts each, then those of the walk.
    let found_by_intermediate_policies = |state: &State| found_from(state, 7);
    assert!(found_from(with, 11) > 0);
    assert!(
        found_by_intermediate_policies(with) > 0
            && with.archives.elites().count() > without.archives.elites().count()
    );
    assert_eq!(found_by_intermediate_policies(without), 0);
    // They are offered after the branches, so that xNES learns the same.
    assert_eq!(xnes[0], xnes[1]);
}

/// Two emitters of one kind, one of another kind, other actions and other cells, with all that re-evaluation does.
fn crowd() -> Parts {
    parts(|config| {
        config.emitters = vec![EmitterName::Ppga, EmitterName::IsoLine, EmitterName::Ppga];
        config.emitter.iso_line.children = 9;
        config.actions = magpie_learn::Actions::Mean;
        config.archive.kind = magpie_search::ArchiveKind::Cvt;
        config.archive.cells = 20;
        (config.archive.depth, config.archive.caution, config.reevaluations) = (2, 1.0, 9);
        config.actor = 32;
        config.curiosity.novelty = Novelty::Density;
    })
}

#[test]
fn several_emitters_run_side_by_side_and_resume_exactly() {
    let straight = with_threads(1, || {
        let mut search = Scheduler::start(crowd()).unwrap();
        for _ in 0..ITERATIONS {
            let report = search.iterate().unwrap();
            let proposed: Vec<usize> = report.emitters.iter().map(|emitter| emitter.proposed).collect();
            // Branches, copies and walk of each PPGA; nothing after a restart.
            assert!(proposed[0] >= 11 && proposed[1] == 9 && proposed[2] >= 11, "{proposed:?}");
        }
        let [one, _, two] = &search.state().emitters[..] else { panic!("three emitters") };
        assert!(one.state != two.state, "two emitters of one kind did the same");
        bytes(&search)
    });
    let resumed = with_threads(3, || {
        let mut search = Scheduler::start(crowd()).unwrap();
        for _ in 0..ITERATIONS {
            search.iterate().unwrap();
            let state: State = postcard::from_bytes(&bytes(&search)).unwrap();
            search = Scheduler::resume(crowd(), state).unwrap();
        }
        bytes(&search)
    });
    assert!(straight == resumed);
}

/// Three search policies, one of which climbs, with all that a search policy can do differently.
fn team(turns: Turns) -> Parts {
    parts(|config| {
        (config.policies, config.climbers, config.turns) = (3, 1, turns);
        (config.restarts, config.min_walks, config.patience_growth) = (Restarts::Alternate, 1, 0.5);
        config.objective_floor = 0.5;
        config.curiosity.weighted = false;
    })
}

#[test]
fn search_policies_take_turns_at_the_cost_of_one_and_resume_exactly() {
    for turns in [Turns::Cycle, Turns::Growth] {
        let straight = with_threads(1, || {
            let mut search = Scheduler::start(team(turns)).unwrap();
            for _ in 0..2 * ITERATIONS {
                let report = search.iterate().unwrap();
                let [emitter] = &report.emitters[..] else { panic!("one emitter") };
                // Branches and copies, and the walk unless there was a restart.
                assert!([11, 13].contains(&emitter.proposed), "{}", emitter.proposed);
                // The climber, which is the last, does not see the measures.
                let walked = emitter.ppga.as_ref().unwrap().walk_coefficients == [1.0, 0.0];
                assert!(turns != Turns::Cycle || walked == report.iteration.is_multiple_of(3), "{report:?}");
            }
            bytes(&search)
        });
        let resumed = with_threads(3, || {
            let mut search = Scheduler::start(team(turns)).unwrap();
            for _ in 0..2 * ITERATIONS {
                search.iterate().unwrap();
                let state: State = postcard::from_bytes(&bytes(&search)).unwrap();
                search = Scheduler::resume(team(turns), state).unwrap();
            }
            bytes(&search)
        });
        assert!(straight == resumed, "{turns}");
    }
    let state = Scheduler::start(team(Turns::Cycle)).unwrap().state().clone();
    let mut four = team(Turns::Cycle);
    four.config.policies = 4;
    assert_eq!(Scheduler::resume(four, state).err(), Some(SearchError::Foreign("number of search policies")));
    let mut many = team(Turns::Cycle);
    many.config.climbers = 4;
    let error = Scheduler::start(many).err().unwrap().to_string();
    assert!(error.starts_with("climbers is 4, but must be from 0 to 3"), "{error}");
}

#[test]
fn a_walk_on_the_objective_leaves_the_measures_out() {
    let coefficients = |walk| {
        let mut search = Scheduler::start(parts(|config| config.walk = walk)).unwrap();
        search.iterate().unwrap().ppgas().next().unwrap().walk_coefficients.clone()
    };
    assert_eq!(coefficients(Walk::Objective), [1.0, 0.0]);
    assert!(coefficients(Walk::Mixture)[1] != 0.0);
}

#[test]
fn iso_line_alone_fills_an_empty_archive() {
    let alone = parts(|config| {
        config.emitters = vec![EmitterName::IsoLine];
        config.emitter.iso_line.children = 40;
        config.archive.resolution = 50;
    });
    let mut search = Scheduler::start(alone).unwrap();
    let elites: Vec<usize> = (0..4).map(|_| search.iterate().unwrap().metrics.elites).collect();
    assert!(elites[0] > 0 && elites[3] > elites[0], "{elites:?}");
}
