//! `magpie sweep`: many searches, one after the other.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use magpie_run::RunError;
use magpie_run::sweep::{Run, Shard, State, Sweep, divide};
use magpie_run::train::{Config, TrainRun};

use crate::drive::{Display, Pace, Preparation, drive, mention_surprises, result, started};
use crate::hint::hint;
use crate::json;
use crate::output::Output;
use crate::session::{self, Stop};
use crate::words::{count, duration, quoted};

#[derive(clap::Args)]
pub struct Args {
    /// The sweep file (docs/sweep.md describes every key).
    file: PathBuf,
    /// Folder for the runs, one subfolder each. [default: runs/NAME, where NAME is that of the file]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Make only one part of the runs: 2/4 is the second of four.
    #[arg(long, value_name = "NUMBER/COUNT")]
    shard: Option<Shard>,
    /// Check all runs and list them with their state; run nothing.
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run, estimate how long runs take on this machine, from one iteration of each kind of run.
    #[arg(long, requires = "dry_run")]
    measure: bool,
    /// Save a checkpoint every N iterations. [default: about once a minute]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: Option<u64>,
    /// Number of threads. [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// Without a terminal, time between lines: a sweep has thousands of iterations.
const LINE_EVERY: Duration = Duration::from_secs(10);

pub fn run(args: &Args, output: Output) -> anyhow::Result<ExitCode> {
    session::threads(args.threads)?;
    let sweep = Sweep::read(&args.file)?;
    sweep.notes().iter().for_each(|note| output.note(note));
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| Path::new("runs").join(args.file.file_stem().unwrap_or(args.file.as_os_str())));
    let shard = args.shard.unwrap_or_default();
    let costs: Vec<u64> = sweep.runs().iter().map(|run| run.config.most_env_steps()).collect();
    let shards = divide(&costs, shard.of);
    if args.dry_run {
        let seconds = match args.measure {
            true => {
                sweep.check()?;
                let Some(seconds) = measure(&sweep, &session::stop_on_ctrl_c()?, output)? else {
                    return Ok(ExitCode::from(session::INTERRUPTED));
                };
                Some(seconds)
            }
            false => None,
        };
        let plans = plan(&sweep, &out, &shards, seconds.as_deref());
        show(plans, &out, args.shard, output)?;
        // After the table, so that it can be seen before there are demonstrations.
        output.warn_all(&sweep.check()?);
        return Ok(ExitCode::SUCCESS);
    }
    output.warn_all(&sweep.check()?);
    let runs: Vec<&Run> =
        sweep.runs().iter().zip(&shards).filter(|(_, of)| **of == shard.number).map(|(run, _)| run).collect();
    // A folder that holds another run is found here, before anything is run.
    let left = runs.iter().map(|run| Ok(left_of(run, run.state(&out.join(&run.name))?)));
    let overall = Overall::new(left.sum::<Result<f64, RunError>>()?);
    output.progress(&json::SweepStarted {
        folder: out.display().to_string(),
        runs: runs.len(),
        shard: args.shard.map(|shard| shard.to_string()),
        steps: overall.left,
    });
    Session { args, out: &out, stop: session::stop_on_ctrl_c()?, runs, overall, output }.run()
}

/// A run as the dry run lists it.
struct Plan<'a> {
    run: &'a Run,
    folder: PathBuf,
    state: Result<State, RunError>,
    shard: usize,
    steps: u64,
    /// At most, on this machine.
    seconds: Option<f64>,
}

fn plan<'a>(sweep: &'a Sweep, out: &Path, shards: &[usize], seconds: Option<&[f64]>) -> Vec<Plan<'a>> {
    let runs = sweep.runs().iter().zip(shards).enumerate();
    runs.map(|(i, (run, &shard))| {
        let folder = out.join(&run.name);
        let (state, steps) = (run.state(&folder), run.config.most_env_steps());
        Plan { run, folder, state, shard, steps, seconds: seconds.map(|seconds| seconds[i]) }
    })
    .collect()
}

/// Seconds that each run takes at most on this machine: its first iteration says how many environment steps a second there
/// are, and the steps of the whole run are known. Runs that differ in seed, demonstrations or the weight of curiosity take
/// the same. `None` if interrupted.
fn measure(sweep: &Sweep, stop: &Stop, output: Output) -> anyhow::Result<Option<Vec<f64>>> {
    let kind = |config: &Config| -> anyhow::Result<String> {
        let mut config = config.clone();
        (config.seed, config.iterations) = (0, 1);
        config.search.curiosity.weight = 0.0;
        config.demos = Default::default();
        Ok(toml::to_string(&config)?)
    };
    let kinds: Vec<String> = sweep.runs().iter().map(|run| kind(&run.config)).collect::<Result<_, _>>()?;
    let mut rates: BTreeMap<&str, f64> = BTreeMap::new();
    let mut seconds = Vec::new();
    for (run, kind) in sweep.runs().iter().zip(&kinds) {
        let rate = match rates.get(kind.as_str()) {
            Some(&rate) => rate,
            None => {
                output.say(&format!("measuring one iteration of {}", run.name));
                let Some(rate) = steps_per_second(run, stop, output)? else { return Ok(None) };
                rates.insert(kind, rate);
                rate
            }
        };
        seconds.push(run.config.most_env_steps() as f64 / rate);
    }
    Ok(Some(seconds))
}

