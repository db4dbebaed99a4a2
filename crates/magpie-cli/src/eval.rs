//! `magpie eval`: whole episodes with a trained policy, or with elites of an archive.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use magpie_learn::{Actions, Evaluation};
use magpie_qd::Metrics;
use magpie_run::operations::{
    ArchiveEvaluation, EvaluateOptions, OpenArchive, Selection, evaluate_archive, evaluate_policy,
    holds_archive, instability_of_elite, instability_of_policy, may_write,
};
use magpie_run::{About, EnvOverrides, SavedArchive, SavedElite};

use crate::json;
use crate::output::Output;
use crate::session;
use crate::words::count;
use crate::world::WorldArgs;

#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run, its archive.safetensors or its policy.safetensors. Episodes take place in the world of the run,
    /// with the changes named here.
    run: PathBuf,
    /// Of an archive, all elites: the corrected QD-Score and coverage beside the stored ones. This is the default if no
    /// elite is named. In the run's own world and with drawn actions, the result is kept as reevaluation.csv for `magpie
    /// report`.
    #[arg(long, conflicts_with_all = ["best", "cell"])]
    all: bool,
    /// Of an archive, the elite with the highest return.
    #[arg(long, conflicts_with = "cell")]
    best: bool,
    /// Of an archive, the elite of this cell, such as 12,40. Cells of a tessellation have one number.
    #[arg(long, value_name = "I,J")]
    cell: Option<String>,
    /// Number of episodes. [default: 100, or 10 for each elite of a whole archive]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    episodes: Option<u32>,
    /// Take the mean action, or draw one as in training. [default: elites as when they were found, policies of `magpie ppo`
    /// the mean]
    #[arg(long, value_enum)]
    actions: Option<ActionsArg>,
    /// Seed of the start states and of drawn actions.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How to measure the behaviour of a single policy: feet_contact, jump, angle, or a measure of its task file. An archive
    /// knows its own. [default: the task's first]
    #[arg(long)]
    measure: Option<String>,
    /// Of an archive: write a CSV file with one line per elite, stored and evaluated again.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Number of threads. [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
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

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    session::threads(args.threads)?;
    if holds_archive(&args.run)? { of_archive(args, output) } else { of_policy(args, output) }
}

fn of_archive(args: &Args, output: Output) -> anyhow::Result<()> {
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
    let world = args.world.change(open.world());
    // Whether anything can be learned there is no matter here.
    output.warn_all(&world.examine(&archive.about.task).unwrap_or_else(|e| vec![e.to_string()]));
    let evaluation = evaluate_archive(&open, selection, &options)?;
    let best =
        |best: &(&SavedElite, _), next: &(&SavedElite, _)| best.0.objective.total_cmp(&next.0.objective);
    if let Some((elite, _)) = evaluation.elites.iter().max_by(|a, b| best(a, b)) {
        output.warn_all(instability_of_elite(&open, elite, &world, evaluation.actions)?.as_slice());
    }
    if let Some(table) = &args.table {
        evaluation.write_table(archive, table)?;
    }
    let kept = match &evaluation.reevaluation {
        Some(result) => match result.save(open.folder()) {
            Ok(()) => Some(open.folder().display().to_string()),
            Err(e) => {
                output.warn(&format!("not kept for `magpie report`: {e}"));
                None
            }
        },
        None => None,
    };
    let of = Evaluated { args, options: &options, world: &world, own_world: world == open.world() };
    match (&evaluation.corrected, &evaluation.elites[..]) {
        (Some(corrected), _) => {
            output.result(&of.all(archive, &evaluation, corrected, kept.clone()), |out| {
                print_all(out, archive, &evaluation, corrected, &of)?;
                match kept {
                    Some(folder) => writeln!(out, "kept for `magpie report` in {folder}"),
                    None => Ok(()),
                }
            })?
        }
        (None, [(elite, now)]) => output
            .result(&of.one(&archive.about, elite, now, evaluation.actions), |out| {
                print_one(out, &archive.about, elite, now, evaluation.actions, &of)
            })?,
        _ => {}
    }
    if let Some(table) = &args.table {
        output.event(&json::Written { path: table.display().to_string() })?;
    }
    Ok(())
}

/// What was asked for, and in which world.
struct Evaluated<'a> {
    args: &'a Args,
    options: &'a EvaluateOptions,
    world: &'a EnvOverrides,
    /// Whether the elites were found in this world.
    own_world: bool,
}

impl Evaluated<'_> {
    /// All elites, for programs.
    fn all(
        &self,
        archive: &SavedArchive,
        evaluation: &ArchiveEvaluation<'_>,
        corrected: &Metrics,
        kept: Option<String>,
    ) -> json::Evaluation {
        json::Evaluation {
            run: self.args.run.display().to_string(),
            task: archive.about.task.clone(),
            world: self.world.in_words(),
            own_world: self.own_world,
            elites: evaluation.elites.len(),
            episodes: self.options.episodes,
            actions: evaluation.actions.to_string(),
            seed: self.options.seed,
            stored: (&archive.metrics()).into(),
            corrected: corrected.into(),
            moved: evaluation.moved,
            kept,
        }
    }

    /// One elite, for programs.
    fn one(
        &self,
        about: &About,
        elite: &SavedElite,
        now: &Evaluation,
        actions: Actions,
    ) -> json::EvaluatedElite {
        let stored = (elite.objective, elite.length, elite.measures.clone());
        json::EvaluatedElite {
            run: self.args.run.display().to_string(),
            task: about.task.clone(),
            world: self.world.in_words(),
            cell: about.cell_name(elite.cell),
            episodes: self.options.episodes,
            actions: actions.to_string(),
            seed: self.options.seed,
            stored: behaviour(&about.names, stored),
            now: behaviour(&about.names, (now.mean_return(), now.mean_length(), now.mean_measures())),
        }
    }

    /// The end of a title.
    fn manner(&self, actions: Actions) -> String {
        let actions = match actions {
            Actions::Sampled => "actions drawn as in training",
            Actions::Mean => "mean actions",
        };
        match self.world.in_words() {
            Some(world) => format!("{actions}; world: {world}"),
            None => actions.to_owned(),
        }
    }
}

