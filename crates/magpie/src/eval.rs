//! `magpie eval`: whole episodes with a trained policy, or with elites of an archive.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::bail;
use magpie_learn::{Actions, Evaluation};
use magpie_qd::Metrics;
use magpie_run::operations::{
    ArchiveEvaluation, EvaluateOptions, Kept, OpenArchive, OtherWorld, Selection, Standing, VERIFIED,
    evaluate_archive, evaluate_policy, holds_archive, may_write, runs_below, standing,
};
use magpie_run::{About, EnvOverrides, SavedElite, WorldChanges};

use crate::session;
use crate::world::WorldArgs;

#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run, its archive.safetensors or its policy.safetensors. The world is that of the run, with the
    /// changes named here. Of several, and of a folder with runs in it, such as that of a sweep, every finished run is
    /// evaluated whose reevaluation.csv is missing, of an earlier archive, or of fewer episodes: a command that was stopped
    /// goes on where it was.
    #[arg(required = true, value_name = "RUN|FOLDER")]
    runs: Vec<PathBuf>,
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
    /// Of whole archives, keep the corrected one beside each as archive-verified.safetensors: every elite in its new cell,
    /// with its new return and measures.
    #[arg(long, conflicts_with_all = ["best", "cell"])]
    save: bool,
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
    /// Whether elites are run as they were when they were found, as far as the options say.
    fn is_as_found(&self) -> bool {
        self.actions.is_none() && self.world.changes() == WorldChanges::default()
    }

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
    match &args.runs[..] {
        [run] if !is_folder_of_runs(run) => match holds_archive(run)? {
            true => of_archive(args, run),
            false => of_policy(args, run),
        },
        runs => of_runs(args, runs),
    }
}

/// Whether runs are to be looked for in a folder, because it is none itself.
fn is_folder_of_runs(path: &Path) -> bool {
    let of_run = ["config.toml", "archive.safetensors", "policy.safetensors"];
    path.is_dir() && !of_run.iter().any(|file| path.join(file).is_file())
}

/// Episodes of each elite of a whole archive.
const EPISODES_OF_ALL: u32 = 10;
/// Episodes of a single policy.
const EPISODES_OF_ONE: u32 = 100;

/// All finished runs at these places, one after the other.
fn of_runs(args: &Args, places: &[PathBuf]) -> anyhow::Result<()> {
    if args.best || args.cell.is_some() || args.table.is_some() || args.measure.is_some() {
        bail!("--best, --cell, --table and --measure are for a single run; name one");
    }
    let mut runs = Vec::new();
    for run in places.iter().map(|place| runs_below(place)).collect::<Result<Vec<_>, _>>()?.concat() {
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    if runs.is_empty() {
        bail!("no run was found in {}; name folders that `magpie train` made", places[0].display());
    }
    let mut failed = 0;
    for (number, run) in runs.iter().enumerate() {
        let line = format!("{}/{} {}", number + 1, runs.len(), run.display());
        let said = of_one(args, run).unwrap_or_else(|error| {
            failed += 1;
            format!("failed: {error:#}")
        });
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}: {said}")?;
        out.flush()?;
    }
    if failed > 0 {
        bail!("{failed} of {} runs could not be evaluated; the others are done", runs.len());
    }
    Ok(())
}

/// One of several runs: what to say of it.
fn of_one(args: &Args, run: &Path) -> anyhow::Result<String> {
    let begun = Instant::now();
    let episodes = args.episodes.unwrap_or(EPISODES_OF_ALL);
    match standing(run, episodes, args.save)? {
        Standing::Due => {}
        // In another world, or acting otherwise, nothing is kept that could be current.
        Standing::Current(_) if !args.is_as_found() => {}
        Standing::Current(before) => {
            return Ok(format!(
                "skipped: reevaluation.csv is current, with {} episodes each",
                before.episodes
            ));
        }
        Standing::Unfinished { made, planned } => {
            return Ok(format!("skipped: {made} of {planned} iterations; finish it, or name it alone"));
        }
        Standing::NoArchive => return Ok("skipped: it holds no archive".to_owned()),
    }
    let open = OpenArchive::open(run)?;
    let options = args.options(episodes, open.world());
    let evaluation = evaluate_archive(&open, Selection::All, &options)?;
    let Some(now) = &evaluation.corrected else { return Ok("nothing to run".to_owned()) };
    let stored = open.archive.metrics();
    let mut said = format!(
        "{} each, QD-Score {:.0} stored, {:.0} {}; coverage {:.2} %, {:.2} %",
        if episodes == 1 { "1 episode".to_owned() } else { format!("{episodes} episodes") },
        stored.qd_score,
        now.qd_score,
        heading(&open, &evaluation),
        100.0 * stored.coverage,
        100.0 * now.coverage
    );
    if let Some(OtherWorld { here, .. }) = &evaluation.other_world {
        said += &format!("; world: {here}, so that nothing is kept");
    }
    if args.save {
        evaluation.save_verified(&open.archive, &run.join(VERIFIED))?;
    }
    match evaluation.keep(run).transpose()? {
        Some(Kept::HasMoreEpisodes(before)) => {
            said += &format!("; the kept one has {} episodes and stays", before.episodes);
        }
        Some(Kept::Written) | None => {}
    }
    Ok(format!("{said} ({})", session::duration(begun.elapsed().as_secs_f64())))
}

