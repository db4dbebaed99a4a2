//! What all environments of a batch share: what they are called, what they show, and who simulates them.

use std::fmt;
use std::sync::Arc;

use crate::measure::Dimension;
use crate::simulator::Simulator;
use crate::task::SearchHints;

/// Shared by all environments of a batch; never changes.
///
/// [`Environment::new`](Environment::new) makes one of magpie's tasks, [`Environment::from_simulator`] any other.
#[derive(Clone)]
pub struct Environment {
    description: Description,
    simulator: Arc<dyn Simulator>,
}

/// What an environment says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Name of the task.
    pub task: String,
    /// Name of the robot that does it.
    pub robot: String,
    /// The entries of an observation, in their order.
    pub observation: Vec<Entry>,
    /// The entries of an action, in their order.
    pub action: Vec<Entry>,
    /// How behaviour is measured, as in configuration files.
    pub measure: String,
    /// The dimensions of the measure.
    pub dimensions: Vec<Dimension>,
    /// An episode is truncated after this many steps.
    pub episode_steps: u32,
    /// Duration of a step in simulated time, in s.
    pub step_seconds: f64,
    /// What a search should know of the task.
    pub hints: SearchHints,
}

/// What an entry of an observation or action means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// In words.
    pub meaning: String,
    /// Unit of the number; "1" if it has none.
    pub unit: String,
}

impl Entry {
    /// An entry that means `meaning`, counted in `unit`.
    pub fn new(meaning: impl Into<String>, unit: impl Into<String>) -> Entry {
        Entry { meaning: meaning.into(), unit: unit.into() }
    }
}

/// A description of nothing that could be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an environment needs {0}")]
pub struct DescriptionError(&'static str);

/// Dimensions that a measure may have: pictures show them in pairs, and more than this cannot be read.
pub const MOST_MEASURES: usize = 16;

impl Environment {
    /// An environment whose worlds are those of `simulator`.
    ///
    /// # Errors
    /// If there is nothing to observe or to measure, or an episode has no steps.
    pub fn from_simulator(
        description: Description,
        simulator: impl Simulator + 'static,
    ) -> Result<Environment, DescriptionError> {
        for (there, what) in [
            (!description.observation.is_empty(), "at least one entry of an observation"),
            (!description.dimensions.is_empty(), "at least one dimension of a measure"),
            (
                description.dimensions.len() <= MOST_MEASURES,
                "at most 16 dimensions of a measure, all feet together",
            ),
            (description.episode_steps > 0, "episodes of at least one step"),
        ] {
            if !there {
                return Err(DescriptionError(what));
            }
        }
        Ok(Environment { description, simulator: Arc::new(simulator) })
    }

    /// Name of the task.
    pub fn task(&self) -> &str {
        &self.description.task
    }

    /// Name of the robot.
    pub fn robot(&self) -> &str {
        &self.description.robot
    }

    /// Number of entries of an observation.
    pub fn observation_size(&self) -> usize {
        self.description.observation.len()
    }

    /// Number of entries of an action.
    pub fn action_size(&self) -> usize {
        self.description.action.len()
    }

    /// What the entries of an observation mean.
    pub fn observation_entries(&self) -> &[Entry] {
        &self.description.observation
    }

    /// What the entries of an action mean.
    pub fn action_entries(&self) -> &[Entry] {
        &self.description.action
    }

    /// How behaviour is measured, as in configuration files.
    pub fn measure(&self) -> &str {
        &self.description.measure
    }

    /// Number of dimensions of the measure.
    pub fn measure_size(&self) -> usize {
        self.description.dimensions.len()
    }

    /// Name and range of each dimension of the measure.
    pub fn measure_dimensions(&self) -> Vec<Dimension> {
        self.description.dimensions.clone()
    }

    /// An episode is truncated after this many steps.
    pub fn episode_steps(&self) -> u32 {
        self.description.episode_steps
    }

    /// Duration of a step in simulated time, in s.
    pub fn step_seconds(&self) -> f64 {
        self.description.step_seconds
    }

    /// What a search should know of the task.
    pub fn hints(&self) -> &SearchHints {
        &self.description.hints
    }

    pub(crate) fn simulator(&self) -> &dyn Simulator {
        &*self.simulator
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Environment").field(&self.description).finish()
    }
}
