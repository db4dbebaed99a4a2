//! A search in worlds of another simulator.

#[path = "../../magpie-envs/tests/point_mass/mod.rs"]
mod point_mass;

use magpie_search::{Objective, Parts, Scheduler, SearchConfig};
use point_mass::EPISODE;

#[test]
fn points_that_go_many_ways_are_found() {
    let env = point_mass::environment();
    let mut config = SearchConfig {
        environments: 30,
        branches: 20,
        episodes: 1,
        gradient_iterations: 2,
        walk_iterations: 2,
        critic: 32,
        ..SearchConfig::paper(&env)
    };
    config.train.rollout_length = 16;
    config.archive.threshold_min = -10.0;
    config.archive.resolution = 10;
    let mut search = Scheduler::start(Parts::new(env, config, Objective::True, 3)).unwrap();
    for _ in 0..3 {
        search.iterate().unwrap();
    }
    let elites: Vec<_> = search.state().archives.elites().collect();
    assert!(elites.len() > 3, "{} places", elites.len());
    assert!(elites.iter().all(|elite| elite.entry.objective <= 0.1 * f64::from(EPISODE) + 1e-3));
}
