//! Driving a search: its iterations, its pictures, and what a person sees meanwhile.

use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use magpie_rewards::ModelName;
use magpie_run::printable;
use magpie_run::train::{Progress, TrainRun};

use crate::session::{self, Stop};

/// Iterates until the run is finished or is asked to stop. What was found is then saved and drawn.
pub fn drive(
    run: &mut TrainRun,
    stop: &Stop,
    mut show: impl FnMut(&TrainRun, &Progress),
) -> anyhow::Result<()> {
    let mut drawn = false;
    while !run.is_finished() && !stop.requested() {
        let progress = run.iterate()?;
        show(run, &progress);
        // The first picture at once, so that there is something to look at.
        if progress.saved || !drawn {
            run.draw()?;
            drawn = true;
        }
    }
    Ok(run.finish()?)
}

/// What somebody who goes on with a run, or learns from given demonstrations, may not expect.
pub fn mention_surprises(run: &TrainRun) -> anyhow::Result<()> {
    session::mention_kernel(run.other_kernel())?;
    session::mention_missing_rows(run.missing_rows())?;
    mention_task(run)
}

/// Says that demonstrations are of another task, which may be meant.
fn mention_task(run: &TrainRun) -> anyhow::Result<()> {
    let Some(demonstrations) = run.demonstrations() else { return Ok(()) };
    let (theirs, ours) = (&demonstrations.columns().about.task, &run.config().task);
    if !theirs.is_empty() && theirs != ours {
        writeln!(
            crate::screen::stderr(),
            "note: these are demonstrations of {theirs}, and the task is {ours}"
        )?;
    }
    Ok(())
}

/// How far a reward model is that learns before the search: ten lines at most.
pub struct Preparation<'a> {
    model: ModelName,
    stop: &'a Stop,
    tenths: usize,
}

impl<'a> Preparation<'a> {
    pub fn new(model: ModelName, stop: &'a Stop) -> Preparation<'a> {
        Preparation { model, stop, tenths: 0 }
    }

    pub fn show(&mut self, progress: magpie_rewards::Progress) -> ControlFlow<()> {
        let magpie_rewards::Progress { done, total, loss } = progress;
        let tenths = 10 * done / total.max(1);
        if tenths > self.tenths {
            self.tenths = tenths;
            let model = self.model;
            // Who does not read this can have the reward model all the same.
            let _ = writeln!(
                crate::screen::stderr(),
                "{model} learns from the demonstrations: {done} of {total} epochs, loss {loss:.4}"
            );
        }
        if self.stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// How fast work is done, whatever it is counted in.
pub struct Pace {
    started: Instant,
    /// What had been done at the start.
    before: f64,
}

impl Pace {
    /// From now on.
    pub fn from(before: f64) -> Pace {
        Pace { started: Instant::now(), before }
    }

    /// Work in a second.
    pub fn rate(&self, done: f64) -> f64 {
        (done - self.before) / self.started.elapsed().as_secs_f64().max(1e-9)
    }

    /// Seconds until `total` is done.
    pub fn left(&self, done: f64, total: f64) -> f64 {
        (total - done).max(0.0) / self.rate(done)
    }
}

/// A live line on a terminal; elsewhere plain lines, one an iteration or one in a while.
pub struct Display {
    bar: Option<ProgressBar>,
    title: String,
    pace: Pace,
    /// Time between plain lines.
    every: Duration,
    printed: Option<Instant>,
}

impl Display {
    pub fn new(run: &TrainRun, title: &str, every: Duration) -> Display {
        let state = run.search().state();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(run.config().iterations).with_position(state.iteration);
            // Two lines, the second cut to the width of the terminal.
            let style = "{pos}/{len} [{bar:24}] {prefix}\n{wide_msg}";
            bar.set_style(
                ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar
        });
        let pace = Pace::from(state.env_steps as f64);
        Display { bar, title: printable(title).into_owned(), pace, every, printed: None }
    }

    /// Shows an iteration; `outlook` says how long it will take.
    pub fn show(&mut self, run: &TrainRun, progress: &Progress, outlook: &str) {
        let (report, m) = (&progress.report, &progress.report.metrics);
        let line = format!(
            "QD-Score {:9.0}  coverage {:5.2} %  best {:7.1}  mean {:7.1}  new cells {:3}  restarts {:2}",
            m.qd_score,
            100.0 * m.coverage,
            m.best.unwrap_or(f64::NAN),
            m.mean.unwrap_or(f64::NAN),
            report.new_cells,
            report.restarts(),
        );
        let (title, rate) = (&self.title, self.pace.rate(report.env_steps as f64));
        if let Some(bar) = &self.bar {
            bar.set_position(report.iteration);
            bar.set_prefix(format!("{title}{rate:.0} steps/s, {outlook}"));
            bar.set_message(line);
        } else if self.printed.is_none_or(|at| at.elapsed() >= self.every) || run.is_finished() {
            self.printed = Some(Instant::now());
            // A reader that is gone is no reason to stop.
            let _ = writeln!(
                crate::screen::stderr(),
                "{title}{:5}/{}  {line}  {rate:6.0} steps/s  {outlook}",
                report.iteration,
                run.config().iterations
            );
        }
    }

    pub fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}
