//! `magpie clone`: trains one policy to act as in demonstrations.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use magpie_learn::Actions;
use magpie_run::clone::{Choices, CloneRun};

use crate::json;
use crate::output::Output;
use crate::session;
use crate::words::{count, quoted};
use crate::world::WorldArgs;

#[derive(clap::Args)]
pub struct Args {
    /// Task of the demonstrations: one listed by `magpie envs`, such as walker2d, or your own task file (docs/tasks.md). --config
    /// can name it instead.
    #[arg(required_unless_present_any = ["resume", "config"], conflicts_with = "resume")]
    task: Option<String>,
    /// Demonstrations to clone, in any format that `magpie demos import` reads. [default: those bundled with magpie, which hold
    /// only every 20th step]
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    demos: Option<PathBuf>,
    /// Most passes over the demonstrations; training stops earlier when the held-out error has not fallen for cloning.patience
    /// epochs. [default: 500]
    #[arg(long, value_name = "N", value_parser = session::count)]
    epochs: Option<u64>,
    /// Seed of all random streams. [default: 0]
    #[arg(long, conflicts_with = "resume")]
    seed: Option<u64>,
    /// TOML file with settings that differ from the defaults, such as the config.toml of another run.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// One setting, such as cloning.batch=128; overrides --config and can be repeated.
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "resume")]
    set: Vec<String>,
    /// Folder for the results. [default: runs/clone-TASK-SEED]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Continue the run in this folder. --epochs may ask for more than first planned.
    #[arg(long, value_name = "DIR", conflicts_with = "WorldArgs")]
    resume: Option<PathBuf>,
    /// Number of threads for the final evaluation. [default: one per core]
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
            demos: self.demos.clone(),
            file: self.config.clone(),
            sets: self.set.clone(),
            seed: self.seed,
            epochs: self.epochs,
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
            CloneRun::resume(folder, args.epochs)?
        }
        None => {
            let (config, warnings) = args.choices().resolve()?;
            output.warn_all(&warnings);
            let folder = format!("runs/clone-{}-{}", config.task, config.seed);
            CloneRun::start(config, &args.out.clone().unwrap_or(folder.into()))?
        }
    };
    let mut last = None;
    while !run.is_finished() && !stop.requested() {
        last = Some(run.iterate()?.report);
    }
    let path = run.directory().path().to_owned();
    let folder = path.display().to_string();
    if !run.is_finished() {
        run.save()?;
        let command = format!("magpie clone --resume {}", quoted(&path));
        let resume = Some(command.clone());
        output
            .result(&json::Interrupted { run: None, folder, resume, search: None, sweep: None }, |out| {
                writeln!(out, "Interrupted after {}. To continue: {command}", count(run.epochs(), "epoch"))
            })?;
        return Ok(ExitCode::from(session::INTERRUPTED));
    }
    let evaluation = run.evaluate(EVALUATION_EPISODES, Actions::Mean, run.config().seed)?;
    let demonstrations = run.demonstrations();
    let episodes = &demonstrations.columns().episodes;
    let returns: Option<Vec<f64>> = episodes.iter().map(|episode| episode.true_return).collect();
    let expert_return = returns.map(|returns| returns.iter().sum::<f64>() / returns.len() as f64);
    let result = json::CloneResult {
        task: run.config().task.clone(),
        folder,
        demonstrations: episodes.len(),
        steps: demonstrations.steps(),
        epochs: run.epochs(),
        best_epoch: last.as_ref().map(|report| report.best_epoch),
        best_error: last.as_ref().map(|report| report.best_error),
        explained_variance: last.as_ref().map(|report| report.explained_variance),
        expert_return,
        mean_return: evaluation.mean_return(),
        mean_length: evaluation.mean_length(),
        policy: run.directory().file("policy.safetensors").display().to_string(),
        metrics: run.directory().file("metrics.csv").display().to_string(),
    };
    output.result(&result, |out| print(out, &result))?;
    Ok(ExitCode::SUCCESS)
}

fn print(out: &mut impl Write, result: &json::CloneResult) -> std::io::Result<()> {
    writeln!(
        out,
        "{}: cloned from {} of {} in {}",
        result.task,
        count(result.steps as u64, "step"),
        count(result.demonstrations as u64, "demonstration"),
        count(result.epochs, "epoch")
    )?;
    if let (Some(error), Some(explained), Some(epoch)) =
        (result.best_error, result.explained_variance, result.best_epoch)
    {
        writeln!(
            out,
            "error    {error:.5} (mean squared, held-out actions), R² {explained:.2}, best epoch {epoch}"
        )?;
    }
    if let Some(expert) = result.expert_return {
        writeln!(out, "expert   mean return {expert:.1}")?;
    }
    writeln!(
        out,
        "clone    mean return {:.1} over {EVALUATION_EPISODES} episodes of mean length {:.1}\n\
         policy   {}\n\
         metrics  {}\n\
         again    magpie eval {}",
        result.mean_return,
        result.mean_length,
        result.policy,
        result.metrics,
        quoted(std::path::Path::new(&result.policy)),
    )
}
