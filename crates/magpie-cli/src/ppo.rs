//! `magpie ppo`: trains one policy on a task's own reward.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use magpie_learn::Actions;
use magpie_run::ppo::{Choices, PpoRun, Progress};

use crate::session;
use crate::world::WorldArgs;

#[derive(clap::Args)]
pub struct Args {
    /// Task to train on: one that `magpie envs` lists, such as walker2d, or a task file (docs/tasks.md); --config can
    /// name it instead.
    #[arg(required_unless_present_any = ["resume", "config"], conflicts_with = "resume")]
    task: Option<String>,
    /// Environment steps to train for, such as 30000000 or 30e6, rounded up to whole rollouts in all environments;
    /// 30e6 if not given.
    #[arg(long, value_parser = session::count)]
    steps: Option<u64>,
    /// Seed of all random streams; 0 if not given.
    #[arg(long, conflicts_with = "resume")]
    seed: Option<u64>,
    /// Environments side by side; 256 if not given.
    #[arg(long, conflicts_with = "resume")]
    environments: Option<u32>,
    /// Learning rate of Adam; 3e-4 if not given.
    #[arg(long, conflicts_with = "resume")]
    learning_rate: Option<f64>,
    /// Settings from a TOML file; it needs only those that differ. The config.toml of a run is one.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// One setting, such as train.gamma=0.98, over those of --config; can be given several times.
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "resume")]
    set: Vec<String>,
    /// Folder for the results; runs/ppo-TASK-SEED if not given.
    #[arg(long, conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with the run in this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "WorldArgs")]
    resume: Option<PathBuf>,
    /// Number of threads; all cores if not given.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    world: WorldArgs,
}

const EVALUATION_EPISODES: u32 = 100;

impl Args {
    fn choices(&self) -> Choices {
        Choices {
            task: self.task.clone(),
            file: self.config.clone(),
            sets: self.set.clone(),
            steps: self.steps,
            seed: self.seed,
            environments: self.environments,
            learning_rate: self.learning_rate,
            world: self.world.changes(),
        }
    }
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    session::threads(args.threads)?;
    let mut run = match &args.resume {
        Some(folder) => PpoRun::resume(folder, args.steps)?,
        None => {
            let (config, warnings) = args.choices().resolve()?;
            session::warn(&warnings)?;
            let folder = format!("runs/ppo-{}-{}", config.task, config.seed);
            PpoRun::start(config, &args.out.clone().unwrap_or(folder.into()))?
        }
    };

    session::mention_kernel(run.other_kernel())?;
    session::mention_missing_rows(run.missing_rows())?;
    let stop = session::stop_on_ctrl_c()?;
    let mut display = Display::new(&run);
    while !run.is_finished() && !stop.requested() {
        let progress = run.iterate()?;
        display.show(&run, &progress);
    }
    display.close();
    if !run.is_finished() {
        run.save()?;
    }

    let folder = run.directory().path().display().to_string();
    let mut out = crate::screen::stdout().lock();
    if !run.is_finished() {
        writeln!(out, "Stopped after {} steps; go on with: magpie ppo --resume {folder}", run.steps())?;
        return Ok(ExitCode::from(session::INTERRUPTED));
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
    /// The last known results: rollouts in which no episode ends have none.
    latest: Option<(f64, f64)>,
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
        Display { bar, started: Instant::now(), steps_at_start: run.steps(), latest: None, printed: None }
    }

    fn show(&mut self, run: &PpoRun, progress: &Progress) {
        let episodes = progress.report.last.episodes;
        if let (Some(mean_return), Some(length)) = (episodes.mean_return(), episodes.mean_length()) {
            self.latest = Some((mean_return, length));
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = (progress.report.steps - self.steps_at_start) as f64 / seconds.max(1e-9);
        let line = match self.latest {
            Some((mean, length)) => format!("return {mean:8.1}  length {length:6.1}  {rate:7.0} steps/s"),
            None => format!("no episode has ended yet  {rate:7.0} steps/s"),
        };
        if let Some(bar) = &self.bar {
            bar.set_position(progress.report.steps.min(run.config().steps));
            bar.set_message(line);
        } else if self.printed.is_none_or(|at| at.elapsed().as_secs() >= 10) || run.is_finished() {
            self.printed = Some(Instant::now());
            let left = run.config().steps.saturating_sub(progress.report.steps) as f64 / rate;
            // A reader that is gone is no reason to stop.
            let _ = writeln!(
                crate::screen::stderr(),
                "{:>12} steps  {line}  {left:6.0} s left",
                progress.report.steps
            );
        }
    }

    fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}
