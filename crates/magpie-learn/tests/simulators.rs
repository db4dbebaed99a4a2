//! Learning and evaluation in worlds of another simulator.

#[path = "../../magpie-envs/tests/point_mass/mod.rs"]
mod point_mass;

use std::sync::Arc;

use magpie_learn::{Actions, Agent, Networks, TrainConfig, Trainer, evaluate, record};
use magpie_nn::Shape;
use point_mass::EPISODE;

#[test]
fn a_point_learns_to_go_along_x() {
    let env = point_mass::environment();
    let networks = Networks {
        actor: Shape::tanh(&[2, 16, 16, 2]).unwrap(),
        critic: Shape::tanh(&[2, 32, 16, 1]).unwrap(),
    };
    let mut config = TrainConfig {
        rollout_length: 16,
        minibatches: 4,
        epochs: 4,
        target_kl: 1.0,
        ..TrainConfig::default()
    };
    config.ppo.adam.learning_rate = 3e-3;
    let start = || {
        let agent = Agent::new(&networks, 5);
        Trainer::new(Arc::clone(&env), 0..100, networks.clone(), agent, config.clone(), 5)
    };
    let iterate = |trainer: &mut Trainer, times| {
        (0..times).for_each(|_| assert!(trainer.iterate(|_, _| {}).is_ok()));
        trainer.save()
    };
    let mut trainer = start();
    let half = iterate(&mut trainer, 20);
    let whole = iterate(&mut trainer, 20);
    let mut resumed = start();
    resumed.restore(half).unwrap();
    assert_eq!(iterate(&mut resumed, 20), whole);

    let (beginner, learned) = (Agent::new(&networks, 5).policy(), trainer.agent.policy());
    let results = evaluate(&env, &networks, &[&beginner, &learned], 20, Actions::Mean, 1);
    let [before, after] = [&results[0], &results[1]].map(|result| result.mean_return());
    assert!(before.abs() < 0.5 && after > 1.5, "{before} {after}");
    // Half of the way from the centre to the edge, for which it is rewarded.
    assert!(results[1].mean_measures()[0] > 0.7, "{:?}", results[1].mean_measures());
    assert!(results.iter().flat_map(|result| &result.lengths).all(|&length| length <= EPISODE));

    let recordings = record(&env, &networks, &learned, 0..1, Actions::Mean, 1);
    let alone = &evaluate(&env, &networks, &[&learned], 1, Actions::Mean, 1)[0];
    assert_eq!(recordings[0].true_return(), alone.returns[0]);
}
