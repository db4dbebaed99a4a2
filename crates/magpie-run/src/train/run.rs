//! A search, as a run.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use magpie_demos::Demonstrations;
use magpie_envs::Environment;
use magpie_learn::LearnerFactory;
use magpie_qd::{ArchivePair, Solutions};
use magpie_rewards::{Progress as Preparation, RewardModel};
use magpie_search::{Bonus, Emitter, Objective, Parts, Report, Scheduler, SearchError, Start, StateHead};
use serde::{Deserialize, Serialize};

use super::cloned::cloned;
use super::config::Config;
use super::demos::Demos;
use super::metrics::COLUMNS;
use super::objective::RewardModelBuilder;
use super::settle::{self, SettlingListener};
use super::validated::ValidatedRun;
use crate::archive::{About, save_archive};
use crate::checkpoint::WriteResults;
use crate::column::Column;
use crate::directory::RunDirectory;
use crate::driver::{self, Kind, Plan, Run};
use crate::error::RunError;
use crate::metrics::Metrics;
use crate::operations::{ArchivePicture, draw_archive};
use crate::world::EnvOverrides;

/// A search that writes down what it finds.
pub type TrainRun = Run<Searching>;

/// What an iteration gave, and how far the run is.
pub type Progress = driver::Progress<Report>;

/// A search, and what it learns from.
pub struct Searching {
    env: Arc<Environment>,
    search: Scheduler,
    demonstrations: Option<Demonstrations>,
}

/// The archive's file.
pub(crate) const ARCHIVE: &str = "archive.safetensors";
/// The head of the checkpoint.
pub(crate) const CHECKPOINT: &str = "checkpoint/search";
/// The picture of the archive.
pub(crate) const PICTURE: &str = "plots/archive.png";

/// What a checkpoint keeps of a search beside its solutions: also what the archive is about, so that it can be read from
/// there without the task.
#[derive(Serialize, Deserialize)]
pub struct Record<'a> {
    pub(super) about: About,
    pub(crate) search: StateHead<'a>,
}

impl Searching {
    /// What the archive is about.
    fn about(&self, config: &Config) -> Result<About, RunError> {
        let Config { task, measure, search, world, .. } = config;
        let (names, ranges) = self.env.measure_dimensions().into_iter().map(|d| (d.name, d.range)).unzip();
        Ok(About {
            task: task.clone(),
            measure: measure.clone(),
            names,
            ranges,
            cells: self.search.state().archives.cells().clone(),
            actor: search.networks(&self.env)?.actor,
            actions: search.actions,
            world: world.clone(),
            qd_offset: search.archive.qd_offset,
            iteration: self.search.state().iteration,
        })
    }
}

impl Kind for Searching {
    type Config = Config;
    type Record = Record<'static>;
    type Report = Report;

    const COMMAND: &'static str = "train";
    const CHECKPOINT: &'static str = CHECKPOINT;
    const RESULTS: &'static str = ARCHIVE;
    const KEEPS_STATE: bool = true;

    fn columns() -> &'static [Column<Progress>] {
        COLUMNS
    }

    fn iteration(&self) -> u64 {
        self.search.state().iteration
    }

    fn made(&self) -> u64 {
        self.iteration()
    }

    fn step(&mut self) -> Result<Report, RunError> {
        let iteration = self.iteration() + 1;
        self.search.iterate().map_err(|reason| RunError::Search { iteration, reason })
    }

    fn check(report: Report) -> Result<Report, RunError> {
        let iteration = report.iteration;
        match report.failed_walk() {
            Some(reason) => {
                let reason = SearchError::Training { phase: "walk", reason: reason.clone() };
                Err(RunError::Search { iteration, reason })
            }
            None => Ok(report),
        }
    }

    fn record(&self, config: &Config) -> Result<impl Serialize + '_, RunError> {
        Ok(Record { about: self.about(config)?, search: self.search.state().head() })
    }

    fn rows(&self) -> Option<&Solutions> {
        Some(self.search.state().archives.solutions())
    }

    fn goes_on(metrics: &Metrics) -> Result<(), RunError> {
        settle::forget(metrics)
    }

    fn results(&self, config: &Config) -> Result<WriteResults, RunError> {
        // Solutions are shared, so that the copy costs next to nothing.
        let (archives, about) = (self.search.state().archives.clone(), self.about(config)?);
        Ok(Box::new(move |path| save_archive(path, &archives, &about)))
    }
}

impl Plan for Config {
    const LENGTH: &'static str = "iterations";

