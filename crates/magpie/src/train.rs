//! `magpie train`: a search, from an empty archive to a full one.

use std::io::{IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::ensure;
use indicatif::{ProgressBar, ProgressStyle};
use magpie_envs::{Measure, TASKS};
use magpie_rewards::{Demonstrations, ModelName};
use magpie_run::RunError;
use magpie_run::settings::{read_text, resolve};
use magpie_run::train::{Config, Preset, Progress, TrainRun};
use magpie_search::SearchConfig;

use crate::picture::{self, Scene};
use crate::session::{self, Stop};
use crate::world::WorldArgs;

#[derive(clap::Args)]
pub struct Args {
    /// Task to search on, such as walker2d (`magpie envs` lists them); --config can name it instead.
    #[arg(required_unless_present_any = ["resume", "config"], conflicts_with = "resume")]
    task: Option<String>,
    /// Where the objective reward comes from: learnt from demonstrations by gail, vail, diffail, airl, giril or maxent,
    /// or true, the task's own; gail if not given.
    #[arg(long, value_name = "MODEL", conflicts_with = "resume")]
    reward: Option<ModelName>,
    /// Demonstrations to learn the reward from (`magpie demos` makes them); those that come with magpie if not given.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    demos: Option<PathBuf>,
    /// Bonus for each step of an episode that behaves like nobody in the archive; if not given, 2 with a learnt reward and
    /// 0, which is none, with the true one.
    #[arg(long, value_name = "Q", conflicts_with = "resume")]
    curiosity: Option<f64>,
    /// How behaviour is measured: feet_contact, jump or angle; feet_contact if not given.
    #[arg(long, conflicts_with = "resume")]
    measure: Option<Measure>,
    /// How much to spend: quick is minutes on two cores, desktop an hour or two, paper the paper's own size.
    #[arg(long, value_enum, default_value = "quick", conflicts_with = "resume")]
    preset: PresetArg,
    /// Iterations to make in all; as the preset says if not given.
    #[arg(long, value_parser = session::count)]
    iterations: Option<u64>,
    /// Seed of all random streams; 0 if not given.
    #[arg(long, conflicts_with = "resume")]
    seed: Option<u64>,
    /// Settings from a TOML file over those of the preset; it needs only those that differ. The config.toml of a run
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

#[derive(Clone, Copy, clap::ValueEnum)]
enum PresetArg {
    Quick,
    Desktop,
    Paper,
}

impl Args {
    /// The preset, the file over it, --set over both, and the options that have a name of their own over all.
    fn resolve(&self) -> anyhow::Result<Config> {
        let preset = match self.preset {
            PresetArg::Quick => Preset::Quick,
            PresetArg::Desktop => Preset::Desktop,
            PresetArg::Paper => Preset::Paper,
        };
        let text = self.config.as_deref().map(read_text).transpose()?;
        let file = self.config.as_deref().zip(text.as_deref());
        // The preset depends on task, measure and reward, so that these have to be known first.
        let measure = self.measure.unwrap_or(Measure::FeetContact);
        let mut known = Config::new(TASKS[0].name, measure, ModelName::default(), preset)?;
        known.task = String::new();
        let known = resolve(known, file, &self.set)?;
        let known_task = known.task;
        let task = self.task.clone().unwrap_or(known_task.clone());
        ensure!(!task.is_empty(), "no task is named; name one, here or as `task` in the file");
        if !known_task.is_empty() && known_task != task {
            let mut err = std::io::stderr();
            writeln!(err, "note: the settings are those of a run on {known_task}, and the task is {task}")?;
        }
        let measure = self.measure.unwrap_or(known.measure);
        let reward = self.reward.unwrap_or(known.reward.model);

        let mut config = resolve(Config::new(&task, measure, reward, preset)?, file, &self.set)?;
        if let Some(file) = &self.config {
            // As in the configuration of a run, whose robot and demonstrations lie beside it.
            for beside in [&mut config.world.robot, &mut config.demos.file].into_iter().flatten() {
                *beside = file.with_file_name("").join(&*beside);
            }
        }
        (config.task, config.measure, config.reward.model) = (task, measure, reward);
        if let Some(demos) = &self.demos {
            ensure!(
                reward != ModelName::True,
                "--demos: the true reward is not learnt; leave out one of the two"
            );
            config.demos.file = Some(demos.clone());
        }
        config.seed = self.seed.unwrap_or(config.seed);
        config.iterations = self.iterations.unwrap_or(config.iterations);
        let curiosity = &mut config.search.curiosity;
        curiosity.weight = self.curiosity.unwrap_or(curiosity.weight);
        config.world = self.world.change(config.world);
        Ok(config)
    }
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    session::threads(args.threads)?;
    let stop = session::stop_on_ctrl_c()?;
    let mut run = match &args.resume {
        Some(folder) => TrainRun::resume(folder, args.iterations)?,
        None => {
            let config = args.resolve()?;
            let folder = args.out.clone().unwrap_or_else(|| default_folder(&config).into());
            let mut preparation = Preparation::new(config.reward.model, &stop);
            match TrainRun::start(config, &folder, &mut |progress| preparation.show(progress)) {
                Err(stopped @ RunError::Stopped) => {
                    writeln!(std::io::stderr(), "{stopped}")?;
                    return Ok(ExitCode::from(session::INTERRUPTED));
                }
                started => started?,
            }
        }
    };
    if let Some(iterations) = args.checkpoint_every {
        run.save_every(iterations);
    }
    session::mention_kernel(run.other_kernel())?;
    mention_task(&run)?;
    announce(&run)?;
    let mut display = Display::new(&run);
    let mut drawn = false;
    while !run.is_finished() && !stop.requested() {
        let progress = run.iterate()?;
        display.show(&run, &progress);
        // The first picture at once, so that there is something to look at.
        if progress.saved || !drawn {
            draw(&mut run)?;
            drawn = true;
        }
    }
    display.close();
    if !run.is_finished() {
        run.save()?;
    }
    draw(&mut run)?;
    summary(&run)
}

/// A name that tells apart what one compares: runs/TASK[-MEASURE]-REWARD[-qBONUS]-SEED.
fn default_folder(config: &Config) -> String {
    let Config { task, measure, reward, seed, search, .. } = config;
    let measure = match measure {
        Measure::FeetContact => String::new(),
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
    let SearchConfig { environments, branches, .. } = config.search;
    let mut out = std::io::stderr().lock();
    writeln!(
        out,
        "{} measured by {} in {} cells, reward {}, curiosity {}, {environments} environments, {branches} branches; {}",
        config.task,
        config.measure,
        state.archives.cells().count(),
        config.reward.model,
        config.search.curiosity.weight,
        run.directory().path().display(),
    )?;
    match state.iteration {
        0 => {}
        made if run.is_finished() => writeln!(out, "all {made} iterations have been made")?,
        made => writeln!(out, "going on after iteration {made} of {}", config.iterations)?,
    }
    Ok(())
}

/// Says that demonstrations are of another task, which may be meant.
fn mention_task(run: &TrainRun) -> anyhow::Result<()> {
    let Some(demonstrations) = run.demonstrations() else { return Ok(()) };
    let (theirs, ours) = (&demonstrations.columns().about.task, &run.config().task);
    if !theirs.is_empty() && theirs != ours {
        writeln!(std::io::stderr(), "note: these are demonstrations of {theirs}, and the task is {ours}")?;
    }
    Ok(())
}

/// How far a reward model is that learns before the search: ten lines at most.
struct Preparation<'a> {
    model: ModelName,
    stop: &'a Stop,
    tenths: usize,
}

impl<'a> Preparation<'a> {
    fn new(model: ModelName, stop: &'a Stop) -> Preparation<'a> {
        Preparation { model, stop, tenths: 0 }
    }

    fn show(&mut self, progress: magpie_rewards::Progress) -> ControlFlow<()> {
        let magpie_rewards::Progress { done, total, loss } = progress;
        let tenths = 10 * done / total.max(1);
        if tenths > self.tenths {
            self.tenths = tenths;
            let model = self.model;
            // Who does not read this can have the reward model all the same.
            let _ = writeln!(
                std::io::stderr(),
                "{model} learns from the demonstrations: {done} of {total} epochs, loss {loss:.4}"
            );
        }
        if self.stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Where the demonstrations lie, if they were measured as the run measures.
fn places(run: &TrainRun, dimensions: usize) -> Vec<Vec<f64>> {
    let alike = |d: &&Demonstrations| d.columns().about.measure == run.config().measure.name();
    let places = run.demonstrations().filter(alike).map(Demonstrations::places).unwrap_or_default();
    places.into_iter().flatten().filter(|place| place.len() == dimensions).collect()
}

/// A picture of the archive as it is now, with the demonstrations in it.
fn draw(run: &mut TrainRun) -> anyhow::Result<()> {
    let about = run.about()?;
    let entries = run.search().state().archives.result().entries();
    let cells: Vec<(usize, f64)> = entries.map(|(cell, entry)| (cell, entry.objective)).collect();
    let title = format!("{}, iteration {}", about.task, about.iteration);
    let png = picture::png(&Scene {
        title: &title,
        grid: &about.grid,
        names: &about.names,
        cells: &cells,
        demonstrations: &places(run, about.names.len()),
    })?;
    Ok(run.picture("archive", &png)?)
}

fn summary(run: &TrainRun) -> anyhow::Result<ExitCode> {
    let folder = run.directory().path().display();
    let (m, made) = (run.search().metrics(), run.search().state().iteration);
    let mut out = std::io::stdout().lock();
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

/// A live line on a terminal; elsewhere one plain line an iteration.
struct Display {
    bar: Option<ProgressBar>,
    started: Instant,
    at_start: (u64, u64),
}

impl Display {
    fn new(run: &TrainRun) -> Display {
        let state = run.search().state();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(run.config().iterations).with_position(state.iteration);
            // Two lines, the second cut to the width of the terminal.
            let style = "{pos}/{len} [{bar:24}] {prefix}\n{wide_msg}";
            bar.set_style(
                ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar
        });
        Display { bar, started: Instant::now(), at_start: (state.iteration, state.env_steps) }
    }

    fn show(&mut self, run: &TrainRun, progress: &Progress) {
        let (report, m) = (&progress.report, &progress.report.metrics);
        let seconds = self.started.elapsed().as_secs_f64().max(1e-9);
        let pace = seconds / (report.iteration - self.at_start.0).max(1) as f64;
        let left = pace * run.config().iterations.saturating_sub(report.iteration) as f64;
        let line = format!(
            "QD-Score {:9.0}  coverage {:5.2} %  best {:7.1}  mean {:7.1}  new cells {:3}  restarts {:2}",
            m.qd_score,
            100.0 * m.coverage,
            m.best.unwrap_or(f64::NAN),
            m.mean.unwrap_or(f64::NAN),
            report.new_cells,
            report.restarts,
        );
        let (rate, left) = ((report.env_steps - self.at_start.1) as f64 / seconds, session::duration(left));
        if let Some(bar) = &self.bar {
            bar.set_position(report.iteration);
            bar.set_prefix(format!("{rate:.0} steps/s, {left} left"));
            bar.set_message(line);
        } else {
            // A reader that is gone is no reason to stop.
            let _ = writeln!(
                std::io::stderr(),
                "{:5}/{}  {line}  {rate:6.0} steps/s  {left} left",
                report.iteration,
                run.config().iterations
            );
        }
    }

    fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}
