//! Training one policy on the task's own reward.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use magpie_envs::{Environment, Options};
use magpie_learn::{
    Actions, Agent, Evaluation, Iteration, Networks, StopAfter, TrainConfig, Trainer, TrainerState, evaluate,
};
use magpie_nn::Kernel;
use serde::{Deserialize, Serialize};

use crate::checkpoint;
use crate::directory::{CONFIG, RunDirectory};
use crate::error::RunError;
use crate::metrics::Metrics;
use crate::policy_file::{PolicyFile, save_policy};
use crate::settings::{read_text, resolve, within};
use crate::tensorboard::Events;
use crate::world::World;

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
    /// Where.
    pub world: World,
    /// How the agent learns.
    pub train: TrainConfig,
}

impl Config {
    /// Defaults found by experiment (`docs/results/ppo.md`): shorter windows, smaller minibatches and a lower learning
    /// rate than the search uses learn most from a few million steps.
    pub fn new(task: &str, seed: u64, steps: u64) -> Result<Config, RunError> {
        let dt = Environment::new(task, Options::default())?.robot.control_dt;
        let mut train = TrainConfig { window: 64, target_kl: 0.02, ..TrainConfig::default() };
        train.stop_after = StopAfter::Minibatch;
        // By the time step of the task's own robot: with steps of 8 ms, 0.99 looks less than a second ahead, and a walker learns to dive instead of to walk.
        train.gamma = if dt < 0.02 { 0.995 } else { 0.99 };
        train.ppo.adam.learning_rate = 3e-4;
        Ok(Config { task: task.to_owned(), seed, steps, environments: 256, world: World::default(), train })
    }

    /// Refuses what cannot be run.
    pub fn check(&self) -> Result<(), RunError> {
        let train = &self.train;
        // TOML has no larger whole numbers.
        within("seed", self.seed, 0..=i64::MAX as u64)?;
        within("steps", self.steps, 1..=i64::MAX as u64)?;
        within("environments", self.environments, 1..=1_000_000)?;
        Ok(train.check(self.environments as usize)?)
    }
}

/// A PPO run under way.
#[derive(Debug)]
pub struct PpoRun {
    config: Config,
    env: Arc<Environment>,
    networks: Networks,
    /// The text of the robot file, if the robot is not the task's own.
    robot: Option<String>,
    trainer: Trainer,
    directory: RunDirectory,
    metrics: Metrics,
    events: Events,
    /// Time spent in earlier processes.
    seconds_before: f64,
    /// What they multiplied with.
    kernel_before: String,
    started: Instant,
    saved: Instant,
}

/// What is kept across processes.
#[derive(Serialize, Deserialize)]
struct State {
    config: Config,
    robot: Option<String>,
    kernel: String,
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
    /// Starts a run in a new folder. A robot file is copied into it, so that the run does not depend on the original.
    pub fn start(mut config: Config, path: &Path) -> Result<PpoRun, RunError> {
        config.check()?;
        let env = config.world.environment(&config.task, None)?;
        let directory = RunDirectory::create(path)?;
        let robot = config.world.move_in(&directory)?;
        let metrics = Metrics::create(&directory.file("metrics.csv"), &COLUMNS)?;
        let events = Events::create(path)?;
        let run = PpoRun::assemble(config, env, robot, directory, (metrics, events))?;
        // The configuration comes last: a folder with one can be resumed.
        run.save()?;
        run.write_config()?;
        Ok(run)
    }

    /// Goes on with a run, further than first planned if `steps` says so.
    pub fn resume(path: &Path, steps: Option<u64>) -> Result<PpoRun, RunError> {
        let directory = RunDirectory::open_kind(path, "ppo", CHECKPOINT)?;
        let checkpoint = directory.file(CHECKPOINT);
        let state: State = checkpoint::load(&checkpoint)?;
        let file = directory.file(CONFIG);
        let mut config = resolve(state.config.clone(), Some((&file, &read_text(&file)?)), &[])?;
        // How long to run may change; anything else would make results that no configuration describes.
        if config != (Config { steps: config.steps, ..state.config }) {
            return Err(RunError::changed(&file));
        }
        let further = steps.is_some_and(|n| n != config.steps);
        config.steps = steps.unwrap_or(config.steps);
        config.check()?;
        let world = World::unchanged(path, state.robot.as_deref())?;
        let env = world.environment(&config.task, None)?;
        let metrics = Metrics::resume(&directory.file("metrics.csv"), &COLUMNS, state.trainer.iteration)?;
        let window = u64::from(config.environments) * config.train.window as u64;
        let events = Events::resume(path, state.trainer.iteration * window)?;
        let mut run = PpoRun::assemble(config, env, state.robot, directory, (metrics, events))?;
        run.seconds_before = state.seconds;
        run.kernel_before = state.kernel;
        run.trainer
            .restore(state.trainer)
            .map_err(|e| RunError::Damaged { path: checkpoint, problem: e.to_string() })?;
        if further {
            run.write_config()?;
        }
        Ok(run)
    }

    fn write_config(&self) -> Result<(), RunError> {
        let text = toml::to_string_pretty(&self.config)
            .map_err(|e| RunError::Config { path: self.directory.file(CONFIG), problem: e.to_string() })?;
        self.directory.write(CONFIG, text.as_bytes())
    }

    fn assemble(
        config: Config,
        env: Environment,
        robot: Option<String>,
        directory: RunDirectory,
        (metrics, events): (Metrics, Events),
    ) -> Result<PpoRun, RunError> {
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
        let now = Instant::now();
        Ok(PpoRun {
            config,
            env,
            networks,
            robot,
            trainer,
            directory,
            metrics,
            events,
            seconds_before: 0.0,
            kernel_before: Kernel::best().name().to_owned(),
            started: now,
            saved: now,
        })
    }

    /// The kernel that the run was made with so far, if this machine's is another one: from here on the bytes will not
    /// be those of a run that had stayed.
    pub fn other_kernel(&self) -> Option<&str> {
        Some(self.kernel_before.as_str()).filter(|&before| !Kernel::best().gives_the_bits_of(before))
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
        let row = [
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
        ];
        self.metrics.append(&row)?;
        self.events.row(progress.steps, &COLUMNS, &row)?;
        if self.saved.elapsed() > SAVE_EVERY {
            self.save()?;
            self.saved = Instant::now();
        }
        Ok(progress)
    }

    /// Writes a checkpoint and the policy as it is now.
    pub fn save(&self) -> Result<(), RunError> {
        let state = State {
            kernel: Kernel::best().name().to_owned(),
            config: self.config.clone(),
            robot: self.robot.clone(),
            trainer: self.trainer.save(),
            seconds: self.seconds(),
        };
        self.metrics.sync()?;
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
