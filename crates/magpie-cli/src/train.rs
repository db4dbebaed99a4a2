//! `magpie train`: a search, from an empty archive to a full one.

use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use magpie_rewards::ModelName;
use magpie_run::RunError;
use magpie_run::train::{Budget, Choices, Config, Progress, Resolved, TrainRun, Watch};
use magpie_search::SearchConfig;
use magpie_settings::Method;

use crate::drive::{Display, Pace, Preparation, mention_surprises, result, started, summary, world_of};
use crate::hint::DifferentRun;
use crate::json::{Finished, Interrupted};
use crate::output::Output;
use crate::session::{self, Stop};
use crate::words::{count, quoted};
use crate::world::WorldArgs;

#[derive(clap::Args)]
pub struct Args {
    /// Task to search on: one listed by `magpie envs`, such as walker2d, or your own task file, such as my-task.toml
    /// (docs/tasks.md). --config can name it instead.
    #[arg(required_unless_present_any = ["resume", "config"], conflicts_with = "resume")]
    task: Option<String>,
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
    /// Iterations in all, earlier ones included. [default: as --budget says]
    #[arg(long, value_name = "N", value_parser = session::count, allow_negative_numbers = true)]
    iterations: Option<u64>,
    /// Seed of all random streams. [default: 0]
    #[arg(long, conflicts_with = "resume", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// TOML file with settings that differ from the defaults, such as the config.toml of another run.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// One setting, such as search.train.gamma=0.995; overrides --config and can be repeated. `magpie settings` lists
    /// them all.
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "resume")]
    set: Vec<String>,
    /// Folder for the results. [default: runs/TASK-REWARD-SEED, with whatever is not a default in between]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Continue the run in this folder. --iterations may ask for more than first planned.
    #[arg(long, value_name = "DIR", conflicts_with = "WorldArgs")]
    resume: Option<PathBuf>,
    /// Save a checkpoint every N iterations. [default: about once a minute]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: Option<u64>,
    /// Number of threads. [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    world: WorldArgs,
}

impl Args {
    fn choices(&self) -> Choices {
        Choices {
            method: self.method,
            budget: self.budget,
            preset: self.preset,
            file: self.config.clone(),
            sets: self.set.clone(),
            task: self.task.clone(),
            measure: self.measure.clone(),
            reward: self.reward,
            demos: self.demos.clone(),
            curiosity: self.curiosity,
            seed: self.seed,
            iterations: self.iterations,
            world: self.world.changes(),
        }
    }
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<ExitCode> {
    session::threads(args.threads, output)?;
    let stop = session::stop_on_ctrl_c()?;
    let (mut run, how) = match &args.resume {
        Some(folder) => {
            session::outwait(folder, &stop, output)?;
            (TrainRun::resume(folder, args.iterations)?, None)
        }
        None => {
            let resolved = args.choices().resolve()?;
            resolved.notes.iter().for_each(|note| output.note(note));
            output.warn_all(&resolved.warnings);
            let folder = args.out.clone().unwrap_or_else(|| default_folder(&resolved).into());
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
    let mut shown = Shown { stop: &stop, display: Display::new(&run, output), pace, iterations };
    let driven = run.drive(&mut shown);
    shown.display.close();
    driven?;
    finish(&run, output)
}

/// A search, shown as it goes on.
struct Shown<'a> {
    stop: &'a Stop,
    display: Display,
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

    fn warning(&mut self, warning: &str) {
        self.display.warn(warning);
    }
}

/// `runs/TASK[-MEASURE][-WORLD]-REWARD[-qBONUS][-METHOD][-BUDGET]-SEED`: what is not as usual is in the name, so that runs which
/// people compare get folders of their own.
fn default_folder(resolved: &Resolved) -> String {
    let Resolved { config, method, budget, .. } = resolved;
    let Config { task, measure, world, reward, seed, search, .. } = config;
    let mut name = task.clone();
    if measure != "feet_contact" {
        name += &format!("-{measure}");
    }
    // The robot of a task file belongs to the task.
    name += &world.in_a_name();
    name += &format!("-{}", reward.model);
    let weight = search.curiosity.weight;
    if weight != Config::usual_curiosity(reward.model) {
        name += &format!("-q{weight}");
    }
    if *method != Method::default() {
        name += &format!("-{method}");
    }
    if *budget != Budget::default() {
        name += &format!("-{budget}");
    }
    format!("runs/{name}-{seed}")
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
        "{}: reward {}, measure {} ({} cells), curiosity {}{base}; {environments} environments, {branches} branches of \
         {episodes} episodes",
        config.task,
        config.reward.model,
        config.measure,
        state.archives.cells().count(),
        curiosity.weight,
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

fn finish(run: &TrainRun, output: Output) -> anyhow::Result<ExitCode> {
    let path = run.directory().path();
    let (folder, search) = (path.display().to_string(), Some(result(run)));
    if run.is_finished() {
        let event = Finished { run: None, folder, search, policy: None, sweep: None };
        output.result(&event, |out| summary(out, run))?;
        return Ok(ExitCode::SUCCESS);
    }
    let resume = Some(format!("magpie train --resume {}", quoted(path)));
    output
        .result(&Interrupted { run: None, folder, resume, search, sweep: None }, |out| summary(out, run))?;
    Ok(ExitCode::from(session::INTERRUPTED))
}

#[cfg(test)]
mod tests {
    use magpie_run::WorldChanges;

    use super::*;

    fn folder(change: impl FnOnce(&mut Choices)) -> String {
        let mut choices = Choices { task: Some("walker2d".to_owned()), ..Choices::default() };
        change(&mut choices);
        default_folder(&choices.resolve().unwrap())
    }

    #[test]
    fn default_folders_tell_apart_world_method_and_budget() {
        assert_eq!(folder(|_| ()), "runs/walker2d-gail-0");
        assert_eq!(folder(|c| c.seed = Some(3)), "runs/walker2d-gail-3");
        assert_eq!(folder(|c| c.measure = Some("jump".to_owned())), "runs/walker2d-jump-gail-0");
        assert_eq!(folder(|c| c.curiosity = Some(0.5)), "runs/walker2d-gail-q0.5-0");
        assert_eq!(folder(|c| c.method = Some(Method::Paper)), "runs/walker2d-gail-paper-0");
        assert_eq!(folder(|c| c.budget = Some(Budget::Desktop)), "runs/walker2d-gail-desktop-0");
        let slippery = WorldChanges { friction: Some(0.0), ..WorldChanges::default() };
        assert_eq!(folder(|c| c.world = slippery), "runs/walker2d-friction0-gail-0");
    }
}
