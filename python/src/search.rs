//! A search as a run in its folder: started, iterated, saved, resumed.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex};
use std::thread;

use magpie_rewards::ModelName;
use magpie_run::operations::instability_of_search;
use magpie_run::settings::resolve;
use magpie_run::train::{Budget, Choices, Config, Resolved, TrainRun, row};
use magpie_run::{EnvOverrides, RunError};
use magpie_settings::Method;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::environment::World;
use crate::errors::{failed, invalid};
use crate::plug::{Fault, Own};
use crate::threads;

/// What the user chose, as Python names it; see [`Choices`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Chosen {
    task: Option<String>,
    measure: Option<String>,
    reward: Option<String>,
    demos: Option<PathBuf>,
    curiosity: Option<f64>,
    seed: Option<u64>,
    iterations: Option<u64>,
    method: Option<String>,
    budget: Option<String>,
    config: Option<PathBuf>,
    sets: Vec<String>,
    world: World,
}

fn word<T: std::str::FromStr>(name: Option<String>) -> PyResult<Option<T>>
where
    T::Err: std::fmt::Display,
{
    name.map(|name| name.parse().map_err(invalid)).transpose()
}

impl Chosen {
    fn choices(self) -> PyResult<Choices> {
        Ok(Choices {
            method: word(self.method)?,
            budget: word(self.budget)?,
            preset: None,
            file: self.config,
            sets: self.sets,
            task: self.task,
            measure: self.measure,
            reward: word(self.reward)?,
            demos: self.demos,
            curiosity: self.curiosity,
            seed: self.seed,
            iterations: self.iterations,
            world: self.world.changes()?,
        })
    }

    /// The configuration for a world of the user's own, which no task file describes.
    fn in_world(self, env: &magpie_envs::Environment) -> PyResult<Resolved> {
        if self.config.is_some() || self.measure.is_some() {
            return Err(invalid("a world of your own has its own measure, and takes no config"));
        }
        let (method, budget): (Option<Method>, Option<Budget>) = (word(self.method)?, word(self.budget)?);
        let (method, budget) = (method.unwrap_or_default(), budget.unwrap_or_default());
        let model = word(self.reward)?.unwrap_or(match self.demos {
            Some(_) => ModelName::Gail,
            None => ModelName::True,
        });
        let mut base = Config::for_environment(env, model, method, budget);
        base.demos.file = self.demos;
        base.search.curiosity.weight = self.curiosity.unwrap_or(base.search.curiosity.weight);
        base.seed = self.seed.unwrap_or(base.seed);
        base.iterations = self.iterations.unwrap_or(base.iterations);
        let config = resolve(base, None, &self.sets).map_err(failed)?;
        Ok(Resolved { config, method, budget, notes: Vec::new(), warnings: Vec::new() })
    }
}

/// A search in its folder.
#[pyclass(frozen, module = "magpie_qd._magpie")]
pub struct Run {
    run: Mutex<Option<TrainRun>>,
    path: PathBuf,
    iterations: u64,
    task: String,
    /// The process whose threads write the checkpoints.
    process: u32,
    /// Where the user's own parts leave their exceptions.
    fault: Fault,
    /// Whether it has parts of the user's own.
    own: bool,
}

#[pymethods]
impl Run {
    /// Starts a run. `progress(done, total, loss)` hears of a reward model that learns before the search. Returns the
    /// run, notes and warnings.
    #[staticmethod]
    fn start(
        py: Python<'_>,
        chosen: Chosen,
        out: Option<PathBuf>,
        own: Own,
        progress: Py<PyAny>,
    ) -> PyResult<(Run, Vec<String>, Vec<String>)> {
        let fault = Fault::default();
        let world = own.world(py, &fault)?;
        let is_own = own.is_some();
        let resolved = match &world {
            Some(env) => chosen.in_world(env)?,
            None => {
                let choices = chosen.choices()?;
                py.detach(|| choices.resolve()).map_err(failed)?
            }
        };
        let path = out.unwrap_or_else(|| resolved.default_folder().into());
        let Resolved { config, notes, warnings, .. } = resolved;
        let parts = own.parts(py, &fault)?;
        let (task, iterations) = (config.task.clone(), config.iterations);
        let mut show = |now: magpie_rewards::Progress| {
            let told = Python::attach(|py| {
                py.check_signals()?;
                progress.call1(py, (now.done, now.total, now.loss))
            });
            match told {
                Ok(_) => ControlFlow::Continue(()),
                Err(reason) => {
                    fault.set(reason);
                    ControlFlow::Break(())
                }
            }
        };
        let run = guarded(py, &fault, || match (world, is_own) {
            (None, false) => TrainRun::start(config, &path, &mut show),
            (world, _) => {
                let env = match world {
                    Some(env) => env,
                    None => Arc::new(config.world.environment(&config.task, Some(&config.measure))?),
                };
                TrainRun::start_in(env, parts, config, &path, &mut show)
            }
        })?;
        Ok((Run::new(run, path, (task, iterations), fault, is_own), notes, warnings))
    }

