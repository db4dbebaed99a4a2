//! Runs in worlds that are not magpie's own.

#[path = "../../magpie-envs/tests/point_mass/mod.rs"]
mod point_mass;

use std::ops::ControlFlow;
use std::sync::Arc;

use magpie_learn::Actions;
use magpie_rewards::ModelName;
use magpie_run::load_archive;
use magpie_run::operations::{EvaluateOptions, OpenArchive, Selection, evaluate_archive_in};
use magpie_run::train::{Budget, Config, OwnParts, TrainRun};
use magpie_settings::Method;

#[test]
fn a_search_runs_and_resumes_in_another_simulator() {
    let env = point_mass::environment();
    let mut config = Config::for_environment(&env, ModelName::True, Method::Magpie, Budget::Quick);
    (config.iterations, config.search.environments, config.search.branches) = (2, 48, 10);
    (config.search.actor, config.search.critic, config.search.actions) = (8, 8, Actions::Mean);
    (config.search.episodes, config.search.gradient_iterations, config.search.walk_iterations) = (2, 2, 2);
    let folder = tempfile::tempdir().unwrap();
    let [whole, halves] = ["whole", "halves"].map(|name| folder.path().join(name));
    let start = |config: &Config, path| {
        let own = OwnParts::default();
        TrainRun::start_in(Arc::clone(&env), own, config.clone(), path, &mut |_| ControlFlow::Continue(()))
            .unwrap()
    };
    let finish = |mut run: TrainRun| {
        while !run.is_finished() {
            run.iterate().unwrap();
        }
    };
    finish(start(&config, &whole));
    finish(start(&Config { iterations: 1, ..config.clone() }, &halves));
    finish(TrainRun::resume_in(Arc::clone(&env), OwnParts::default(), &halves, Some(2)).unwrap());
    let [whole, halves] =
        [whole, halves].map(|path| load_archive(&path.join("archive.safetensors")).unwrap());
    assert!(whole.elites.len() > 10, "{}", whole.elites.len());
    assert_eq!(whole, halves);
    let open = OpenArchive::open(&folder.path().join("whole")).unwrap();
    let options = EvaluateOptions { episodes: 2, actions: None, seed: 0, world: None };
    let evaluation = evaluate_archive_in(Arc::clone(&env), &open, Selection::All, &options).unwrap();
    assert_eq!(evaluation.elites.len(), whole.elites.len());
    // They say how they acted.
    assert_eq!(whole.about.actions, Actions::Mean);
    assert_eq!((whole.about.task.as_str(), whole.about.measure.as_str()), ("point_mass", "place"));
}
