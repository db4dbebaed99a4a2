//! What a configuration needs, found and checked before anything is written.

use std::sync::Arc;

use magpie_demos::Demonstrations;
use magpie_envs::Environment;

use super::config::Config;
use super::objective::RewardModelBuilder;
use crate::error::RunError;

/// All that a run needs besides a folder.
pub(crate) struct ValidatedRun {
    /// The task in its world.
    pub env: Arc<Environment>,
    /// All demonstrations of the file, if the reward is learned from any.
    pub found: Option<Demonstrations>,
    /// Those to learn from.
    pub chosen: Option<Demonstrations>,
    /// The reward model that they make.
    pub builder: Option<RewardModelBuilder>,
}

impl Config {
    /// Refuses what cannot be run: a wrong value, a task, robot or file that is not there or does not fit.
    pub(crate) fn validated(&self) -> Result<ValidatedRun, RunError> {
        self.validated_in(Arc::new(self.world.environment(&self.task, Some(&self.measure))?))
    }

    /// The same in an environment of any simulator.
    pub(crate) fn validated_in(&self, env: Arc<Environment>) -> Result<ValidatedRun, RunError> {
        self.check(env.measure_size())?;
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
