//! A run in its folder: what all kinds of runs have in common.
//!
//! A [`Run`] creates or opens a folder and holds its lock, copies into it what the run depends on, iterates, appends to
//! the tables, saves now and then, and goes on from what was saved as if it had never stopped. What is computed, a
//! [`Kind`] says.
//!
//! Files are written in an order that survives death at any moment: rows of the tables are synced before the checkpoint
//! that counts on them, results follow the checkpoint and are written again from it on resume, and a new folder gets its
//! configuration last, without which it is no run.
//!
//! A save costs the search next to nothing: a thread of its own writes what has changed while the next iterations are made
//! ([`checkpoint`](crate::checkpoint)). If it fails, the next iteration says so. Results, which are written whole, follow
//! at the end, when a run is stopped, and seldom in between.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use magpie_nn::Kernel;
use magpie_qd::Solutions;
use magpie_settings::Settings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::checkpoint::{self, Checkpoint, Job, Stored, WriteResults, Writer, Written};
use crate::column::Column;
use crate::directory::{CONFIG, RunDirectory, size};
use crate::error::RunError;
use crate::finished;
use crate::metrics::Metrics;
use crate::settings::{read_text, resolve};
use crate::tensorboard::Events;
use crate::world::{EnvOverrides, WorldFiles};

/// What a run computes, iteration by iteration.
pub trait Kind: Sized {
    /// Its configuration.
    type Config: Plan;
    /// What lives from one iteration to the next, without rows, as it comes from a checkpoint.
    type Record: DeserializeOwned;
    /// What an iteration gave.
    type Report: 'static;

    /// The command that makes such runs.
    const COMMAND: &'static str;
    /// The name of the checkpoint, which tells kinds apart.
    const CHECKPOINT: &'static str;
    /// The name of the file with what the run has found.
    const RESULTS: &'static str;
    /// Whether an iteration that failed leaves the state before it, which is then saved.
    const KEEPS_STATE: bool;

    /// The columns of its table.
    fn columns() -> &'static [Column<Progress<Self::Report>>];

    /// Iterations made.
    fn iteration(&self) -> u64;

    /// How much of [`Plan::length`] has been made, also where TensorBoard shows the state.
    fn made(&self) -> u64;

    /// Whether nothing is left to do although less was made than planned.
    fn stopped_early(&self) -> bool {
        false
    }

    /// Makes an iteration.
    fn step(&mut self) -> Result<Self::Report, RunError>;

    /// An error if the iteration, whose row is in the table by now, is the last one that can be made.
    fn check(report: Self::Report) -> Result<Self::Report, RunError> {
        Ok(report)
    }

    /// What a checkpoint has to keep beside rows.
    fn record(&self, config: &Self::Config) -> Result<impl Serialize + '_, RunError>;

    /// Rows that change one by one, of which a checkpoint writes those that have.
    fn rows(&self) -> Option<&Solutions> {
        None
    }

    /// Takes back what was written after the last iteration, because the run goes on.
    fn goes_on(_metrics: &Metrics) -> Result<(), RunError> {
        Ok(())
    }

    /// Writes what the run has found so far: a snapshot that a thread of its own can take its time for.
    fn results(&self, config: &Self::Config) -> Result<WriteResults, RunError>;
}

/// What the driver has to know of a configuration.
pub trait Plan: Settings + Clone + PartialEq + Serialize + DeserializeOwned {
    /// The task.
    fn task_mut(&mut self) -> &mut String;

    /// The seed.
    fn seed_mut(&mut self) -> &mut u64;

    /// Robot and changes to the world.
    fn world_mut(&mut self) -> &mut EnvOverrides;

    /// The setting that says how long to run.
    const LENGTH: &'static str;

    /// How long to run: all that may change when a run goes on.
    fn length(&self) -> u64;

    /// Runs longer, or less long.
    fn set_length(&mut self, length: u64);
}

/// A run under way, in its folder.
pub struct Run<K: Kind> {
    config: K::Config,
    kept: Kept,
    pub(crate) kind: K,
    directory: Arc<RunDirectory>,
    pub(crate) metrics: Metrics,
    pub(crate) events: Events,
    writer: Writer,
    saves: Saves,
    /// Iterations between checkpoints; by the clock if not given.
    save_every: Option<u64>,
    /// Time spent in earlier processes.
    seconds_before: f64,
    /// What they multiplied with.
    kernel_before: String,
    started: Instant,
}