/// What the numbers of now are called: they correct the stored ones only if nothing else has changed.
fn heading(open: &OpenArchive, evaluation: &ArchiveEvaluation<'_>) -> &'static str {
    let as_found = evaluation.other_world.is_none() && evaluation.actions == open.archive.about.actions;
    if as_found { "corrected" } else { "now" }
}

fn of_archive(args: &Args, run: &Path) -> anyhow::Result<()> {
    let open = OpenArchive::open(run)?;
    let archive = &open.archive;
    let selection = match &args.cell {
        Some(cell) => Selection::Cell(archive.about.cell_named(cell)?),
        None if args.best => Selection::Best,
        None => Selection::All,
    };
    let episodes = if selection == Selection::All { EPISODES_OF_ALL } else { EPISODES_OF_ONE };
    let options = args.options(episodes, open.world());
    if let Some(table) = &args.table {
        may_write(table, &[])?;
    }
    let verified = open.path.with_file_name(VERIFIED);
    if args.save {
        may_write(&verified, &[&open.path])?;
    }
    let evaluation = evaluate_archive(&open, selection, &options)?;
    if let Some(table) = &args.table {
        evaluation.write_table(archive, table)?;
    }
    match (&evaluation.corrected, &evaluation.elites[..]) {
        (Some(corrected), _) => print_all(&open, &evaluation, corrected, &options)?,
        (None, [(elite, now)]) => print_one(&archive.about, elite, now, &evaluation, &options)?,
        _ => {}
    }
    if args.save {
        evaluation.save_verified(archive, &verified)?;
        writeln!(std::io::stdout(), "the corrected archive is in {}", verified.display())?;
    }
    let folder = open.folder().display();
    match evaluation.keep(open.folder()) {
        None => {}
        Some(Ok(Kept::Written)) => writeln!(std::io::stdout(), "kept for `magpie report` in {folder}")?,
        Some(Ok(Kept::HasMoreEpisodes(before))) => writeln!(
            std::io::stderr(),
            "not kept for `magpie report`: {folder}/reevaluation.csv has {} episodes for each elite, and this {}; remove it \
             to have this instead",
            before.episodes,
            options.episodes
        )?,
        Some(Err(e)) => writeln!(std::io::stderr(), "not kept for `magpie report`: {e}")?,
    }
    Ok(())
}

fn print_all(
    open: &OpenArchive,
    evaluation: &ArchiveEvaluation<'_>,
    now: &Metrics,
    options: &EvaluateOptions,
) -> anyhow::Result<()> {
    let archive = &open.archive;
    let stored = archive.metrics();
    let elites = evaluation.elites.len();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{}: {elites} elites, {} episodes each{}",
        archive.about.task,
        options.episodes,
        manner(evaluation.actions)
    )?;
    print_world(&mut out, evaluation)?;
    writeln!(out, "{:16} {:>12} {:>12}", "", "stored", heading(open, evaluation))?;
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
    evaluation: &ArchiveEvaluation<'_>,
    options: &EvaluateOptions,
) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    let cell = about.cell_name(elite.cell);
    writeln!(
        out,
        "{}, elite of cell {cell}, {} episodes{}",
        about.task,
        options.episodes,
        manner(evaluation.actions)
    )?;
    print_world(&mut out, evaluation)?;
    writeln!(out, "{:10} {:>10} {:>10}", "", "stored", "now")?;
    writeln!(out, "{:10} {:10.1} {:10.1}", "return", elite.objective, now.mean_return())?;
    writeln!(out, "{:10} {:10.1} {:10.1}", "length", elite.length, now.mean_length())?;
    for ((name, stored), now) in about.names.iter().zip(&elite.measures).zip(now.mean_measures()) {
        writeln!(out, "{:10} {stored:10.3} {now:10.3}  {name}", "measure")?;
    }
    Ok(())
}

fn print_world(out: &mut dyn Write, evaluation: &ArchiveEvaluation<'_>) -> std::io::Result<()> {
    match &evaluation.other_world {
        Some(OtherWorld { here, found }) => {
            writeln!(out, "world: {here} (the elites were found in: {found})")
        }
        None => Ok(()),
    }
}

fn manner(actions: Actions) -> &'static str {
    match actions {
        Actions::Sampled => ", actions drawn as in training",
        Actions::Mean => ", mean actions",
    }
}

fn of_policy(args: &Args, run: &Path) -> anyhow::Result<()> {
    if args.all || args.best || args.save || args.cell.is_some() || args.table.is_some() {
        bail!("{} is one policy: --all, --best, --cell, --save and --table are for archives", run.display());
    }
    let folder = if run.is_dir() { Some(run) } else { run.parent() };
    let options =
        args.options(EPISODES_OF_ONE, folder.map_or(Ok(EnvOverrides::default()), EnvOverrides::of_run)?);
    let evaluation = evaluate_policy(run, args.measure.as_deref(), &options)?;
    let result = &evaluation.result;
    let mean = result.mean_return();
    let spread =
        (result.returns.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / result.returns.len() as f64).sqrt();
    let (low, high) =
        result.returns.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &r| (l.min(r), h.max(r)));
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}, {} episodes", evaluation.task, options.episodes)?;
    writeln!(out, "return   {mean:.1} ± {spread:.1} (from {low:.1} to {high:.1})")?;
    writeln!(out, "length   {:.1}", result.mean_length())?;
    for (dimension, value) in evaluation.dimensions.iter().zip(result.mean_measures()) {
        writeln!(out, "measure  {value:.3} {}", dimension.name)?;
    }
    Ok(())
}
