//! Collecting a rollout: policy, critic and physics of one chunk, step by step, in cache.

use magpie_envs::{Batch, CHUNK, Chunk, Group, members};
use magpie_nn::gaussian::{Gaussian, normals};
use magpie_nn::normaliser::{Frozen, Moments};
use magpie_nn::{Kernel, Network, Trace};
use magpie_random::Stream;
use magpie_simd::{Isa, LANES, Pack, Simd, SimdTask, unpack_rows};
use rayon::prelude::*;

use crate::agent::{Agent, Networks};
use crate::rollout_buffer::{End, RolloutBuffer};
use crate::trainer::Episodes;

/// An agent, frozen for a rollout.
pub(crate) struct Actor {
    isa: Isa,
    policy: Network,
    critic: Network,
    gaussian: Gaussian,
    normaliser: Frozen,
    noise: Stream,
}

impl Actor {
    pub fn new(networks: &Networks, agent: &Agent, kernel: Kernel, noise: Stream) -> Actor {
        let mut policy = Network::new(&networks.actor, kernel, false);
        let mut critic = Network::new(&networks.critic, kernel, false);
        let (weights, log_std) = agent.weights.policy.split_at(networks.actor.parameters());
        policy.load(weights);
        critic.load(&agent.weights.critic);
        let normaliser = agent.frozen_normaliser();
        let isa = kernel.isa();
        Actor { isa, policy, critic, gaussian: Gaussian::new(log_std), normaliser, noise }
    }
}

/// The rows of a rollout that one chunk writes.
struct Rows<'a> {
    observations: &'a mut [f32],
    /// Empty unless requested, like the next two.
    raw: &'a mut [f32],
    next: &'a mut [f32],
    ages: &'a mut [u32],
    actions: &'a mut [f32],
    log_probs: &'a mut [f32],
    values: &'a mut [f32],
    rewards: &'a mut [f32],
    measures: &'a mut [f32],
    ends: &'a mut [End],
    bootstrap: &'a mut [f32],
}

/// Returns and lengths so far of the unfinished episodes in a chunk, carried from rollout to rollout.
#[derive(Debug, Clone)]
pub(crate) struct EpisodeTotals {
    returns: Vec<f64>,
    lengths: Vec<u32>,
}

impl EpisodeTotals {
    pub fn new(environments: usize) -> EpisodeTotals {
        EpisodeTotals { returns: vec![0.0; environments], lengths: vec![0; environments] }
    }

    pub fn parts(&self) -> (&[f64], &[u32]) {
        (&self.returns, &self.lengths)
    }

    pub fn from_parts(returns: Vec<f64>, lengths: Vec<u32>) -> EpisodeTotals {
        EpisodeTotals { returns, lengths }
    }
}

/// Fills the rollout by acting in all environments. Returns the moments of the observations and the finished episodes.
pub(crate) fn collect(
    actor: &Actor,
    batch: &mut Batch,
    rollout: &mut RolloutBuffer,
    totals: &mut EpisodeTotals,
) -> (Moments, Episodes) {
    let steps = rollout.steps();
    let env = batch.environment().clone();
    let (obs, act, dims) = (env.observation_size(), env.action_size(), env.measure_size());
    let split = |width: usize| (CHUNK * steps * width).max(1);
    let chunks = batch.chunks_mut().len();
    let kept = &mut rollout.transitions;
    let kept = (
        pieces(&mut kept.observations, split(obs), chunks),
        pieces(&mut kept.next_observations, split(obs), chunks),
        pieces(&mut kept.ages, split(1), chunks),
    );
    let tables = (
        rollout.observations.par_chunks_mut(split(obs)),
        rollout.actions.par_chunks_mut(split(act)),
        rollout.log_probs.par_chunks_mut(split(1)),
        rollout.values.par_chunks_mut(split(1)),
        rollout.rewards.par_chunks_mut(split(1)),
        rollout.measures.par_chunks_mut(split(dims)),
        rollout.ends.par_chunks_mut(split(1)),
        rollout.bootstrap.par_chunks_mut(split(1)),
    );
    let totals = (totals.returns.par_chunks_mut(CHUNK), totals.lengths.par_chunks_mut(CHUNK));
    let results: Vec<(Moments, Episodes)> = (batch.chunks_mut(), tables, kept, totals)
        .into_par_iter()
        .map(|(chunk, tables, (raw, next, ages), (returns, lengths))| {
            let (observations, actions, log_probs, values, rewards, measures, ends, bootstrap) = tables;
            let rows = Rows {
                observations,
                raw,
                next,
                ages,
                actions,
                log_probs,
                values,
                rewards,
                measures,
                ends,
                bootstrap,
            };
            run_chunk(actor, chunk, rows, steps, returns, lengths)
        })
        .collect();
    let mut seen = Moments::new(obs);
    let mut finished = Episodes::default();
    for (moments, episodes) in &results {
        seen.merge(moments);
        finished.merge(episodes);
    }
    (seen, finished)
}

