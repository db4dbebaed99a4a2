//! What an agent did: tables with one row a step.
//!
//! Rows are ordered by chunk of environments, then by step, then by environment within the chunk: what a chunk writes
//! is one piece, and what it writes in one step is one piece of that.

use magpie_envs::CHUNK;

/// A number of steps in all environments of a batch.
#[derive(Debug, Clone)]
pub struct RolloutBuffer {
    environments: usize,
    steps: usize,
    /// Normalised observations on which the agent acted.
    pub observations: Vec<f32>,
    /// Actions as they were drawn; the environment limits them.
    pub actions: Vec<f32>,
    /// log π of the actions.
    pub log_probs: Vec<f32>,
    /// What the critic said, in its own units.
    pub values: Vec<f32>,
    /// The environment's rewards, until somebody writes others.
    pub rewards: Vec<f32>,
    /// Measures of the steps.
    pub measures: Vec<f32>,
    /// Whether the episode ended with the step.
    pub ends: Vec<End>,
    /// What the critic said of the observation after the step, in its own units, where the episode was cut off or the
    /// rollout ended; elsewhere it has no meaning.
    pub bootstrap: Vec<f32>,
    /// What those need who judge transitions; empty unless [`keep`](RolloutBuffer::keep) has asked for it.
    pub transitions: Transitions,
    /// How much better than expected each action was.
    pub advantages: Vec<f32>,
    /// What the critic should have said, in its own units.
    pub returns: Vec<f32>,
}

/// What the steps looked like from outside of the agent.
#[derive(Debug, Clone, Default)]
pub struct Transitions {
    /// Raw observations on which the agent acted.
    pub observations: Vec<f32>,
    /// Raw observations after the steps: where an episode ended, its last one.
    pub next_observations: Vec<f32>,
    /// Steps of the episode up to and with this one.
    pub ages: Vec<u32>,
}

/// How a step leaves its episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// There is a next step.
    Continues,
    /// Over, by itself: nothing comes after.
    Terminated,
    /// Cut off: what would have come after is not seen.
    Truncated,
}

impl RolloutBuffer {
    /// Memory for `steps` steps of `environments` environments.
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

    /// Keeps raw observations and ages from now on, and with `next` also what was observed after each step.
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

    /// The rows of one environment, in the order of time.
    pub fn rows_of(&self, environment: usize) -> impl Iterator<Item = usize> + use<> {
        let (chunk, lane) = (environment / CHUNK, environment % CHUNK);
        let size = CHUNK.min(self.environments - chunk * CHUNK);
        let first = chunk * CHUNK * self.steps;
        (0..self.steps).map(move |t| first + t * size + lane)
    }
}
