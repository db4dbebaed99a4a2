//! Training one policy on the task's own reward.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use magpie_envs::{Environment, Options};
use magpie_learn::{
    Actions, Agent, Evaluation, Iteration, Networks, TrainConfig, Trainer, TrainerState, evaluate,
};
use serde::{Deserialize, Serialize};

use crate::checkpoint;
use crate::directory::{CONFIG, RunDirectory, read};
use crate::error::RunError;
use crate::metrics::Metrics;
use crate::policy_file::{PolicyFile, save_policy};

/// What a PPO run computes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name of the task.
    pub task: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// Environment steps to train for; rounded up to whole windows.
    pub steps: u64,
    /// Environments side by side.
    pub environments: u32,
    /// How the agent learns.
    pub train: TrainConfig,
}

impl Config {
    /// Defaults found by experiment (`docs/results/ppo.md`): shorter windows, smaller minibatches and a lower learning
    /// rate than the search uses learn most from a few million steps.
    pub fn new(task: &str, seed: u64, steps: u64) -> Result<Config, RunError> {
        let dt = Environment::new(task, Options::default())?.robot.control_dt;
        let mut train = TrainConfig { window: 64, target_kl: 0.02, ..TrainConfig::default() };
        // With steps of 8 ms, 0.99 looks less than a second ahead, and a walker learns to dive instead of to walk.
        train.gamma = if dt < 0.02 { 0.995 } else { 0.99 };
        train.ppo.adam.learning_rate = 3e-4;
        Ok(Config { task: task.to_owned(), seed, steps, environments: 256, train })
    }

    /// Refuses what cannot be run.
    pub fn check(&self) -> Result<(), RunError> {
        fn within<T: ToString>(
            field: &'static str,
            value: T,
            ok: bool,
            range: &'static str,
        ) -> Result<(), RunError> {
            if ok { Ok(()) } else { Err(RunError::Value { field: field.to_owned(), value: value.to_string(), range }) }
        }
        let t = &self.train;
        let rate = t.ppo.adam.learning_rate;
        within("steps", self.steps, self.steps > 0, "at least 1")?;
        within(
            "environments",
            self.environments,
            (1..=1_000_000).contains(&self.environments),
            "1 to 1,000,000",
        )?;
        within("train.window", t.window, (1..=100_000).contains(&t.window), "1 to 100,000")?;
        within("train.epochs", t.epochs, (1..=1000).contains(&t.epochs), "1 to 1000")?;
        let rows = self.environments as usize * t.window;
        let most = t.minibatches >= 1 && t.minibatches <= rows;
        within("train.minibatches", t.minibatches, most, "1 to environments × window")?;
        within("train.gamma", t.gamma, (0.0..=1.0).contains(&t.gamma), "0 to 1")?;
        within("train.gae_lambda", t.gae_lambda, (0.0..=1.0).contains(&t.gae_lambda), "0 to 1")?;
        within("train.target_kl", t.target_kl, t.target_kl > 0.0, "above 0")?;
        within("train.ppo.adam.learning_rate", rate, rate > 0.0 && rate.is_finite(), "above 0")
    }
}

/// A PPO run under way.
#[derive(Debug)]
pub struct PpoRun {
    config: Config,
    env: Arc<Environment>,
    networks: Networks,
    trainer: Trainer,
    directory: RunDirectory,
    metrics: Metrics,
    /// Time spent in earlier processes.
    seconds_before: f64,
    started: Instant,
    saved: Instant,
}

/// What is kept across processes.
#[derive(Serialize, Deserialize)]
struct State {
    config: Config,
    trainer: TrainerState,
    seconds: f64,
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Iterations made.
    pub iteration: u64,
    /// Environment steps made.
    pub steps: u64,
    /// The last window and its update.
    pub last: Iteration,
    /// Seconds of training, earlier processes included.
    pub seconds: f64,
}

const CHECKPOINT: &str = "checkpoint/trainer";
/// At most this much work is lost when a run is killed.
const SAVE_EVERY: Duration = Duration::from_secs(120);
const COLUMNS: [&str; 13] = [
    "iteration",
    "env_steps",
    "episode_return",
    "episode_length",
    "episodes",
    "policy_loss",
    "value_loss",
    "entropy",
    "approx_kl",
    "clip_fraction",
    "explained_variance",
    "minibatches",
    "seconds",
];

impl PpoRun {
    /// Starts a run in a new folder.
    pub fn start(config: Config, path: &Path) -> Result<PpoRun, RunError> {
        config.check()?;
        let (env, networks) = world(&config)?;
        let directory = RunDirectory::create(path)?;
        let metrics = Metrics::create(&directory.file("metrics.csv"), &COLUMNS)?;
        let run = PpoRun::assemble(config, env, networks, directory, metrics);
        // The configuration comes last: a folder with one can be resumed.
        run.save()?;
        let text = toml::to_string_pretty(&run.config)
            .map_err(|e| RunError::Config { path: run.directory.file(CONFIG), problem: e.to_string() })?;
        run.directory.write(CONFIG, text.as_bytes())?;
        Ok(run)
    }

