//! A search under way, in its folder.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use magpie_envs::Environment;
use magpie_nn::Kernel;
use magpie_rewards::{Demonstrations, Progress as Preparation};
use magpie_search::{Objective, Report, Search, SearchError, State};
use serde::{Deserialize, Serialize};

use super::config::Config;
use super::demos::Demos;
use super::metrics::{COLUMNS, row};
use super::objective::Draft;
use super::ready::Ready;
use crate::archive_file::{About, FORMAT, save_archive};
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
    kept: Kept,
    demonstrations: Option<Demonstrations>,
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
    /// How long that took.
    saving: Duration,
}

/// What files in the folder must still be when the run goes on.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    /// The text of the robot file, if the robot is not the task's own.
    robot: Option<String>,
    /// The checksum of the demonstrations, if the reward is learnt from any.
    demonstrations: Option<u32>,
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
    kept: Kept,
    kernel: String,
    search: State,
    seconds: f64,
}

/// The same, without a copy of the archive.
#[derive(Serialize)]
struct Saving<'a> {
    config: &'a Config,
    kept: &'a Kept,
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
const SAVE_AT_LEAST_EVERY: Duration = Duration::from_secs(240);

impl TrainRun {
    /// Starts a run in a new folder. A reward model that has to learn from the demonstrations first tells `progress`
    /// how far it is, and is stopped by it.
    pub fn start(
        mut config: Config,
        path: &Path,
        progress: &mut dyn FnMut(Preparation) -> ControlFlow<()>,
    ) -> Result<TrainRun, RunError> {
        let Ready { env, found, chosen: demonstrations, draft } = config.ready()?;
        let directory = RunDirectory::create(path)?;
        let kept = Kept {
            robot: config.world.move_in(&directory)?,
            demonstrations: found.map(|found| config.demos.move_in(&found, &directory)).transpose()?,
        };
        if demonstrations.is_none() {
            config.demos = Demos::default();
        }
        let objective = draft.map_or(Ok(Objective::True), |draft| draft.prepared(progress))?;
        let tables = Tables {
            metrics: Metrics::create(&directory.file("metrics.csv"), &COLUMNS)?,
            events: Events::create(path)?,
        };
        let search = Search::new(Arc::clone(&env), config.search.clone(), objective, config.seed)?;
        let mut run = TrainRun::assemble(config, env, search, directory, tables, kept);
        run.demonstrations = demonstrations;
        // The configuration comes last: a folder with one can be resumed.
        run.save()?;
        run.write_config()?;
        Ok(run)
    }

    /// Goes on with a run, further than first planned if `iterations` says so.
    pub fn resume(path: &Path, iterations: Option<u64>) -> Result<TrainRun, RunError> {
        let directory = RunDirectory::open_kind(path, "train", CHECKPOINT)?;
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
        let made = saved.search.iteration;
        if config.iterations < made.max(1) {
            let range = format!("at least {}: {made} have been made", made.max(1));
            return Err(RunError::Value {
                field: "iterations".to_owned(),
                value: config.iterations.to_string(),
                range,
            });
        }
        let world = World::unchanged(path, saved.kept.robot.as_deref())?;
        let demos = config.demos.unchanged(path, saved.kept.demonstrations)?;
        let Ready { env, chosen: demonstrations, draft, .. } =
            Config { world, demos, ..config.clone() }.ready()?;
        let objective = draft.map_or(Objective::True, Draft::restorable);
        let tables = Tables {
            metrics: Metrics::resume(&directory.file("metrics.csv"), &COLUMNS, saved.search.iteration)?,
            events: Events::resume(path, saved.search.iteration)?,
        };
        let search =
            Search::resume(Arc::clone(&env), config.search.clone(), objective, config.seed, saved.search)
                .map_err(|e| RunError::Damaged { path: checkpoint, problem: e.to_string() })?;
        let mut run = TrainRun::assemble(config, env, search, directory, tables, saved.kept);
        run.demonstrations = demonstrations;
        run.seconds_before = saved.seconds;
        run.kernel_before = saved.kernel;
        if further {
            run.write_config()?;
        }
        // The process may have died between the two files, and the checkpoint is the one to believe.
        run.save_archive()?;
        Ok(run)
    }

    fn assemble(
        config: Config,
        env: Arc<Environment>,
        search: Search,
        directory: RunDirectory,
        tables: Tables,
        kept: Kept,
    ) -> TrainRun {
        let now = Instant::now();
        TrainRun {
            config,
            kept,
            demonstrations: None,
            env,
            search,
            directory,
            tables,
            save_every: None,
            seconds_before: 0.0,
            kernel_before: Kernel::best().name().to_owned(),
            started: now,
            saved: now,
            saving: Duration::ZERO,
        }
    }

    /// Writes a picture of the archive into the folder's `plots`, and shows it to TensorBoard.
    pub fn picture(&mut self, name: &str, png: &[u8]) -> Result<(), RunError> {
        let folder = self.directory.file("plots");
        std::fs::create_dir_all(&folder).map_err(RunError::io(&folder, "making the folder"))?;
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
        Some(self.kernel_before.as_str()).filter(|&before| !Kernel::best().gives_the_bits_of(before))
    }

    /// The configuration, resolved.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What the reward is learnt from.
    pub fn demonstrations(&self) -> Option<&Demonstrations> {
        self.demonstrations.as_ref()
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
        let Config { task, measure, search, world, .. } = &self.config;
        let names = self.env.measure_dimensions().into_iter().map(|d| d.name).collect();
        Ok(About {
            format: FORMAT,
            task: task.clone(),
            measure: *measure,
            names,
            grid: search.grid(&self.env).map_err(SearchError::from)?,
            world: world.clone(),
            qd_offset: search.archive.qd_offset,
            iteration: self.search.state().iteration,
        })
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
            Err(reason) => return Err(self.stopped(iteration, reason)),
        };
        let seconds = self.seconds();
        let row = row(&report, seconds);
        self.tables.metrics.append(&row)?;
        self.tables.events.row(iteration, &COLUMNS, &row)?;
        if let Some(Err(reason)) = report.walk {
            return Err(self.stopped(iteration, SearchError::Training { phase: "walk", reason }));
        }
        let due = match self.save_every {
            Some(iterations) => iteration.is_multiple_of(iterations),
            // A large archive takes its time to write: most of it should go into the search.
            None => self.saved.elapsed() > (50 * self.saving).clamp(SAVE_EVERY, SAVE_AT_LEAST_EVERY),
        };
        let saved = due || self.is_finished();
        if saved {
            self.save()?;
        }
        Ok(Progress { report, seconds, saved })
    }

    /// Keeps the last good state and says why the run has stopped.
    fn stopped(&mut self, iteration: u64, reason: SearchError) -> RunError {
        // If this fails as well, the checkpoint before it stays, and the first reason is the one to know.
        let _ = self.save();
        RunError::Search { iteration, reason }
    }

    /// Writes a checkpoint and the archive as it is now.
    pub fn save(&mut self) -> Result<(), RunError> {
        let begun = Instant::now();
        let state = Saving {
            config: &self.config,
            kept: &self.kept,
            kernel: Kernel::best().name(),
            search: self.search.state(),
            seconds: self.seconds(),
        };
        self.tables.metrics.sync()?;
        checkpoint::save(&self.directory.file(CHECKPOINT), &state)?;
        self.save_archive()?;
        self.saved = Instant::now();
        self.saving = begun.elapsed();
        Ok(())
    }

    fn save_archive(&self) -> Result<(), RunError> {
        save_archive(&self.directory.file(ARCHIVE), &self.search.state().archives, &self.about()?)
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
