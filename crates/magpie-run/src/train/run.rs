//! A search under way, in its folder.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use magpie_envs::Environment;
use magpie_nn::Kernel;
use magpie_search::{Objective, Report, Search, SearchError, State};
use serde::{Deserialize, Serialize};

use super::config::{Config, Reward};
use crate::archive_file::{About, save_archive};
use crate::checkpoint;
use crate::directory::{CONFIG, RunDirectory};
use crate::error::RunError;
use crate::metrics::Metrics;
use crate::settings::{read_text, resolve};
use crate::tensorboard::Events;
use crate::world::World;

/// A search that writes down what it finds.
pub struct TrainRun {
    config: Config,
    /// The text of the robot file, if the robot is not the task's own.
    robot: Option<String>,
    env: Arc<Environment>,
    search: Search,
    directory: RunDirectory,
    tables: Tables,
    /// Iterations between checkpoints; by the clock if not given.
    save_every: Option<u64>,
    /// Time spent in earlier processes.
    seconds_before: f64,
    /// What they multiplied with.
    kernel_before: String,
    started: Instant,
    saved: Instant,
}

/// Where the numbers of an iteration go.
struct Tables {
    metrics: Metrics,
    events: Events,
}

/// What is kept across processes.
#[derive(Deserialize)]
struct Saved {
    config: Config,
    robot: Option<String>,
    kernel: String,
    search: State,
    seconds: f64,
}

/// The same, without a copy of the archive.
#[derive(Serialize)]
struct Saving<'a> {
    config: &'a Config,
    robot: &'a Option<String>,
    kernel: &'static str,
    search: &'a State,
    seconds: f64,
}

/// What an iteration gave, and how far the run is.
#[derive(Debug, Clone)]
pub struct Progress {
    /// The iteration.
    pub report: Report,
    /// Seconds of search, earlier processes included.
    pub seconds: f64,
    /// Whether a checkpoint and the archive were written.
    pub saved: bool,
}

const CHECKPOINT: &str = "checkpoint/search";
/// The archive's file.
pub(crate) const ARCHIVE: &str = "archive.safetensors";
/// At most this much work, and the iteration under way, is lost when a run is killed.
const SAVE_EVERY: Duration = Duration::from_secs(60);

/// Columns of `metrics.csv`. Those that begin with `seconds` are what the clock said; all others are the same whenever
/// and wherever the run is made.
const COLUMNS: [&str; 31] = [
    "iteration",
    "qd_score",
    "qd_score_offset",
    "coverage",
    "best",
    "mean",
    "elites",
    "new_cells",
    "accepted",
    "refused",
    "restarts",
    "env_steps",
    "search_return",
    "search_length",
    "curious_share",
    "gradient_policy_loss",
    "gradient_value_loss",
    "gradient_approx_kl",
    "gradient_minibatches",
    "gradient_explained_variance",
    "walk_policy_loss",
    "walk_value_loss",
    "walk_approx_kl",
    "walk_minibatches",
    "walk_explained_variance",
    "walk_entropy",
    "seconds_gradients",
    "seconds_evaluation",
    "seconds_archive",
    "seconds_walk",
    "seconds",
];

impl TrainRun {
    /// Starts a run in a new folder.
    pub fn start(mut config: Config, path: &Path) -> Result<TrainRun, RunError> {
        let env = Arc::new(config.world.environment(&config.task, Some(config.measure))?);
        config.check(env.measure_size())?;
        let directory = RunDirectory::create(path)?;
        let robot = config.world.move_in(&directory)?;
        let tables = Tables {
            metrics: Metrics::create(&directory.file("metrics.csv"), &COLUMNS)?,
            events: Events::create(path)?,
        };
        let search =
            Search::new(Arc::clone(&env), config.search.clone(), objective(config.reward), config.seed)?;
        let mut run = TrainRun::assemble(config, robot, env, search, directory, tables, 0.0);
        // The configuration comes last: a folder with one can be resumed.
        run.save()?;
        run.write_config()?;
        Ok(run)
    }

    /// Goes on with a run, further than first planned if `iterations` says so.
    pub fn resume(path: &Path, iterations: Option<u64>) -> Result<TrainRun, RunError> {
        let directory = RunDirectory::open(path)?;
        let checkpoint = directory.file(CHECKPOINT);
        let saved: Saved = checkpoint::load(&checkpoint)?;
        let file = directory.file(CONFIG);
        let mut config = resolve(saved.config.clone(), Some((&file, &read_text(&file)?)), &[])?;
        // How long to run may change; anything else would make results that no configuration describes.
        if config != (Config { iterations: config.iterations, ..saved.config }) {
            return Err(RunError::changed(&file));
        }
        let further = iterations.is_some_and(|n| n != config.iterations);
        config.iterations = iterations.unwrap_or(config.iterations);
        let world = World::unchanged(path, saved.robot.as_deref())?;
        let env = Arc::new(world.environment(&config.task, Some(config.measure))?);
        config.check(env.measure_size())?;
        let tables = Tables {
            metrics: Metrics::resume(&directory.file("metrics.csv"), &COLUMNS, saved.search.iteration)?,
            events: Events::resume(path, saved.search.iteration)?,
        };
        let search = Search::resume(
            Arc::clone(&env),
            config.search.clone(),
            objective(config.reward),
            config.seed,
            saved.search,
        )
        .map_err(|e| RunError::Damaged { path: checkpoint, problem: e.to_string() })?;
        let mut run = TrainRun::assemble(config, saved.robot, env, search, directory, tables, saved.seconds);
        run.kernel_before = saved.kernel;
        if further {
            run.write_config()?;
        }
        Ok(run)
    }

