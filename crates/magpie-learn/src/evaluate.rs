//! Full episodes of many policies.

use std::sync::Arc;

use magpie_envs::{Batch, Chunk, Environment, LaneSet, members};
use magpie_simd::{Isa, LANES};
use rayon::prelude::*;

use crate::agent::{Networks, Policy};
use crate::policy_runner::{Actions, PolicyRunner};

/// The episodes of one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Return of each episode.
    pub returns: Vec<f64>,
    /// Length of each episode.
    pub lengths: Vec<u32>,
    /// Measures of each episode, averaged over its steps.
    pub measures: Vec<Vec<f64>>,
}

impl Evaluation {
    /// Mean return.
    pub fn mean_return(&self) -> f64 {
        self.returns.iter().sum::<f64>() / self.returns.len() as f64
    }

    /// Mean length.
    pub fn mean_length(&self) -> f64 {
        self.lengths.iter().map(|&l| f64::from(l)).sum::<f64>() / self.lengths.len() as f64
    }

    /// The number of episodes.
    pub fn episodes(&self) -> u32 {
        self.returns.len() as u32
    }

    /// Environment steps of all episodes.
    pub fn steps(&self) -> u64 {
        self.lengths.iter().map(|&length| u64::from(length)).sum()
    }

    /// Sums of squared deviations from the mean: of the return, then of each measure.
    pub fn squared_deviations(&self) -> Vec<f64> {
        let sum = |mean: f64, of: &dyn Fn(usize) -> f64| -> f64 {
            (0..self.returns.len()).map(|episode| (of(episode) - mean).powi(2)).sum()
        };
        let returns = sum(self.mean_return(), &|episode| self.returns[episode]);
        let measures = self.mean_measures().into_iter().enumerate();
        let measures = measures.map(|(j, mean)| sum(mean, &|episode| self.measures[episode][j]));
        std::iter::once(returns).chain(measures).collect()
    }

    /// Measures, averaged over episodes.
    pub fn mean_measures(&self) -> Vec<f64> {
        let dims = self.measures.first().map_or(0, Vec::len);
        let count = self.measures.len() as f64;
        (0..dims).map(|d| self.measures.iter().map(|m| m[d]).sum::<f64>() / count).collect()
    }
}

/// The number of episodes that a policy makes in about the time of `episodes`: a group of lanes takes as long whether all of
/// them are used or not.
pub fn full_lanes(episodes: u32) -> u32 {
    episodes.next_multiple_of(LANES as u32)
}

/// Runs `episodes` full episodes of each policy. Policies are distributed over the cores; policy i runs in environments
/// `i * episodes..` under `seed`, so that the result does not depend on anything else.
pub fn evaluate(
    env: &Arc<Environment>,
    networks: &Networks,
    policies: &[&Policy],
    episodes: u32,
    actions: Actions,
    seed: u64,
) -> Vec<Evaluation> {
    evaluate_part(env, networks, policies, 0, episodes, actions, seed)
}

/// Evaluates some of many policies: the first of `policies` is the `number`-th of all, and does what it does when all are
/// evaluated at once.
pub fn evaluate_part(
    env: &Arc<Environment>,
    networks: &Networks,
    policies: &[&Policy],
    number: u32,
    episodes: u32,
    actions: Actions,
    seed: u64,
) -> Vec<Evaluation> {
    let isa = Isa::best();
    (0..policies.len())
        .into_par_iter()
        .map(|i| {
            let first = (number + i as u32) * episodes;
            let batch = Batch::with_isa(Arc::clone(env), first..first + episodes, seed, isa);
            // A policy whose episodes fill several chunks uses several cores.
            let mut chunks: Vec<_> = batch.into_chunks();
            let parts: Vec<Evaluation> = chunks
                .par_iter_mut()
                .map(|chunk| {
                    run_episodes(env, PolicyRunner::new(networks, policies[i], isa, actions, seed), chunk)
                })
                .collect();
            let mut whole = Evaluation { returns: vec![], lengths: vec![], measures: vec![] };
            for part in parts {
                whole.returns.extend(part.returns);
                whole.lengths.extend(part.lengths);
                whole.measures.extend(part.measures);
            }
            whole
        })
        .collect()
}

fn run_episodes(env: &Environment, mut runner: PolicyRunner, chunk: &mut Chunk) -> Evaluation {
    let dims = env.measure_size();
    let count = chunk.len();
    let mut lanes = LaneAssignment::new(count);
    let mut result = Evaluation {
        returns: vec![0.0; count],
        lengths: vec![0; count],
        measures: vec![vec![0.0; dims]; count],
    };
    chunk.reset();
    while lanes.groups() > 0 {
        let groups = lanes.groups();
        chunk.step_without_reset(groups, runner.act(chunk, groups));
        for (g, group) in chunk.groups()[..groups].iter().enumerate() {
            for lane in members(lanes.active(g)) {
                let episode = lanes.episode(g, lane);
                result.returns[episode] += f64::from(group.reward.0[lane]);
                result.lengths[episode] += 1;
                for (sum, pack) in result.measures[episode].iter_mut().zip(&group.measure) {
                    *sum += f64::from(pack.0[lane]);
                }
            }
            lanes.finish(g, group.done());
        }
        lanes.compact(|from, to| chunk.move_lane(from, to));
    }
    for (measures, &length) in result.measures.iter_mut().zip(&result.lengths) {
        measures.iter_mut().for_each(|m| *m /= f64::from(length));
    }
    result
}

/// The episode in each lane. As episodes finish, the others are moved together, so that finished ones take no time.
struct LaneAssignment {
    active: Vec<LaneSet>,
    episodes: Vec<[usize; LANES]>,
}

impl LaneAssignment {
    fn new(count: usize) -> LaneAssignment {
        let groups = count.div_ceil(LANES);
        LaneAssignment {
            active: (0..groups)
                .map(|g| LaneSet::MAX >> (LaneSet::BITS as usize - LANES.min(count - g * LANES)))
                .collect(),
            episodes: (0..groups).map(|g| std::array::from_fn(|lane| g * LANES + lane)).collect(),
        }
    }

    /// The number of groups in use.
    fn groups(&self) -> usize {
        self.active.len()
    }

    fn active(&self, group: usize) -> LaneSet {
        self.active[group]
    }

    fn episode(&self, group: usize, lane: usize) -> usize {
        self.episodes[group][lane]
    }

    fn finish(&mut self, group: usize, done: LaneSet) {
        self.active[group] &= !done;
    }

    /// Frees the last group while its unfinished episodes fit into the other groups.
    fn compact(&mut self, mut carry: impl FnMut((usize, usize), (usize, usize))) {
        while let Some((&last, others)) = self.active.split_last() {
            let free: u32 = others.iter().map(|set| LANES as u32 - set.count_ones()).sum();
            if last.count_ones() > free {
                return;
            }
            let from = self.groups() - 1;
            for lane in members(last) {
                let to = self.active[..from]
                    .iter()
                    .enumerate()
                    .find_map(|(g, set)| Some((g, (!set).trailing_zeros() as usize)).filter(|s| s.1 < LANES));
                let Some(to) = to else { return };
                carry((from, lane), to);
                self.active[to.0] |= 1 << to.1;
                self.episodes[to.0][to.1] = self.episodes[from][lane];
            }
            self.active.pop();
            self.episodes.pop();
        }
    }
}
