//! What the commands share that train a single policy, `ppo` and `clone`: how a run begins, goes on and is interrupted.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use magpie_run::{EnvOverrides, RunDirectory};

use crate::drive::Pace;
use crate::json;
use crate::live::Live;
use crate::output::Output;
use crate::session;
use crate::words::{count, duration, quoted};

/// How far a run is.
#[derive(Clone, Copy)]
pub struct Extent {
    pub made: u64,
    pub planned: u64,
    /// Of what, such as "step".
    pub noun: &'static str,
    pub finished: bool,
}

/// What is about to be done, for programs, without what one of the commands alone has.
pub fn started(
    command: &str,
    directory: &RunDirectory,
    task: &str,
    world: &EnvOverrides,
    seed: u64,
) -> json::Started {
    json::Started {
        command: command.to_owned(),
        run: None,
        folder: directory.path().display().to_string(),
        task: task.to_owned(),
        world: world.seen_from_outside(directory.path()).in_words(),
        measure: None,
        reward: None,
        curiosity: None,
        seed,
        method: None,
        budget: None,
        threads: rayon::current_num_threads(),
        environments: None,
        cells: None,
        iterations: None,
        made: None,
        steps: None,
    }
}

/// Says what is about to be done.
pub fn announce(about: &str, event: &json::Started, extent: Extent, output: Output) {
    let Extent { made, planned, noun, finished } = extent;
    output.progress(event);
    output.say(&format!("{}: {about}", event.task));
    if let Some(world) = &event.world {
        output.say(&format!("world: {world}"));
    }
    output.say(&format!("folder: {}", event.folder));
    match made {
        0 => {}
        _ if finished => output.say(&format!("nothing to do: {} made, as planned", count(made, noun))),
        _ => output.say(&format!("continuing after {noun} {made} of {planned}")),
    }
}

/// Says how to go on with a run that was saved.
pub fn interrupted(command: &str, path: &Path, extent: Extent, output: Output) -> anyhow::Result<ExitCode> {
    let command = format!("magpie {command} --resume {}", quoted(path));
    let (folder, resume) = (path.display().to_string(), Some(command.clone()));
    output.result(&json::Interrupted { run: None, folder, resume, search: None, sweep: None }, |out| {
        writeln!(out, "Interrupted after {}. To continue: {command}", count(extent.made, extent.noun))
    })?;
    Ok(ExitCode::from(session::INTERRUPTED))
}

/// Live lines on a terminal; elsewhere one plain line now and then; for programs, an event an iteration.
pub struct Display {
    live: Live,
    output: Output,
    pace: Pace,
    printed: Option<Instant>,
}

/// Time between plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl Display {
    pub fn new(extent: Extent, output: Output) -> Display {
        let live = Live::new(extent.planned, extent.made, &format!(" {}s", extent.noun), output);
        Display { live, output, pace: Pace::from(extent.made as f64), printed: None }
    }

    /// Shows an iteration: its row, whether it was saved, and columns for people.
    pub fn show(&mut self, extent: Extent, row: Vec<(&'static str, f64)>, saved: bool, columns: &[String]) {
        let Extent { made, planned, noun, finished } = extent;
        let (rate, left) = (self.pace.rate(made as f64), self.pace.left(made as f64, planned as f64));
        let (metrics, seconds_left) = (json::Columns(row), Some(left));
        self.output.progress(&json::Iteration { run: None, metrics, saved, seconds_left });
        let (rate, left) = (format!("{rate:.0} {noun}s/s"), format!("{} left", duration(left)));
        if self.live.is_shown() {
            self.live.show(made, &[left, rate], columns);
        } else if self.printed.is_none_or(|at| at.elapsed() >= LINE_EVERY) || finished {
            self.printed = Some(Instant::now());
            self.output.say(&format!("{made:>12}/{planned} {noun}s  {}  {rate}  {left}", columns.join("  ")));
        }
    }

    pub fn close(&self) {
        self.live.close();
    }
}
