//! A phase of training: some agents, each in its own environments and paid by its own blend.

use std::ops::Range;
use std::sync::Arc;

use magpie_envs::Environment;
use magpie_learn::{Agent, Iteration, Networks, Policy, TrainConfig, Trainer, Window, iterate_all};
use magpie_nn::adam::Adam;
use magpie_random::Stream;
use magpie_rewards::{Health, RewardError};

use crate::blend::Blend;
use crate::error::Trouble;
use crate::objective::Objective;

/// What agents need to train.
pub(crate) struct Gym {
    pub env: Arc<Environment>,
    pub networks: Networks,
    pub config: TrainConfig,
    /// Of this phase alone.
    pub seed: u64,
}

/// Agents at work. Environments start anew with the phase; windows then continue episodes.
pub(crate) struct Phase<'a> {
    trainers: Vec<Trainer>,
    blends: Vec<Blend<'a>>,
    /// What the agents were after each window, if that is to be kept.
    trail: Option<Vec<Policy>>,
}

/// What a phase leaves behind.
pub(crate) struct Finish {
    /// The agents as they are now.
    pub agents: Vec<Agent>,
    /// The policies they have been, window by window.
    pub trail: Vec<Policy>,
    /// The cells of the episodes that were judged, if visits are counted.
    pub visited: Vec<usize>,
}

/// What a phase gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Course {
    /// Environment steps of all agents.
    pub steps: u64,
    /// Rows of all their minibatches: what the updates cost.
    pub update_rows: u64,
    /// The last window of the first agent, which is the one that serves the objective.
    pub last: Iteration,
    /// How new its steps were in the mean: with empty cells, the share of steps in them.
    pub curious_share: f64,
    /// How the reward model did in its last update, if it learns.
    pub health: Option<Health>,
}

impl Gym {
    /// An agent in environments `ids`. Its policy's Adam starts afresh; the critic's goes on.
    pub fn trainer(&self, mut agent: Agent, ids: Range<u32>) -> Trainer {
        agent.learner.policy_adam = Adam::new(agent.learner.policy.len());
        let Gym { env, networks, config, seed } = self;
        Trainer::new(Arc::clone(env), ids, networks.clone(), agent, config.clone(), *seed)
    }
}

impl<'a> Phase<'a> {
    pub fn new(trainers: Vec<Trainer>, blends: Vec<Blend<'a>>) -> Phase<'a> {
        Phase { trainers, blends, trail: None }
    }

    /// Keeps every agent's policy as it is after each window.
    pub fn leave_trail(&mut self) {
        self.trail = Some(Vec::new());
    }

    /// Trains all agents for `iterations` windows. After each, the reward model learns from the first agent's.
    pub fn train(
        &mut self,
        gym: &Gym,
        iterations: u32,
        objective: &mut Objective,
    ) -> Result<Course, Trouble> {
        if let (Some(next), Some(first)) = (objective.keeps(), self.trainers.first_mut()) {
            first.keep_transitions(next);
        }
        let (mut last, mut health, mut update_rows) = (None, None, 0);
        for iteration in 0..iterations {
            let windows = self.iterate(&gym.networks, objective)?;
            update_rows += windows.iter().map(|window| window.update.rows as u64).sum::<u64>();
            last = windows.into_iter().next();
            if let Some(trail) = &mut self.trail {
                trail.extend(self.trainers.iter().map(|trainer| trainer.agent.policy()));
            }
            if let Some(first) = self.trainers.first() {
                let mut draws = Stream::new(gym.seed, "reward model").draws(0, iteration.into());
                health = objective.learn(first.window(), &first.agent, &gym.networks, &mut draws)?;
            }
        }
        let per_iteration: usize = self.trainers.iter().map(Trainer::steps_per_iteration).sum();
        Ok(Course {
            steps: per_iteration as u64 * u64::from(iterations),
            update_rows,
            last: last.unwrap_or_default(),
            curious_share: self.blends.first().map_or(0.0, Blend::curious_share),
            health,
        })
    }

    fn iterate(&mut self, networks: &Networks, objective: &Objective) -> Result<Vec<Iteration>, Trouble> {
        let mut paid: Vec<Result<(), RewardError>> = vec![Ok(()); self.blends.len()];
        let mut rewrites: Vec<_> = self
            .blends
            .iter_mut()
            .zip(&mut paid)
            .map(|(blend, paid)| {
                move |window: &mut Window, agent: &Agent| {
                    *paid = blend.pay(window, agent, networks, objective)
                }
            })
            .collect();
        let iterations = iterate_all(&mut self.trainers, &mut rewrites);
        drop(rewrites);
        // A model that failed has left rewards that mean nothing: its own words come first.
        paid.into_iter().collect::<Result<(), _>>()?;
        Ok(iterations?)
    }

    /// What is left of it.
    pub fn finish(self) -> Finish {
        Finish {
            agents: self.trainers.into_iter().map(|trainer| trainer.agent).collect(),
            trail: self.trail.unwrap_or_default(),
            visited: self.blends.into_iter().flat_map(Blend::into_visited).collect(),
        }
    }
}
