//! How long the runs of a sweep take on this machine, and how much memory: from an iteration of each kind of run.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;

use magpie_rewards::Progress as Preparation;

use super::{Run, Sweep};
use crate::error::RunError;
use crate::memory;
use crate::train::{Config, TrainRun};

/// What a run takes on this machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// For the whole run, at most.
    pub seconds: f64,
    /// For an iteration.
    pub iteration: f64,
    /// Bytes of memory of a process that makes this run and those measured before it, with a full archive; `None` where the
    /// system does not say.
    pub memory: Option<u64>,
}

impl Sweep {
    /// Makes the first iteration of each kind of run, in a folder that is thrown away, and reckons from it what every run
    /// takes. Runs that differ in seed, demonstrations or the weight of curiosity take the same. `begin` is told which run
    /// is measured, `progress` how far its reward model is; the latter may stop it all, which is [`RunError::Stopped`].
    pub fn measure(
        &self,
        begin: &mut dyn FnMut(&Run),
        progress: &mut dyn FnMut(&Run, Option<Preparation>) -> ControlFlow<()>,
    ) -> Result<Vec<Estimate>, RunError> {
        let mut kinds: BTreeMap<String, Measured> = BTreeMap::new();
        let mut estimates = Vec::new();
        for run in &self.runs {
            let kind = kind(&run.config);
            let measured = match kinds.get(&kind) {
                Some(&measured) => measured,
                None => {
                    begin(run);
                    let measured = of_first_iteration(run, progress)?;
                    kinds.insert(kind, measured);
                    measured
                }
            };
            let seconds = run.config.most_env_steps() as f64 / measured.rate;
            let iteration = seconds / run.config.iterations as f64;
            estimates.push(Estimate { seconds, iteration, memory: measured.memory });
        }
        Ok(estimates)
    }
}

/// What tells runs apart that take longer or shorter, iteration by iteration.
fn kind(config: &Config) -> String {
    let mut config = config.clone();
    (config.seed, config.iterations) = (0, 1);
    config.search.curiosity.weight = 0.0;
    config.demos = Default::default();
    // Every configuration can be written down; one that could not be would be of a kind of its own.
    toml::to_string(&config).unwrap_or_else(|_| format!("{config:?}"))
}

#[derive(Clone, Copy)]
struct Measured {
    /// Environment steps a second.
    rate: f64,
    memory: Option<u64>,
}

fn of_first_iteration(
    run: &Run,
    progress: &mut dyn FnMut(&Run, Option<Preparation>) -> ControlFlow<()>,
) -> Result<Measured, RunError> {
    let folder = tempfile::tempdir().map_err(RunError::io(&std::env::temp_dir(), "making a folder"))?;
    let path = folder.path().join("run");
    let mut search =
        TrainRun::start(run.config.clone(), &path, &mut |prepared| progress(run, Some(prepared)))?;
    if progress(run, None).is_break() {
        return Err(RunError::Stopped);
    }
    let (before, begun) = (search.search().state().env_steps, Instant::now());
    search.iterate()?;
    let seconds = begun.elapsed().as_secs_f64().max(1e-9);
    search.save()?;
    let state = search.search().state();
    let solutions = state.archives.solutions();
    let rows = state.archives.cells().count() * run.config.search.archive.depth as usize;
    // Every cell filled to its depth, and a second copy while a save is being written.
    let full = 2 * rows * (4 * solutions.solution_len() + 8 * solutions.extra_len());
    let memory = memory::most_used().map(|used| used + full as u64);
    Ok(Measured { rate: (state.env_steps - before) as f64 / seconds, memory })
}