    fn task_mut(&mut self) -> &mut String {
        &mut self.task
    }

    fn seed_mut(&mut self) -> &mut u64 {
        &mut self.seed
    }

    fn world_mut(&mut self) -> &mut EnvOverrides {
        &mut self.world
    }

    fn length(&self) -> u64 {
        self.iterations
    }

    fn set_length(&mut self, length: u64) {
        self.iterations = length;
    }
}

/// Parts of a search that no configuration names: they have to be there again to resume it.
#[derive(Default)]
pub struct OwnParts {
    /// Emitters beside those that the configuration names.
    pub emitters: Vec<Box<dyn Emitter>>,
    /// A bonus in place of the one that the configuration asks for.
    pub bonus: Option<Box<dyn Bonus>>,
    /// Makes learners, in place of the one that the configuration names.
    pub learner: Option<LearnerFactory>,
    /// A reward model in place of the one that the configuration names, which must not be the true reward.
    pub reward: Option<Box<dyn RewardModel>>,
}

impl OwnParts {
    fn beside(self, named: Parts) -> Parts {
        let OwnParts { emitters, bonus, learner, .. } = self;
        Parts { emitters, bonus, learner, ..named }
    }
}

/// The reward model, or one's own in its place.
fn replaced(
    builder: Option<RewardModelBuilder>,
    own: Option<Box<dyn RewardModel>>,
    config: &Config,
    chosen: Option<&Demonstrations>,
) -> Result<Option<RewardModelBuilder>, RunError> {
    match (builder, own, chosen) {
        (builder, None, _) => Ok(builder),
        (Some(builder), Some(own), Some(chosen)) => {
            builder.replaced_by(own, &config.reward, chosen).map(Some)
        }
        (_, Some(own), _) => Err(RunError::Value {
            field: "reward.model".to_owned(),
            value: config.reward.model.to_string(),
            range: format!("a learned one, for {} to take its place", own.name()),
        }),
    }
}

impl Run<Searching> {
    /// Starts a run in a new folder. A reward model that has to learn from the demonstrations first tells `progress`
    /// how far it is, and is stopped by it.
    pub fn start(
        config: Config,
        path: &Path,
        progress: &mut dyn FnMut(Preparation) -> ControlFlow<()>,
    ) -> Result<TrainRun, RunError> {
        let validated = config.validated()?;
        Run::start_validated(config, OwnParts::default(), validated, path, progress)
    }

    /// Starts a run with parts of one's own in an environment of any simulator, which has to be there again to resume it; the configuration's world
    /// is not asked.
    pub fn start_in(
        env: Arc<Environment>,
        own: OwnParts,
        config: Config,
        path: &Path,
        progress: &mut dyn FnMut(Preparation) -> ControlFlow<()>,
    ) -> Result<TrainRun, RunError> {
        let validated = config.validated_in(env)?;
        Run::start_validated(config, own, validated, path, progress)
    }

    fn start_validated(
        config: Config,
        mut own: OwnParts,
        validated: ValidatedRun,
        path: &Path,
        progress: &mut dyn FnMut(Preparation) -> ControlFlow<()>,
    ) -> Result<TrainRun, RunError> {
        let ValidatedRun { env, found, chosen, builder } = validated;
        let move_in = |config: &mut Config, directory: &RunDirectory| {
            let checksum = found.map(|found| config.demos.move_in(&found, directory)).transpose()?;
            if checksum.is_none() {
                config.demos = Demos::default();
            }
            Ok(checksum)
        };
        Run::begin(config, path, move_in, |config: &Config| {
            let builder = replaced(builder, own.reward.take(), config, chosen.as_ref())?;
            let objective = builder.map_or(Ok(Objective::True), |builder| builder.prepared(progress))?;
            let mut parts = Parts::new(Arc::clone(&env), config.search.clone(), objective, config.seed);
            if let (Start::Cloned, Some(demonstrations)) = (config.search.start, &chosen) {
                parts.start = Some(cloned(config, &env, demonstrations)?);
            }
            let search = Scheduler::start(own.beside(parts))?;
            Ok(Searching { env, search, demonstrations: chosen })
        })
    }

    /// Goes on with a run, further than first planned if `iterations` says so.
    pub fn resume(path: &Path, iterations: Option<u64>) -> Result<TrainRun, RunError> {
        Run::resume_with(path, OwnParts::default(), iterations, Config::validated)
    }