/// When something was written last, and how much it was.
struct Saves {
    /// When a save was begun.
    checkpoint: Instant,
    bytes: u64,
    results: Instant,
    results_bytes: u64,
    /// The iteration whose results are in the folder.
    results_of: Option<u64>,
}

impl Saves {
    fn none() -> Saves {
        let now = Instant::now();
        Saves { checkpoint: now, bytes: 0, results: now, results_bytes: 0, results_of: None }
    }

    fn note(&mut self, written: Written) {
        self.bytes = written.checkpoint;
        if let Some((bytes, iteration)) = written.results {
            (self.results_bytes, self.results_of, self.results) = (bytes, Some(iteration), Instant::now());
        }
    }

    fn checkpoint_is_due(&self) -> bool {
        self.checkpoint.elapsed()
            > lasting(self.bytes, CHECKPOINT_RATE).clamp(SAVE_EVERY, SAVE_AT_LEAST_EVERY)
    }

    fn results_are_due(&self) -> bool {
        self.results.elapsed() > lasting(self.results_bytes, RESULTS_RATE).max(RESULTS_EVERY)
    }
}

/// How long so much may be written for, at bytes a second.
fn lasting(bytes: u64, rate: f64) -> Duration {
    Duration::from_secs_f64(bytes as f64 / rate)
}

impl<K: Kind> std::fmt::Debug for Run<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (folder, iteration) = (self.directory.path(), self.kind.iteration());
        f.debug_struct("Run").field("folder", &folder).field("iteration", &iteration).finish_non_exhaustive()
    }
}

/// What files in the folder must still be when the run goes on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// Task and robot files.
    pub world: WorldFiles,
    /// The checksum of the demonstrations, if the reward is learned from any.
    pub demonstrations: Option<u32>,
}

/// What is kept across processes.
#[derive(Deserialize)]
pub(crate) struct Saved<C, S> {
    pub config: C,
    pub kept: Kept,
    kernel: String,
    pub state: S,
    seconds: f64,
}

/// What is kept of a run of this kind.
type SavedOf<K> = Saved<<K as Kind>::Config, <K as Kind>::Record>;

/// The same, without a copy of the state.
#[derive(Serialize)]
struct Saving<'a, C, S> {
    config: &'a C,
    kept: &'a Kept,
    kernel: &'static str,
    state: S,
    seconds: f64,
}

/// What an iteration gave, and how far the run is.
#[derive(Debug, Clone)]
pub struct Progress<R> {
    /// The iteration.
    pub report: R,
    /// Seconds of work, earlier processes included.
    pub seconds: f64,
    /// Whether a checkpoint is being written.
    pub saved: bool,
}

/// At most this much work, and the iteration under way, is lost when a run is killed; a run that has much to write does
/// so less often.
const SAVE_EVERY: Duration = Duration::from_secs(60);
const SAVE_AT_LEAST_EVERY: Duration = Duration::from_secs(240);
/// Bytes a second that checkpoints may take, 1.2 GB an hour, if they can wait.
const CHECKPOINT_RATE: f64 = 1.2e9 / 3600.0;
/// Between iterations nobody needs results: whoever reads a run finds newer ones in its checkpoint. They are for programs
/// that know the file alone.
const RESULTS_EVERY: Duration = Duration::from_secs(600);
/// Bytes a second that results may take: 400 MB an hour.
const RESULTS_RATE: f64 = 4e8 / 3600.0;

pub(crate) const METRICS: &str = "metrics.csv";

pub(crate) fn names<K: Kind>() -> Vec<&'static str> {
    K::columns().iter().map(Column::name).collect()
}

/// What the checkpoint in a folder holds.
pub(crate) fn load_saved<K: Kind>(folder: &Path) -> Result<Checkpoint<SavedOf<K>>, RunError> {
    checkpoint::load(&folder.join(K::CHECKPOINT))
}

