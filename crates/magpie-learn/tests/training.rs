//! Training and evaluation give the same bytes for any number of threads and after a resume, and learn.

use std::sync::Arc;

use magpie_envs::{Environment, Options};
use magpie_learn::{
    Actions, Agent, End, Learner, Networks, RolloutBuffer, StopAfter, TrainConfig, Trainer, TrainerState,
    UpdateError, UpdateStats, evaluate, record,
};
use magpie_nn::Shape;
use magpie_random::Draws;

fn setting(task: &str) -> (Arc<Environment>, Networks) {
    let env = Arc::new(Environment::new(task, Options::default()).unwrap());
    let (obs, act) = (env.observation_size(), env.action_size());
    // Two hidden layers, so that one is wide enough for every kernel.
    let networks = Networks {
        actor: Shape::tanh(&[obs, 24, 20, act]).unwrap(),
        critic: Shape::tanh(&[obs, 40, 24, 1]).unwrap(),
    };
    (env, networks)
}

fn trainer(task: &str, environments: u32) -> Trainer {
    trainer_with(task, environments, TrainConfig { target_kl: 1.0, ..TrainConfig::default() })
}

fn trainer_with(task: &str, environments: u32, config: TrainConfig) -> Trainer {
    let (env, networks) = setting(task);
    let config = TrainConfig { rollout_length: 16, minibatches: 4, epochs: 2, ..config };
    let agent = Agent::new(&networks, 5);
    Trainer::new(env, 0..environments, networks, agent, config, 5)
}

fn after(trainer: &mut Trainer, iterations: usize) -> TrainerState {
    for _ in 0..iterations {
        trainer.iterate(|_, _| {}).unwrap();
    }
    trainer.save()
}

#[test]
fn threads_change_nothing() {
    let [one, two, five] = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| after(&mut trainer("hopper", 200), 4))
    });
    assert_eq!(one, two);
    assert_eq!(one, five);
}

#[test]
fn stopping_changes_nothing() {
    let whole = after(&mut trainer("walker2d", 70), 6);
    let half = after(&mut trainer("walker2d", 70), 3);
    let mut resumed = trainer("walker2d", 70);
    resumed.restore(half).unwrap();
    assert_eq!(after(&mut resumed, 3), whole);
}

