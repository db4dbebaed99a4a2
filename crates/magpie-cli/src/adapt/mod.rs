//! `magpie adapt`: archives in changed worlds.

mod interactive;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail};
use magpie_learn::Actions;
use magpie_run::adapt::{
    AdaptOptions, AdaptProgress, AdaptTask, Adaptation, Adapted, Case, FewShots, Reported, TrialSettings,
    adapt, draw_all_predictions, draw_regrets, worlds,
};
use magpie_run::operations::{OpenArchive, runs_below};
use magpie_run::write_whole;

use crate::eval::ActionsArg;
use crate::json;
use crate::output::Output;
use crate::session;
use crate::words::{count, duration};

#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Args {
    /// Folders of runs, archives, or folders with runs in them.
    #[arg(required = true, value_name = "RUN|FOLDER")]
    runs: Vec<PathBuf>,
    /// What changes: friction (walker2d), motor or hurdles (humanoid), damage (any robot), or a file of your own
    /// (docs/adapt.md).
    #[arg(long, value_name = "NAME|FILE", required_unless_present = "interactive")]
    task: Option<String>,
    /// Levels to look at, within the range of the task; the healthy world is looked at in any case. [default: those of the
    /// task]
    #[arg(long, value_name = "X,Y,…", value_delimiter = ',', allow_negative_numbers = true)]
    levels: Option<Vec<f64>>,
    /// Instead of levels, look at N random worlds, with some of the changes of the task.
    #[arg(long, value_name = "N", conflicts_with = "levels", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    random: Option<u32>,
    /// Episodes by which an elite is selected.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    episodes: u32,
    /// Fresh episodes over which a selected elite is reported.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    report_episodes: u32,
    /// Also simulate N trials in each world, by trial and error and by simpler choices. With --interactive: at most N.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    trials: Option<u32>,
    /// Name elites to try on a real robot, and read their returns from the standard input, one a line. Several archives of
    /// one task and measure are tried together.
    #[arg(long, conflicts_with_all = ["task", "levels", "random"])]
    interactive: bool,
    /// With trials: draw what is predicted before the first and after each of them.
    #[arg(long)]
    maps: bool,
    /// How far a trial reaches, as a share of the range of measures (ρ of the Matérn kernel).
    #[arg(long, value_name = "RHO", default_value_t = TrialSettings::default().length_scale, help_heading = "Trials")]
    length_scale: f64,
    /// Variance of the noise of a trial, in squares of the archive's spread of returns.
    #[arg(long, value_name = "VARIANCE", default_value_t = TrialSettings::default().noise, help_heading = "Trials")]
    noise: f64,
    /// What a standard deviation is worth in the choice of the next trial (κ).
    #[arg(long, value_name = "KAPPA", default_value_t = TrialSettings::default().kappa, help_heading = "Trials")]
    kappa: f64,
    /// Trials end when the best observed return is this share of the best that is predicted.
    #[arg(long, value_name = "SHARE", default_value_t = TrialSettings::default().stop, help_heading = "Trials")]
    stop: f64,
    /// Take the mean action, or draw one as in training. [default: as when the elites were found]
    #[arg(long, value_enum)]
    actions: Option<ActionsArg>,
    /// Seed of all episodes, and of random worlds.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder for the results; of several runs, each gets one of its name in it. [default: the folder of the run]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of threads. [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

const HELP: &str = "\
Results are in adaptation-TASK.json and .csv in the folder of each run, where `magpie report` finds them. They are kept world
by world: a command that was stopped goes on where it was.

Examples:
  magpie adapt runs/walker2d-gail-0 --task friction
  magpie adapt runs/ant-gail-0 --task damage --random 20 --trials 20
  magpie adapt runs/ant-gail-0 --interactive";

impl Args {
    fn settings(&self) -> TrialSettings {
        let Args { length_scale, noise, kappa, stop, .. } = *self;
        TrialSettings { length_scale, noise, kappa, stop }
    }

    fn options(&self) -> AdaptOptions {
        AdaptOptions {
            levels: self.levels.clone(),
            random: self.random.unwrap_or(0),
            episodes: self.episodes,
            report_episodes: self.report_episodes,
            trials: self.trials.unwrap_or(0),
            trial_settings: self.settings(),
            actions: self.actions.map(Actions::from),
            seed: self.seed,
        }
    }

