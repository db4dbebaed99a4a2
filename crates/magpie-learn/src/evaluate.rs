//! Whole episodes of many policies.

use std::sync::Arc;

use magpie_envs::{Batch, Chunk, Environment, LaneSet, members};
use magpie_simd::{Isa, LANES};
use rayon::prelude::*;

use crate::agent::{Networks, Policy};
use crate::player::{Actions, Player};

/// What the episodes of one policy gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Return of each episode.
    pub returns: Vec<f64>,
    /// Length of each episode.
    pub lengths: Vec<u32>,
    /// For each episode, the mean over its steps of each dimension of the measure.
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

    /// Mean over episodes of each dimension of the measure.
    pub fn mean_measures(&self) -> Vec<f64> {
        let dims = self.measures.first().map_or(0, Vec::len);
        let count = self.measures.len() as f64;
        (0..dims).map(|d| self.measures.iter().map(|m| m[d]).sum::<f64>() / count).collect()
    }
}

/// Runs `episodes` episodes of each policy to their end. Policies are shared out among the cores; the episodes of
/// policy i are the environments `i * episodes..` under `seed`, so a result depends on nothing else.
pub fn evaluate(
    env: &Arc<Environment>,
    networks: &Networks,
    policies: &[&Policy],
    episodes: u32,
    actions: Actions,
    seed: u64,
) -> Vec<Evaluation> {
    let isa = Isa::best();
    (0..policies.len())
        .into_par_iter()
        .map(|i| {
            let first = i as u32 * episodes;
            let batch = Batch::with_isa(Arc::clone(env), first..first + episodes, seed, isa);
            // A policy with more than a chunk of episodes keeps several cores busy.
            let mut chunks: Vec<_> = batch.into_chunks();
            let parts: Vec<Evaluation> = chunks
                .par_iter_mut()
                .map(|chunk| play(env, Player::new(networks, policies[i], isa, actions, seed), chunk))
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

fn play(env: &Environment, mut player: Player, chunk: &mut Chunk) -> Evaluation {
    let dims = env.measure_size();
    let count = chunk.len();
    let mut seats = Seats::new(count);
    let mut result = Evaluation {
        returns: vec![0.0; count],
        lengths: vec![0; count],
        measures: vec![vec![0.0; dims]; count],
    };
    chunk.reset();
    while seats.groups() > 0 {
        let groups = seats.groups();
        chunk.step_without_reset(groups, player.act(chunk, groups));
        for (g, group) in chunk.groups()[..groups].iter().enumerate() {
            for lane in members(seats.playing(g)) {
                let episode = seats.episode(g, lane);
                result.returns[episode] += f64::from(group.reward.0[lane]);
                result.lengths[episode] += 1;
                for (sum, pack) in result.measures[episode].iter_mut().zip(&group.measure) {
                    *sum += f64::from(pack.0[lane]);
                }
            }
            seats.leave(g, group.done());
        }
        seats.close_ranks(|from, to| chunk.move_lane(from, to));
    }
    for (measures, &length) in result.measures.iter_mut().zip(&result.lengths) {
        measures.iter_mut().for_each(|m| *m /= f64::from(length));
    }
    result
}

/// Which episode sits in which lane. As episodes finish, the others move together, so that finished ones cost nothing.
struct Seats {
    playing: Vec<LaneSet>,
    episodes: Vec<[usize; LANES]>,
}

impl Seats {
    fn new(count: usize) -> Seats {
        let groups = count.div_ceil(LANES);
        Seats {
            playing: (0..groups)
                .map(|g| LaneSet::MAX >> (LaneSet::BITS as usize - LANES.min(count - g * LANES)))
                .collect(),
            episodes: (0..groups).map(|g| std::array::from_fn(|lane| g * LANES + lane)).collect(),
        }
    }

    /// Groups in use.
    fn groups(&self) -> usize {
        self.playing.len()
    }

    fn playing(&self, group: usize) -> LaneSet {
        self.playing[group]
    }

    fn episode(&self, group: usize, lane: usize) -> usize {
        self.episodes[group][lane]
    }

    fn leave(&mut self, group: usize, done: LaneSet) {
        self.playing[group] &= !done;
    }

    /// Gives up the last group while all who play in it find a seat in the others.
    fn close_ranks(&mut self, mut carry: impl FnMut((usize, usize), (usize, usize))) {
        while let Some((&last, others)) = self.playing.split_last() {
            let free: u32 = others.iter().map(|set| LANES as u32 - set.count_ones()).sum();
            if last.count_ones() > free {
                return;
            }
            let from = self.groups() - 1;
            for lane in members(last) {
                let to = self.playing[..from]
                    .iter()
                    .enumerate()
                    .find_map(|(g, set)| Some((g, (!set).trailing_zeros() as usize)).filter(|s| s.1 < LANES));
                let Some(to) = to else { return };
                carry((from, lane), to);
                self.playing[to.0] |= 1 << to.1;
                self.episodes[to.0][to.1] = self.episodes[from][lane];
            }
            self.playing.pop();
            self.episodes.pop();
        }
    }
}
