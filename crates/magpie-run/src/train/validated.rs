//! What a configuration refers to, loaded and checked before anything is written.

use std::sync::Arc;

use magpie_demos::Demonstrations;
use magpie_envs::Environment;
use magpie_search::SearchConfig;

use super::config::Config;
use super::objective::RewardModelBuilder;
use crate::error::RunError;
use crate::memory;

/// Everything that a run needs besides its directory.
pub(crate) struct ValidatedRun {
    /// The task in its world.
    pub env: Arc<Environment>,
    /// All demonstrations of the file, if the reward is learned.
    pub found: Option<Demonstrations>,
    /// The demonstrations to learn from.
    pub chosen: Option<Demonstrations>,
    /// The reward model trained on them.
    pub builder: Option<RewardModelBuilder>,
}

impl Config {
    /// Refuses a configuration that cannot be run: an invalid value, or a task, robot or file that is missing or does
    /// not fit.
    pub(crate) fn validated(&self) -> Result<ValidatedRun, RunError> {
        self.validated_in(Arc::new(self.world.environment(&self.task, Some(&self.measure))?))
    }

    /// The same for an environment of any simulator.
    pub(crate) fn validated_in(&self, env: Arc<Environment>) -> Result<ValidatedRun, RunError> {
        self.check(env.measure_size())?;
        if self.search.learners() > 0 {
            let SearchConfig { environments, train, .. } = &self.search;
            memory::check(&env, "search.environments", *environments, train.rollout_length)?;
        }
        let found = self.demos.find(&self.reward, &env)?;
        let chosen = found.clone().map(|all| self.demos.chosen(all));
        let (gamma, horizon) = (self.search.train.gamma, env.episode_steps());
        let builder = chosen
            .as_ref()
            .map(|chosen| RewardModelBuilder::new(&self.reward, gamma, chosen, horizon, self.seed))
            .transpose()?;
        Ok(ValidatedRun { env, found, chosen, builder })
    }
}
