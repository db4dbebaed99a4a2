//! What all environments of a batch share: their description and their simulator.

use std::fmt;
use std::sync::Arc;

use crate::measure::Dimension;
use crate::simulator::Simulator;
use crate::task::SearchHints;

/// The immutable part that all environments of a batch share.
///
/// [`Environment::new`](Environment::new) creates one of magpie's tasks, [`Environment::from_simulator`] any other.
#[derive(Clone)]
pub struct Environment {
    description: Description,
    simulator: Arc<dyn Simulator>,
}

/// The description of an environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Name of the task.
    pub task: String,
    /// Name of the robot.
    pub robot: String,
    /// The entries of an observation, in order.
    pub observation: Vec<Entry>,
    /// The entries of an action, in order.
    pub action: Vec<Entry>,
    /// Name of the measure, as in configuration files.
    pub measure: String,
    /// The dimensions of the measure.
    pub dimensions: Vec<Dimension>,
    /// An episode is truncated after this many steps.
    pub episode_steps: u32,
    /// Duration of a step in simulated time, in s.
    pub step_seconds: f64,
    /// Hints for a search on the task.
    pub hints: SearchHints,
}

/// The meaning of an entry of an observation or action.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// In words.
    pub meaning: String,
    /// Unit of the value; "1" if it has none.
    pub unit: String,
    /// Range of the value during an episode, if it is known. Recordings that leave it are not of this environment.
    pub range: Option<[f64; 2]>,
}

impl Entry {
    /// An entry with this meaning and unit.
    pub fn new(meaning: impl Into<String>, unit: impl Into<String>) -> Entry {
        Entry { meaning: meaning.into(), unit: unit.into(), range: None }
    }

    /// The same entry with a known range.
    pub fn within(self, range: impl Into<Option<[f64; 2]>>) -> Entry {
        Entry { range: range.into(), ..self }
    }
}

/// A description that cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an environment needs {0}")]
pub struct DescriptionError(&'static str);

/// The largest number of measures: plots show them in pairs, which become unreadable beyond this.
pub const MOST_MEASURES: usize = 16;

impl Environment {
    /// An environment whose worlds come from `simulator`.
    ///
    /// # Errors
    /// If observations or measures are empty, or an episode has no steps.
    pub fn from_simulator(
        description: Description,
        simulator: impl Simulator + 'static,
    ) -> Result<Environment, DescriptionError> {
        for (there, what) in [
            (!description.observation.is_empty(), "at least one observation entry"),
            (!description.dimensions.is_empty(), "at least one measure dimension"),
            (
                description.dimensions.len() <= MOST_MEASURES,
                "at most 16 measure dimensions, all feet together",
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

    /// The number of entries of an observation.
    pub fn observation_size(&self) -> usize {
        self.description.observation.len()
    }

    /// The number of entries of an action.
    pub fn action_size(&self) -> usize {
        self.description.action.len()
    }

    /// The meanings of the entries of an observation.
    pub fn observation_entries(&self) -> &[Entry] {
        &self.description.observation
    }

    /// The meanings of the entries of an action.
    pub fn action_entries(&self) -> &[Entry] {
        &self.description.action
    }

    /// Name of the measure, as in configuration files.
    pub fn measure(&self) -> &str {
        &self.description.measure
    }

    /// The number of dimensions of the measure.
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

    /// Hints for a search on the task.
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
