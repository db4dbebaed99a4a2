//! What an emitter sees and may use while it is its turn.

use std::sync::Arc;

use magpie_envs::Environment;
use magpie_learn::{LearnerFactory, Networks, Policy};
use magpie_qd::{ArchivePair, Metrics};
use magpie_random::{Draws, Stream};

use crate::config::SearchConfig;
use crate::evaluator::{EvaluatedPolicy, Evaluator};
use crate::phase::TrainerFactory;
use crate::rewards::Rewards;

/// What stays the same for the whole search.
pub struct Setup {
    /// The task in its world.
    pub env: Arc<Environment>,
    /// Actor and critics.
    pub networks: Networks,
    /// The configuration.
    pub config: SearchConfig,
    /// Cells of the archives.
    pub cells: usize,
    /// Makes learners, if not the one that the configuration names.
    pub(crate) learner: Option<LearnerFactory>,
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
    /// What stays the same.
    pub setup: &'a Setup,
    /// The emitter's own seed.
    pub seed: u64,
    /// Iterations made before this one.
    pub iteration: u64,
    /// Both archives, as they are now.
    pub archives: &'a ArchivePair,
    /// What agents are paid by.
    pub rewards: &'a mut Rewards,
    /// Environment steps of the search so far; an emitter adds those of its training.
    pub env_steps: &'a mut u64,
    pub(crate) failures: u64,
}

/// Which environments and noise a part of an iteration sees.
#[derive(Clone, Copy)]
pub enum Part {
    /// What is seen before the first iteration.
    Warmup,
    /// Training of the copies.
    Gradients,
    /// Evaluation of the search policy.
    SearchPolicy,
    /// Training of the search policy.
    Walk,
    /// Of what emitters propose in this round of an iteration.
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
    /// Whole episodes of policies that the emitter wants to know more of before it proposes; their steps are counted.
    pub fn evaluate(&mut self, policies: Vec<Policy>, part: Part) -> Vec<EvaluatedPolicy> {
        let (evaluated, steps) = self.setup.evaluator().evaluate(policies, self.seed_of(part));
        *self.env_steps += steps;
        evaluated
    }

    /// Of the result archive.
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

    /// Environments and action noise of a part of this iteration: nothing is met twice, not even after a failure, which
    /// would only happen again.
    pub fn seed_of(&self, part: Part) -> u64 {
        let who = part.number() + 16 * self.failures as u32;
        let mut draws = Stream::new(self.seed, "parts of iterations").draws(who, self.iteration);
        u64::from(draws.bits()) << 32 | u64::from(draws.bits())
    }
}
