//! The runs of a sweep, made one after the other by one process, beside others in the same folder.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use magpie_rewards::Progress as Preparation;
use magpie_search::SettlingProgress;

use super::state::{forget_failure, keep_failure};
use super::{Run, State};
use crate::error::RunError;
use crate::lease::{self, Owner};
use crate::train::{Progress, TrainRun, Watch as WatchRun};

/// Who watches a sweep, and may end it.
pub trait Watch {
    /// Whether to save now and end.
    fn wants_stop(&self) -> bool;

    /// Something has happened.
    fn tell(&mut self, news: News<'_>);
}

/// What happens in a sweep.
pub enum News<'a> {
    /// All folders have been looked at, and so many environment steps are left at most.
    Started {
        /// Environment steps.
        steps: f64,
    },
    /// The last owner of a run's folder is of another machine. It is watched for [`lease::SILENCE`]: if it shows no sign
    /// of life, its run is taken over.
    Watching {
        /// The run.
        run: &'a Run,
        /// Its last owner.
        owner: &'a Owner,
    },
    /// The reward model of a run learns from the demonstrations.
    Preparing {
        /// The run.
        run: &'a Run,
        /// How far it is.
        progress: Preparation,
    },
    /// A run begins, or goes on.
    Begun {
        /// The run.
        run: &'a Run,
        /// Its number, from 1, of those that this process makes.
        number: usize,
        /// Its search.
        search: &'a TrainRun,
    },
    /// An iteration has been made.
    Iteration {
        /// The search.
        search: &'a TrainRun,
        /// How far it is.
        progress: &'a Progress,
        /// Until all runs of this process are done.
        seconds_left: f64,
    },
    /// Solutions of a finished search have been evaluated again, to settle its archive.
    Settling {
        /// How far that is.
        progress: SettlingProgress,
    },
    /// Something is likely to be a mistake.
    Warning {
        /// In a sentence.
        warning: &'a str,
    },
    /// A run has ended.
    Ended {
        /// The run.
        run: &'a Run,
        /// How.
        end: &'a End,
        /// What it found, if this process made any of it.
        search: Option<&'a TrainRun>,
    },
}

/// How a run ended for this process.
#[derive(Debug)]
pub enum End {
    /// Finished now.
    Done,
    /// Finished before.
    WasDone,
    /// Interrupted; what was found is saved.
    Stopped,
    /// Another process makes it, if it is known which.
    InUse(Option<Owner>),
    /// It cannot be made, or go on.
    Failed(RunError),
}

/// How the runs of a process ended.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Finished, now or before.
    pub done: usize,
    /// Names of those that another process makes.
    pub in_use: Vec<String>,
    /// Names of those that failed, and why.
    pub failed: Vec<(String, RunError)>,
    /// Whether it was interrupted before all were done.
    pub stopped: bool,
}

/// Makes runs, each in the folder of its name within `out`, and saves each every so many iterations, if that is given.
///
/// A run that fails does not stop the others. A run that another process of this machine makes is left to it. One whose
/// last owner is of another machine comes last: if the owner is dead by then, the run goes on here.
pub fn make(
    runs: &[&Run],
    out: &Path,
    save_every: Option<u64>,
    watch: &mut dyn Watch,
) -> Result<Outcome, RunError> {
    // A folder that holds another run is found here, before anything is run.
    let left = runs.iter().map(|run| Ok(left_of(run, run.state(&out.join(&run.name))?)));
    let pace =
        Pace { begun: Instant::now(), done: 0.0, left: left.sum::<Result<_, RunError>>()?, of_run: 0.0 };
    watch.tell(News::Started { steps: pace.left });
    Session { out, save_every, pace, outcome: Outcome::default() }.all(runs, watch)
}

struct Session<'a> {
    out: &'a Path,
    save_every: Option<u64>,
    pace: Pace,
    outcome: Outcome,
}

