//! What a search run computes.

use std::sync::Arc;

use magpie_envs::{Environment, Measure, Options};
use magpie_search::SearchConfig;
use serde::{Deserialize, Serialize};

use crate::error::RunError;

/// A search run, resolved: with this and the same version of magpie, anybody gets the same archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name of the task.
    pub task: String,
    /// How behaviour is measured.
    pub measure: Measure,
    /// Where the objective reward comes from.
    pub reward: Reward,
    /// Seed of all random streams.
    pub seed: u64,
    /// Iterations to make.
    pub iterations: u64,
    /// The search itself.
    pub search: SearchConfig,
}

/// Where the objective reward comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reward {
    /// The environment.
    True,
}

/// How much to spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Minutes on two cores.
    Quick,
    /// An hour or two on two cores.
    Desktop,
    /// The paper's own size: days on two cores.
    Paper,
}

impl Config {
    /// The configuration of a preset. All have the paper's values where they do not say otherwise.
    pub fn new(task: &str, measure: Measure, preset: Preset) -> Result<Config, RunError> {
        let env = environment(task, measure)?;
        let mut search = SearchConfig::paper(&env);
        // A tenth of the paper's environments and branches: each branch is still judged by ten episodes.
        if preset != Preset::Paper {
            (search.environments, search.branches) = (300, 30);
        }
        let iterations = match preset {
            Preset::Quick => 150,
            Preset::Desktop => 1000,
            Preset::Paper => 2000,
        };
        Ok(Config { task: task.to_owned(), measure, reward: Reward::True, seed: 0, iterations, search })
    }

    /// Refuses what cannot be run.
    pub fn check(&self) -> Result<(), RunError> {
        let env = self.environment()?;
        if !(1..=1_000_000_000).contains(&self.iterations) {
            let (value, range) = (self.iterations.to_string(), "1 to 10⁹");
            return Err(RunError::Value { field: "iterations".to_owned(), value, range });
        }
        self.search.check(env.measure_size()).map_err(|e| RunError::Value {
            field: format!("search.{}", e.field),
            value: e.value,
            range: e.range,
        })
    }

    /// The environment of the run.
    pub fn environment(&self) -> Result<Arc<Environment>, RunError> {
        environment(&self.task, self.measure).map(Arc::new)
    }
}

fn environment(task: &str, measure: Measure) -> Result<Environment, RunError> {
    Ok(Environment::new(task, Options { measure: Some(measure), ..Options::default() })?)
}