/// Divides a table into one piece per chunk; pieces are empty for a table that is not kept.
fn pieces<T>(table: &mut [T], size: usize, chunks: usize) -> Vec<&mut [T]> {
    let mut pieces: Vec<&mut [T]> = table.chunks_mut(size).collect();
    pieces.resize_with(chunks, Default::default);
    pieces
}

fn run_chunk(
    actor: &Actor,
    chunk: &mut Chunk,
    rows: Rows<'_>,
    steps: usize,
    returns: &mut [f64],
    lengths: &mut [u32],
) -> (Moments, Episodes) {
    let isa = actor.isa;
    let (panels, count) = (chunk.groups().len(), chunk.len());
    let (obs, act) = (actor.policy.shape().inputs(), actor.policy.shape().outputs());
    let dims = rows.measures.len() / rows.rewards.len();
    let mut scratch = Scratch::new(actor, panels);
    let (mut seen, mut episodes) = (Moments::new(obs), Episodes::default());
    for t in 0..steps {
        let at = t * count;
        for (index, group) in chunk.groups().iter().enumerate() {
            let live = LANES.min(count - index * LANES);
            seen.add_panels(isa, &group.observation, live);
            if !rows.raw.is_empty() {
                let rows = &mut rows.raw[(at + index * LANES) * obs..][..live * obs];
                isa.run(Unpack { packs: &group.observation, width: obs, rows });
            }
            actor.normaliser.panels(isa, &group.observation, &mut scratch.normal[index * obs..][..obs]);
        }
        let means = actor.policy.forward(&scratch.normal, &mut scratch.policy);
        for (index, (mean, action)) in means.chunks(act).zip(scratch.actions.chunks_mut(act)).enumerate() {
            let who = chunk.first() + (index * LANES) as u32;
            normals(isa, actor.noise, who, chunk.clock(), &mut scratch.noise);
            scratch.log_probs[index] = actor.gaussian.sample(isa, mean, &scratch.noise, action);
        }
        let values = actor.critic.forward(&scratch.normal, &mut scratch.critic);
        let at_step = |table: &mut [f32], width: usize, packs: &[Pack]| {
            isa.run(Unpack { packs, width, rows: &mut table[at * width..][..count * width] });
        };
        at_step(rows.observations, obs, &scratch.normal);
        at_step(rows.actions, act, &scratch.actions);
        at_step(rows.log_probs, 1, &scratch.log_probs);
        at_step(rows.values, 1, values);

        chunk.step(&scratch.actions);
        for (index, group) in chunk.groups().iter().enumerate() {
            let first = index * LANES;
            let live = LANES.min(count - first);
            rows.rewards[at + first..][..live].copy_from_slice(&group.reward.0[..live]);
            isa.run(Unpack {
                packs: &group.measure,
                width: dims,
                rows: &mut rows.measures[(at + first) * dims..][..live * dims],
            });
            if !rows.next.is_empty() {
                let packs = after_step(group, &mut scratch.last);
                isa.run(Unpack {
                    packs,
                    width: obs,
                    rows: &mut rows.next[(at + first) * obs..][..live * obs],
                });
            }
            rows.ends[at + first..][..live].fill(End::Continues);
            for lane in 0..live {
                returns[first + lane] += f64::from(group.reward.0[lane]);
                lengths[first + lane] += 1;
            }
            if !rows.ages.is_empty() {
                rows.ages[at + first..][..live].copy_from_slice(&lengths[first..][..live]);
            }
            end_episodes(actor, group, &mut scratch, live, |lane, end, value| {
                rows.ends[at + first + lane] = end;
                rows.bootstrap[at + first + lane] = value;
                episodes.add(returns[first + lane], lengths[first + lane]);
                (returns[first + lane], lengths[first + lane]) = (0.0, 0);
            });
        }
    }
    // Values after the last step of the rollout.
    for (index, group) in chunk.groups().iter().enumerate() {
        actor.normaliser.panels(isa, &group.observation, &mut scratch.normal[index * obs..][..obs]);
    }
    let values = actor.critic.forward(&scratch.normal, &mut scratch.critic);
    let last = (steps - 1) * count;
    for i in 0..count {
        if rows.ends[last + i] == End::Continues {
            rows.bootstrap[last + i] = values[i / LANES].0[i % LANES];
        }
    }
    (seen, episodes)
}

