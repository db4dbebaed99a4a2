//! `magpie eval`: whole episodes with a trained policy, or with elites of an archive.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use magpie_envs::Measure;
use magpie_learn::{Actions, Networks, evaluate};
use magpie_run::{ArchiveOutline, Reevaluation, World, is_archive, load_archive, load_policy};

use crate::archive;
use crate::reevaluate::{Selection, Trial, reevaluate};
use crate::session;
use crate::world::WorldArgs;

#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run, its archive.safetensors or its policy.safetensors. The world is that of the run, with the
    /// changes named here.
    run: PathBuf,
    /// Of an archive, all elites: the corrected QD-Score and coverage beside the stored ones. This is what is done if
    /// no elite is named. In the folder of a run, in its own world and with drawn actions, the result is kept as
    /// reevaluation.csv, where `magpie report` finds it.
    #[arg(long, conflicts_with_all = ["best", "cell"])]
    all: bool,
    /// Of an archive, the elite with the highest return.
    #[arg(long, conflicts_with = "cell")]
    best: bool,
    /// Of an archive, the elite of this cell, such as 12,40.
    #[arg(long, value_name = "I,J")]
    cell: Option<String>,
    /// Number of episodes; 100 if not given, 10 for each elite of a whole archive.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    episodes: Option<u32>,
    /// How to act: the mean action, or one drawn as in training. If not given, a policy takes the mean, and elites draw
    /// as they did when they were found.
    #[arg(long, value_enum)]
    actions: Option<ActionsArg>,
    /// Seed of the starts and of the drawn actions.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How the behaviour of a policy is measured: feet_contact, jump or angle. An archive knows its own.
    #[arg(long, default_value = "feet_contact")]
    measure: Measure,
    /// Of an archive: CSV file for one line an elite, stored and measured again.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Number of threads; all cores if not given.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    world: WorldArgs,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ActionsArg {
    Mean,
    Sampled,
}

impl Args {
    fn actions(&self, otherwise: Actions) -> Actions {
        match self.actions {
            Some(ActionsArg::Mean) => Actions::Mean,
            Some(ActionsArg::Sampled) => Actions::Sampled,
            None => otherwise,
        }
    }
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    session::threads(args.threads)?;
    let is_archive = match args.run.is_dir() {
        true => args.run.join("archive.safetensors").is_file(),
        false => is_archive(&args.run)?,
    };
    if is_archive { of_archive(args) } else { of_policy(args) }
}

fn of_archive(args: &Args) -> anyhow::Result<()> {
    let path = archive::file_of(&args.run);
    let saved = load_archive(&path)?;
    let selection = match &args.cell {
        Some(cell) => Selection::Cell(cell.clone()),
        None if args.best => Selection::Best,
        None => Selection::All,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    let world = args.world.change(saved.world(folder));
    let env = Arc::new(world.environment(&saved.about.task, Some(saved.about.measure))?);
    let episodes = args.episodes.unwrap_or(if matches!(selection, Selection::All) { 10 } else { 100 });
    if let Some(table) = &args.table {
        archive::spare(table)?;
    }
    let trial = Trial { env, episodes, actions: args.actions(Actions::Sampled), seed: args.seed };
    let now = reevaluate(&saved, &selection, &trial, args.table.as_deref())?;
    // What is kept corrects the run's own numbers: same world, same way to act.
    let own = path.file_name().is_some_and(|name| name == "archive.safetensors");
    let comparable = own && world == saved.world(folder) && trial.actions == Actions::Sampled;
    match now {
        Some(metrics) if comparable && folder.join("config.toml").is_file() => {
            let archive = ArchiveOutline::from(&saved).fingerprint();
            let iteration = saved.about.iteration;
            let result = Reevaluation { archive, iteration, episodes, seed: args.seed, metrics };
            match result.save(folder) {
                Ok(()) => writeln!(std::io::stdout(), "kept for `magpie report` in {}", folder.display())?,
                Err(e) => writeln!(std::io::stderr(), "not kept for `magpie report`: {e}")?,
            }
        }
        _ => {}
    }
    Ok(())
}

fn of_policy(args: &Args) -> anyhow::Result<()> {
    if args.all || args.best || args.cell.is_some() || args.table.is_some() {
        bail!("{} is one policy: --all, --best, --cell and --table are for archives", args.run.display());
    }
    let path = if args.run.is_dir() { args.run.join("policy.safetensors") } else { args.run.clone() };
    let folder = path.parent().unwrap_or(Path::new("."));
    let world = args.world.change(World::of_run(folder)?);
    let mut found = None;
    let file = load_policy(&path, |task| {
        let env = world.environment(task, Some(args.measure))?;
        let networks = Networks::paper(env.observation_size(), env.action_size())?;
        found = Some((Arc::new(env), networks.clone()));
        Ok(networks)
    })?;
    let Some((env, networks)) = found else { anyhow::bail!("{}: no task", path.display()) };
    let (episodes, actions) = (args.episodes.unwrap_or(100), args.actions(Actions::Mean));
    let result = &evaluate(&env, &networks, &[&file.policy], episodes, actions, args.seed)[0];

    let mean = result.mean_return();
    let spread =
        (result.returns.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / result.returns.len() as f64).sqrt();
    let (low, high) =
        result.returns.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &r| (l.min(r), h.max(r)));
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}, {episodes} episodes", file.task)?;
    writeln!(out, "return   {mean:.1} ± {spread:.1} (from {low:.1} to {high:.1})")?;
    writeln!(out, "length   {:.1}", result.mean_length())?;
    for (dimension, value) in env.measure_dimensions().iter().zip(result.mean_measures()) {
        writeln!(out, "measure  {value:.3} {}", dimension.name)?;
    }
    Ok(())
}