#[test]
fn learning_raises_the_return() {
    let mut trainer = trainer("hopper", 256);
    let mut returns = Vec::new();
    for _ in 0..40 {
        returns.extend(trainer.iterate(|_, _| {}).unwrap().episodes.mean_return());
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (early, late) = (mean(&returns[..5]), mean(&returns[returns.len() - 5..]));
    assert!(late > 2.0 * early, "{early} then {late}");
}

#[test]
fn an_update_that_has_gone_far_enough_ends_after_the_epoch_or_the_minibatch() {
    let [whole, epoch, minibatch] = [
        (1.0, StopAfter::Epoch),
        // Less than any step goes; only the first minibatch of all sees the policy where it was.
        (1e-6, StopAfter::Epoch),
        (1e-6, StopAfter::Minibatch),
    ]
    .map(|(target_kl, stop_after)| {
        let config = TrainConfig { target_kl, stop_after, ..TrainConfig::default() };
        let mut trainer = trainer_with("hopper", 20, config);
        let update = trainer.iterate(|_, _| {}).unwrap().update;
        (update.minibatches, update.rows)
    });
    assert_eq!(whole, (8, 2 * 20 * 16));
    assert_eq!(epoch, (4, 20 * 16));
    assert_eq!(minibatch, (2, 20 * 16 / 2));
}

#[test]
fn rewards_can_be_rewritten_and_must_be_finite() {
    let mut trainer = trainer("hopper", 20);
    let before = trainer.save().agent;
    let error = trainer.iterate(|window, _| window.rewards[7] = f32::NAN).unwrap_err();
    assert!(error.to_string().contains("row 7"), "{error}");
    assert_eq!(trainer.save().agent, before, "nothing was learned");
    trainer.iterate(|window, _| window.rewards.fill(0.0)).unwrap();
}

#[test]
fn a_window_costs_little_more_than_its_data() {
    let (environments, steps, obs, act, dims) = (3000, 128, 17, 6, 2);
    let window = RolloutBuffer::new(environments, steps, obs, act, dims);
    let floats = [
        &window.observations,
        &window.actions,
        &window.log_probs,
        &window.values,
        &window.rewards,
        &window.measures,
        &window.bootstrap,
        &window.advantages,
        &window.returns,
    ];
    let bytes = floats.iter().map(|table| 4 * table.capacity()).sum::<usize>() + window.ends.capacity();
    // What a transition is: observation, action, its probability, reward, value, measure, and one flag.
    let data = environments * steps * (4 * (obs + act + 3 + dims) + 1);
    assert!(bytes < 2 * data, "{bytes} for {data}");
}

#[test]
fn rows_of_an_environment_are_its_own() {
    let window = RolloutBuffer::new(150, 3, 1, 1, 1);
    let mut seen = vec![false; window.rows()];
    for environment in 0..150 {
        for row in window.rows_of(environment) {
            assert!(!std::mem::replace(&mut seen[row], true));
        }
    }
    assert!(seen.into_iter().all(|s| s));
}

/// Evaluating 40 episodes at once, with the unfinished ones moving together, against each episode alone.
#[test]
fn evaluation_does_not_depend_on_company() {
    let (env, networks) = setting("hopper");
    let policy = Agent::new(&networks, 3).policy();
    let together = &evaluate(&env, &networks, &[&policy], 40, Actions::Mean, 9)[0];
    assert!(together.lengths.iter().any(|&l| l != together.lengths[0]), "episodes end at different times");
    // Forty policies with one episode each are the same forty environments.
    let alone = evaluate(&env, &networks, &[&policy; 40], 1, Actions::Mean, 9);
    for (i, alone) in alone.iter().enumerate() {
        assert_eq!(alone.returns[0], together.returns[i], "episode {i}");
        assert_eq!(alone.lengths[0], together.lengths[i], "episode {i}");
        assert_eq!(alone.measures[0], together.measures[i], "episode {i}");
    }
}

#[test]
fn evaluation_repeats_itself() {
    let (env, networks) = setting("walker2d");
    let policies: Vec<_> = (0..5).map(|seed| Agent::new(&networks, seed).policy()).collect();
    let policies: Vec<_> = policies.iter().collect();
    let [a, b] = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| evaluate(&env, &networks, &policies, 20, Actions::Sampled, 1))
    });
    assert_eq!(a, b);
    assert_ne!(a[0].returns, a[1].returns);
}

#[test]
fn what_comes_after_a_step_is_what_the_next_one_starts_from() {
    let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
    let networks = Networks::paper(env.observation_size(), env.action_size()).unwrap();
    let config = TrainConfig { rollout_length: 40, ..TrainConfig::default() };
    let agent = Agent::new(&networks, 1);
    let mut trainer = Trainer::new(Arc::clone(&env), 0..70, networks, agent, config, 1);
    trainer.keep_transitions(true);
    trainer.observe();
    let (window, obs) = (trainer.rollout(), env.observation_size());
    let kept = &window.transitions;
    let row = |table: &[f32], row: usize| table[row * obs..][..obs].to_vec();
    let (mut within, mut across) = (0, 0);
    for environment in 0..70 {
        let rows: Vec<usize> = window.rows_of(environment).collect();
        for pair in rows.windows(2) {
            let same = row(&kept.next_observations, pair[0]) == row(&kept.observations, pair[1]);
            // A fallen hopper's last observation is not the first one of the next episode.
            let ended = window.ends[pair[0]] != End::Continues;
            assert_ne!(same, ended, "environment {environment}");
            assert_eq!(kept.ages[pair[1]], if ended { 1 } else { kept.ages[pair[0]] + 1 });
            if ended { across += 1 } else { within += 1 }
        }
    }
    assert!(within > 1000 && across > 10, "{within} steps within episodes, {across} ends");
}

