//! A rollout: tables with one row per step.
//!
//! Rows are ordered by chunk of environments, then by step, then by environment within the chunk: each chunk writes one
//! contiguous piece, and each of its steps is contiguous in that piece.

use magpie_envs::CHUNK;

/// The steps of a rollout, in all environments of a batch.
#[derive(Debug, Clone)]
pub struct RolloutBuffer {
    environments: usize,
    steps: usize,
    /// Normalised observations from which the agent chose its actions.
    pub observations: Vec<f32>,
    /// Actions as sampled, before the environment clips them.
    pub actions: Vec<f32>,
    /// log π of the actions.
    pub log_probs: Vec<f32>,
    /// Values predicted by the critic, in its normalised units.
    pub values: Vec<f32>,
    /// The environment's rewards, until the caller replaces them.
    pub rewards: Vec<f32>,
    /// Measures of the steps.
    pub measures: Vec<f32>,
    /// Whether the episode ended with the step.
    pub ends: Vec<End>,
    /// Value of the observation after the step, in the critic's units. It is only meaningful if the episode was
    /// truncated or the rollout ended with the step.
    pub bootstrap: Vec<f32>,
    /// Transitions for reward models; empty unless requested by [`keep`](RolloutBuffer::keep).
    pub transitions: Transitions,
    /// Advantages.
    pub advantages: Vec<f32>,
    /// Value targets, in the critic's units.
    pub returns: Vec<f32>,
}

/// The steps as a reward model sees them.
#[derive(Debug, Clone, Default)]
pub struct Transitions {
    /// Raw observations before the steps.
    pub observations: Vec<f32>,
    /// Raw observations after the steps: the final one if an episode ended.
    pub next_observations: Vec<f32>,
    /// Number of steps of the episode so far, including this one.
    pub ages: Vec<u32>,
}

/// Whether and how an episode ended with a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It continues.
    Continues,
    /// Terminated: nothing follows.
    Terminated,
    /// Truncated: what would have followed is unknown.
    Truncated,
}

impl RolloutBuffer {
    /// Allocates memory for `steps` steps of `environments` environments.
    pub fn new(
        environments: usize,
        steps: usize,
        observation: usize,
        action: usize,
        measures: usize,
    ) -> RolloutBuffer {
        let rows = environments * steps;
        let table = |width: usize| vec![0.0; rows * width];
        RolloutBuffer {
            environments,
            steps,
            observations: table(observation),
            actions: table(action),
            log_probs: table(1),
            values: table(1),
            rewards: table(1),
            measures: table(measures),
            ends: vec![End::Continues; rows],
            bootstrap: table(1),
            transitions: Transitions::default(),
            advantages: table(1),
            returns: table(1),
        }
    }

    /// Keeps raw observations and ages from now on; with `next`, next observations as well.
    pub fn keep(&mut self, next: bool) {
        let rows = self.rows();
        let Transitions { observations, next_observations, ages } = &mut self.transitions;
        observations.resize(self.observations.len(), 0.0);
        next_observations.resize(if next { observations.len() } else { 0 }, 0.0);
        ages.resize(rows, 0);
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.environments * self.steps
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Number of environments.
    pub fn environments(&self) -> usize {
        self.environments
    }

    /// The rows of one environment, in order of time.
    pub fn rows_of(&self, environment: usize) -> impl Iterator<Item = usize> + use<> {
        let (chunk, lane) = (environment / CHUNK, environment % CHUNK);
        let size = CHUNK.min(self.environments - chunk * CHUNK);
        let first = chunk * CHUNK * self.steps;
        (0..self.steps).map(move |t| first + t * size + lane)
    }
}
