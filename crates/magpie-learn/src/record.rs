//! Recording one episode of a policy, step by step, as in a demonstration.

use std::sync::Arc;

use magpie_envs::{Batch, Chunk, Environment};
use magpie_simd::{Isa, Pack};
use rayon::prelude::*;

use crate::agent::{Networks, Policy};
use crate::policy_runner::{Actions, PolicyRunner};

/// An episode, as tables with one row per step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// Raw observations from which the actions were chosen.
    pub observations: Vec<f32>,
    /// Actions as the environment received them, clipped to ±1.
    pub actions: Vec<f32>,
    /// The observation after the last step.
    pub final_observation: Vec<f32>,
    /// True rewards.
    pub rewards: Vec<f32>,
    /// Measures of the steps.
    pub measures: Vec<f32>,
    /// Whether the episode terminated; otherwise it was truncated.
    pub terminated: bool,
}

impl Recording {
    /// The number of steps.
    pub fn length(&self) -> usize {
        self.rewards.len()
    }

    /// Sum of the true rewards.
    pub fn true_return(&self) -> f64 {
        self.rewards.iter().map(|&r| f64::from(r)).sum()
    }
}

/// Runs and records one full episode of each policy. The episode of policy i uses environment i under `seed`, so that
/// it is the one [`evaluate`](crate::evaluate) runs when asked for one episode.
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
        let mut runner = PolicyRunner::new(networks, policy, isa, actions, seed);
        let mut recording = Recording::default();
        for mut chunk in batch.into_chunks() {
            run_episode(&mut runner, &mut chunk, &mut recording);
        }
        recording
    };
    policies.par_iter().enumerate().map(episode).collect()
}

fn run_episode(runner: &mut PolicyRunner, chunk: &mut Chunk, recording: &mut Recording) {
    fn lane(packs: &[Pack]) -> impl Iterator<Item = f32> {
        packs.iter().map(|pack| pack.0[0])
    }
    chunk.reset();
    loop {
        recording.observations.extend(lane(&chunk.groups()[0].observation));
        let actions = runner.act(chunk, 1);
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