    /// Goes on with a run that [`start_in`](Run::start_in) started, with the same parts.
    pub fn resume_in(
        env: Arc<Environment>,
        own: OwnParts,
        path: &Path,
        iterations: Option<u64>,
    ) -> Result<TrainRun, RunError> {
        Run::resume_with(path, own, iterations, |config| config.validated_in(env))
    }

    fn resume_with(
        path: &Path,
        mut own: OwnParts,
        iterations: Option<u64>,
        validated: impl FnOnce(&Config) -> Result<ValidatedRun, RunError>,
    ) -> Result<TrainRun, RunError> {
        Run::go_on(path, iterations, |mut config: Config, kept, record: Record<'static>, solutions| {
            config.demos = config.demos.unchanged(path, kept.demonstrations)?;
            let ValidatedRun { env, chosen, builder, .. } = validated(&config)?;
            let builder = replaced(builder, own.reward.take(), &config, chosen.as_ref())?;
            let objective = builder.map_or(Objective::True, RewardModelBuilder::restorable);
            let parts = Parts::new(Arc::clone(&env), config.search, objective, config.seed);
            let state = record.search.with(solutions);
            let search = state
                .and_then(|state| Scheduler::resume(own.beside(parts), state))
                .map_err(|e| RunError::Damaged { path: path.join(CHECKPOINT), problem: e.to_string() })?;
            Ok(Searching { env, search, demonstrations: chosen })
        })
    }

    /// Draws the archive as it is now, with the demonstrations in it, into the folder's `plots`, and shows it to
    /// TensorBoard.
    pub fn draw(&mut self) -> Result<(), RunError> {
        let archives = self.search().state().archives.clone();
        self.draw_archive_of(&archives)
    }

    /// Draws archives of this run.
    pub(super) fn draw_archive_of(&mut self, archives: &ArchivePair) -> Result<(), RunError> {
        const NAME: &str = "archive";
        let about = self.about()?;
        let entries = archives.result().entries();
        let filled: Vec<(usize, f64)> = entries.map(|(cell, entry)| (cell, entry.objective)).collect();
        let figure = draw_archive(&ArchivePicture {
            title: &format!("{}, iteration {}", about.task, about.iteration),
            names: &about.names,
            ranges: &about.ranges,
            cells: &about.cells,
            filled: &filled,
            objective: "return",
            scale: None,
            demonstrations: &self.places(about.names.len()),
            width: magpie_plot::WIDE,
        })?;
        let png = figure.png()?;
        self.directory().still_here()?;
        let folder = self.directory().file("plots");
        std::fs::create_dir_all(&folder).map_err(RunError::io(&folder, "making the folder"))?;
        self.directory().write(PICTURE, &png)?;
        self.events.picture(about.iteration, NAME, &png)
    }

    /// Ends a session ([`finish_with`](Run::finish_with)) without hearing how far it is.
    pub fn finish(&mut self) -> Result<(), RunError> {
        self.finish_with(&mut |_| ControlFlow::Continue(())).map(drop)
    }

    /// Ends a session: saves what has not been saved, draws the archive and, if all iterations have been made, settles the
    /// archive as `search.settle` says and marks the run as finished, which is what sweeps believe. Settling tells
    /// `listener` how far it is, and is interrupted by it; the next session continues there. Returns whether the run has
    /// come to its end.
    pub fn finish_with(&mut self, listener: &mut SettlingListener<'_>) -> Result<bool, RunError> {
        if self.is_marked() {
            return Ok(true);
        }
        self.save_if_changed()?;
        if self.is_finished() && self.config().search.settle > 0.0 {
            return Ok(self.settle(self.usual_effort(), listener)?.is_continue());
        }
        self.draw()?;
        self.mark_if_finished()?;
        Ok(self.is_finished())
    }

    /// Where the demonstrations lie, if they were measured as the run measures.
    fn places(&self, dimensions: usize) -> Vec<Vec<f64>> {
        let alike = |d: &&Demonstrations| d.columns().about.measure == self.config().measure;
        let places = self.demonstrations().filter(alike).map(Demonstrations::places).unwrap_or_default();
        places.into_iter().flatten().filter(|place| place.len() == dimensions).collect()
    }

    /// What the reward is learned from.
    pub fn demonstrations(&self) -> Option<&Demonstrations> {
        self.kind.demonstrations.as_ref()
    }

    /// The search.
    pub fn search(&self) -> &Scheduler {
        &self.kind.search
    }

    /// What the archive is about.
    pub fn about(&self) -> Result<About, RunError> {
        self.kind.about(self.config())
    }
}
