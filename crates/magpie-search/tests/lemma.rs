//! The paper's lemma: with the indicator of empty cells as the only reward, PPO raises the share of episodes that fall
//! in empty cells.

use std::sync::Arc;

use magpie_envs::{Environment, Options};
use magpie_learn::{Actions, Agent, Networks, TrainConfig, Trainer, evaluate};
use magpie_search::{Curiosity, EpisodeAccumulator, Scope, pay_episodes};

/// Share of a policy's full episodes whose mean measures lie in an empty cell.
fn share(
    env: &Arc<Environment>,
    networks: &Networks,
    agent: &Agent,
    is_empty: impl Fn(&[f64]) -> bool,
) -> f64 {
    let result = &evaluate(env, networks, &[&agent.policy()], 256, Actions::Sampled, 7)[0];
    result.measures.iter().filter(|m| is_empty(m)).count() as f64 / 256.0
}

#[test]
fn the_indicator_alone_leads_ppo_to_empty_cells() {
    let env = Arc::new(Environment::new("hopper", Options::default()).unwrap());
    let networks = Networks::paper(env.observation_size(), env.action_size()).unwrap();
    let agent = Agent::new(&networks, 3);
    // The measures of an untrained policy's episodes spread over the share of steps with the foot on the ground. The
    // half with more ground contact is occupied except for its edge, so that there is something to find and much to
    // gain.
    let beginner = &evaluate(&env, &networks, &[&agent.policy()], 256, Actions::Sampled, 8)[0];
    let mut contacts: Vec<f64> = beginner.measures.iter().map(|m| m[0]).collect();
    contacts.sort_by(f64::total_cmp);
    let border = contacts[25];
    let is_empty = |m: &[f64]| m[0] < border;
    let before = share(&env, &networks, &agent, is_empty);

    for scope in [Scope::Episode, Scope::Segment] {
        let environments = 128;
        let config = TrainConfig { rollout_length: 64, ..TrainConfig::default() };
        let mut trainer =
            Trainer::new(Arc::clone(&env), 0..environments, networks.clone(), agent.clone(), config, 5);
        let curiosity = Curiosity { weight: 1.0, scope, ..Curiosity::default() };
        let mut memory = EpisodeAccumulator::new(environments as usize, 1);
        for _ in 0..15 {
            trainer
                .iterate(|rollout, _| {
                    rollout.rewards.fill(0.0);
                    pay_episodes(&curiosity, rollout, &mut memory, |mean| {
                        f64::from(u8::from(is_empty(mean)))
                    });
                })
                .unwrap();
        }
        let after = share(&env, &networks, &trainer.agent, is_empty);
        assert!(before < 0.2 && after > 2.0 * before && after > 0.3, "{scope:?}: from {before} to {after}");
    }
}