/// Observations after a step: the final one of an episode that ended, not the first one of the next.
fn after_step<'a>(group: &Group, after: &'a mut [Pack]) -> &'a [Pack] {
    after.copy_from_slice(&group.observation);
    for lane in members(group.done()) {
        after.iter_mut().zip(&group.final_observation).for_each(|(after, last)| after.0[lane] = last.0[lane]);
    }
    after
}

/// Reports the episodes of a group that have just finished, with the value of the final observation if they were
/// truncated.
fn end_episodes(
    actor: &Actor,
    group: &Group,
    scratch: &mut Scratch,
    live: usize,
    mut report: impl FnMut(usize, End, f32),
) {
    let mut values = Pack::default();
    if group.truncated != 0 {
        let obs = group.final_observation.len();
        let panel = &mut scratch.last[..obs];
        actor.normaliser.panels(actor.isa, &group.final_observation, panel);
        values = actor.critic.forward(panel, &mut scratch.last_trace)[0];
    }
    for lane in members(group.done()).filter(|&lane| lane < live) {
        if group.terminated >> lane & 1 == 1 {
            report(lane, End::Terminated, 0.0);
        } else {
            report(lane, End::Truncated, values.0[lane]);
        }
    }
}

/// Scratch memory for one chunk's rollout.
struct Scratch {
    normal: Vec<Pack>,
    actions: Vec<Pack>,
    noise: Vec<Pack>,
    log_probs: Vec<Pack>,
    policy: Trace,
    critic: Trace,
    last: Vec<Pack>,
    last_trace: Trace,
}

impl Scratch {
    fn new(actor: &Actor, panels: usize) -> Scratch {
        let (policy, critic) = (actor.policy.shape(), actor.critic.shape());
        let room = |n: usize| vec![Pack::default(); n];
        Scratch {
            normal: room(panels * policy.inputs()),
            actions: room(panels * policy.outputs()),
            noise: room(policy.outputs()),
            log_probs: room(panels),
            policy: Trace::new(policy, panels),
            critic: Trace::new(critic, panels),
            last: room(policy.inputs()),
            last_trace: Trace::new(critic, 1),
        }
    }
}

/// Converts panels to rows of one step.
struct Unpack<'a> {
    packs: &'a [Pack],
    width: usize,
    rows: &'a mut [f32],
}

impl SimdTask for Unpack<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let Unpack { packs, width, rows } = self;
        if width > 0 {
            for (packs, rows) in packs.chunks(width).zip(rows.chunks_mut(width * LANES)) {
                unpack_rows(token, packs, rows);
            }
        }
    }
}
