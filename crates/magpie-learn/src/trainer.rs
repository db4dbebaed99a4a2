//! Training one agent in its environments, rollout by rollout.

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
use crate::rollout::{Actor, EpisodeTotals, collect};
use crate::rollout_buffer::RolloutBuffer;

/// Finished episodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Episodes {
    /// The number of episodes.
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

/// The result of a rollout and its update.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Iteration {
    /// Episodes that finished in the rollout.
    pub episodes: Episodes,
    /// Statistics of the update.
    pub update: UpdateStats,
}

/// Trains one agent.
#[derive(Debug)]
pub struct Trainer {
    config: TrainConfig,
    /// The agent in training.
    pub agent: Agent,
    /// Whether the observation normaliser is updated. If not, the policy keeps its initial one.
    pub track_observations: bool,
    networks: Networks,
    kernel: Kernel,
    batch: Batch,
    rollout: RolloutBuffer,
    totals: EpisodeTotals,
    learner: Box<dyn Learner>,
    action_noise: Stream,
    order: Stream,
    iteration: u64,
}

/// Everything that changes, for continuing later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainerState {
    /// The number of completed rollouts.
    pub iteration: u64,
    /// The agent in training.
    pub agent: Agent,
    /// The environments in mid-episode.
    pub environments: Snapshot,
    /// Returns so far of the unfinished episodes.
    pub returns: Vec<f64>,
    /// Their lengths so far.
    pub lengths: Vec<u32>,
}

impl Trainer {
    /// Trains an agent in environments `ids`, on the fastest kernel.
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
            totals: EpisodeTotals::new(count),
            action_noise: Stream::new(seed, "action noise"),
            order: Stream::new(seed, "order of rows"),
            iteration: 0,
        }
    }

    /// Uses another kernel, for example one without AMX tiles, to get results that other machines can reproduce.
    pub fn with_kernel(mut self, kernel: Kernel) -> Trainer {
        self.learner = learner::build(&self.config, &self.networks, kernel);
        self.kernel = kernel;
        self
    }

    /// Uses another learner than the configured one.
    pub fn with_learner(mut self, learner: Box<dyn Learner>) -> Trainer {
        self.learner = learner;
        self
    }

    /// The number of completed rollouts.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// Environment steps per iteration.
    pub fn steps_per_iteration(&self) -> usize {
        self.rollout.rows()
    }

    /// The last rollout.
    pub fn rollout(&self) -> &RolloutBuffer {
        &self.rollout
    }

    /// Keeps transitions in future rollouts; see [`RolloutBuffer::keep`].
    pub fn keep_transitions(&mut self, next: bool) {
        self.rollout.keep(next);
    }

    /// Collects a rollout only to update the observation normaliser of an untrained agent.
    pub fn observe(&mut self) {
        let (seen, _) = self.collect();
        self.agent.observations.update(&seen);
    }

    fn collect(&mut self) -> (Moments, Episodes) {
        let actor = Actor::new(&self.networks, &self.agent, self.kernel, self.action_noise);
        collect(&actor, &mut self.batch, &mut self.rollout, &mut self.totals)
    }

    /// Collects a rollout, lets `rewrite` change its rewards (it is given the agent), and learns from it.
    pub fn iterate(
        &mut self,
        rewrite: impl FnOnce(&mut RolloutBuffer, &Agent),
    ) -> Result<Iteration, UpdateError> {
        let (seen, episodes) = self.collect();
        rewrite(&mut self.rollout, &self.agent);
        let mut draws = self.order.draws(0, self.iteration);
        let update = self.learner.learn(&mut self.agent, &mut self.rollout, &mut draws)?;
        // Acting and learning used the old statistics; the next rollout uses the updated ones.
        if self.track_observations {
            self.agent.observations.update(&seen);
        }
        self.iteration += 1;
        Ok(Iteration { episodes, update })
    }

    /// Everything needed to continue from here.
    pub fn save(&self) -> TrainerState {
        let (returns, lengths) = self.totals.parts();
        TrainerState {
            iteration: self.iteration,
            agent: self.agent.clone(),
            environments: self.batch.save(),
            returns: returns.to_vec(),
            lengths: lengths.to_vec(),
        }
    }

    /// Restores a state saved by a trainer with the same configuration.
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
        self.totals = EpisodeTotals::from_parts(state.returns, state.lengths);
        Ok(())
    }
}

/// Runs one iteration of all trainers in parallel; `rewrites[i]` changes the rewards of trainer i. Trainers are
/// independent in rewards, normalisers, early stopping and gradient clipping. If several fail, returns the error of the
/// first one in order.
pub fn iterate_all<R>(trainers: &mut [Trainer], rewrites: &mut [R]) -> Result<Vec<Iteration>, UpdateError>
where
    R: FnMut(&mut RolloutBuffer, &Agent) + Send,
{
    let results: Vec<_> =
        trainers.par_iter_mut().zip(rewrites).map(|(trainer, rewrite)| trainer.iterate(rewrite)).collect();
    results.into_iter().collect()
}
