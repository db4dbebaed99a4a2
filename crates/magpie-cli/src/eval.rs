//! `magpie eval`: whole episodes with a trained policy, or with elites of an archive.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::bail;
use magpie_learn::{Actions, Evaluation};
use magpie_qd::Metrics;
use magpie_run::operations::{
    ArchiveEvaluation, EvaluateOptions, Kept, OpenArchive, OtherWorld, Selection, Standing, VERIFIED,
    evaluate_archive, evaluate_policy, holds_archive, instability_of_elite, instability_of_policy, may_write,
    runs_below, standing,
};
use magpie_run::{About, EnvOverrides, SavedArchive, SavedElite, WorldChanges};

use crate::json;
use crate::output::Output;
use crate::session;
use crate::words::{count, duration};
use crate::world::WorldArgs;

#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run, its archive.safetensors or its policy.safetensors. Episodes take place in the world of the run,
    /// with the changes named here. Of several runs, or of a folder with runs in it, such as that of a sweep, every finished run
    /// is evaluated whose reevaluation.csv is missing, outdated or of fewer episodes; an interrupted command continues where it
    /// was.
    #[arg(required = true, value_name = "RUN|FOLDER")]
    runs: Vec<PathBuf>,
    /// Of an archive, all elites: the verified QD-Score and coverage beside the stored ones. This is the default if no
    /// elite is named. In the run's own world, with elites acting as when they were found, the result is kept as
    /// reevaluation.csv for `magpie report`.
    #[arg(long, conflicts_with_all = ["best", "cell"])]
    all: bool,
    /// Of an archive, the elite with the highest return.
    #[arg(long, conflicts_with = "cell")]
    best: bool,
    /// Of an archive, the elite of this cell, such as 12,40: one index for each dimension of the measure. A CVT cell has one
    /// number.
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
    /// Of whole archives, keep the verified one beside each as archive-verified.safetensors: every elite in its new cell,
    /// with its new return and measures.
    #[arg(long, conflicts_with_all = ["best", "cell"])]
    save: bool,
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

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    session::threads(args.threads, output)?;
    match &args.runs[..] {
        [run] if !is_folder_of_runs(run) => match holds_archive(run)? {
            true => of_archive(args, run, output),
            false => of_policy(args, run, output),
        },
        runs => of_runs(args, runs, output),
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
fn of_runs(args: &Args, places: &[PathBuf], output: Output) -> anyhow::Result<()> {
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
        let name = run.display().to_string();
        match of_one(args, run) {
            Ok(One::Done(event, said)) => output.result(&*event, |out| writeln!(out, "{line}: {said}"))?,
            Ok(One::Skipped(reason)) => {
                let event = json::Skipped { run: name, reason: reason.clone() };
                output.result(&event, |out| writeln!(out, "{line}: skipped: {reason}"))?;
            }
            Err(error) => {
                failed += 1;
                let message = format!("{error:#}");
                let event = json::Failed { run: name, message: message.clone(), hint: None };
                output.result(&event, |out| writeln!(out, "{line}: failed: {message}"))?;
            }
        }
    }
    if failed > 0 {
        bail!("{failed} of {} runs could not be evaluated; the others are done", runs.len());
    }
    Ok(())
}

/// What became of one of several runs.
enum One {
    /// For programs, and in words.
    Done(Box<json::Evaluation>, String),
    /// Why not.
    Skipped(String),
}

