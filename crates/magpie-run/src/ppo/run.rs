//! Training one policy, as a run.

use std::path::Path;
use std::sync::Arc;

use magpie_envs::Environment;
use magpie_learn::{Actions, Agent, Evaluation, Iteration, Networks, Trainer, TrainerState, evaluate};
use serde::Serialize;

use super::config::Config;
use super::metrics::COLUMNS;
use crate::checkpoint::WriteResults;
use crate::column::Column;
use crate::driver::{self, Kind, Run};
use crate::error::RunError;
use crate::policy_file::{PolicyFile, save_policy};

/// A PPO run under way.
pub type PpoRun = Run<Training>;

/// What an iteration gave, and how far the run is.
pub type Progress = driver::Progress<Report>;

/// One agent in training.
pub struct Training {
    env: Arc<Environment>,
    networks: Networks,
    trainer: Trainer,
}

/// What a rollout and its update gave.
#[derive(Debug, Clone, Copy)]
pub struct Report {
    /// Iterations made.
    pub iteration: u64,
    /// Environment steps made.
    pub steps: u64,
    /// The last rollout and its update.
    pub last: Iteration,
}

/// The policy's file.
pub(crate) const POLICY: &str = "policy.safetensors";

impl Training {
    fn new(config: &Config, env: Environment) -> Result<Training, RunError> {
        let env = Arc::new(env);
        let networks = Networks::paper(env.observation_size(), env.action_size())?;
        let agent = Agent::new(&networks, config.seed);
        let trainer = Trainer::new(
            Arc::clone(&env),
            0..config.environments,
            networks.clone(),
            agent,
            config.train.clone(),
            config.seed,
        );
        Ok(Training { env, networks, trainer })
    }

    fn steps(&self) -> u64 {
        self.trainer.iteration() * self.trainer.steps_per_iteration() as u64
    }
}

impl Kind for Training {
    type Config = Config;
    type Record = TrainerState;
    type Report = Report;

    const COMMAND: &'static str = "ppo";
    const CHECKPOINT: &'static str = "checkpoint/trainer";
    const RESULTS: &'static str = POLICY;
    // An update that fails has changed the agent by then.
    const KEEPS_STATE: bool = false;

    fn columns() -> &'static [Column<Progress>] {
        COLUMNS
    }

    fn iteration(&self) -> u64 {
        self.trainer.iteration()
    }

    fn made(&self) -> u64 {
        self.steps()
    }

    fn step(&mut self) -> Result<Report, RunError> {
        let last = self
            .trainer
            .iterate(|_, _| {})
            .map_err(|reason| RunError::Learning { iteration: self.trainer.iteration() + 1, reason })?;
        Ok(Report { iteration: self.trainer.iteration(), steps: self.steps(), last })
    }

    fn record(&self, _config: &Config) -> Result<impl Serialize + '_, RunError> {
        Ok(self.trainer.save())
    }

    fn results(&self, config: &Config) -> Result<WriteResults, RunError> {
        let file = PolicyFile {
            task: config.task.clone(),
            actor: self.networks.actor.clone(),
            actions: Actions::Mean,
            policy: self.trainer.agent.policy(),
        };
        Ok(Box::new(move |path| save_policy(path, &file)))
    }
}

impl Run<Training> {
    /// Starts a run in a new folder.
    pub fn start(config: Config, path: &Path) -> Result<PpoRun, RunError> {
        config.check()?;
        let env = config.world.environment(&config.task, None)?;
        config.check_memory(&env)?;
        Run::begin(config, path, |_, _| Ok(None), |config: &Config| Training::new(config, env))
    }

    /// Goes on with a run, further than first planned if `steps` says so.
    pub fn resume(path: &Path, steps: Option<u64>) -> Result<PpoRun, RunError> {
        Run::go_on(path, steps, |config: Config, _, state, _| {
            config.check()?;
            let env = config.world.environment(&config.task, None)?;
            config.check_memory(&env)?;
            let mut training = Training::new(&config, env)?;
            training.trainer.restore(state).map_err(|e| RunError::Damaged {
                path: path.join(Training::CHECKPOINT),
                problem: e.to_string(),
            })?;
            Ok(training)
        })
    }

    /// Environment steps made so far.
    pub fn steps(&self) -> u64 {
        self.kind.steps()
    }

    /// Runs whole episodes with the policy as it is now.
    pub fn evaluate(&self, episodes: u32, actions: Actions, seed: u64) -> Evaluation {
        let Training { env, networks, trainer } = &self.kind;
        evaluate(env, networks, &[&trainer.agent.policy()], episodes, actions, seed).remove(0)
    }
}
