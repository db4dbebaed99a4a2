//! A phase of training: some agents, each in its own environments and paid by its own blend.

use std::ops::Range;
use std::sync::Arc;

use magpie_envs::Environment;
use magpie_learn::{Agent, Iteration, Networks, TrainConfig, Trainer, UpdateError, Window, iterate_all};
use magpie_nn::adam::Adam;

use crate::blend::Blend;
use crate::reward::RewardModel;

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
}

/// What a phase gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Course {
    /// Environment steps of all agents.
    pub steps: u64,
    /// The last window of the first agent, which is the one that serves the objective.
    pub last: Iteration,
    /// Share of its steps that fell in empty cells.
    pub curious_share: f64,
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
        Phase { trainers, blends }
    }

    /// Trains all agents for `iterations` windows. After each, the reward model learns from the first agent's.
    pub fn train(&mut self, iterations: u32, model: &mut dyn RewardModel) -> Result<Course, UpdateError> {
        let mut last = None;
        for _ in 0..iterations {
            let paying: &dyn RewardModel = model;
            let mut rewrites: Vec<_> =
                self.blends.iter_mut().map(|blend| move |w: &mut Window| blend.pay(w, paying)).collect();
            last = iterate_all(&mut self.trainers, &mut rewrites)?.into_iter().next();
            drop(rewrites);
            if let Some(first) = self.trainers.first() {
                model.learn(first.window());
            }
        }
        let per_iteration: usize = self.trainers.iter().map(Trainer::steps_per_iteration).sum();
        Ok(Course {
            steps: per_iteration as u64 * u64::from(iterations),
            last: last.unwrap_or_default(),
            curious_share: self.blends.first().map_or(0.0, Blend::curious_share),
        })
    }

    /// The agents as they are now.
    pub fn into_agents(self) -> Vec<Agent> {
        self.trainers.into_iter().map(|trainer| trainer.agent).collect()
    }
}