fn behaviour(
    names: &[String],
    (mean_return, mean_length, measures): (f64, f64, Vec<f64>),
) -> json::Behaviour {
    let measured = |(name, value): (&String, f64)| json::Measured { name: name.clone(), value };
    json::Behaviour { mean_return, mean_length, measures: names.iter().zip(measures).map(measured).collect() }
}

fn print_all(
    out: &mut impl Write,
    archive: &SavedArchive,
    evaluation: &ArchiveEvaluation<'_>,
    now: &Metrics,
    of: &Evaluated<'_>,
) -> std::io::Result<()> {
    let stored = archive.metrics();
    let elites = evaluation.elites.len();
    writeln!(
        out,
        "{}: {}, {} each, {}",
        archive.about.task,
        count(elites as u64, "elite"),
        count(of.options.episodes.into(), "episode"),
        of.manner(evaluation.actions)
    )?;
    // In another world the elites do something else; nothing about the archive is corrected.
    let title = if of.own_world { "corrected" } else { "this world" };
    writeln!(out, "{:16} {:>12} {title:>12}", "", "stored")?;
    let mut line = |name: &str, stored: f64, now: f64, digits: usize| {
        writeln!(out, "{name:16} {stored:12.digits$} {now:12.digits$}")
    };
    line("QD-Score", stored.qd_score, now.qd_score, 0)?;
    line("QD-Score, offset", stored.qd_score_offset, now.qd_score_offset, 0)?;
    line("coverage, %", 100.0 * stored.coverage, 100.0 * now.coverage, 2)?;
    line("best", stored.best.unwrap_or(f64::NAN), now.best.unwrap_or(f64::NAN), 1)?;
    line("mean", stored.mean.unwrap_or(f64::NAN), now.mean.unwrap_or(f64::NAN), 1)?;
    writeln!(out, "{} of {elites} elites now fall in another cell", evaluation.moved)
}

fn print_one(
    out: &mut impl Write,
    about: &About,
    elite: &SavedElite,
    now: &Evaluation,
    actions: Actions,
    of: &Evaluated<'_>,
) -> std::io::Result<()> {
    let (cell, episodes) = (about.cell_name(elite.cell), count(of.options.episodes.into(), "episode"));
    writeln!(out, "{}, elite of cell {cell}, {episodes}, {}", about.task, of.manner(actions))?;
    writeln!(out, "{:10} {:>10} {:>10}", "", "stored", "now")?;
    writeln!(out, "{:10} {:10.1} {:10.1}", "return", elite.objective, now.mean_return())?;
    writeln!(out, "{:10} {:10.1} {:10.1}", "length", elite.length, now.mean_length())?;
    for ((name, stored), now) in about.names.iter().zip(&elite.measures).zip(now.mean_measures()) {
        writeln!(out, "{:10} {stored:10.3} {now:10.3}  {name}", "measure")?;
    }
    Ok(())
}

fn of_policy(args: &Args, output: Output) -> anyhow::Result<()> {
    if args.all || args.best || args.cell.is_some() || args.table.is_some() {
        bail!("{} is one policy: --all, --best, --cell and --table are for archives", args.run.display());
    }
    let folder = if args.run.is_dir() { Some(args.run.as_path()) } else { args.run.parent() };
    let own = folder.map_or(Ok(EnvOverrides::default()), EnvOverrides::of_run)?;
    let (options, world) = (args.options(100, own.clone()), args.world.change(own.clone()));
    let evaluation = evaluate_policy(&args.run, args.measure.as_deref(), &options)?;
    output.warn_all(&world.examine(&evaluation.task).unwrap_or_else(|e| vec![e.to_string()]));
    output.warn_all(instability_of_policy(&args.run, &world, options.actions)?.as_slice());
    let result = &evaluation.result;
    let mean = result.mean_return();
    let spread =
        (result.returns.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / result.returns.len() as f64).sqrt();
    let (low, high) =
        result.returns.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &r| (l.min(r), h.max(r)));
    let names: Vec<String> = evaluation.dimensions.iter().map(|dimension| dimension.name.clone()).collect();
    let of = Evaluated { args, options: &options, world: &world, own_world: world == own };
    let event = json::EvaluatedPolicy {
        run: args.run.display().to_string(),
        task: evaluation.task.clone(),
        world: world.in_words(),
        episodes: options.episodes,
        actions: evaluation.actions.to_string(),
        seed: options.seed,
        now: behaviour(&names, (mean, result.mean_length(), result.mean_measures())),
        return_std: spread,
        return_min: low,
        return_max: high,
    };
    output.result(&event, |out| {
        let (episodes, manner) = (count(options.episodes.into(), "episode"), of.manner(evaluation.actions));
        writeln!(out, "{}, {episodes}, {manner}", evaluation.task)?;
        writeln!(out, "return   {mean:.1} ± {spread:.1} (from {low:.1} to {high:.1})")?;
        writeln!(out, "length   {:.1}", result.mean_length())?;
        for (name, value) in names.iter().zip(result.mean_measures()) {
            writeln!(out, "measure  {value:.3} {name}")?;
        }
        Ok(())
    })?;
    Ok(())
}