    fn assemble(
        config: Config,
        robot: Option<String>,
        env: Arc<Environment>,
        search: Search,
        directory: RunDirectory,
        tables: Tables,
        seconds_before: f64,
    ) -> TrainRun {
        let now = Instant::now();
        TrainRun {
            config,
            robot,
            env,
            search,
            directory,
            tables,
            save_every: None,
            seconds_before,
            kernel_before: Kernel::best().name().to_owned(),
            started: now,
            saved: now,
        }
    }

    /// Writes a picture of the archive into the folder's `plots`, and shows it to TensorBoard.
    pub fn picture(&mut self, name: &str, png: &[u8]) -> Result<(), RunError> {
        self.directory.write(&format!("plots/{name}.png"), png)?;
        self.tables.events.picture(self.search.state().iteration, name, png)
    }

    /// Saves after every so many iterations, in place of once a minute.
    pub fn save_every(&mut self, iterations: u64) {
        self.save_every = Some(iterations.max(1));
    }

    /// The kernel that the run was made with so far, if this machine's is another one: from here on the bytes will not
    /// be those of a run that had stayed.
    pub fn other_kernel(&self) -> Option<&str> {
        Some(self.kernel_before.as_str()).filter(|&kernel| kernel != Kernel::best().name())
    }

    /// The configuration, resolved.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The search.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// The folder.
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// What the archive is about.
    pub fn about(&self) -> Result<About, RunError> {
        let Config { task, measure, search, .. } = &self.config;
        let names = self.env.measure_dimensions().into_iter().map(|d| d.name).collect();
        let grid = search.grid(&self.env).map_err(SearchError::from)?;
        let iteration = self.search.state().iteration;
        Ok(About::new(task, *measure, names, grid, search.archive.qd_offset, iteration))
    }

    /// Whether all iterations have been made.
    pub fn is_finished(&self) -> bool {
        self.search.state().iteration >= self.config.iterations
    }

    /// One iteration; saves now and then. If learning fails, the last good state is saved first.
    pub fn iterate(&mut self) -> Result<Progress, RunError> {
        let iteration = self.search.state().iteration + 1;
        let report = match self.search.iterate() {
            Ok(report) => report,
            Err(reason) => {
                self.save()?;
                return Err(RunError::Search { iteration, reason });
            }
        };
        let seconds = self.seconds();
        let row = row(&report, seconds);
        self.tables.metrics.append(&row)?;
        self.tables.events.row(iteration, &COLUMNS, &row)?;
        let due = match self.save_every {
            Some(iterations) => iteration.is_multiple_of(iterations),
            None => self.saved.elapsed() > SAVE_EVERY,
        };
        let saved = due || self.is_finished();
        if saved {
            self.save()?;
        }
        Ok(Progress { report, seconds, saved })
    }

    /// Writes a checkpoint and the archive as it is now.
    pub fn save(&mut self) -> Result<(), RunError> {
        let state = Saving {
            config: &self.config,
            robot: &self.robot,
            kernel: Kernel::best().name(),
            search: self.search.state(),
            seconds: self.seconds(),
        };
        checkpoint::save(&self.directory.file(CHECKPOINT), &state)?;
        let archives = &self.search.state().archives;
        save_archive(&self.directory.file(ARCHIVE), archives, &self.about()?)?;
        self.saved = Instant::now();
        Ok(())
    }

    fn write_config(&self) -> Result<(), RunError> {
        let text = toml::to_string_pretty(&self.config)
            .map_err(|e| RunError::Config { path: self.directory.file(CONFIG), problem: e.to_string() })?;
        self.directory.write(CONFIG, text.as_bytes())
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.started.elapsed().as_secs_f64()
    }
}

fn objective(reward: Reward) -> Objective {
    match reward {
        Reward::True => Objective::True,
    }
}

/// One row of `metrics.csv`, in the order of [`COLUMNS`]. What there is none of is NaN.
fn row(report: &Report, seconds: f64) -> [f64; COLUMNS.len()] {
    let none = f64::NAN;
    let (m, gradient) = (&report.metrics, report.gradients.last.update);
    let walked = report.walk.as_ref().and_then(|walk| walk.as_ref().ok());
    let walk = walked.map(|course| course.last.update);
    let of_walk = |value: fn(&magpie_learn::UpdateStats) -> f64| walk.as_ref().map_or(none, value);
    let shares = [Some(report.gradients.curious_share), walked.map(|c| c.curious_share)];
    let curious = shares.iter().flatten().sum::<f64>() / shares.iter().flatten().count() as f64;
    let clock = |s: f64| (s * 1e3).round() / 1e3;
    [
        report.iteration as f64,
        m.qd_score,
        m.qd_score_offset,
        m.coverage,
        m.best.unwrap_or(none),
        m.mean.unwrap_or(none),
        m.elites as f64,
        report.new_cells as f64,
        report.accepted as f64,
        report.refused as f64,
        report.restarts as f64,
        report.env_steps as f64,
        report.search_policy.objective,
        report.search_policy.length,
        curious,
        gradient.ppo.policy_loss,
        gradient.ppo.value_loss,
        gradient.ppo.approx_kl,
        gradient.minibatches as f64,
        gradient.explained_variance,
        of_walk(|u| u.ppo.policy_loss),
        of_walk(|u| u.ppo.value_loss),
        of_walk(|u| u.ppo.approx_kl),
        of_walk(|u| u.minibatches as f64),
        of_walk(|u| u.explained_variance),
        of_walk(|u| u.ppo.entropy),
        clock(report.seconds.gradients),
        clock(report.seconds.evaluation),
        clock(report.seconds.archive),
        clock(report.seconds.walk),
        clock(seconds),
    ]
}