    /// Goes on with a run, further than first planned if `steps` says so.
    pub fn resume(path: &Path, steps: Option<u64>) -> Result<PpoRun, RunError> {
        let directory = RunDirectory::open(path)?;
        let file = directory.file(CONFIG);
        let text = String::from_utf8_lossy(&read(&file)?).into_owned();
        let mut config: Config = toml::from_str(&text)
            .map_err(|e| RunError::Config { path: file.clone(), problem: e.to_string() })?;
        let checkpoint = directory.file(CHECKPOINT);
        let state: State = checkpoint::load(&checkpoint)?;
        // How long to run may change; anything else would make results that no configuration describes.
        if config != (Config { steps: config.steps, ..state.config.clone() }) {
            let problem =
                "differs from what the run was started with; put it back, or start a new run with it";
            return Err(RunError::Config { path: file, problem: problem.to_owned() });
        }
        config.steps = steps.unwrap_or(config.steps);
        config.check()?;
        let (env, networks) = world(&config)?;
        let metrics = Metrics::resume(&directory.file("metrics.csv"), &COLUMNS, state.trainer.iteration)?;
        let mut run = PpoRun::assemble(config, env, networks, directory, metrics);
        run.seconds_before = state.seconds;
        run.trainer
            .restore(state.trainer)
            .map_err(|e| RunError::Damaged { path: checkpoint, problem: e.to_string() })?;
        Ok(run)
    }

    fn assemble(
        config: Config,
        env: Arc<Environment>,
        networks: Networks,
        directory: RunDirectory,
        metrics: Metrics,
    ) -> PpoRun {
        let agent = Agent::new(&networks, config.seed);
        let trainer = Trainer::new(
            Arc::clone(&env),
            0..config.environments,
            networks.clone(),
            agent,
            config.train.clone(),
            config.seed,
        );
        let now = Instant::now();
        PpoRun {
            config,
            env,
            networks,
            trainer,
            directory,
            metrics,
            seconds_before: 0.0,
            started: now,
            saved: now,
        }
    }

    /// The configuration, resolved.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The folder.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Environment steps made so far.
    pub fn steps(&self) -> u64 {
        self.trainer.iteration() * self.trainer.steps_per_iteration() as u64
    }

    /// Whether all steps have been made.
    pub fn is_finished(&self) -> bool {
        self.steps() >= self.config.steps
    }

    /// One window and its update; saves now and then.
    pub fn iterate(&mut self) -> Result<Progress, RunError> {
        let last = self
            .trainer
            .iterate(|_, _| {})
            .map_err(|reason| RunError::Learning { iteration: self.trainer.iteration() + 1, reason })?;
        let progress = Progress {
            iteration: self.trainer.iteration(),
            steps: self.steps(),
            last,
            seconds: self.seconds(),
        };
        let (episodes, update) = (last.episodes, last.update);
        self.metrics.append(&[
            progress.iteration as f64,
            progress.steps as f64,
            episodes.mean_return().unwrap_or(f64::NAN),
            episodes.mean_length().unwrap_or(f64::NAN),
            episodes.count as f64,
            update.ppo.policy_loss,
            update.ppo.value_loss,
            update.ppo.entropy,
            update.ppo.approx_kl,
            update.ppo.clip_fraction,
            update.explained_variance,
            update.minibatches as f64,
            (progress.seconds * 1e3).round() / 1e3,
        ])?;
        if self.saved.elapsed() > SAVE_EVERY {
            self.save()?;
            self.saved = Instant::now();
        }
        Ok(progress)
    }

    /// Writes a checkpoint and the policy as it is now.
    pub fn save(&self) -> Result<(), RunError> {
        let state =
            State { config: self.config.clone(), trainer: self.trainer.save(), seconds: self.seconds() };
        checkpoint::save(&self.directory.file(CHECKPOINT), &state)?;
        let file = PolicyFile { task: self.config.task.clone(), policy: self.trainer.agent.policy() };
        save_policy(&self.directory.file("policy.safetensors"), &self.networks, &file)
    }

    /// Runs whole episodes with the policy as it is now.
    pub fn evaluate(&self, episodes: u32, actions: Actions, seed: u64) -> Evaluation {
        let policy = self.trainer.agent.policy();
        let mut results = evaluate(&self.env, &self.networks, &[&policy], episodes, actions, seed);
        results.remove(0)
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.started.elapsed().as_secs_f64()
    }
}

/// The environment and the networks of a configuration.
fn world(config: &Config) -> Result<(Arc<Environment>, Networks), RunError> {
    let env = Environment::new(&config.task, Options::default())?;
    let networks = Networks::paper(env.observation_size(), env.action_size())?;
    Ok((Arc::new(env), networks))
}
