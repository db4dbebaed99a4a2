//! One episode of a policy, step by step: what a demonstration is made of.

use std::sync::Arc;

use magpie_envs::{Batch, Chunk, Environment};
use magpie_simd::{Isa, Pack};
use rayon::prelude::*;

use crate::agent::{Networks, Policy};
use crate::player::{Actions, Player};

/// An episode, as tables with one row a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// Raw observations on which the actions were chosen.
    pub observations: Vec<f32>,
    /// Actions as the environment took them, limited to ±1.
    pub actions: Vec<f32>,
    /// What was observed after the last step.
    pub final_observation: Vec<f32>,
    /// True rewards.
    pub rewards: Vec<f32>,
    /// Measures of the steps.
    pub measures: Vec<f32>,
    /// Whether the episode ended by itself; if not, it was cut off.
    pub terminated: bool,
}

impl Recording {
    /// Steps.
    pub fn length(&self) -> usize {
        self.rewards.len()
    }

    /// Sum of the true rewards.
    pub fn true_return(&self) -> f64 {
        self.rewards.iter().map(|&r| f64::from(r)).sum()
    }
}

/// Runs one episode of each policy to its end and writes down everything. The episode of policy i is environment i
/// under `seed`, and so the one that [`evaluate`](crate::evaluate) runs when asked for one.
pub fn record(
    env: &Arc<Environment>,
    networks: &Networks,
    policies: &[&Policy],
    actions: Actions,
    seed: u64,
) -> Vec<Recording> {
    let isa = Isa::best();
    let episode = |(i, policy): (usize, &&Policy)| {
        let who = i as u32;
        let batch = Batch::with_isa(Arc::clone(env), who..who + 1, seed, isa);
        let mut player = Player::new(networks, policy, isa, actions, seed);
        let mut recording = Recording::default();
        for mut chunk in batch.into_chunks() {
            play(&mut player, &mut chunk, &mut recording);
        }
        recording
    };
    policies.par_iter().enumerate().map(episode).collect()
}

fn play(player: &mut Player, chunk: &mut Chunk, recording: &mut Recording) {
    fn lane(packs: &[Pack]) -> impl Iterator<Item = f32> {
        packs.iter().map(|pack| pack.0[0])
    }
    chunk.reset();
    loop {
        recording.observations.extend(lane(&chunk.groups()[0].observation));
        let actions = player.act(chunk, 1);
        recording.actions.extend(lane(actions).map(|a| a.clamp(-1.0, 1.0)));
        chunk.step_without_reset(1, actions);
        let group = &chunk.groups()[0];
        recording.rewards.push(group.reward.0[0]);
        recording.measures.extend(lane(&group.measure));
        if group.done() & 1 == 1 {
            recording.terminated = group.terminated & 1 == 1;
            recording.final_observation.extend(lane(&group.observation));
            return;
        }
    }
}
