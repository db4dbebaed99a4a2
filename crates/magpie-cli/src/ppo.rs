//! `magpie ppo`: trains one policy on a task's own reward.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use magpie_learn::Actions;
use magpie_run::operations::instability_of_policy;
use magpie_run::ppo::{Choices, PpoRun, Progress, row};

use crate::drive::Pace;
use crate::hint::DifferentRun;
use crate::json;
use crate::live::Live;
use crate::output::Output;
use crate::session;
use crate::words::{duration, quoted};
use crate::world::WorldArgs;

#[derive(clap::Args)]
pub struct Args {
    /// Task to train on: one listed by `magpie envs`, such as walker2d, or your own task file (docs/tasks.md). --config can
    /// name it instead.
    #[arg(required_unless_present_any = ["resume", "config"], conflicts_with = "resume")]
    task: Option<String>,
    /// Environment steps to train for, such as 30000000 or 30e6; rounded up to whole rollouts in all environments.
    /// [default: 30e6]
    #[arg(long, value_parser = session::count)]
    steps: Option<u64>,
    /// Seed of all random streams. [default: 0]
    #[arg(long, conflicts_with = "resume")]
    seed: Option<u64>,
    /// Environments stepped side by side. [default: 256]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    environments: Option<u32>,
    /// Learning rate of Adam. [default: 3e-4]
    #[arg(long, value_name = "RATE", conflicts_with = "resume")]
    learning_rate: Option<f64>,
    /// TOML file with settings that differ from the defaults, such as the config.toml of another run.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// One setting, such as train.gamma=0.98; overrides --config and can be repeated.
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "resume")]
    set: Vec<String>,
    /// Folder for the results. [default: runs/ppo-TASK-SEED, with changes to the world in between]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Continue the run in this folder. --steps may ask for more than first planned.
    #[arg(long, value_name = "DIR", conflicts_with = "WorldArgs")]
    resume: Option<PathBuf>,
    /// Number of threads. [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
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

pub fn run(args: &Args, output: Output) -> anyhow::Result<ExitCode> {
    session::threads(args.threads, output)?;
    let stop = session::stop_on_ctrl_c()?;
    let mut run = match &args.resume {
        Some(folder) => {
            session::outwait(folder, &stop, output)?;
            PpoRun::resume(folder, args.steps)?
        }
        None => {
            let (config, warnings) = args.choices().resolve()?;
            output.warn_all(&warnings);
            let folder = format!("runs/ppo-{}{}-{}", config.task, config.world.in_a_name(), config.seed);
            PpoRun::start(config.clone(), &args.out.clone().unwrap_or(folder.into()))
                .map_err(|reason| DifferentRun::or(reason, |folder| config.difference_from(folder)))?
        }
    };

    session::mention_kernel(run.other_kernel(), output);
    session::mention_missing_rows(run.missing_rows(), output);
    announce(&run, output);
    let mut display = Display::new(&run, output);
    while !run.is_finished() && !stop.requested() {
        let progress = run.iterate()?;
        display.show(&run, &progress);
    }
    display.live.close();
    if !run.is_finished() {
        run.save()?;
        return interrupted(&run, output);
    }
    finish(&run, output)
}

/// What is about to be done.
fn announce(run: &PpoRun, output: Output) {
    let config = run.config();
    let world = config.world.seen_from_outside(run.directory().path()).in_words();
    output.progress(&json::Started {
        command: "ppo".to_owned(),
        run: None,
        folder: run.directory().path().display().to_string(),
        task: config.task.clone(),
        world: world.clone(),
        measure: None,
        reward: None,
        curiosity: None,
        seed: config.seed,
        method: None,
        budget: None,
        threads: rayon::current_num_threads(),
        environments: config.environments,
        cells: None,
        iterations: None,
        made: None,
        steps: config.steps,
    });
    if let Some(world) = world {
        output.say(&format!("world: {world}"));
    }
    output.say(&format!("folder: {}", run.directory().path().display()));
}

