//! `magpie ppo`: trains one policy on a task's own reward.

use std::io::Write;
use std::process::ExitCode;

use magpie_learn::Actions;
use magpie_run::operations::instability_of_policy;
use magpie_run::ppo::{Choices, PpoRun, row};

use crate::hint::DifferentRun;
use crate::json;
use crate::output::Output;
use crate::run_args::RunArgs;
use crate::session;
use crate::single::{self, Display, Extent, interrupted};
use crate::words::{count, quoted};

#[derive(clap::Args)]
pub struct Args {
    /// Environment steps to train for, such as 30000000 or 30e6; rounded up to whole rollouts in all environments;
    /// --resume may ask for more than first planned. [default: 30e6]
    #[arg(long, value_parser = session::count)]
    steps: Option<u64>,
    /// Environments stepped side by side. [default: 256]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    environments: Option<u32>,
    /// Learning rate of Adam. [default: 3e-4]
    #[arg(long, value_name = "RATE", conflicts_with = "resume")]
    learning_rate: Option<f64>,
    #[command(flatten)]
    run: RunArgs,
}

const EVALUATION_EPISODES: u32 = 100;

impl Args {
    fn choices(&self) -> Choices {
        Choices {
            run: self.run.choices(),
            steps: self.steps,
            environments: self.environments,
            learning_rate: self.learning_rate,
        }
    }
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<ExitCode> {
    session::threads(args.run.threads, output)?;
    let stop = session::stop_on_ctrl_c()?;
    let mut run = match &args.run.resume {
        Some(folder) => {
            session::outwait(folder, &stop, output)?;
            PpoRun::resume(folder, args.steps)?
        }
        None => {
            let (config, warnings) = args.choices().resolve()?;
            output.warn_all(&warnings);
            let name = format!("ppo-{}{}-{}", config.task, config.world.in_a_name(), config.seed);
            PpoRun::start(config.clone(), &args.run.folder(&name))
                .map_err(|reason| DifferentRun::or(reason, |folder| config.difference_from(folder)))?
        }
    };

    session::mention_kernel(run.other_kernel(), output);
    session::mention_missing_rows(run.missing_rows(), output);
    announce(&run, output);
    let mut display = Display::new(extent(&run), output);
    // Rollouts in which no episode ends have no results.
    let mut columns = vec!["no episode has ended yet".to_owned()];
    while !run.is_finished() && !stop.requested() {
        let progress = run.iterate()?;
        let episodes = progress.report.last.episodes;
        if let (Some(mean), Some(length)) = (episodes.mean_return(), episodes.mean_length()) {
            columns = vec![format!("return {mean:8.1}"), format!("length {length:6.1}")];
        }
        display.show(extent(&run), row(&progress), progress.saved, &columns);
    }
    display.close();
    if !run.is_finished() {
        run.save()?;
        return interrupted("ppo", run.directory().path(), extent(&run), output);
    }
    finish(&run, output)
}

fn extent(run: &PpoRun) -> Extent {
    Extent { made: run.steps(), planned: run.config().steps, noun: "step", finished: run.is_finished() }
}

/// What is about to be done.
fn announce(run: &PpoRun, output: Output) {
    let config = run.config();
    let started = json::Started {
        environments: Some(config.environments),
        steps: Some(config.steps),
        ..single::started("ppo", run.directory(), &config.task, &config.world, config.seed)
    };
    let about = format!(
        "PPO for {} in {} with rollouts of {}, learning rate {}",
        count(config.steps, "step"),
        count(config.environments, "environment"),
        count(config.train.rollout_length, "step"),
        config.train.ppo.adam.learning_rate
    );
    single::announce(&about, &started, extent(run), output);
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
            "{} after {}: mean return {:.1} over {EVALUATION_EPISODES} episodes of mean length {:.1}\n\
             policy   {}\n\
             metrics  {}\n\
             again    magpie eval {}",
            result.task,
            count(result.steps, "step"),
            result.mean_return,
            result.mean_length,
            result.policy,
            result.metrics,
            quoted(&run.directory().file("policy.safetensors")),
        )
    })?;
    Ok(ExitCode::SUCCESS)
}