fn of_one(args: &Args, run: &Path) -> anyhow::Result<One> {
    let begun = Instant::now();
    let episodes = args.episodes.unwrap_or(EPISODES_OF_ALL);
    match standing(run, episodes, args.save)? {
        Standing::Due => {}
        // In another world, or acting otherwise, nothing is kept that could be current.
        Standing::Current(_) if !args.is_as_found() => {}
        Standing::Current(before) => {
            let episodes = before.episodes;
            return Ok(One::Skipped(format!(
                "reevaluation.csv is current, with {} each",
                count(episodes, "episode")
            )));
        }
        Standing::Unfinished { made, planned } => {
            let reason = format!("{made} of {planned} iterations; finish it, or name it alone");
            return Ok(One::Skipped(reason));
        }
        Standing::NoArchive => return Ok(One::Skipped("it holds no archive".to_owned())),
    }
    let open = OpenArchive::open(run)?;
    let options = args.options(episodes, open.world());
    let evaluation = evaluate_archive(&open, Selection::All, &options)?;
    let Some(now) = &evaluation.verified else {
        return Ok(One::Skipped("its archive is empty".to_owned()));
    };
    let stored = open.archive.metrics();
    let mut said = format!(
        "{} each, QD-Score {:.0} stored, {:.0} {}; coverage {:.2} %, {:.2} %",
        count(episodes, "episode"),
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
    let kept = match evaluation.keep(run).transpose()? {
        Some(Kept::HasMoreEpisodes(before)) => {
            said += &format!("; the kept one has {} and stays", count(before.episodes, "episode"));
            None
        }
        Some(Kept::Written) => Some(run.display().to_string()),
        None => None,
    };
    let world = args.world.change(open.world());
    let of = Evaluated { run, options: &options, world: &world, own_world: evaluation.other_world.is_none() };
    let event = of.all(&open.archive, &evaluation, now, kept);
    Ok(One::Done(Box::new(event), format!("{said} ({})", duration(begun.elapsed().as_secs_f64()))))
}

/// What the numbers of now are called: they correct the stored ones only if nothing else has changed.
fn heading(open: &OpenArchive, evaluation: &ArchiveEvaluation<'_>) -> &'static str {
    let as_found = evaluation.other_world.is_none() && evaluation.actions == open.archive.about.actions;
    if as_found { "verified" } else { "now" }
}

fn of_archive(args: &Args, run: &Path, output: Output) -> anyhow::Result<()> {
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
    if args.save {
        evaluation.save_verified(archive, &verified)?;
    }
    let folder = open.folder().display().to_string();
    let kept = match evaluation.keep(open.folder()) {
        None => None,
        Some(Ok(Kept::Written)) => Some(folder),
        Some(Ok(Kept::HasMoreEpisodes(before))) => {
            output.warn(&format!(
                "not kept for `magpie report`: {folder}/reevaluation.csv has {} for each elite, and this {}; remove it \
                 to keep this instead",
                count(before.episodes, "episode"),
                options.episodes
            ));
            None
        }
        Some(Err(e)) => {
            output.warn(&format!("not kept for `magpie report`: {e}"));
            None
        }
    };
    let of = Evaluated { run, options: &options, world: &world, own_world: evaluation.other_world.is_none() };
    match (&evaluation.verified, &evaluation.elites[..]) {
        (Some(metrics), _) => output.result(&of.all(archive, &evaluation, metrics, kept.clone()), |out| {
            print_all(out, &open, &evaluation, metrics, &of)?;
            if args.save {
                writeln!(out, "the verified archive is in {}", verified.display())?;
            }
            match kept {
                Some(folder) => writeln!(out, "kept for `magpie report` in {folder}"),
                None => Ok(()),
            }
        })?,
        (None, [(elite, now)]) => output
            .result(&of.one(&archive.about, elite, now, evaluation.actions), |out| {
                print_one(out, &archive.about, elite, now, &evaluation, &of)
            })?,
        _ => {}
    }
    for file in args.table.iter().chain(args.save.then_some(&verified)) {
        output.event(&json::Written { path: file.display().to_string() })?;
    }
    Ok(())
}

/// What was asked for, and in which world.
struct Evaluated<'a> {
    run: &'a Path,
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
        verified: &Metrics,
        kept: Option<String>,
    ) -> json::Evaluation {
        json::Evaluation {
            run: self.run.display().to_string(),
            task: archive.about.task.clone(),
            world: self.world.in_words(),
            own_world: self.own_world,
            elites: evaluation.elites.len(),
            episodes: self.options.episodes,
            actions: evaluation.actions.to_string(),
            seed: self.options.seed,
            stored: (&archive.metrics()).into(),
            verified: verified.into(),
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
            run: self.run.display().to_string(),
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
    open: &OpenArchive,
    evaluation: &ArchiveEvaluation<'_>,
    now: &Metrics,
    of: &Evaluated<'_>,
) -> std::io::Result<()> {
    let archive = &open.archive;
    let stored = archive.metrics();
    let elites = evaluation.elites.len();
    writeln!(
        out,
        "{}: {}, {} each, {}",
        archive.about.task,
        count(elites, "elite"),
        count(of.options.episodes, "episode"),
        of.manner(evaluation.actions)
    )?;
    print_found(out, evaluation)?;
    let title = heading(open, evaluation);
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
    evaluation: &ArchiveEvaluation<'_>,
    of: &Evaluated<'_>,
) -> std::io::Result<()> {
    let (cell, episodes) = (about.cell_name(elite.cell), count(of.options.episodes, "episode"));
    writeln!(out, "{}, elite of cell {cell}, {episodes}, {}", about.task, of.manner(evaluation.actions))?;
    print_found(out, evaluation)?;
    writeln!(out, "{:10} {:>10} {:>10}", "", "stored", "now")?;
    writeln!(out, "{:10} {:10.1} {:10.1}", "return", elite.objective, now.mean_return())?;
    writeln!(out, "{:10} {:10.1} {:10.1}", "length", elite.length, now.mean_length())?;
    for ((name, stored), now) in about.names.iter().zip(&elite.measures).zip(now.mean_measures()) {
        writeln!(out, "{:10} {stored:10.3} {now:10.3}  {name}", "measure")?;
    }
    Ok(())
}

/// Where the elites were found, if that is not where they were run.
fn print_found(out: &mut impl Write, evaluation: &ArchiveEvaluation<'_>) -> std::io::Result<()> {
    match &evaluation.other_world {
        Some(OtherWorld { found, .. }) => writeln!(out, "the elites were found in another world: {found}"),
        None => Ok(()),
    }
}

fn of_policy(args: &Args, run: &Path, output: Output) -> anyhow::Result<()> {
    if args.all || args.best || args.save || args.cell.is_some() || args.table.is_some() {
        bail!("{} is one policy: --all, --best, --cell, --save and --table are for archives", run.display());
    }
    let folder = if run.is_dir() { Some(run) } else { run.parent() };
    let own = folder.map_or(Ok(EnvOverrides::default()), EnvOverrides::of_run)?;
    let (options, world) = (args.options(EPISODES_OF_ONE, own.clone()), args.world.change(own.clone()));
    let evaluation = evaluate_policy(run, args.measure.as_deref(), &options)?;
    output.warn_all(&world.examine(&evaluation.task).unwrap_or_else(|e| vec![e.to_string()]));
    output.warn_all(instability_of_policy(run, &world, options.actions)?.as_slice());
    let result = &evaluation.result;
    let mean = result.mean_return();
    let spread =
        (result.returns.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / result.returns.len() as f64).sqrt();
    let (low, high) =
        result.returns.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &r| (l.min(r), h.max(r)));
    let names: Vec<String> = evaluation.dimensions.iter().map(|dimension| dimension.name.clone()).collect();
    let of = Evaluated { run, options: &options, world: &world, own_world: world == own };
    let event = json::EvaluatedPolicy {
        run: run.display().to_string(),
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
        let (episodes, manner) = (count(options.episodes, "episode"), of.manner(evaluation.actions));
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