fn interrupted(run: &PpoRun, output: Output) -> anyhow::Result<ExitCode> {
    let path = run.directory().path();
    let command = format!("magpie ppo --resume {}", quoted(path));
    let (folder, resume) = (path.display().to_string(), Some(command.clone()));
    output.result(&json::Interrupted { run: None, folder, resume, search: None, sweep: None }, |out| {
        writeln!(out, "Interrupted after {} steps. To continue: {command}", run.steps())
    })?;
    Ok(ExitCode::from(session::INTERRUPTED))
}

fn finish(run: &PpoRun, output: Output) -> anyhow::Result<ExitCode> {
    let (path, config) = (run.directory().path(), run.config());
    let world = config.world.seen_from_outside(path);
    output.warn_all(instability_of_policy(path, &world, None)?.as_slice());
    let evaluation = run.evaluate(EVALUATION_EPISODES, Actions::Mean, config.seed);
    let result = json::PolicyResult {
        task: config.task.clone(),
        steps: run.steps(),
        episodes: EVALUATION_EPISODES,
        mean_return: evaluation.mean_return(),
        mean_length: evaluation.mean_length(),
        policy: run.directory().file("policy.safetensors").display().to_string(),
        metrics: run.directory().file("metrics.csv").display().to_string(),
    };
    let folder = path.display().to_string();
    let event = json::Finished { run: None, folder, search: None, policy: Some(result.clone()), sweep: None };
    output.result(&event, |out| {
        writeln!(
            out,
            "{} after {} steps: mean return {:.1} over {EVALUATION_EPISODES} episodes of mean length {:.1}\n\
             policy   {}\n\
             metrics  {}\n\
             again    magpie eval {}",
            result.task,
            result.steps,
            result.mean_return,
            result.mean_length,
            result.policy,
            result.metrics,
            quoted(&run.directory().file("policy.safetensors")),
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Live lines on a terminal; elsewhere one plain line now and then; for programs, an event an iteration.
struct Display {
    live: Live,
    output: Output,
    pace: Pace,
    /// The last known results: rollouts in which no episode ends have none.
    latest: Option<(f64, f64)>,
    printed: Option<Instant>,
}

/// Time between plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl Display {
    fn new(run: &PpoRun, output: Output) -> Display {
        let live = Live::new(run.config().steps, run.steps(), " steps", output);
        Display { live, output, pace: Pace::from(run.steps() as f64), latest: None, printed: None }
    }

    fn show(&mut self, run: &PpoRun, progress: &Progress) {
        let episodes = progress.report.last.episodes;
        if let (Some(mean_return), Some(length)) = (episodes.mean_return(), episodes.mean_length()) {
            self.latest = Some((mean_return, length));
        }
        let (done, total) = (progress.report.steps as f64, run.config().steps as f64);
        let (rate, left) = (self.pace.rate(done), self.pace.left(done, total));
        let metrics = json::Columns(row(progress));
        let (saved, seconds_left) = (progress.saved, Some(left));
        self.output.progress(&json::Iteration { run: None, metrics, saved, seconds_left });
        let columns = match self.latest {
            Some((mean, length)) => vec![format!("return {mean:8.1}"), format!("length {length:6.1}")],
            None => vec!["no episode has ended yet".to_owned()],
        };
        let pace = [format!("{} left", duration(left)), format!("{rate:.0} steps/s")];
        if self.live.is_shown() {
            self.live.show(progress.report.steps, &pace, &columns);
        } else if self.printed.is_none_or(|at| at.elapsed() >= LINE_EVERY) || run.is_finished() {
            self.printed = Some(Instant::now());
            let (steps, columns) = (progress.report.steps, columns.join("  "));
            self.output
                .say(&format!("{steps:>12} steps  {columns}  {rate:7.0} steps/s  {} left", duration(left)));
        }
    }
}
