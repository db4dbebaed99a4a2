//! What an emitter can access during its turn.

use std::sync::Arc;

use magpie_envs::Environment;
use magpie_learn::{LearnerFactory, Networks, Policy};
use magpie_qd::{ArchivePair, Metrics};
use magpie_random::{Draws, Stream};

use crate::config::SearchConfig;
use crate::evaluator::{EvaluatedPolicy, Evaluator};
use crate::phase::TrainerFactory;
use crate::rewards::Rewards;

/// What stays constant during the search.
pub struct Setup {
    /// The task in its world.
    pub env: Arc<Environment>,
    /// Shapes of actor and critics.
    pub networks: Networks,
    /// The configuration.
    pub config: SearchConfig,
    /// The number of cells of the archives.
    pub cells: usize,
    /// Creates learners in place of the configured one.
    pub(crate) learner: Option<LearnerFactory>,
    /// The first search policy, if it is not untrained.
    pub(crate) start: Option<Policy>,
}

impl Setup {
    pub(crate) fn evaluator(&self) -> Evaluator {
        Evaluator {
            env: Arc::clone(&self.env),
            networks: self.networks.clone(),
            episodes: self.config.episodes,
            actions: self.config.actions,
        }
    }
}

/// An emitter's turn in an iteration.
pub struct Turn<'a> {
    /// What stays constant during the search.
    pub setup: &'a Setup,
    /// The emitter's own seed.
    pub seed: u64,
    /// The number of completed iterations.
    pub iteration: u64,
    /// Both archives in their current state.
    pub archives: &'a ArchivePair,
    /// The rewards that agents are trained on.
    pub rewards: &'a mut Rewards,
    /// Environment steps of the search so far; an emitter adds the steps of its training.
    pub env_steps: &'a mut u64,
    pub(crate) failures: u64,
}

/// A part of an iteration; each has its own environments and noise.
#[derive(Clone, Copy)]
pub enum Part {
    /// The initial rollout before the first iteration.
    Warmup,
    /// Training of the copies.
    Gradients,
    /// Evaluation of the search policy.
    SearchPolicy,
    /// Training of the search policy.
    Walk,
    /// Evaluation of the policies proposed in this round.
    Round(u32),
}

impl Part {
    fn number(self) -> u32 {
        match self {
            Part::Warmup => 0,
            Part::Gradients => 1,
            Part::SearchPolicy => 2,
            Part::Walk => 3,
            Part::Round(0) => 5,
            Part::Round(1) => 4,
            Part::Round(later) => 4 + later,
        }
    }
}

impl Turn<'_> {
    /// Runs full episodes of policies that an emitter must know before it proposes others, and counts their steps.
    pub fn evaluate(&mut self, policies: Vec<Policy>, part: Part) -> Vec<EvaluatedPolicy> {
        let (evaluated, steps) = self.setup.evaluator().evaluate(policies, self.seed_of(part));
        *self.env_steps += steps;
        evaluated
    }

    /// Metrics of the result archive.
    pub fn metrics(&self) -> Metrics {
        self.archives.metrics(self.setup.config.qd_offset())
    }

    /// Random numbers of this iteration for a purpose.
    pub fn draws(&self, purpose: &str) -> Draws {
        Stream::new(self.seed, purpose).draws(0, self.iteration)
    }

    pub(crate) fn trainers(&self, part: Part) -> TrainerFactory {
        TrainerFactory {
            env: Arc::clone(&self.setup.env),
            networks: self.setup.networks.clone(),
            config: self.setup.config.train.clone(),
            learner: self.setup.learner.clone(),
            seed: self.seed_of(part),
        }
    }

    /// Seed of the environments and the action noise for a part of this iteration. Every iteration has new ones, even
    /// after a failure, which the same ones would repeat.
    pub fn seed_of(&self, part: Part) -> u64 {
        let who = part.number() + 16 * self.failures as u32;
        let mut draws = Stream::new(self.seed, "parts of iterations").draws(who, self.iteration);
        u64::from(draws.bits()) << 32 | u64::from(draws.bits())
    }
}
