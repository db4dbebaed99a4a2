//! Recording episodes of a policy, step by step, as in a demonstration.

use std::ops::Range;
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

    /// Mean over the steps of each dimension of the measure.
    pub fn mean_measures(&self) -> Vec<f64> {
        let (steps, dims) = (self.length(), self.measures.len() / self.length().max(1));
        let sum = |d: usize| self.measures.iter().skip(d).step_by(dims).map(|&m| f64::from(m)).sum::<f64>();
        (0..dims).map(|d| sum(d) / steps as f64).collect()
    }
}

/// Runs and records full episodes of a policy. Episode i uses environment i under `seed`, whichever others are recorded
/// with it.
pub fn record(
    env: &Arc<Environment>,
    networks: &Networks,
    policy: &Policy,
    episodes: Range<u32>,
    actions: Actions,
    seed: u64,
) -> Vec<Recording> {
    let episode = |who: u32| record_watched(env, networks, policy, who, actions, seed, &mut |_, _| true);
    episodes.into_par_iter().map(episode).collect()
}

/// Records one episode, the same as [`record`], and shows `watch` the world before each step: the number of the step and
/// the chunk, whose only environment it may change. The episode stops where `watch` says `false`.
pub fn record_watched(
    env: &Arc<Environment>,
    networks: &Networks,
    policy: &Policy,
    episode: u32,
    actions: Actions,
    seed: u64,
    watch: &mut dyn FnMut(usize, &mut Chunk) -> bool,
) -> Recording {
    let isa = Isa::best();
    let batch = Batch::with_isa(Arc::clone(env), episode..episode + 1, seed, isa);
    let mut runner = PolicyRunner::new(networks, policy, isa, actions, seed);
    let mut recording = Recording::default();
    for mut chunk in batch.into_chunks() {
        run_episode(&mut runner, &mut chunk, &mut recording, watch);
    }
    recording
}

fn run_episode(
    runner: &mut PolicyRunner,
    chunk: &mut Chunk,
    recording: &mut Recording,
    watch: &mut dyn FnMut(usize, &mut Chunk) -> bool,
) {
    fn lane(packs: &[Pack]) -> impl Iterator<Item = f32> {
        packs.iter().map(|pack| pack.0[0])
    }
    chunk.reset();
    loop {
        recording.observations.extend(lane(&chunk.groups()[0].observation));
        let actions = runner.act(chunk, 1);
        if !watch(recording.length(), chunk) {
            recording.final_observation = recording
                .observations
                .split_off(recording.observations.len() - chunk.groups()[0].observation.len());
            return;
        }
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