    /// Goes on with a run, further than first planned if `iterations` says so.
    #[staticmethod]
    #[pyo3(signature = (path, iterations, own))]
    fn resume(
        py: Python<'_>,
        path: PathBuf,
        iterations: Option<u64>,
        own: Own,
    ) -> PyResult<(Run, Vec<String>, Vec<String>)> {
        /// Only this part of the configuration is read.
        #[derive(Deserialize)]
        struct Part {
            task: String,
            measure: String,
        }
        let fault = Fault::default();
        let world = own.world(py, &fault)?;
        let is_own = own.is_some();
        let parts = own.parts(py, &fault)?;
        let run = guarded(py, &fault, || match (world, is_own) {
            (None, false) => TrainRun::resume(&path, iterations),
            (world, _) => {
                let env = match world {
                    Some(env) => env,
                    None => {
                        let file = path.join("config.toml");
                        let text = magpie_run::settings::read_text(&file)?;
                        let Part { task, measure } = toml::from_str(&text)
                            .map_err(|e| RunError::Config { path: file.clone(), problem: e.to_string() })?;
                        Arc::new(EnvOverrides::of_run(&path)?.environment(&task, Some(&measure))?)
                    }
                };
                TrainRun::resume_in(env, parts, &path, iterations)
            }
        })?;
        let (mut notes, mut warnings) = (Vec::new(), Vec::new());
        notes.extend(run.other_kernel().map(|kernel| {
            format!("this run was started with the {kernel} kernel; here its bytes will differ slightly")
        }));
        warnings.extend(run.missing_rows().map(|rows| format!("metrics.csv: {rows}")));
        let about = (run.config().task.clone(), run.config().iterations);
        Ok((Run::new(run, path, about, fault, is_own), notes, warnings))
    }

    /// The folder.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// The task.
    #[getter]
    fn task(&self) -> &str {
        &self.task
    }

    /// Iterations planned.
    #[getter]
    fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Iterations made.
    #[getter]
    fn iteration(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |run| Ok(run.search().state().iteration))
    }

    /// Whether all that was planned has been done.
    #[getter]
    fn finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |run| Ok(run.is_finished()))
    }

    /// One iteration: the row of `metrics.csv`, and whether a checkpoint is being written.
    fn iterate(&self, py: Python<'_>) -> PyResult<(Vec<(&'static str, f64)>, bool)> {
        self.with(py, |run| {
            let progress = run.iterate()?;
            Ok((row(&progress), progress.saved))
        })
    }

    /// Draws the archive into the folder.
    fn draw(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, TrainRun::draw)
    }

    /// Writes a checkpoint and the archive, and waits until they are on the disk.
    fn save(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, TrainRun::save)
    }

    /// Saves after every so many iterations, in place of once a minute.
    fn save_every(&self, py: Python<'_>, iterations: u64) -> PyResult<()> {
        self.with(py, |run| {
            run.save_every(iterations);
            Ok(())
        })
    }

    /// A warning if the best elite owes its return to unstable physics. Worlds of the user's own are not asked.
    fn instability(&self, py: Python<'_>) -> PyResult<Option<String>> {
        match self.own {
            true => Ok(None),
            false => self.with(py, |run| instability_of_search(run)),
        }
    }

    /// Saves and draws what was found, lets others use the folder, and returns whether all that was planned is done.
    fn close(&self, py: Python<'_>) -> PyResult<bool> {
        let finished = self.with(py, |run| {
            run.finish()?;
            Ok(run.is_finished())
        })?;
        self.abandon(py)?;
        Ok(finished)
    }

    /// Lets others use the folder without saving: its last checkpoint is what counts.
    fn abandon(&self, py: Python<'_>) -> PyResult<()> {
        self.is_here()?;
        threads::run_on(py, &self.run, |run| drop(run.take()))
    }
}

impl Run {
    fn new(run: TrainRun, path: PathBuf, (task, iterations): (String, u64), fault: Fault, own: bool) -> Run {
        Run { run: Mutex::new(Some(run)), path, iterations, task, process: process::id(), fault, own }
    }

    fn is_here(&self) -> PyResult<()> {
        if process::id() == self.process {
            return Ok(());
        }
        Err(failed(
            "this run belongs to the process that was forked, which holds its folder; resume it there, or train in another \
             folder",
        ))
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl Send + FnOnce(&mut TrainRun) -> Result<T, RunError>,
    ) -> PyResult<T> {
        self.is_here()?;
        let caught = threads::run_on(py, &self.run, |run| {
            let Some(open) = run.as_mut() else { return Ok(Ok(None)) };
            let caught = catch_unwind(AssertUnwindSafe(|| work(open).map(Some)));
            if caught.is_err() {
                // From the middle of an iteration: what is in memory is no state to continue from.
                *run = None;
            }
            caught
        })?;
        let closed = || {
            let path = self.path.display();
            failed(format_args!("{path} is closed; magpie_qd.resume() continues it"))
        };
        outcome(&self.fault, caught)?.ok_or_else(closed)
    }
}

/// Does work without the interpreter's lock, in which the user's own parts may fail.
pub fn guarded<T: Send>(
    py: Python<'_>,
    fault: &Fault,
    work: impl Send + FnOnce() -> Result<T, RunError>,
) -> PyResult<T> {
    let caught = threads::run(py, || catch_unwind(AssertUnwindSafe(work)))?;
    outcome(fault, caught)
}

/// An exception of the user's own parts is the reason of whatever failed.
fn outcome<T>(fault: &Fault, caught: thread::Result<Result<T, RunError>>) -> PyResult<T> {
    match (fault.take(), caught) {
        (Some(reason), _) => Err(reason),
        (None, Ok(result)) => result.map_err(failed),
        (None, Err(panic)) => resume_unwind(panic),
    }
}