    /// Where the results of one of several runs go.
    fn folder(&self, open: &OpenArchive, runs: usize) -> anyhow::Result<PathBuf> {
        let Some(out) = &self.out else { return Ok(open.folder().to_owned()) };
        let folder = match runs {
            1 => out.clone(),
            _ => {
                let own = open.folder().canonicalize().unwrap_or_else(|_| open.folder().to_owned());
                out.join(own.file_name().unwrap_or_default())
            }
        };
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("{}: making the folder", folder.display()))?;
        Ok(folder)
    }
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    session::threads(args.threads, output)?;
    let mut runs: Vec<PathBuf> = Vec::new();
    for place in &args.runs {
        let found = if place.is_dir() && !place.join("archive.safetensors").is_file() {
            runs_below(place)?.into_iter().filter(|run| run.join("archive.safetensors").is_file()).collect()
        } else {
            vec![place.clone()]
        };
        if found.is_empty() {
            bail!("no archive was found in {}; name folders that `magpie train` made", place.display());
        }
        found.into_iter().for_each(|run| {
            if !runs.contains(&run) {
                runs.push(run)
            }
        });
    }
    match &args.task {
        Some(task) if !args.interactive => of_runs(args, task, &runs, output),
        _ => interactive::run(args, &runs, output),
    }
}

/// All runs, one after the other; what is wrong with one does not keep the others from being looked at.
fn of_runs(args: &Args, task: &str, runs: &[PathBuf], output: Output) -> anyhow::Result<()> {
    let mut failed = 0;
    for run in runs {
        match of_run(args, task, run, runs.len(), output) {
            Err(error) if runs.len() > 1 && error.downcast_ref::<std::io::Error>().is_none() => {
                failed += 1;
                let (run, message) = (run.display().to_string(), format!("{error:#}"));
                let event = json::Failed { run: run.clone(), message: message.clone(), hint: None };
                output.result(&event, |out| writeln!(out, "{run}: failed: {message}"))?;
            }
            other => other?,
        }
    }
    if failed > 0 {
        bail!("{failed} of {} archives could not be adapted; the others are done", runs.len());
    }
    Ok(())
}

fn of_run(args: &Args, task: &str, run: &Path, runs: usize, output: Output) -> anyhow::Result<()> {
    let begun = Instant::now();
    let open = OpenArchive::open(run)?;
    let about = &open.archive.about;
    let robot = open.world().robot(&open.world().task(&about.task)?)?;
    let task = AdaptTask::find(task, &robot)?;
    let warning = task.suits(&about.task, &about.measure, &robot)?;
    output.warn_all(warning.as_slice());
    let (options, folder) = (args.options(), args.folder(&open, runs)?);
    let mut warned: Vec<String> = Vec::new();
    for world in worlds(&open, &task, &options)? {
        for warning in world.examine(&about.task).unwrap_or_else(|e| vec![e.to_string()]) {
            if !warned.contains(&warning) {
                output.warn(&warning);
                warned.push(warning);
            }
        }
    }
    let name = run.display().to_string();
    let mut said = Instant::now();
    let Adapted { adaptation, reused, renewed } = adapt(&open, &task, &options, &folder, |progress| {
        let AdaptProgress { worlds, world, elites } = progress;
        let event = json::Adapting {
            run: name.clone(),
            worlds_done: worlds[0],
            worlds: worlds[1],
            elites_done: elites[0],
            elites: elites[1],
        };
        output.progress(&event);
        if said.elapsed().as_secs() >= 2 || elites[0] == elites[1] {
            said = Instant::now();
            let (number, all) = (worlds[0] + 1, worlds[1]);
            output
                .say(&format!("{name}: world {number}/{all} ({world}): {}/{} elites", elites[0], elites[1]));
        }
    })?;
    if let Some(why) = renewed {
        output.note(&format!("earlier results in {} were replaced: {why}", folder.display()));
    }
    let beside = |ending: &str| folder.join(format!("{}{ending}", adaptation.name()));
    if let Some(figure) = draw_regrets(&adaptation)? {
        write_whole(&beside("-regret.svg"), figure.svg().as_bytes())?;
        write_whole(&beside("-regret.png"), &figure.png()?)?;
    }
    if args.maps {
        draw_all_predictions(&open, &adaptation, &folder)?;
    }
    let cell = |found: &Reported| json::AdaptedElite {
        cell: about.cell_name(adaptation.cells[found.elite]),
        mean_return: found.mean,
        error: found.error,
    };
    for case in &adaptation.cases {
        let event = json::AdaptedWorld {
            run: name.clone(),
            task: task.name.clone(),
            level: case.at,
            healthy: case.healthy,
            world: case.world.clone(),
            elites: adaptation.cells.len(),
            episodes: adaptation.episodes,
            adapted: cell(&case.adapted),
            unadapted: cell(&case.unadapted),
            oracle: cell(&case.oracle),
            few_shots: case.few_shots.as_ref().map(|few| json::FewShots {
                trials: few.trials.len(),
                stopped: few.stopped,
                returns: last(few.strategies().map(|(_, curve)| curve)),
            }),
        };
        output.event(&event)?;
    }
    let shares = adaptation.shares();
    let event = json::AdaptedArchive {
        run: name.clone(),
        results: beside(".json").display().to_string(),
        table: beside(".csv").display().to_string(),
        reused,
        shares: shares.as_ref().map(|shares| last([0, 1, 2].map(|i| shares[i].1.as_slice()))),
    };
    output.result(&event, |out| {
        print(out, &name, &adaptation)?;
        writeln!(out, "{} ({})", beside(".csv").display(), duration(begun.elapsed().as_secs_f64()))
    })?;
    Ok(())
}

