//! `magpie train`: a search, from an empty archive to a full one.

use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use magpie_rewards::ModelName;
use magpie_run::train::{Budget, Choices, Progress, Resolved, TrainRun, Watch};
use magpie_run::{RunChoices, RunError};
use magpie_search::{SearchConfig, SettlingProgress};
use magpie_settings::Method;

use crate::drive::{
    Display, Pace, Preparation, SettlingDisplay, mention_surprises, result, started, summary, world_of,
};
use crate::hint::DifferentRun;
use crate::json::{Finished, Interrupted};
use crate::output::Output;
use crate::run_args::RunArgs;
use crate::session::{self, Stop};
use crate::words::{count, quoted};

#[derive(clap::Args)]
pub struct Args {
    /// Reward model to learn from demonstrations: gail, vail, diffail, airl, giril or maxent; or true, the task's own
    /// reward. [default: gail]
    #[arg(long, value_name = "MODEL", conflicts_with = "resume")]
    reward: Option<ModelName>,
    /// Demonstrations to learn the reward from, as written by `magpie demos`. [default: those bundled with magpie]
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    demos: Option<PathBuf>,
    /// Weight of the novelty bonus; 0 turns it off. [default: 2, or 0 with --reward true; with diffail, 0.5 worked better]
    #[arg(long, value_name = "Q", conflicts_with = "resume", allow_negative_numbers = true)]
    curiosity: Option<f64>,
    /// How to measure behaviour: feet_contact, jump, angle, or a measure of your task file. [default: the task's first]
    #[arg(long, conflicts_with = "resume")]
    measure: Option<String>,
    /// Which defaults to search with: magpie, our own, or paper, those of the paper. [default: magpie]
    #[arg(long, conflicts_with = "resume")]
    method: Option<Method>,
    /// How much to compute on two cores: quick takes minutes, desktop an hour, paper (the paper's size) a day.
    /// [default: quick]
    #[arg(long, conflicts_with = "resume")]
    budget: Option<Budget>,
    /// Method and budget in one word, as in earlier versions.
    #[arg(long, hide = true, conflicts_with_all = ["resume", "method", "budget"])]
    preset: Option<Budget>,
    /// Iterations in all, earlier ones included; --resume may ask for more than first planned. [default: as --budget says]
    #[arg(long, value_name = "N", value_parser = session::count, allow_negative_numbers = true)]
    iterations: Option<u64>,
    /// Save a checkpoint every N iterations. [default: about once a minute]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: Option<u64>,
    #[command(flatten)]
    run: RunArgs,
}

impl Args {
    fn choices(&self) -> Choices {
        let RunChoices { task, file, sets, seed, world } = self.run.choices();
        Choices {
            method: self.method,
            budget: self.budget,
            preset: self.preset,
            file,
            sets,
            task,
            measure: self.measure.clone(),
            reward: self.reward,
            demos: self.demos.clone(),
            curiosity: self.curiosity,
            seed,
            iterations: self.iterations,
            world,
        }
    }
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<ExitCode> {
    session::threads(args.run.threads, output)?;
    let stop = session::stop_on_ctrl_c()?;
    let (mut run, how) = match &args.run.resume {
        Some(folder) => {
            session::outwait(folder, &stop, output)?;
            (TrainRun::resume(folder, args.iterations)?, None)
        }
        None => {
            let resolved = args.choices().resolve()?;
            resolved.notes.iter().for_each(|note| output.note(note));
            output.warn_all(&resolved.warnings);
            let folder = args.run.out.clone().unwrap_or_else(|| resolved.default_folder().into());
            let Resolved { config, method, budget, .. } = resolved;
            let mut preparation = Preparation::new(config.reward.model, &stop, output);
            match TrainRun::start(config.clone(), &folder, &mut |progress| preparation.show(progress)) {
                Err(stopped @ RunError::Stopped) => return interrupted_early(&stopped, &folder, output),
                Err(reason) => return Err(DifferentRun::or(reason, |folder| config.difference_from(folder))),
                Ok(run) => (run, Some((method, budget.to_string()))),
            }
        }
    };
    if let Some(iterations) = args.checkpoint_every {
        run.save_every(iterations);
    }
    mention_surprises(&run, output);
    output.progress(&started(&run, "train", None, how));
    announce(&run, output);
    let pace = Pace::from(run.search().state().iteration as f64);
    let iterations = run.config().iterations as f64;
    let settling = SettlingDisplay::new(&stop, output);
    let mut shown = Shown { stop: &stop, display: Display::new(&run, output), settling, pace, iterations };
    let driven = run.drive(&mut shown);
    shown.display.close();
    finish(&run, driven?, output)
}

/// A search, shown as it goes on.
struct Shown<'a> {
    stop: &'a Stop,
    display: Display,
    settling: SettlingDisplay<'a>,
    pace: Pace,
    iterations: f64,
}

impl Watch for Shown<'_> {
    fn wants_stop(&self) -> bool {
        self.stop.requested()
    }

    fn iteration(&mut self, run: &TrainRun, progress: &Progress) {
        let left = self.pace.left(progress.report.iteration as f64, self.iterations);
        self.display.show(run, progress, left);
    }

    fn settling(&mut self, progress: SettlingProgress) {
        self.display.close();
        let _ = self.settling.show(progress);
    }

    fn warning(&mut self, warning: &str) {
        self.display.warn(warning);
    }
}

/// Interrupted before there was anything to save.
fn interrupted_early(reason: &RunError, folder: &Path, output: Output) -> anyhow::Result<ExitCode> {
    writeln!(stderr(), "{reason}")?;
    let folder = folder.display().to_string();
    output.event(&Interrupted { run: None, folder, resume: None, search: None, sweep: None })?;
    Ok(ExitCode::from(session::INTERRUPTED))
}

/// What is about to be done, before the first result is there.
fn announce(run: &TrainRun, output: Output) {
    let (config, state) = (run.config(), run.search().state());
    let SearchConfig { environments, branches, episodes, curiosity, .. } = config.search;
    let base = match curiosity.base {
        0.0 => String::new(),
        base => format!(" (and {base} for every step)"),
    };
    output.say(&format!(
        "{}: reward {}, measure {} ({} cells), curiosity {}{base}; {}, {} of {}",
        config.task,
        config.reward.model,
        config.measure,
        state.archives.cells().count(),
        curiosity.weight,
        count(environments, "environment"),
        count(branches, "branch"),
        count(episodes, "episode"),
    ));
    if let Some(world) = world_of(run).in_words() {
        output.say(&format!("world: {world}"));
    }
    output.say(&format!("folder: {}", run.directory().path().display()));
    match state.iteration {
        0 => {}
        made if run.is_finished() => {
            output.say(&format!("nothing to do: {} made, as planned", count(made, "iteration")));
        }
        made => output.say(&format!("continuing after iteration {made} of {}", config.iterations)),
    }
}

fn finish(run: &TrainRun, ended: bool, output: Output) -> anyhow::Result<ExitCode> {
    let path = run.directory().path();
    let (folder, search) = (path.display().to_string(), Some(result(run)));
    if ended {
        let event = Finished { run: None, folder, search, policy: None, sweep: None };
        output.result(&event, |out| summary(out, run))?;
        return Ok(ExitCode::SUCCESS);
    }
    let resume = Some(format!("magpie train --resume {}", quoted(path)));
    output.result(&Interrupted { run: None, folder, resume, search, sweep: None }, |out| {
        summary(out, run)?;
        writeln!(out, "Interrupted. To continue: magpie train --resume {}", quoted(path))
    })?;
    Ok(ExitCode::from(session::INTERRUPTED))
}
