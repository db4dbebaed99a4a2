//! `magpie sweep`: many searches, one after the other.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use magpie_run::RunError;
use magpie_run::sweep::{Run, Shard, State, Sweep, divide};

use crate::drive::{Display, Pace, Preparation, drive, mention_surprises};
use crate::hint::hint;
use crate::session::{self, Stop};

#[derive(clap::Args)]
pub struct Args {
    /// The sweep file (docs/sweep.md has every key).
    file: PathBuf,
    /// Folder for the runs, each in a folder of its own; runs/NAME if not given, where NAME is that of the file.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Make only this part of the runs, such as 2/4: the second of four, counted from 1.
    #[arg(long, value_name = "NUMBER/COUNT")]
    shard: Option<Shard>,
    /// Show the runs and how far they are, and check them, but run nothing.
    #[arg(long)]
    dry_run: bool,
    /// Iterations between checkpoints; once a minute if not given.
    #[arg(long, value_name = "ITERATIONS", value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: Option<u64>,
    /// Number of threads; all cores if not given.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// Without a terminal, time between lines: a sweep has thousands of iterations.
const LINE_EVERY: Duration = Duration::from_secs(10);

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    session::threads(args.threads)?;
    let sweep = Sweep::read(&args.file)?;
    for note in sweep.notes() {
        writeln!(crate::screen::stderr(), "note: {note}")?;
    }
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| Path::new("runs").join(args.file.file_stem().unwrap_or(args.file.as_os_str())));
    let shard = args.shard.unwrap_or_default();
    let costs: Vec<u64> = sweep.runs().iter().map(|run| run.config.most_env_steps()).collect();
    let shards = divide(&costs, shard.of);
    if args.dry_run {
        table(&sweep, &out, &shards, args.shard)?;
        // After the table, so that it can be seen before there are demonstrations.
        session::warn(&sweep.check()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    session::warn(&sweep.check()?)?;
    let runs: Vec<&Run> =
        sweep.runs().iter().zip(&shards).filter(|(_, of)| **of == shard.number).map(|(run, _)| run).collect();
    // A folder that holds another run is found here, before anything is run.
    let left = runs.iter().map(|run| Ok(left_of(run, run.state(&out.join(&run.name))?)));
    let overall = Overall::new(left.sum::<Result<f64, RunError>>()?);
    Session { args, out: &out, stop: session::stop_on_ctrl_c()?, runs, overall }.run()
}

/// All runs, whether anything is to be done for them, and by whom.
fn table(sweep: &Sweep, out: &Path, shards: &[usize], shard: Option<Shard>) -> anyhow::Result<()> {
    let width = sweep.runs().iter().map(|run| run.name.len()).max().unwrap_or(0).max(3);
    let mut screen = crate::screen::stdout().lock();
    let mut refused = None;
    let mut sums: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
    write!(screen, "{:<width$}  {:>15}  {:>9}", "run", "state", "steps")?;
    writeln!(screen, "{}", if shard.is_some() { "  shard" } else { "" })?;
    for (run, &of) in sweep.runs().iter().zip(shards) {
        let state = match run.state(&out.join(&run.name)) {
            Ok(State::ToDo) => "to do".to_owned(),
            Ok(State::HalfDone(made)) => format!("{made}/{}", run.config.iterations),
            Ok(State::Done) => "done".to_owned(),
            Err(reason) => {
                refused.get_or_insert(reason);
                "refused".to_owned()
            }
        };
        let steps = run.config.most_env_steps() as f64;
        let (runs, sum) = sums.entry(of).or_default();
        (*runs, *sum) = (*runs + 1, *sum + steps);
        write!(screen, "{:<width$}  {state:>15}  {steps:>9.2e}", run.name)?;
        match shard {
            Some(shard) => writeln!(screen, "  {of}/{}", shard.of)?,
            None => writeln!(screen)?,
        }
    }
    let all: f64 = sums.values().map(|(_, steps)| steps).sum();
    writeln!(screen, "{} runs in {}, at most {all:.2e} environment steps", shards.len(), out.display())?;
    if let Some(shard) = shard {
        let (runs, steps) = sums.get(&shard.number).copied().unwrap_or_default();
        writeln!(screen, "shard {shard}: {runs} runs, at most {steps:.2e} environment steps")?;
    }
    refused.map_or(Ok(()), |reason| Err(reason.into()))
}

/// How far all runs are together, counted in the environment steps that they may take.
struct Overall {
    pace: Pace,
    /// By this process.
    done: f64,
    left: f64,
    /// Of the run under way.
    left_of_run: f64,
}

impl Overall {
    fn new(left: f64) -> Overall {
        Overall { pace: Pace::from(0.0), done: 0.0, left, left_of_run: 0.0 }
    }

    fn advance(&mut self, steps: f64) {
        self.done += steps;
        self.left -= steps;
        self.left_of_run -= steps;
    }

    /// Whatever has become of the run under way, nobody waits for the rest of it.
    fn close_run(&mut self) {
        self.left -= std::mem::take(&mut self.left_of_run);
    }

    /// In words.
    fn left(&self) -> String {
        format!("{} left in all", session::duration(self.pace.left(self.done, self.done + self.left)))
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

/// Environment steps of so many iterations of a run.
fn steps(run: &Run, iterations: u64) -> f64 {
    run.config.most_env_steps() as f64 * iterations as f64 / run.config.iterations as f64
}

/// A process at work on its part of a sweep.
struct Session<'a> {
    args: &'a Args,
    out: &'a Path,
    stop: Stop,
    runs: Vec<&'a Run>,
    overall: Overall,
}

/// How it ended for a run.
enum End {
    /// Finished, now or before.
    Done,
    /// Somebody wants to stop; what was found is saved.
    Stopped,
    /// Another process is at it.
    InUse,
}

impl Session<'_> {
    fn run(mut self) -> anyhow::Result<ExitCode> {
        let (mut done, mut in_use, mut failed) = (0, Vec::new(), Vec::new());
        for (number, run) in self.runs.clone().into_iter().enumerate() {
            let end = match self.stop.requested() {
                true => Ok(End::Stopped),
                false => self.make(run, number + 1),
            };
            self.overall.close_run();
            match end {
                Ok(End::Stopped) => break,
                Ok(End::Done) => done += 1,
                Ok(End::InUse) => {
                    writeln!(
                        crate::screen::stderr(),
                        "{} is in use by another process: left to it",
                        run.name
                    )?;
                    in_use.push(run.name.as_str());
                }
                Err(reason) => {
                    writeln!(crate::screen::stderr(), "{} has failed: {reason:#}", run.name)?;
                    if let Some(hint) = hint(&reason) {
                        writeln!(crate::screen::stderr(), "hint: {hint}")?;
                    }
                    failed.push((run.name.as_str(), reason));
                }
            }
        }
        self.summary(done, &in_use, &failed)
    }

    /// Makes a run, or what is left of it.
    fn make(&mut self, run: &Run, number: usize) -> anyhow::Result<End> {
        let folder = self.out.join(&run.name);
        let state = run.state(&folder)?;
        self.overall.left_of_run = left_of(run, state);
        if state == State::Done {
            return Ok(End::Done);
        }
        let mut preparation = Preparation::new(run.config.reward.model, &self.stop);
        let mut search = match run.open(&folder, &mut |progress| preparation.show(progress)) {
            Err(RunError::Stopped) => return Ok(End::Stopped),
            Err(RunError::Locked { .. }) => return Ok(End::InUse),
            opened => opened?,
        };
        if let Some(iterations) = self.args.checkpoint_every {
            search.save_every(iterations);
        }
        mention_surprises(&search)?;
        let title = format!("run {number} of {}, {}  ", self.runs.len(), run.name);
        let mut display = Display::new(&search, &title, LINE_EVERY);
        let mut made = search.search().state().iteration;
        let overall = &mut self.overall;
        let driven = drive(&mut search, &self.stop, |search, progress| {
            let iteration = progress.report.iteration;
            overall.advance(steps(run, iteration - std::mem::replace(&mut made, iteration)));
            display.show(search, progress, &overall.left());
        });
        display.close();
        driven?;
        Ok(if search.is_finished() { End::Done } else { End::Stopped })
    }

    fn summary(
        &self,
        done: usize,
        in_use: &[&str],
        failed: &[(&str, anyhow::Error)],
    ) -> anyhow::Result<ExitCode> {
        let mut out = crate::screen::stdout().lock();
        let all = self.runs.len();
        writeln!(out, "{done} of {all} runs are done; {}", self.out.display())?;
        for run in in_use {
            writeln!(out, "in use   {run}")?;
        }
        for (run, reason) in failed {
            writeln!(out, "failed   {run}: {reason:#}")?;
        }
        if done + in_use.len() + failed.len() < all {
            writeln!(out, "Stopped early; the same command goes on.")?;
            return Ok(ExitCode::from(session::INTERRUPTED));
        }
        if done > 0 {
            writeln!(out, "next     magpie report {}", self.out.display())?;
        }
        Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