/// What each way to spend trials has come to.
fn last([trial_and_error, random, best_stored]: [&[f64]; 3]) -> json::Strategies {
    let end = |curve: &[f64]| curve.last().copied().unwrap_or(f64::NAN);
    json::Strategies {
        trial_and_error: end(trial_and_error),
        random: end(random),
        best_stored: end(best_stored),
    }
}

fn print(out: &mut impl Write, name: &str, adaptation: &Adaptation) -> std::io::Result<()> {
    let Adaptation { task, episodes, report_episodes, cells, .. } = adaptation;
    let elites = count(cells.len() as u64, "elite");
    writeln!(
        out,
        "{name}: {}, {elites}, selected by {}, reported over {report_episodes} fresh ones",
        task.name,
        count(*episodes, "episode")
    )?;
    let trials = adaptation.changed().find_map(|case| case.few_shots.as_ref()).map(|few| few.trials.len());
    let what = if adaptation.random { "random world" } else { &task.level.name };
    let width = what.chars().count().max(12);
    write!(out, "{what:width$} {:>14} {:>10} {:>10}", "no adaptation", "adapted", "oracle")?;
    if let Some(trials) = trials {
        let title = format!("{trials} trials");
        write!(out, " {title:>12} {:>10} {:>12}", "random", "best stored")?;
    }
    writeln!(out)?;
    for case in &adaptation.cases {
        let Case { at, healthy, adapted, unadapted, oracle, few_shots, world, .. } = case;
        let at = if *healthy { "healthy".to_owned() } else { at.to_string() };
        write!(out, "{at:width$} {:14.1} {:10.1} {:10.1}", unadapted.mean, adapted.mean, oracle.mean)?;
        if let Some(few) = few_shots {
            let json::Strategies { trial_and_error, random, best_stored } =
                last(few.strategies().map(|(_, curve)| curve));
            write!(out, " {trial_and_error:12.1} {random:10.1} {best_stored:12.1}")?;
        }
        match adaptation.random && !*healthy {
            true => writeln!(out, "  {world}")?,
            false => writeln!(out)?,
        }
    }
    if let (Some(shares), Some(trials)) = (adaptation.shares(), trials) {
        let shares = shares.iter().map(|(name, curve)| {
            format!("{name} {:.0} %", 100.0 * curve.last().copied().unwrap_or(f64::NAN))
        });
        let shares: Vec<String> = shares.collect();
        let stops: Vec<usize> = adaptation
            .changed()
            .filter_map(|case| case.few_shots.as_ref().and_then(|few: &FewShots| few.stopped))
            .collect();
        writeln!(out, "of the return of exhaustive search after {trials} trials: {}", shares.join(", "))?;
        if !stops.is_empty() {
            let mean = stops.iter().sum::<usize>() as f64 / stops.len() as f64;
            let worlds = adaptation.changed().count();
            writeln!(
                out,
                "the stopping rule is met in {} of {worlds} worlds, after {mean:.1} trials on average",
                stops.len()
            )?;
        }
    }
    Ok(())
}
