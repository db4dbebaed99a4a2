//! `magpie clone`: trains one policy to act as in demonstrations.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use magpie_learn::Actions;
use magpie_run::clone::{Choices, CloneRun, row};

use crate::hint::DifferentRun;
use crate::json;
use crate::output::Output;
use crate::run_args::RunArgs;
use crate::session;
use crate::single::{self, Display, Extent, interrupted};
use crate::words::{count, quoted};

#[derive(clap::Args)]
pub struct Args {
    /// Demonstrations to clone, in any format that `magpie demos import` reads. [default: those bundled with magpie, which hold
    /// only every 20th step]
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    demos: Option<PathBuf>,
    /// Most passes over the demonstrations; training stops earlier when the held-out error has not fallen for cloning.patience
    /// epochs. --resume may ask for more than first planned. [default: 500]
    #[arg(long, value_name = "N", value_parser = session::count)]
    epochs: Option<u64>,
    #[command(flatten)]
    run: RunArgs,
}

const EVALUATION_EPISODES: u32 = 100;

impl Args {
    fn choices(&self) -> Choices {
        Choices { run: self.run.choices(), demos: self.demos.clone(), epochs: self.epochs }
    }
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<ExitCode> {
    session::threads(args.run.threads, output)?;
    let stop = session::stop_on_ctrl_c()?;
    let mut run = match &args.run.resume {
        Some(folder) => {
            session::outwait(folder, &stop, output)?;
            CloneRun::resume(folder, args.epochs)?
        }
        None => {
            let (config, warnings) = args.choices().resolve()?;
            output.warn_all(&warnings);
            let name = format!("clone-{}{}-{}", config.task, config.world.in_a_name(), config.seed);
            CloneRun::start(config.clone(), &args.run.folder(&name))
                .map_err(|reason| DifferentRun::or(reason, |folder| config.difference_from(folder)))?
        }
    };

    session::mention_kernel(run.other_kernel(), output);
    session::mention_missing_rows(run.missing_rows(), output);
    announce(&run, output);
    let mut display = Display::new(extent(&run), output);
    let mut last = None;
    while !run.is_finished() && !stop.requested() {
        let progress = run.iterate()?;
        let report = progress.report;
        let columns =
            [format!("error {:.5}", report.validation_error), format!("best {:.5}", report.best_error)];
        display.show(extent(&run), row(&progress), progress.saved, &columns);
        last = Some(report);
    }
    display.close();
    if !run.is_finished() {
        run.save()?;
        return interrupted("clone", run.directory().path(), extent(&run), output);
    }
    let evaluation = run.evaluate(EVALUATION_EPISODES, Actions::Mean, run.config().seed)?;
    let demonstrations = run.demonstrations();
    let episodes = &demonstrations.columns().episodes;
    let returns: Option<Vec<f64>> = episodes.iter().map(|episode| episode.true_return).collect();
    let expert_return = returns.map(|returns| returns.iter().sum::<f64>() / returns.len() as f64);
    let result = json::CloneResult {
        task: run.config().task.clone(),
        folder: run.directory().path().display().to_string(),
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

fn extent(run: &CloneRun) -> Extent {
    let planned = run.config().cloning.epochs;
    Extent { made: run.epochs(), planned, noun: "epoch", finished: run.is_finished() }
}

/// What is about to be done.
fn announce(run: &CloneRun, output: Output) {
    let (config, demonstrations) = (run.config(), run.demonstrations());
    let started = json::Started {
        iterations: Some(config.cloning.epochs),
        made: Some(run.epochs()),
        ..single::started("clone", run.directory(), &config.task, &config.world, config.seed)
    };
    let about = format!(
        "behaviour cloning of {} ({}) for at most {}, or until the held-out error has not fallen for {}",
        count(demonstrations.columns().episodes.len(), "demonstration"),
        count(demonstrations.steps(), "step"),
        count(config.cloning.epochs, "epoch"),
        count(config.cloning.patience, "epoch")
    );
    single::announce(&about, &started, extent(run), output);
}

fn print(out: &mut impl Write, result: &json::CloneResult) -> std::io::Result<()> {
    writeln!(
        out,
        "{}: cloned from {} of {} in {}",
        result.task,
        count(result.steps, "step"),
        count(result.demonstrations, "demonstration"),
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
