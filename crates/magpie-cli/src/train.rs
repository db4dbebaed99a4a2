//! `magpie train`: a search, from an empty archive to a full one.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use magpie_rewards::ModelName;
use magpie_run::RunError;
use magpie_run::train::{Budget, Choices, Config, Resolved, TrainRun};
use magpie_search::SearchConfig;
use magpie_settings::Method;

use crate::drive::{Display, Pace, Preparation, drive, mention_surprises};
use crate::session;
use crate::world::WorldArgs;

#[derive(clap::Args)]
pub struct Args {
    /// Task to search on: one that `magpie envs` lists, such as walker2d, or a task file of your own, such as
    /// my-task.toml (docs/tasks.md); --config can name it instead.
    #[arg(required_unless_present_any = ["resume", "config"], conflicts_with = "resume")]
    task: Option<String>,
    /// Where the objective reward comes from: learned from demonstrations by gail, vail, diffail, airl, giril or maxent,
    /// or true, the task's own; gail if not given.
    #[arg(long, value_name = "MODEL", conflicts_with = "resume")]
    reward: Option<ModelName>,
    /// Demonstrations to learn the reward from (`magpie demos` makes them); those that come with magpie if not given.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    demos: Option<PathBuf>,
    /// Weight of the bonus for behaving like nobody in the archive, and 0 for none, the plain method; above 0, in quick and
    /// desktop, restarts too lead to where cells are empty. If not given, 2 with a learned reward and 0 with the
    /// true one; with diffail 0.5 was better.
    #[arg(long, value_name = "Q", conflicts_with = "resume", allow_negative_numbers = true)]
    curiosity: Option<f64>,
    /// How behaviour is measured: feet_contact, jump, angle, or a measure of your task file; the task's first if not given.
    #[arg(long, conflicts_with = "resume")]
    measure: Option<String>,
    /// How to search: magpie, our defaults, or paper, those of the paper whose method this is; magpie if not given.
    #[arg(long, conflicts_with = "resume")]
    method: Option<Method>,
    /// How much to spend: quick is minutes on two cores, desktop an hour, paper the paper's own size, a day; quick if not given.
    #[arg(long, conflicts_with = "resume")]
    budget: Option<Budget>,
    /// Method and budget in one word, as in earlier versions.
    #[arg(long, hide = true, conflicts_with_all = ["resume", "method", "budget"])]
    preset: Option<Budget>,
    /// Iterations to make in all; as the budget says if not given.
    #[arg(long, value_parser = session::count, allow_negative_numbers = true)]
    iterations: Option<u64>,
    /// Seed of all random streams; 0 if not given.
    #[arg(long, conflicts_with = "resume", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Settings from a TOML file over the defaults; it needs only those that differ. The config.toml of a run
    /// is one.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// One setting, such as search.train.gamma=0.995, over those of --config; can be given several times.
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "resume")]
    set: Vec<String>,
    /// Folder for the results; runs/TASK-REWARD-SEED if not given.
    #[arg(long, conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with the run in this folder; --iterations may ask for more than was first planned.
    #[arg(long, value_name = "DIR", conflicts_with = "WorldArgs")]
    resume: Option<PathBuf>,
    /// Iterations between checkpoints; once a minute if not given.
    #[arg(long, value_name = "ITERATIONS", value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: Option<u64>,
    /// Number of threads; all cores if not given.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
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

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    session::threads(args.threads)?;
    let stop = session::stop_on_ctrl_c()?;
    let mut run = match &args.resume {
        Some(folder) => TrainRun::resume(folder, args.iterations)?,
        None => {
            let Resolved { config, notes, warnings } = args.choices().resolve()?;
            for note in notes {
                writeln!(crate::screen::stderr(), "note: {note}")?;
            }
            session::warn(&warnings)?;
            let folder = args.out.clone().unwrap_or_else(|| default_folder(&config).into());
            let mut preparation = Preparation::new(config.reward.model, &stop);
            match TrainRun::start(config, &folder, &mut |progress| preparation.show(progress)) {
                Err(stopped @ RunError::Stopped) => {
                    writeln!(crate::screen::stderr(), "{stopped}")?;
                    return Ok(ExitCode::from(session::INTERRUPTED));
                }
                started => started?,
            }
        }
    };
    if let Some(iterations) = args.checkpoint_every {
        run.save_every(iterations);
    }
    mention_surprises(&run)?;
    announce(&run)?;
    let mut display = Display::new(&run, "", Duration::ZERO);
    let pace = Pace::from(run.search().state().iteration as f64);
    drive(&mut run, &stop, |run, progress| {
        let left = pace.left(progress.report.iteration as f64, run.config().iterations as f64);
        display.show(run, progress, &format!("{} left", session::duration(left)));
    })?;
    display.close();
    summary(&run)
}