impl Session<'_> {
    fn all(mut self, runs: &[&Run], watch: &mut dyn Watch) -> Result<Outcome, RunError> {
        let mut later = Vec::new();
        for (number, run) in (1..).zip(runs) {
            let folder = self.out.join(&run.name);
            // A finished run is known to be one whoever has its folder.
            match lease::owner(&folder).filter(|owner| !owner.is_here) {
                Some(owner) if !matches!(run.state(&folder), Ok(State::Done)) => {
                    later.push((number, *run, owner));
                }
                _ => {
                    let end = self.one(run, number, watch);
                    if self.note(run, end) {
                        return Ok(self.outcome);
                    }
                }
            }
        }
        for (number, run, before) in later {
            let end = self.abandoned(run, number, &before, watch);
            if self.note(run, end) {
                break;
            }
        }
        Ok(self.outcome)
    }

    /// Returns whether that was all.
    fn note(&mut self, run: &Run, end: End) -> bool {
        // Whatever has become of the run, there is nothing left of it to wait for.
        self.pace.left -= std::mem::take(&mut self.pace.of_run);
        match end {
            End::Done | End::WasDone => self.outcome.done += 1,
            End::InUse(_) => self.outcome.in_use.push(run.name.clone()),
            End::Failed(reason) => self.outcome.failed.push((run.name.clone(), reason)),
            End::Stopped => self.outcome.stopped = true,
        }
        self.outcome.stopped
    }

    /// A run that a process of another machine had when it was looked at first.
    fn abandoned(&mut self, run: &Run, number: usize, before: &Owner, watch: &mut dyn Watch) -> End {
        let folder = self.out.join(&run.name);
        let living = match lease::owner(&folder) {
            Some(now) if !now.shows_no_more_life_than(before) => Ok(Some(now)),
            None => Ok(None),
            Some(owner) => {
                watch.tell(News::Watching { run, owner: &owner });
                lease::outwait(&folder, &mut || !watch.wants_stop())
            }
        };
        let end = match living {
            Ok(None) => return self.one(run, number, watch),
            Ok(Some(owner)) => End::InUse(Some(owner)),
            Err(RunError::Stopped) => End::Stopped,
            Err(reason) => End::Failed(reason),
        };
        watch.tell(News::Ended { run, end: &end, search: None });
        end
    }

    /// Makes a run, or what is left of it.
    fn one(&mut self, run: &Run, number: usize, watch: &mut dyn Watch) -> End {
        let mut search = None;
        let end = match self.drive(run, number, &mut search, watch) {
            Ok(end) => end,
            Err(RunError::Stopped) => End::Stopped,
            Err(RunError::Locked { owner, .. }) => End::InUse(owner.map(|owner| *owner)),
            Err(RunError::TakenOver { .. }) => End::InUse(lease::owner(&self.out.join(&run.name))),
            Err(reason) => End::Failed(reason),
        };
        watch.tell(News::Ended { run, end: &end, search: search.as_ref() });
        end
    }

    fn drive(
        &mut self,
        run: &Run,
        number: usize,
        search: &mut Option<TrainRun>,
        watch: &mut dyn Watch,
    ) -> Result<End, RunError> {
        if watch.wants_stop() {
            return Ok(End::Stopped);
        }
        let folder = self.out.join(&run.name);
        let state = run.state(&folder)?;
        self.pace.of_run = left_of(run, state);
        if state == State::Done {
            // It may have failed after its last file was there.
            forget_failure(&folder);
            return Ok(End::WasDone);
        }
        let made = self.make(run, &folder, number, search, watch);
        if let Err(reason) = &made
            && !matches!(
                reason,
                RunError::Stopped
                    | RunError::Locked { .. }
                    | RunError::TakenOver { .. }
                    | RunError::Gone { .. }
            )
        {
            keep_failure(&folder, reason);
        }
        made
    }

    fn make(
        &mut self,
        run: &Run,
        folder: &Path,
        number: usize,
        search: &mut Option<TrainRun>,
        watch: &mut dyn Watch,
    ) -> Result<End, RunError> {
        let opened = run.open(folder, &mut |progress| {
            watch.tell(News::Preparing { run, progress });
            if watch.wants_stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let search = search.insert(opened);
        forget_failure(folder);
        if let Some(iterations) = self.save_every {
            search.save_every(iterations);
        }
        watch.tell(News::Begun { run, number, search });
        let made = search.search().state().iteration;
        let ended = search.drive(&mut OfRun { run, made, pace: &mut self.pace, watch })?;
        Ok(if ended { End::Done } else { End::Stopped })
    }
}

/// A run of a sweep, as it is watched.
struct OfRun<'a> {
    run: &'a Run,
    made: u64,
    pace: &'a mut Pace,
    watch: &'a mut dyn Watch,
}

impl WatchRun for OfRun<'_> {
    fn wants_stop(&self) -> bool {
        self.watch.wants_stop()
    }

    fn iteration(&mut self, search: &TrainRun, progress: &Progress) {
        let iteration = progress.report.iteration;
        self.pace.advance(steps(self.run, iteration - std::mem::replace(&mut self.made, iteration)));
        let seconds_left = self.pace.seconds_left();
        self.watch.tell(News::Iteration { search, progress, seconds_left });
    }

    fn settling(&mut self, progress: SettlingProgress) {
        self.watch.tell(News::Settling { progress });
    }

    fn warning(&mut self, warning: &str) {
        self.watch.tell(News::Warning { warning });
    }
}

/// How far all runs are together, counted in the environment steps that they may take.
struct Pace {
    begun: Instant,
    /// By this process.
    done: f64,
    left: f64,
    /// Of the run under way.
    of_run: f64,
}

impl Pace {
    fn advance(&mut self, steps: f64) {
        self.done += steps;
        self.left -= steps;
        self.of_run -= steps;
    }

    fn seconds_left(&self) -> f64 {
        self.left.max(0.0) * self.begun.elapsed().as_secs_f64().max(1e-9) / self.done
    }
}

/// What is left of a run.
fn left_of(run: &Run, state: State) -> f64 {
    match state {
        State::ToDo => steps(run, run.config.iterations),
        State::HalfDone(made) => steps(run, run.config.iterations - made),
        State::Done => 0.0,
    }
}

/// The most environment steps of this many iterations of a run.
fn steps(run: &Run, iterations: u64) -> f64 {
    run.config.most_env_steps() as f64 * iterations as f64 / run.config.iterations as f64
}