impl<K: Kind> Run<K> {
    /// Starts a run in a new folder. Task and robot files are copied into it, so that the run does not depend on the originals;
    /// `move_in` does the same with demonstrations and returns their checksum, and `build` prepares the first iteration.
    pub(crate) fn begin(
        mut config: K::Config,
        path: &Path,
        move_in: impl FnOnce(&mut K::Config, &RunDirectory) -> Result<Option<u32>, RunError>,
        build: impl FnOnce(&K::Config) -> Result<K, RunError>,
    ) -> Result<Run<K>, RunError> {
        let directory = RunDirectory::create(path)?;
        let world = config.world_mut().move_in(&directory)?;
        let kept = Kept { world, demonstrations: move_in(&mut config, &directory)? };
        let kind = build(&config)?;
        let metrics = Metrics::create(&directory.file(METRICS), &names::<K>())?;
        let events = Events::create(path)?;
        let mut run = Run::assemble(config, kept, kind, directory, (metrics, events), Stored::default());
        // The configuration comes last: a folder with one can be resumed.
        run.save()?;
        run.write_config()?;
        Ok(run)
    }

    /// Goes on with a run, further than first planned if `length` says so. `build` restores what it computes from its
    /// configuration, whose robot is named as seen from outside of the folder, and from its record and rows.
    pub(crate) fn go_on(
        path: &Path,
        length: Option<u64>,
        build: impl FnOnce(K::Config, &Kept, K::Record, Solutions) -> Result<K, RunError>,
    ) -> Result<Run<K>, RunError> {
        let directory = RunDirectory::open_kind(path, K::COMMAND, K::CHECKPOINT)?;
        let Checkpoint { record: saved, rows, stored } = load_saved::<K>(path)?;
        let file = directory.file(CONFIG);
        let mut config = resolve(saved.config.clone(), Some((&file, &read_text(&file)?)), &[])?;
        // How long to run may change; anything else would make results that no configuration describes.
        let mut before = saved.config;
        let planned_before = before.length();
        before.set_length(config.length());
        if config != before {
            return Err(RunError::changed(&file));
        }
        let planned = config.length();
        config.set_length(length.unwrap_or(planned));
        let further = config.length() != planned;
        let mut outside = config.clone();
        *outside.world_mut() = EnvOverrides::unchanged(path, &saved.kept.world)?;
        let kind = build(outside, &saved.kept, saved.state, rows)?;
        let made = kind.made();
        // What was planned may be less than was made: rollouts are whole ones.
        if config.length() < made && (further || config.length() < planned_before) {
            return Err(RunError::Value {
                field: K::Config::LENGTH.to_owned(),
                value: config.length().to_string(),
                range: format!("at least {made}: {made} have been made"),
            });
        }
        let metrics = Metrics::resume(&directory.file(METRICS), &names::<K>(), kind.iteration())?;
        let events = Events::resume(path, made)?;
        let mut run = Run::assemble(config, saved.kept, kind, directory, (metrics, events), stored);
        run.seconds_before = saved.seconds;
        run.kernel_before = saved.kernel;
        if further {
            run.write_config()?;
        }
        // The checkpoint may be ahead of the results, and is the one to believe, unless these are marked as the last ones.
        let file = run.directory.file(K::RESULTS);
        if !run.is_finished() || finished::iterations(path) != Some(run.kind.iteration()) {
            run.kind.results(&run.config)?(&file)?;
        }
        let results = Some((size(&file)?, run.kind.iteration()));
        run.saves.note(Written { checkpoint: 0, results });
        if !run.is_finished() {
            finished::forget(&run.directory)?;
            K::goes_on(&run.metrics)?;
        }
        Ok(run)
    }

