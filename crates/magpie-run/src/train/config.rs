//! What a search run computes.

use magpie_envs::{EPISODE_STEPS, Measure, TASKS};
use magpie_learn::SettingError;
use magpie_rewards::{ModelName, RewardConfig, RewardForm};
use magpie_search::{Curiosity, Known, Novelty, Scope, SearchConfig, Unit};
use serde::{Deserialize, Serialize};

use super::demos::{Demos, FILE as DEMONSTRATIONS};
use crate::error::RunError;
use crate::settings::within;
use crate::world::{ROBOT, World};

/// A search run, resolved: with this and the same version of magpie, anybody gets the same archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name of the task.
    pub task: String,
    /// How behaviour is measured.
    pub measure: Measure,
    /// Seed of all random streams.
    pub seed: u64,
    /// Iterations to make.
    pub iterations: u64,
    /// What a reward is learnt from.
    pub demos: Demos,
    /// Where the objective reward comes from.
    pub reward: RewardConfig,
    /// The robot, and what it has to cope with.
    pub world: World,
    /// The search itself.
    pub search: SearchConfig,
}

/// q of the paper's imitation: what a step earns beside its reward in an episode that falls in an empty cell.
const CURIOSITY: f64 = 2.0;

/// p of ant with the true reward: what a step earns beside it. The costs of actions with σ = 1 are about as high.
const ANT_BASE: f64 = 2.0;

/// Iterations of slow growth after which a search that has no days to wait starts elsewhere.
const PATIENCE: u32 = 3;

/// Units of the critics' hidden layers where time is short: with the paper's 256 most of it goes into critics.
const CRITIC: u32 = 64;

/// How far an update may move a policy, in nats, where iterations are few: with the paper's 0.008 updates use half of their
/// minibatches (walker2d).
const TARGET_KL: f64 = 0.02;

/// A curiosity for little time, in place of the paper's, which falls silent once the cells around the search policy are
/// filled, and until then outbids the reward: it feels empty cells from some way off, pays for them in proportion to the
/// reward of a step, and leads restarts to where there are more.
fn brisk(curiosity: Curiosity) -> Curiosity {
    Curiosity {
        scope: Scope::Segment,
        novelty: Novelty::Density,
        width: 3.0,
        archive: Known::Result,
        falls: false,
        unit: Unit::Reward,
        frontier: true,
        ..curiosity
    }
}

/// How much to spend.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Minutes on two cores.
    #[default]
    Quick,
    /// An hour on two cores.
    Desktop,
    /// The paper's own size: a day on two cores.
    Paper,
}

impl Config {
    /// The configuration of a preset. All have the paper's values where they do not say otherwise; learnt rewards have
    /// the paper's weight of curiosity, the true one has none, but pays an ant to live.
    pub fn new(task: &str, measure: Measure, model: ModelName, preset: Preset) -> Result<Config, RunError> {
        let world = World::default();
        let mut search = SearchConfig::paper(&world.environment(task, Some(measure))?);
        search.curiosity.weight = Config::usual_curiosity(model);
        // At first the control costs of an ant exceed what it is paid for staying alive, and it learns to fall at once.
        // What GAIL pays is never negative.
        if task == "ant" && model == ModelName::True {
            search.curiosity.base = ANT_BASE;
        }
        // A tenth of the paper's environments to train in, but all of its branches and the waypoints too: their episodes
        // cost less than the updates of PPO, and what is never tried is never found.
        if preset != Preset::Paper {
            (search.environments, search.waypoints) = (300, true);
            (search.inward, search.patience, search.critic) = (true, PATIENCE, CRITIC);
            search.train.target_kl = TARGET_KL;
            search.curiosity = brisk(search.curiosity);
        }
        // What a model pays has no unit, and GAIL pays so little that a walk would serve the measures alone.
        let scaled = preset != Preset::Paper;
        let iterations = match preset {
            Preset::Quick => 40,
            Preset::Desktop => 500,
            Preset::Paper => 2000,
        };
        Ok(Config {
            task: task.to_owned(),
            measure,
            seed: 0,
            iterations,
            demos: Demos::default(),
            reward: RewardConfig { model, scaled, ..RewardConfig::default() },
            world,
            search,
        })
    }

    /// A preset for settings that say themselves what they are for: laid over this, they give task (empty if they name
    /// none), measure and reward, on which the rest of a preset depends.
    pub fn nameless(preset: Preset) -> Result<Config, RunError> {
        let config = Config::new(TASKS[0].name, Measure::FeetContact, ModelName::default(), preset)?;
        Ok(Config { task: String::new(), ..config })
    }

    /// The bonus of curiosity if nobody says otherwise: the paper's for rewards that are learnt, none for the true one.
    pub fn usual_curiosity(model: ModelName) -> f64 {
        if model == ModelName::True { 0.0 } else { CURIOSITY }
    }

    /// As the folder of a run says it, where robot and demonstrations have names of their own.
    pub(crate) fn moved_in(&self) -> Config {
        let mut config = self.clone();
        config.world.robot = self.world.robot.as_ref().map(|_| ROBOT.into());
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
        let measures =
            self.world.environment(&self.task, Some(self.measure)).map_or(0, |env| env.measure_size());
        let window = u64::from(environments).saturating_mul(self.search.train.window as u64);
        let training =
            window.saturating_mul(u64::from(gradient_iterations).saturating_add(walk_iterations.into()));
        let episodes = self.search.candidates(measures).saturating_mul(episodes.into());
        let evaluation = episodes.saturating_mul(EPISODE_STEPS.into());
        // The first window only looks around.
        training.saturating_add(evaluation).saturating_mul(self.iterations).saturating_add(window)
    }

    /// Whether no reward is ever positive.
    fn never_pays(&self) -> bool {
        let RewardConfig { model, gail, vail, .. } = &self.reward;
        match model {
            ModelName::Gail => gail.reward == RewardForm::LogD,
            ModelName::Vail => vail.reward == RewardForm::LogD,
            _ => false,
        }
    }

    /// Refuses what cannot be run with this many dimensions of measure.
    pub fn check(&self, measures: usize) -> Result<(), RunError> {
        // TOML has no larger whole numbers.
        within("seed", self.seed, 0..=i64::MAX as u64)?;
        within("iterations", self.iterations, 1..=1_000_000_000)?;
        let Curiosity { weight, unit, .. } = self.search.curiosity;
        if weight != 0.0 && unit == Unit::Reward && self.never_pays() {
            return Err(RunError::Value {
                field: "search.curiosity.unit".to_owned(),
                value: "reward".to_owned(),
                range:
                    "step where reward.gail.reward or reward.vail.reward is log_d, which is never positive"
                        .to_owned(),
            });
        }
        self.search.check(measures).map_err(|SettingError { field, value, range }| RunError::Value {
            field: format!("search.{field}"),
            value,
            range,
        })
    }
}

#[cfg(test)]
mod tests;
