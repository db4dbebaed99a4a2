//! `magpie ppo`: trains one policy on a task's own reward.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use magpie_learn::Actions;
use magpie_run::ppo::{Config, PpoRun, Progress};

#[derive(clap::Args)]
pub struct Args {
    /// Task to train on, such as walker2d (`magpie envs` lists them).
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    task: Option<String>,
    /// Environment steps to train for, such as 30000000 or 30e6, rounded up to whole windows of 64 steps in all
    /// environments; 30e6 if not given.
    #[arg(long, value_parser = steps)]
    steps: Option<u64>,
    /// Seed of all random streams.
    #[arg(long, default_value_t = 0, conflicts_with = "resume")]
    seed: u64,
    /// Environments side by side; 256 if not given.
    #[arg(long, conflicts_with = "resume")]
    environments: Option<u32>,
    /// Learning rate of Adam; 3e-4 if not given.
    #[arg(long, conflicts_with = "resume")]
    learning_rate: Option<f64>,
    /// Folder for the results; runs/ppo-TASK-SEED if not given.
    #[arg(long, conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with the run in this folder.
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Number of threads; all cores if not given.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

const DEFAULT_STEPS: u64 = 30_000_000;
const EVALUATION_EPISODES: u32 = 100;
/// What shells expect of a program that Ctrl-C has stopped.
const INTERRUPTED: u8 = 130;

/// Whole steps, also written as 30e6.
fn steps(text: &str) -> Result<u64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number; write it like 30000000 or 30e6".to_owned())?;
    if (1.0..=1e15).contains(&value) && value.fract() == 0.0 {
        Ok(value as u64)
    } else {
        Err("must be a whole number from 1 to 1e15".to_owned())
    }
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(threads) = args.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .with_context(|| format!("starting {threads} threads"))?;
    }
    let mut run = match (&args.resume, &args.task) {
        (Some(folder), _) => PpoRun::resume(folder, args.steps)?,
        (None, Some(task)) => {
            let mut config = Config::new(task, args.seed, args.steps.unwrap_or(DEFAULT_STEPS))?;
            config.environments = args.environments.unwrap_or(config.environments);
            if let Some(rate) = args.learning_rate {
                config.train.ppo.adam.learning_rate = rate;
            }
            let folder =
                args.out.clone().unwrap_or_else(|| PathBuf::from(format!("runs/ppo-{task}-{}", args.seed)));
            PpoRun::start(config, &folder)?
        }
        (None, None) => anyhow::bail!("name a task, or a folder with --resume"),
    };

    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("listening for Ctrl-C")?;

    let mut display = Display::new(&run);
    while !run.is_finished() && !stop.load(Ordering::Relaxed) {
        let progress = run.iterate()?;
        display.show(&run, &progress)?;
    }
    display.close();
    run.save()?;

    let folder = run.directory().display().to_string();
    let mut out = std::io::stdout().lock();
    if !run.is_finished() {
        writeln!(out, "Stopped after {} steps; go on with: magpie ppo --resume {folder}", run.steps())?;
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let result = run.evaluate(EVALUATION_EPISODES, Actions::Mean, run.config().seed);
    writeln!(
        out,
        "{} after {} steps: mean return {:.1} over {EVALUATION_EPISODES} episodes of mean length {:.1}\n\
         policy   {folder}/policy.safetensors\n\
         metrics  {folder}/metrics.csv\n\
         again    magpie eval {folder}/policy.safetensors",
        run.config().task,
        run.steps(),
        result.mean_return(),
        result.mean_length(),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// A live line on a terminal; elsewhere one plain line now and then.
struct Display {
    bar: Option<ProgressBar>,
    started: Instant,
    steps_at_start: u64,
    /// The last known results: windows in which no episode ends have none.
    latest: (f64, f64),
    printed: Option<Instant>,
}

impl Display {
    fn new(run: &PpoRun) -> Display {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(run.config().steps).with_position(run.steps());
            let style = "{msg} [{bar:24}] {percent}% of {human_len} steps, {eta} left";
            bar.set_style(
                ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar
        });
        Display {
            bar,
            started: Instant::now(),
            steps_at_start: run.steps(),
            latest: (f64::NAN, f64::NAN),
            printed: None,
        }
    }

    fn show(&mut self, run: &PpoRun, progress: &Progress) -> anyhow::Result<()> {
        let episodes = progress.last.episodes;
        if let (Some(mean_return), Some(length)) = (episodes.mean_return(), episodes.mean_length()) {
            self.latest = (mean_return, length);
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = (progress.steps - self.steps_at_start) as f64 / seconds.max(1e-9);
        let line =
            format!("return {:8.1}  length {:6.1}  {:7.0} steps/s", self.latest.0, self.latest.1, rate);
        if let Some(bar) = &self.bar {
            bar.set_position(progress.steps.min(run.config().steps));
            bar.set_message(line);
        } else if self.printed.is_none_or(|at| at.elapsed().as_secs() >= 10) || run.is_finished() {
            self.printed = Some(Instant::now());
            let left = run.config().steps.saturating_sub(progress.steps) as f64 / rate;
            writeln!(std::io::stderr(), "{:>12} steps  {line}  {left:6.0} s left", progress.steps)?;
        }
        Ok(())
    }

    fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }
}