    fn assemble(
        config: K::Config,
        kept: Kept,
        kind: K,
        directory: RunDirectory,
        (metrics, events): (Metrics, Events),
        stored: Stored,
    ) -> Run<K> {
        Run {
            config,
            kept,
            kind,
            directory: Arc::new(directory),
            metrics,
            events,
            writer: Writer::new(stored),
            saves: Saves::none(),
            save_every: None,
            seconds_before: 0.0,
            kernel_before: Kernel::best().name().to_owned(),
            started: Instant::now(),
        }
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

    /// Rows of the table that were missing when the run was resumed, in words: the run is none the worse, its curves are.
    pub fn missing_rows(&self) -> Option<&str> {
        self.metrics.missing()
    }

    /// The configuration, resolved.
    pub fn config(&self) -> &K::Config {
        &self.config
    }

    /// The folder.
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// Whether all that was planned has been done.
    pub fn is_finished(&self) -> bool {
        self.kind.stopped_early() || self.kind.made() >= self.config.length()
    }

    /// One iteration; begins a save now and then. If learning fails, the last good state is saved first, where there is one.
    /// An error may be that of a save that was begun earlier.
    pub fn iterate(&mut self) -> Result<Progress<K::Report>, RunError> {
        self.advance().map_err(|reason| self.directory.explain(reason))
    }

    fn advance(&mut self) -> Result<Progress<K::Report>, RunError> {
        if let Some(ended) = self.writer.ended() {
            self.saves.note(ended?);
        }
        let report = self.kind.step().map_err(|reason| self.stopped(reason))?;
        let mut progress = Progress { report, seconds: self.seconds(), saved: false };
        let row: Vec<f64> = K::columns().iter().map(|column| column.of(&progress)).collect();
        self.directory.still_here()?;
        self.metrics.append(&row)?;
        let events = K::columns().iter().zip(row).map(|(column, number)| column.event(number));
        self.events.row(self.kind.made(), events)?;
        progress.report = K::check(progress.report).map_err(|reason| self.stopped(reason))?;
        let due = match self.save_every {
            Some(iterations) => self.kind.iteration().is_multiple_of(iterations),
            None => !self.writer.is_busy() && self.saves.checkpoint_is_due(),
        };
        progress.saved = due || self.is_finished();
        if self.is_finished() {
            self.save()?;
        } else if due {
            self.wait_for_save()?;
            self.begin_save(self.saves.results_are_due())?;
        }
        Ok(progress)
    }

    /// Keeps the last good state, if this is one, and hands back why the run has stopped.
    fn stopped(&mut self, reason: RunError) -> RunError {
        if K::KEEPS_STATE {
            // If this fails as well, the checkpoint before it stays, and the first reason is the one to know.
            let _ = self.save();
        }
        reason
    }

    /// Writes a checkpoint and the results as they are now, and waits until they are on the disk.
    pub fn save(&mut self) -> Result<(), RunError> {
        // If the save before has failed, this one writes all that it should have.
        if let Some(Ok(written)) = self.writer.wait() {
            self.saves.note(written);
        }
        self.begin_save(true)?;
        self.wait_for_save()
    }

    /// Waits for the save under way, if there is one.
    fn wait_for_save(&mut self) -> Result<(), RunError> {
        if let Some(ended) = self.writer.wait() {
            self.saves.note(ended?);
        }
        Ok(())
    }

    /// Takes a snapshot of the state, and has it written while the run goes on.
    fn begin_save(&mut self, results: bool) -> Result<(), RunError> {
        self.directory.still_here()?;
        let head = self.directory.file(K::CHECKPOINT);
        let state = Saving {
            config: &self.config,
            kept: &self.kept,
            kernel: Kernel::best().name(),
            state: self.kind.record(&self.config)?,
            seconds: self.seconds(),
        };
        let record = postcard::to_stdvec(&state).map_err(|e| RunError::Output {
            path: head.clone(),
            problem: format!("the state cannot be written down: {e}"),
        })?;
        let results = match results {
            true => Some((self.directory.file(K::RESULTS), self.kind.results(&self.config)?)),
            false => None,
        };
        let (directory, metrics) = (Arc::clone(&self.directory), self.metrics.clone());
        let iteration = self.kind.iteration();
        let job = Job { directory, metrics, head, iteration, record, results };
        self.writer.begin(job, self.kind.rows())?;
        self.saves.checkpoint = Instant::now();
        Ok(())
    }

    /// Makes sure that checkpoint and results are those of the last iteration.
    pub(crate) fn save_if_changed(&mut self) -> Result<(), RunError> {
        self.wait_for_save()?;
        if self.saves.results_of == Some(self.kind.iteration()) { Ok(()) } else { self.save() }
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
