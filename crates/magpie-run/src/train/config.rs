//! The configuration of a search run.

use magpie_envs::Environment;
use magpie_learn::full_lanes;
use magpie_rewards::{ModelName, RewardConfig};
use magpie_search::{BonusScale, Curiosity, SearchConfig, Start};
use magpie_settings::{Method, SettingError, Settings, When, settings, words};

use super::demos::{Demos, FILE as DEMONSTRATIONS};
use crate::error::RunError;
use crate::world::EnvOverrides;

settings! {
    /// The complete configuration of a search run. The same configuration and version of magpie give the same archive.
    pub struct Config {
        /// Name of the task, such as walker2d (required; `magpie envs` lists all). A configuration file can also name a
        /// task file here.
        task: String = String::new();
        /// Behaviour measure: feet_contact (share of steps in contact, for each foot), jump (height of the lowest
        /// foot), angle (cosine and sine of the heading), or a measure of your own task file.
        measure: String = FEET_CONTACT.to_owned();
        /// Seed of all random numbers. Give each repetition of an experiment its own.
        seed: u64 = 0, in 0..=LARGEST_WHOLE;
        /// Number of iterations of the search.
        iterations: u64 = 40, by [Budget], in 1..=1_000_000_000;
        /// Demonstrations for the reward model.
        demos: Demos, when When::IsNot("reward.model", "true");
        /// The objective's reward.
        reward: RewardConfig;
        /// The robot and changes to its world.
        world: EnvOverrides;
        /// The search.
        search: SearchConfig;
    }
}

/// The largest whole number of TOML.
pub(crate) const LARGEST_WHOLE: u64 = i64::MAX as u64;

/// The measure of the paper's main results.
pub(crate) const FEET_CONTACT: &str = "feet_contact";

words! {
    /// How much computation to spend.
    pub enum Budget {
        /// 40 iterations with 300 environments: minutes on two cores.
        Quick = "quick",
        /// 500 iterations with 300 environments: an hour on two cores.
        Desktop = "desktop",
        /// 2000 iterations with 3000 environments, the size of the paper: a day on two cores.
        Paper = "paper",
    }
}

impl Budget {
    /// Number of iterations.
    pub fn iterations(self) -> u64 {
        match self {
            Budget::Quick => 40,
            Budget::Desktop => 500,
            Budget::Paper => 2000,
        }
    }

    /// Number of parallel environments. The smaller budgets train in a tenth of the paper's environments but evaluate
    /// all of its branches and the intermediate policies too: their episodes cost less than PPO updates, and only
    /// evaluated policies can enter the archive.
    pub fn environments(self) -> u32 {
        match self {
            Budget::Quick | Budget::Desktop => 300,
            Budget::Paper => 3000,
        }
    }

    /// The method and budget that an earlier version's preset stood for.
    pub fn of_preset(preset: Budget) -> (Method, Budget) {
        (if preset == Budget::Paper { Method::Paper } else { Method::Magpie }, preset)
    }
}

/// Weight q of the bonus in the paper's imitation experiments.
const CURIOSITY: f64 = 2.0;

impl Config {
    /// The configuration of a method and a budget for a built-in task. Learned rewards get the paper's curiosity
    /// weight, the true reward gets none.
    pub fn new(
        task: &str,
        measure: &str,
        model: ModelName,
        method: Method,
        budget: Budget,
    ) -> Result<Config, RunError> {
        Config::in_world(&EnvOverrides::default(), task, Some(measure), model, method, budget)
    }

    /// Like [`Config::new`], with defaults for a changed world. The returned configuration does not contain that world.
    pub(crate) fn in_world(
        world: &EnvOverrides,
        task: &str,
        measure: Option<&str>,
        model: ModelName,
        method: Method,
        budget: Budget,
    ) -> Result<Config, RunError> {
        Ok(Config::for_environment(&world.environment(task, measure)?, model, method, budget))
    }

    /// Like [`Config::new`], for an environment of any simulator.
    pub fn for_environment(env: &Environment, model: ModelName, method: Method, budget: Budget) -> Config {
        let mut config = Config::of(method);
        config.search = SearchConfig::for_task(method, env);
        (config.task, config.measure) = (env.task().to_owned(), env.measure().to_owned());
        config.reward.model = model;
        (config.iterations, config.search.environments) = (budget.iterations(), budget.environments());
        let curiosity = &mut config.search.curiosity;
        curiosity.weight = Config::usual_curiosity(model);
        // GAIL's rewards are never negative, so that no bonus for staying alive is needed.
        if model == ModelName::True {
            curiosity.base = env.hints().alive_bonus;
        }
        config
    }

    /// The default curiosity weight: the paper's for learned rewards, none for the true reward.
    pub fn usual_curiosity(model: ModelName) -> f64 {
        if model == ModelName::True { 0.0 } else { CURIOSITY }
    }

    /// The configuration as it is written to the run directory, where robot and demonstrations are copies.
    pub(crate) fn moved_in(&self) -> Config {
        let mut config = self.clone();
        config.world = self.world.moved_in();
        config.demos = match self.reward.model {
            ModelName::True => Demos::default(),
            _ => Demos { file: Some(DEMONSTRATIONS.into()), ..self.demos.clone() },
        };
        config
    }

    /// Upper bound of the environment steps of the whole run, reached if no evaluated episode ends early.
    pub fn most_env_steps(&self) -> u64 {
        let SearchConfig { environments, episodes, gradient_iterations, walk_iterations, .. } = self.search;
        // Later checks refuse a world that cannot be built.
        let (measures, horizon) = self
            .world
            .environment(&self.task, Some(&self.measure))
            .map_or((0, 0), |env| (env.measure_size(), env.episode_steps()));
        let rollout = u64::from(environments).saturating_mul(self.search.train.rollout_length as u64);
        let training =
            rollout.saturating_mul(u64::from(gradient_iterations).saturating_add(walk_iterations.into()));
        let learners = self.search.learners() as u64;
        let policies = learners.saturating_mul(self.search.policies.into());
        let episodes = self.search.candidates(measures).saturating_mul(episodes.into());
        let evaluation = episodes.saturating_mul(horizon.into());
        let again =
            u64::from(self.search.reevaluations).saturating_mul(full_lanes(self.search.episodes).into());
        let evaluation = evaluation.saturating_add(again.saturating_mul(horizon.into()));
        // The first rollout of a search policy only initialises its observation normaliser.
        let iteration = training.saturating_mul(learners).saturating_add(evaluation);
        let search =
            iteration.saturating_mul(self.iterations).saturating_add(rollout.saturating_mul(policies));
        search.saturating_add((self.search.settle * search as f64) as u64)
    }

    /// Checks the configuration for this many measures.
    pub fn check(&self, measures: usize) -> Result<(), RunError> {
        self.check_ranges()?;
        let Curiosity { weight, scale, .. } = self.search.curiosity;
        let paid = weight == 0.0 || scale != BonusScale::Reward || !self.reward.is_never_positive();
        let range = "step where reward.gail.reward or reward.vail.reward is log_d, which is never positive";
        SettingError::unless(paid, "search.curiosity.scale", scale, range)?;
        let learned = self.search.start == Start::Random || self.reward.model != ModelName::True;
        let range = "random if the reward is not learned from demonstrations";
        SettingError::unless(learned, "search.start", self.search.start, range)?;
        self.reward.check().map_err(|error| error.under("reward"))?;
        Ok(self.search.check(measures).map_err(|error| error.under("search"))?)
    }
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
