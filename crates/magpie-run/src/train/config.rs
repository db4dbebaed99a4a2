//! What a search run computes.

use magpie_envs::Environment;
use magpie_rewards::{ModelName, RewardConfig};
use magpie_search::{BonusScale, Curiosity, SearchConfig};
use magpie_settings::{Method, SettingError, Settings, When, settings, words};

use super::demos::{Demos, FILE as DEMONSTRATIONS};
use crate::error::RunError;
use crate::world::EnvOverrides;

settings! {
    /// A search run, resolved: with this and the same version of magpie, anybody gets the same archive.
    pub struct Config {
        /// The task, such as walker2d; `magpie envs` lists them. Always to be named. In a configuration file, a task file of your own
        /// can be named here too.
        task: String = String::new();
        /// How behaviour is measured: feet_contact (share of steps in contact, a dimension for each foot), jump (height of the lowest
        /// foot), angle (cosine and sine of the heading), or a measure of your own task file.
        measure: String = FEET_CONTACT.to_owned();
        /// Of everything random; give each repetition of an experiment its own.
        seed: u64 = 0, in 0..=LARGEST_WHOLE;
        /// Iterations to make.
        iterations: u64 = 40, by [Budget], in 1..=1_000_000_000;
        /// What a reward is learned from.
        demos: Demos, when When::IsNot("reward.model", "true");
        /// Where the objective reward comes from.
        reward: RewardConfig;
        /// The robot, and what it has to cope with.
        world: EnvOverrides;
        /// The search itself.
        search: SearchConfig;
    }
}

/// TOML has no larger whole numbers.
pub(crate) const LARGEST_WHOLE: u64 = i64::MAX as u64;

/// The measure of the paper's main results.
pub(crate) const FEET_CONTACT: &str = "feet_contact";

words! {
    /// How much to spend.
    pub enum Budget {
        /// 40 iterations of 300 environments: minutes on two cores.
        Quick = "quick",
        /// 500 iterations of 300 environments: an hour on two cores.
        Desktop = "desktop",
        /// 2000 iterations of 3000 environments, the paper's own size: a day on two cores.
        Paper = "paper",
    }
}

impl Budget {
    /// Iterations to make.
    pub fn iterations(self) -> u64 {
        match self {
            Budget::Quick => 40,
            Budget::Desktop => 500,
            Budget::Paper => 2000,
        }
    }

    /// Environments side by side. A tenth of the paper's to train in where time is short, but all of its branches and the
    /// intermediate policies too: their episodes cost less than the updates of PPO, and what is never tried is never found.
    pub fn environments(self) -> u32 {
        match self {
            Budget::Quick | Budget::Desktop => 300,
            Budget::Paper => 3000,
        }
    }

    /// What a preset of this name meant, when method and budget were one choice.
    pub fn of_preset(preset: Budget) -> (Method, Budget) {
        (if preset == Budget::Paper { Method::Paper } else { Method::Magpie }, preset)
    }
}

/// q of the paper's imitation: what a step earns beside its reward in an episode that falls in an empty cell.
const CURIOSITY: f64 = 2.0;

impl Config {
    /// The configuration of a method and a budget for a task that comes with magpie. Learned rewards have the paper's weight
    /// of curiosity, the true one has none.
    pub fn new(
        task: &str,
        measure: &str,
        model: ModelName,
        method: Method,
        budget: Budget,
    ) -> Result<Config, RunError> {
        Config::in_world(&EnvOverrides::default(), task, Some(measure), model, method, budget)
    }

    /// The same for a task in a world of its own, on which defaults depend: that world is not part of the result.
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

    /// The same for an environment of any simulator.
    pub fn for_environment(env: &Environment, model: ModelName, method: Method, budget: Budget) -> Config {
        let mut config = Config::of(method);
        config.search = SearchConfig::for_task(method, env);
        (config.task, config.measure) = (env.task().to_owned(), env.measure().to_owned());
        config.reward.model = model;
        (config.iterations, config.search.environments) = (budget.iterations(), budget.environments());
        let curiosity = &mut config.search.curiosity;
        curiosity.weight = Config::usual_curiosity(model);
        // What GAIL pays is never negative, so that nothing has to make up for costs.
        if model == ModelName::True {
            curiosity.base = env.hints().alive_bonus;
        }
        config
    }

    /// The bonus of curiosity if nobody says otherwise: the paper's for rewards that are learned, none for the true one.
    pub fn usual_curiosity(model: ModelName) -> f64 {
        if model == ModelName::True { 0.0 } else { CURIOSITY }
    }

    /// As the folder of a run says it, where robot and demonstrations have names of their own.
    pub(crate) fn moved_in(&self) -> Config {
        let mut config = self.clone();
        config.world = self.world.moved_in();
        config.demos = match self.reward.model {
            ModelName::True => Demos::default(),
            _ => Demos { file: Some(DEMONSTRATIONS.into()), ..self.demos.clone() },
        };
        config
    }

    /// Environment steps of the whole run if no evaluated episode ends early: the most that it can take.
    pub fn most_env_steps(&self) -> u64 {
        let SearchConfig { environments, episodes, gradient_iterations, walk_iterations, .. } = self.search;
        // A world that cannot be built is refused before anything is run in it.
        let (measures, horizon) = self
            .world
            .environment(&self.task, Some(&self.measure))
            .map_or((0, 0), |env| (env.measure_size(), env.episode_steps()));
        let rollout = u64::from(environments).saturating_mul(self.search.train.rollout_length as u64);
        let training =
            rollout.saturating_mul(u64::from(gradient_iterations).saturating_add(walk_iterations.into()));
        let learners = self.search.learners() as u64;
        let episodes = self.search.candidates(measures).saturating_mul(episodes.into());
        let evaluation = episodes.saturating_mul(horizon.into());
        // The first rollout only looks around.
        let iteration = training.saturating_mul(learners).saturating_add(evaluation);
        iteration.saturating_mul(self.iterations).saturating_add(rollout.saturating_mul(learners))
    }

    /// Refuses what cannot be run with this many dimensions of measure.
    pub fn check(&self, measures: usize) -> Result<(), RunError> {
        self.check_ranges()?;
        let Curiosity { weight, scale, .. } = self.search.curiosity;
        let paid = weight == 0.0 || scale != BonusScale::Reward || !self.reward.is_never_positive();
        let range = "step where reward.gail.reward or reward.vail.reward is log_d, which is never positive";
        SettingError::unless(paid, "search.curiosity.scale", scale, range)?;
        self.reward.check().map_err(|error| error.under("reward"))?;
        Ok(self.search.check(measures).map_err(|error| error.under("search"))?)
    }
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
