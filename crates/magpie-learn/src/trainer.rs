//! One agent with its environments, rollout by rollout.

use std::ops::Range;
use std::sync::Arc;

use magpie_envs::{Batch, Environment, Snapshot, SnapshotMismatch};
use magpie_nn::Kernel;
use magpie_nn::normaliser::Moments;
use magpie_random::Stream;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::agent::{Agent, Networks};
use crate::config::TrainConfig;
use crate::learner::{self, Learner, UpdateError, UpdateStats};
use crate::rollout::{Actor, Running, collect};
use crate::rollout_buffer::RolloutBuffer;

/// Finished episodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Episodes {
    /// How many.
    pub count: u64,
    /// Sum of their returns.
    pub return_sum: f64,
    /// Sum of their lengths.
    pub length_sum: f64,
}

impl Episodes {
    pub(crate) fn add(&mut self, episode_return: f64, length: u32) {
        self.count += 1;
        self.return_sum += episode_return;
        self.length_sum += f64::from(length);
    }

    pub(crate) fn merge(&mut self, other: &Episodes) {
        self.count += other.count;
        self.return_sum += other.return_sum;
        self.length_sum += other.length_sum;
    }

    /// Mean return, if any episode finished.
    pub fn mean_return(&self) -> Option<f64> {
        (self.count > 0).then(|| self.return_sum / self.count as f64)
    }

    /// Mean length, if any episode finished.
    pub fn mean_length(&self) -> Option<f64> {
        (self.count > 0).then(|| self.length_sum / self.count as f64)
    }
}

/// What one rollout and its update gave.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Iteration {
    /// Episodes that finished in the rollout.
    pub episodes: Episodes,
    /// What the update did.
    pub update: UpdateStats,
}

/// Trains one agent.
#[derive(Debug)]
pub struct Trainer {
    config: TrainConfig,
    /// What is learned.
    pub agent: Agent,
    /// Whether the statistics of observations follow what is seen. Off, the policy keeps the normaliser it came with.
    pub track_observations: bool,
    networks: Networks,
    kernel: Kernel,
    batch: Batch,
    rollout: RolloutBuffer,
    running: Running,
    learner: Box<dyn Learner>,
    action_noise: Stream,
    order: Stream,
    iteration: u64,
}

/// Everything that changes, to go on from later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainerState {
    /// Rollouts learned from so far.
    pub iteration: u64,
    /// What is learned.
    pub agent: Agent,
    /// The environments in mid-episode.
    pub environments: Snapshot,
    /// Returns so far of the episodes under way.
    pub returns: Vec<f64>,
    /// Their lengths so far.
    pub lengths: Vec<u32>,
}

impl Trainer {
    /// Sets an agent to work in environments `ids`, on the fastest kernel.
    pub fn new(
        env: Arc<Environment>,
        ids: Range<u32>,
        networks: Networks,
        agent: Agent,
        config: TrainConfig,
        seed: u64,
    ) -> Trainer {
        let kernel = Kernel::best();
        let count = ids.len();
        let rollout = RolloutBuffer::new(
            count,
            config.rollout_length,
            env.observation_size(),
            env.action_size(),
            env.measure_size(),
        );
        let mut batch = Batch::with_isa(env, ids, seed, kernel.isa());
        batch.chunks_mut().iter_mut().for_each(|chunk| chunk.reset());
        Trainer {
            learner: learner::build(&config, &networks, kernel),
            config,
            agent,
            track_observations: true,
            networks,
            kernel,
            batch,
            rollout,
            running: Running::new(count),
            action_noise: Stream::new(seed, "action noise"),
            order: Stream::new(seed, "order of rows"),
            iteration: 0,
        }
    }

    /// Multiplies with another kernel, such as one without tiles, for results that machines without them give as well.
    pub fn with_kernel(mut self, kernel: Kernel) -> Trainer {
        self.learner = learner::build(&self.config, &self.networks, kernel);
        self.kernel = kernel;
        self
    }

    /// Learns with another learner than the one that the configuration names.
    pub fn with_learner(mut self, learner: Box<dyn Learner>) -> Trainer {
        self.learner = learner;
        self
    }

    /// Rollouts learned from so far.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// Environment steps of one iteration.
    pub fn steps_per_iteration(&self) -> usize {
        self.rollout.rows()
    }

    /// The rollout that was learned from last.
    pub fn rollout(&self) -> &RolloutBuffer {
        &self.rollout
    }

    /// Keeps transitions in the rollouts to come; see [`RolloutBuffer::keep`].
    pub fn keep_transitions(&mut self, next: bool) {
        self.rollout.keep(next);
    }

    /// Collects a rollout and learns nothing but what observations look like: a beginner's first look around.
    pub fn observe(&mut self) {
        let (seen, _) = self.collect();
        self.agent.observations.update(&seen);
    }

    fn collect(&mut self) -> (Moments, Episodes) {
        let actor = Actor::new(&self.networks, &self.agent, self.kernel, self.action_noise);
        collect(&actor, &mut self.batch, &mut self.rollout, &mut self.running)
    }

    /// Collects a rollout, lets `rewrite` change its rewards knowing who acted, and learns from it.
    pub fn iterate(
        &mut self,
        rewrite: impl FnOnce(&mut RolloutBuffer, &Agent),
    ) -> Result<Iteration, UpdateError> {
        let (seen, episodes) = self.collect();
        rewrite(&mut self.rollout, &self.agent);
        let mut draws = self.order.draws(0, self.iteration);
        let update = self.learner.learn(&mut self.agent, &mut self.rollout, &mut draws)?;
        // Acting and learning used the old statistics; the next rollout uses what this one has shown.
        if self.track_observations {
            self.agent.observations.update(&seen);
        }
        self.iteration += 1;
        Ok(Iteration { episodes, update })
    }

    /// Everything needed to go on from here.
    pub fn save(&self) -> TrainerState {
        let (returns, lengths) = self.running.parts();
        TrainerState {
            iteration: self.iteration,
            agent: self.agent.clone(),
            environments: self.batch.save(),
            returns: returns.to_vec(),
            lengths: lengths.to_vec(),
        }
    }

    /// Goes on from a state that a trainer of the same make has saved.
    pub fn restore(&mut self, state: TrainerState) -> Result<(), SnapshotMismatch> {
        let expected = self.rollout.environments();
        for (field, found) in [("returns", state.returns.len()), ("lengths", state.lengths.len())] {
            if found != expected {
                return Err(SnapshotMismatch::Size { field, expected, found });
            }
        }
        self.batch.restore(&state.environments)?;
        self.iteration = state.iteration;
        self.agent = state.agent;
        self.running = Running::from_parts(state.returns, state.lengths);
        Ok(())
    }
}

/// One iteration of each trainer, all at once; `rewrites[i]` changes the rewards of trainer i. Each keeps its own
/// rewards, normalisers, end of epochs and limit of gradients. The first error, in the order of the trainers, is the
/// one returned.
pub fn iterate_all<R>(trainers: &mut [Trainer], rewrites: &mut [R]) -> Result<Vec<Iteration>, UpdateError>
where
    R: FnMut(&mut RolloutBuffer, &Agent) + Send,
{
    let results: Vec<_> =
        trainers.par_iter_mut().zip(rewrites).map(|(trainer, rewrite)| trainer.iterate(rewrite)).collect();
    results.into_iter().collect()
}
