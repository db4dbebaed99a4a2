//! `magpie eval`: whole episodes with a trained policy, or with elites of an archive.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use magpie_learn::{Actions, Evaluation};
use magpie_qd::Metrics;
use magpie_run::operations::{
    ArchiveEvaluation, EvaluateOptions, OpenArchive, Selection, evaluate_archive, evaluate_policy,
    holds_archive, may_write,
};
use magpie_run::{About, EnvOverrides, SavedArchive, SavedElite};

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
    /// Of an archive, the elite of this cell, such as 12,40; a cell of a tessellation has one number.
    #[arg(long, value_name = "I,J")]
    cell: Option<String>,
    /// Number of episodes; 100 if not given, 10 for each elite of a whole archive.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    episodes: Option<u32>,
    /// How to act: the mean action, or one drawn as in training. If not given, as the file says: elites as they did when
    /// they were found, a policy of `magpie ppo` by the mean.
    #[arg(long, value_enum)]
    actions: Option<ActionsArg>,
    /// Seed of the starts and of the drawn actions.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How the behaviour of a policy is measured: feet_contact, jump, angle, or a measure of its task file; the task's first
    /// if not given. An archive knows its own.
    #[arg(long)]
    measure: Option<String>,
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
pub enum ActionsArg {
    Mean,
    #[value(alias = "sampled")]
    Drawn,
}

impl From<ActionsArg> for Actions {
    fn from(arg: ActionsArg) -> Actions {
        match arg {
            ActionsArg::Mean => Actions::Mean,
            ActionsArg::Drawn => Actions::Sampled,
        }
    }
}

impl Args {
    fn options(&self, episodes: u32, world: EnvOverrides) -> EvaluateOptions {
        EvaluateOptions {
            episodes: self.episodes.unwrap_or(episodes),
            actions: self.actions.map(Actions::from),
            seed: self.seed,
            world: Some(self.world.change(world)),
        }
    }
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    session::threads(args.threads)?;
    if holds_archive(&args.run)? { of_archive(args) } else { of_policy(args) }
}

fn of_archive(args: &Args) -> anyhow::Result<()> {
    let open = OpenArchive::open(&args.run)?;
    let archive = &open.archive;
    let selection = match &args.cell {
        Some(cell) => Selection::Cell(archive.about.cell_named(cell)?),
        None if args.best => Selection::Best,
        None => Selection::All,
    };
    let options = args.options(if selection == Selection::All { 10 } else { 100 }, open.world());
    if let Some(table) = &args.table {
        may_write(table, &[])?;
    }
    let evaluation = evaluate_archive(&open, selection, &options)?;
    if let Some(table) = &args.table {
        evaluation.write_table(archive, table)?;
    }
    match (&evaluation.corrected, &evaluation.elites[..]) {
        (Some(corrected), _) => print_all(archive, &evaluation, corrected, &options)?,
        (None, [(elite, now)]) => print_one(&archive.about, elite, now, evaluation.actions, &options)?,
        _ => {}
    }
    if let Some(result) = &evaluation.reevaluation {
        let folder = open.folder();
        match result.save(folder) {
            Ok(()) => writeln!(crate::screen::stdout(), "kept for `magpie report` in {}", folder.display())?,
            Err(e) => writeln!(crate::screen::stderr(), "not kept for `magpie report`: {e}")?,
        }
    }
    Ok(())
}

fn print_all(
    archive: &SavedArchive,
    evaluation: &ArchiveEvaluation<'_>,
    now: &Metrics,
    options: &EvaluateOptions,
) -> anyhow::Result<()> {
    let stored = archive.metrics();
    let elites = evaluation.elites.len();
    let mut out = crate::screen::stdout().lock();
    writeln!(
        out,
        "{}: {elites} elites, {} episodes each{}",
        archive.about.task,
        options.episodes,
        manner(evaluation.actions)
    )?;
    writeln!(out, "{:16} {:>12} {:>12}", "", "stored", "corrected")?;
    let mut line = |name: &str, stored: f64, now: f64, digits: usize| {
        writeln!(out, "{name:16} {stored:12.digits$} {now:12.digits$}")
    };
    line("QD-Score", stored.qd_score, now.qd_score, 0)?;
    line("QD-Score, offset", stored.qd_score_offset, now.qd_score_offset, 0)?;
    line("coverage, %", 100.0 * stored.coverage, 100.0 * now.coverage, 2)?;
    line("best", stored.best.unwrap_or(f64::NAN), now.best.unwrap_or(f64::NAN), 1)?;
    line("mean", stored.mean.unwrap_or(f64::NAN), now.mean.unwrap_or(f64::NAN), 1)?;
    writeln!(out, "{} of {elites} elites now fall in another cell", evaluation.moved)?;
    Ok(())
}

fn print_one(
    about: &About,
    elite: &SavedElite,
    now: &Evaluation,
    actions: Actions,
    options: &EvaluateOptions,
) -> anyhow::Result<()> {
    let mut out = crate::screen::stdout().lock();
    let cell = about.cell_name(elite.cell);
    writeln!(out, "{}, elite of cell {cell}, {} episodes{}", about.task, options.episodes, manner(actions))?;
    writeln!(out, "{:10} {:>10} {:>10}", "", "stored", "now")?;
    writeln!(out, "{:10} {:10.1} {:10.1}", "return", elite.objective, now.mean_return())?;
    writeln!(out, "{:10} {:10.1} {:10.1}", "length", elite.length, now.mean_length())?;
    for ((name, stored), now) in about.names.iter().zip(&elite.measures).zip(now.mean_measures()) {
        writeln!(out, "{:10} {stored:10.3} {now:10.3}  {name}", "measure")?;
    }
    Ok(())
}

fn manner(actions: Actions) -> &'static str {
    match actions {
        Actions::Sampled => ", actions drawn as in training",
        Actions::Mean => ", mean actions",
    }
}

fn of_policy(args: &Args) -> anyhow::Result<()> {
    if args.all || args.best || args.cell.is_some() || args.table.is_some() {
        bail!("{} is one policy: --all, --best, --cell and --table are for archives", args.run.display());
    }
    let folder = if args.run.is_dir() { Some(args.run.as_path()) } else { args.run.parent() };
    let options = args.options(100, folder.map_or(Ok(EnvOverrides::default()), EnvOverrides::of_run)?);
    let evaluation = evaluate_policy(&args.run, args.measure.as_deref(), &options)?;
    let result = &evaluation.result;
    let mean = result.mean_return();
    let spread =
        (result.returns.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / result.returns.len() as f64).sqrt();
    let (low, high) =
        result.returns.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &r| (l.min(r), h.max(r)));
    let mut out = crate::screen::stdout().lock();
    writeln!(out, "{}, {} episodes", evaluation.task, options.episodes)?;
    writeln!(out, "return   {mean:.1} ± {spread:.1} (from {low:.1} to {high:.1})")?;
    writeln!(out, "length   {:.1}", result.mean_length())?;
    for (dimension, value) in evaluation.dimensions.iter().zip(result.mean_measures()) {
        writeln!(out, "measure  {value:.3} {}", dimension.name)?;
    }
    Ok(())
}