/// Environment steps a second in the first iteration of a run, which is made in a folder of its own and thrown away.
fn steps_per_second(run: &Run, stop: &Stop, output: Output) -> anyhow::Result<Option<f64>> {
    let folder = tempfile::tempdir().context("making a folder for the measurement")?;
    let mut preparation = Preparation::new(run.config.reward.model, stop, output);
    let path = folder.path().join("run");
    let mut search =
        match TrainRun::start(run.config.clone(), &path, &mut |progress| preparation.show(progress)) {
            Err(RunError::Stopped) => return Ok(None),
            started => started?,
        };
    if stop.requested() {
        return Ok(None);
    }
    let (before, begun) = (search.search().state().env_steps, Instant::now());
    search.iterate()?;
    let steps = search.search().state().env_steps - before;
    Ok(Some(steps as f64 / begun.elapsed().as_secs_f64().max(1e-9)))
}

/// All runs, how far they are, and who makes them.
fn show(plans: Vec<Plan<'_>>, out: &Path, shard: Option<Shard>, output: Output) -> anyhow::Result<()> {
    for plan in &plans {
        let (state, made) = match &plan.state {
            Ok(State::ToDo) => ("to do", 0),
            Ok(State::HalfDone(made)) => ("half done", *made),
            Ok(State::Done) => ("done", plan.run.config.iterations),
            Err(_) => ("refused", 0),
        };
        output.event(&json::Planned {
            run: plan.run.name.clone(),
            folder: plan.folder.display().to_string(),
            state: state.to_owned(),
            made,
            iterations: plan.run.config.iterations,
            steps: plan.steps,
            shard: plan.shard,
            seconds: plan.seconds,
        })?;
    }
    let sum = |of: Option<Shard>| {
        let plans = plans.iter().filter(move |plan| of.is_none_or(|of| plan.shard == of.number));
        let steps: f64 = plans.clone().map(|plan| plan.steps as f64).sum();
        (plans.clone().count(), steps, plans.map(|plan| plan.seconds).sum::<Option<f64>>())
    };
    let (runs, steps, seconds) = sum(shard);
    let folder = out.display().to_string();
    let named = shard.map(|shard| shard.to_string());
    output.result(&json::Plan { folder, runs, shard: named, steps, seconds }, |screen| {
        let width = plans.iter().map(|plan| plan.run.name.len()).max().unwrap_or(0).max(3);
        let time = |seconds: Option<f64>| seconds.map_or(String::new(), |s| format!("  {:>10}", duration(s)));
        write!(screen, "{:<width$}  {:>15}  {:>9}", "run", "state", "steps")?;
        write!(screen, "{}", if seconds.is_some() { format!("  {:>10}", "at most") } else { String::new() })?;
        writeln!(screen, "{}", if shard.is_some() { "  shard" } else { "" })?;
        for plan in &plans {
            let state = match &plan.state {
                Ok(State::ToDo) => "to do".to_owned(),
                Ok(State::HalfDone(made)) => format!("{made}/{}", plan.run.config.iterations),
                Ok(State::Done) => "done".to_owned(),
                Err(_) => "refused".to_owned(),
            };
            let steps = plan.steps as f64;
            write!(screen, "{:<width$}  {state:>15}  {steps:>9.2e}{}", plan.run.name, time(plan.seconds))?;
            match shard {
                Some(shard) => writeln!(screen, "  {}/{}", plan.shard, shard.of)?,
                None => writeln!(screen)?,
            }
        }
        let on_this_machine = |seconds: Option<f64>| {
            seconds.map_or(String::new(), |seconds| format!(", {} on this machine", duration(seconds)))
        };
        let (all, all_steps, all_seconds) = sum(None);
        let (all, all_seconds) = (count(all, "run"), on_this_machine(all_seconds));
        writeln!(
            screen,
            "{all} in {}, at most {all_steps:.2e} environment steps{all_seconds}",
            out.display()
        )?;
        if let Some(shard) = shard {
            let (runs, seconds) = (count(runs, "run"), on_this_machine(seconds));
            writeln!(screen, "shard {shard}: {runs}, at most {steps:.2e} environment steps{seconds}")?;
        }
        Ok(())
    })?;
    plans.into_iter().find_map(|plan| plan.state.err()).map_or(Ok(()), |reason| Err(reason.into()))
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

    /// Whatever has become of the current run, there is nothing left of it to wait for.
    fn close_run(&mut self) {
        self.left -= std::mem::take(&mut self.left_of_run);
    }

    fn seconds_left(&self) -> f64 {
        self.pace.left(self.done, self.done + self.left)
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

/// A process at work on its part of a sweep.
struct Session<'a> {
    args: &'a Args,
    out: &'a Path,
    stop: Stop,
    runs: Vec<&'a Run>,
    overall: Overall,
    output: Output,
}

/// How it ended for a run.
enum End {
    /// Finished now.
    Done,
    /// Finished before.
    WasDone,
    /// Interrupted; what was found is saved.
    Stopped,
    /// In use by another process.
    InUse,
}

impl Session<'_> {
    fn run(mut self) -> anyhow::Result<ExitCode> {
        let mut result = json::SweepResult { runs: self.runs.len(), done: 0, in_use: vec![], failed: vec![] };
        let mut reasons = Vec::new();
        for (number, run) in self.runs.clone().into_iter().enumerate() {
            let end = match self.stop.requested() {
                true => Ok(End::Stopped),
                false => self.make(run, number + 1),
            };
            self.overall.close_run();
            let skipped = |reason: &str| json::Skipped { run: run.name.clone(), reason: reason.to_owned() };
            match end {
                Ok(End::Stopped) => break,
                Ok(End::Done) => result.done += 1,
                Ok(End::WasDone) => {
                    self.output.progress(&skipped("done"));
                    result.done += 1;
                }
                Ok(End::InUse) => {
                    self.output.say(&format!("{} skipped: another process is running it", run.name));
                    self.output.progress(&skipped("in use by another process"));
                    result.in_use.push(run.name.clone());
                }
                Err(reason) => {
                    let (message, hint) = (format!("{reason:#}"), hint(&reason));
                    let mut err = crate::screen::stderr();
                    writeln!(err, "error: {} failed: {message}", run.name)?;
                    if let Some(hint) = &hint {
                        writeln!(err, "hint: {hint}")?;
                    }
                    self.output.event(&json::Failed { run: run.name.clone(), message, hint })?;
                    result.failed.push(run.name.clone());
                    reasons.push(reason);
                }
            }
        }
        self.summary(result, &reasons)
    }

    /// Makes a run, or what is left of it.
    fn make(&mut self, run: &Run, number: usize) -> anyhow::Result<End> {
        let folder = self.out.join(&run.name);
        let state = run.state(&folder)?;
        self.overall.left_of_run = left_of(run, state);
        if state == State::Done {
            return Ok(End::WasDone);
        }
        let output = self.output;
        let mut preparation = Preparation::new(run.config.reward.model, &self.stop, output);
        let mut search = match run.open(&folder, &mut |progress| preparation.show(progress)) {
            Err(RunError::Stopped) => return Ok(End::Stopped),
            Err(RunError::Locked { .. }) => return Ok(End::InUse),
            opened => opened?,
        };
        if let Some(iterations) = self.args.checkpoint_every {
            search.save_every(iterations);
        }
        mention_surprises(&search, output);
        output.progress(&started(&search, "sweep", Some(&run.name), None));
        let of_all = format!("{number} of {}", self.runs.len());
        let mut display = Display::new(&search, output).one_of_many(&of_all, &run.name, LINE_EVERY);
        let mut made = search.search().state().iteration;
        let overall = &mut self.overall;
        let driven = drive(&mut search, &self.stop, &mut display, |progress| {
            let iteration = progress.report.iteration;
            overall.advance(steps(run, iteration - std::mem::replace(&mut made, iteration)));
            overall.seconds_left()
        });
        display.close();
        let ended = driven?;
        let (name, folder, found) =
            (Some(run.name.clone()), folder.display().to_string(), Some(result(&search)));
        if ended {
            output.event(&json::Finished { run: name, folder, search: found, policy: None, sweep: None })?;
            return Ok(End::Done);
        }
        output.event(&json::Interrupted { run: name, folder, resume: None, search: found, sweep: None })?;
        Ok(End::Stopped)
    }

    fn summary(&self, result: json::SweepResult, reasons: &[anyhow::Error]) -> anyhow::Result<ExitCode> {
        let json::SweepResult { runs, done, in_use, failed } = result.clone();
        let interrupted = done + in_use.len() + failed.len() < runs;
        let text = |out: &mut crate::screen::Screen<std::io::StdoutLock<'static>>| {
            writeln!(out, "{done} of {runs} runs are done; {}", self.out.display())?;
            for run in &in_use {
                writeln!(out, "skipped  {run}: another process is running it")?;
            }
            for (run, reason) in failed.iter().zip(reasons) {
                writeln!(out, "failed   {run}: {reason:#}")?;
            }
            if interrupted {
                return writeln!(out, "Interrupted. To continue, repeat the command.");
            }
            match done {
                0 => Ok(()),
                _ => writeln!(out, "next     magpie report {}", quoted(self.out)),
            }
        };
        let (folder, sweep) = (self.out.display().to_string(), Some(result));
        if interrupted {
            let resume = Some(std::env::args().skip(1).fold("magpie".to_owned(), |command, argument| {
                format!("{command} {}", quoted(Path::new(&argument)))
            }));
            self.output
                .result(&json::Interrupted { run: None, folder, resume, search: None, sweep }, text)?;
            return Ok(ExitCode::from(session::INTERRUPTED));
        }
        self.output.result(&json::Finished { run: None, folder, search: None, policy: None, sweep }, text)?;
        Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