/// A name that tells apart what one compares most: `runs/TASK[-MEASURE]-REWARD[-qBONUS]-SEED`.
fn default_folder(config: &Config) -> String {
    let Config { task, measure, reward, seed, search, .. } = config;
    let measure = match measure.as_str() {
        "feet_contact" => String::new(),
        other => format!("-{other}"),
    };
    let usual = Config::usual_curiosity(reward.model);
    let weight = search.curiosity.weight;
    let curiosity = if weight == usual { String::new() } else { format!("-q{weight}") };
    format!("runs/{task}{measure}-{}{curiosity}-{seed}", reward.model)
}

/// What is about to be done, before the first result is there.
fn announce(run: &TrainRun) -> anyhow::Result<()> {
    let (config, state) = (run.config(), run.search().state());
    let SearchConfig { environments, branches, episodes, curiosity, .. } = config.search;
    let base = match curiosity.base {
        0.0 => String::new(),
        base => format!(" and {base} for every step"),
    };
    let mut out = crate::screen::stderr();
    writeln!(
        out,
        "{} measured by {} in {} cells, reward {}, curiosity {}{base}, {environments} environments, {branches} branches of {episodes} episodes; {}",
        config.task,
        config.measure,
        state.archives.cells().count(),
        config.reward.model,
        curiosity.weight,
        run.directory().path().display(),
    )?;
    match state.iteration {
        0 => {}
        made if run.is_finished() => writeln!(out, "all {made} iterations have been made")?,
        made => writeln!(out, "going on after iteration {made} of {}", config.iterations)?,
    }
    Ok(())
}

/// How the archive compares with what it was learned from, where the true returns of that are known.
fn beside_demonstrations(run: &TrainRun) -> Option<String> {
    let episodes = &run.demonstrations()?.columns().episodes;
    let returns: Vec<f64> = episodes.iter().map(|episode| episode.true_return).collect::<Option<_>>()?;
    let (least, most) =
        (returns.iter().copied().reduce(f64::min)?, returns.iter().copied().reduce(f64::max)?);
    let elites = run.search().state().archives.elites();
    let as_good = elites.filter(|elite| elite.entry.objective >= least).count();
    let count = returns.len();
    let steps = match run.config().reward.thinning {
        1 => "all steps".to_owned(),
        thinning => format!("one step in {thinning}"),
    };
    Some(format!(
        "from {steps} of {count} demonstrations with returns of {least:.0} to {most:.0}; elites that \
         reach the least of them: {as_good}"
    ))
}

fn summary(run: &TrainRun) -> anyhow::Result<ExitCode> {
    let folder = run.directory().path().display();
    let (m, made) = (run.search().metrics(), run.search().state().iteration);
    let mut out = crate::screen::stdout().lock();
    writeln!(
        out,
        "{} after {made} iterations: {} of {} cells filled ({:.1} %), QD-Score {:.0}, best return {:.0}, mean {:.0}",
        run.config().task,
        m.elites,
        run.search().state().archives.cells().count(),
        100.0 * m.coverage,
        m.qd_score,
        m.best.unwrap_or(f64::NAN),
        m.mean.unwrap_or(f64::NAN),
    )?;
    if let Some(learned) = beside_demonstrations(run) {
        writeln!(out, "learned   {learned}")?;
    }
    writeln!(out, "archive  {folder}/archive.safetensors")?;
    writeln!(out, "picture  {folder}/plots/archive.png")?;
    writeln!(out, "metrics  {folder}/metrics.csv")?;
    if !run.is_finished() {
        writeln!(out, "Stopped early; go on with: magpie train --resume {folder}")?;
        return Ok(ExitCode::from(session::INTERRUPTED));
    }
    writeln!(out, "next     magpie eval {folder} --best · magpie archive info {folder}")?;
    writeln!(out, "further  magpie train --resume {folder} --iterations {}", 2 * made)?;
    Ok(ExitCode::SUCCESS)
}