#[test]
fn a_policy_finds_its_own_actions_as_likely_as_when_it_drew_them() {
    let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
    let networks = Networks::paper(env.observation_size(), env.action_size()).unwrap();
    let config = TrainConfig { rollout_length: 3, ..TrainConfig::default() };
    let agent = Agent::new(&networks, 1);
    // 3 · 43 rows: two blocks and a row.
    let mut trainer = Trainer::new(Arc::clone(&env), 0..43, networks.clone(), agent.clone(), config, 1);
    trainer.keep_transitions(false);
    trainer.observe();
    let window = trainer.rollout();
    for rows in [1, 48, 64, 129] {
        let observations = &window.transitions.observations[..rows * env.observation_size()];
        let actions = &window.actions[..rows * env.action_size()];
        let got = agent.policy().log_probs(&networks, observations, actions);
        assert_eq!(got.len(), rows);
        for (row, (got, want)) in got.iter().zip(&window.log_probs).enumerate() {
            assert!((got - want).abs() < 1e-3, "row {row} of {rows}: {got} and not {want}");
        }
    }
}

#[test]
fn a_recording_is_the_episode_that_evaluation_sees() {
    let (env, networks) = setting("walker2d");
    let mut agents = [5, 6, 7].map(|seed| Agent::new(&networks, seed));
    // So wild that actions have to be limited.
    agents[1].weights.policy[networks.actor.parameters()..].fill(1.0);
    let policies = agents.map(|agent| agent.policy());
    let policies: Vec<_> = policies.iter().collect();
    for actions in [Actions::Sampled, Actions::Mean] {
        let evaluations = evaluate(&env, &networks, &policies, 1, actions, 3);
        let mut limited = false;
        for (i, (policy, evaluation)) in policies.iter().zip(&evaluations).enumerate() {
            let episode = i as u32;
            let recording = &record(&env, &networks, policy, episode..episode + 1, actions, 3)[0];
            let length = recording.length();
            assert_eq!([length as u32], evaluation.lengths[..]);
            assert_eq!([recording.true_return()], evaluation.returns[..]);
            assert_eq!(recording.terminated, length < 1000);
            assert_eq!(recording.observations.len(), length * env.observation_size());
            assert_eq!(recording.measures.len(), length * env.measure_size());
            assert_eq!(recording.final_observation.len(), env.observation_size());
            assert_eq!(recording.mean_measures(), evaluation.measures[0]);
            assert!(recording.actions.iter().all(|a| a.abs() <= 1.0));
            limited |= recording.actions.contains(&1.0);
        }
        assert_eq!(actions == Actions::Sampled, limited);
        let together = record(&env, &networks, policies[1], 0..3, actions, 3);
        assert_eq!(together[1..], record(&env, &networks, policies[1], 1..3, actions, 3));
    }
}

#[test]
fn replaying_the_actions_of_a_recording_gives_its_observations() {
    let (env, networks) = setting("hopper");
    let policy = Agent::new(&networks, 5).policy();
    let recording = record(&env, &networks, &policy, 0..1, Actions::Sampled, 8).remove(0);
    let mut batch = magpie_envs::Batch::new(Arc::clone(&env), 0..1, 8);
    let mut rows = batch.rows();
    batch.reset(&mut rows);
    let before = recording.observations.chunks(env.observation_size());
    for (observation, action) in before.zip(recording.actions.chunks(env.action_size())) {
        assert_eq!(rows.observation, observation);
        batch.step(action, &mut rows);
    }
    assert!(rows.terminated[0]);
    assert_eq!(rows.final_observation, recording.final_observation);
}

/// Moves the policy's biases by the mean reward: enough to see that it was asked, and with what.
#[derive(Debug)]
struct Nudge;

impl Learner for Nudge {
    fn learn(
        &mut self,
        agent: &mut Agent,
        rollout: &mut RolloutBuffer,
        _draws: &mut Draws,
    ) -> Result<UpdateStats, UpdateError> {
        let mean = rollout.rewards.iter().sum::<f32>() / rollout.rows() as f32;
        agent.weights.policy.iter_mut().for_each(|p| *p += 0.001 * mean);
        Ok(UpdateStats { rows: rollout.rows(), ..UpdateStats::default() })
    }
}

#[test]
fn another_learner_is_a_type_with_the_trait() {
    let mut nudged = trainer("hopper", 20).with_learner(Box::new(Nudge));
    let before = nudged.agent.weights.policy[0];
    let update = nudged.iterate(|rollout, _| rollout.rewards.fill(2.0)).unwrap().update;
    assert_eq!(update.rows, 20 * 16);
    assert!((nudged.agent.weights.policy[0] - before - 0.002).abs() < 1e-6);
}
