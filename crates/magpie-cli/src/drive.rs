//! What is shown while a search goes on, and at its end.

use std::io::Write;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use magpie_qd::Metrics;
use magpie_rewards::ModelName;
use magpie_run::Reevaluation;
use magpie_run::train::{Progress, SettledArchive, TrainRun, row};
use magpie_search::SettlingProgress;
use magpie_settings::Method;

use crate::json;
use crate::live::Live;
use crate::output::Output;
use crate::session::{self, Stop};
use crate::words::{count, duration, or_dash, quoted};

/// Mentions what people who resume a run, or name their own demonstrations, may not expect.
pub fn mention_surprises(run: &TrainRun, output: Output) {
    session::mention_kernel(run.other_kernel(), output);
    session::mention_missing_rows(run.missing_rows(), output);
    let Some(demonstrations) = run.demonstrations() else { return };
    let (theirs, ours) = (&demonstrations.columns().about.task, &run.config().task);
    if !theirs.is_empty() && theirs != ours {
        output.note(&format!("the demonstrations are of {theirs}, but the task is {ours}"));
    }
}

/// What is about to be done, for programs.
pub fn started(
    run: &TrainRun,
    command: &str,
    name: Option<&str>,
    how: Option<(Method, String)>,
) -> json::Started {
    let (config, state) = (run.config(), run.search().state());
    let (method, budget) = how.map(|(method, budget)| (method.to_string(), budget)).unzip();
    json::Started {
        command: command.to_owned(),
        run: name.map(str::to_owned),
        folder: run.directory().path().display().to_string(),
        task: config.task.clone(),
        world: world_of(run).in_words(),
        measure: Some(config.measure.clone()),
        reward: Some(config.reward.model.to_string()),
        curiosity: Some(config.search.curiosity.weight),
        seed: config.seed,
        method,
        budget,
        threads: rayon::current_num_threads(),
        environments: Some(config.search.environments),
        cells: Some(state.archives.cells().count()),
        iterations: Some(config.iterations),
        made: Some(state.iteration),
        steps: Some(magpie_run::train::Config { world: world_of(run), ..config.clone() }.most_env_steps()),
    }
}

/// The world of a run, its files as seen from here.
pub fn world_of(run: &TrainRun) -> magpie_run::EnvOverrides {
    run.config().world.seen_from_outside(run.directory().path())
}

/// What a search has found so far, for programs.
pub fn result(run: &TrainRun) -> json::SearchResult {
    let state = run.search().state();
    let found = Found::of(run);
    let file = |name: &str| run.directory().file(name).display().to_string();
    json::SearchResult {
        task: run.config().task.clone(),
        iterations: state.iteration,
        steps: state.env_steps,
        verified: found.verified.as_ref().map(json::Verified::from),
        scores: (&found.stored).into(),
        archive: file("archive.safetensors"),
        picture: file("plots/archive.png"),
        metrics: file("metrics.csv"),
        learned_from: learned_from(run, &found),
    }
}

/// What the archive of a run holds.
struct Found {
    /// As stored.
    stored: Metrics,
    /// What its elites are worth in fresh episodes, if the run has been settled.
    verified: Option<Reevaluation>,
    /// Returns of the elites, as stored.
    returns: Vec<f64>,
}

impl Found {
    fn of(run: &TrainRun) -> Found {
        match run.settled() {
            Some(SettledArchive { stored, verified }) => Found {
                stored: stored.metrics(),
                verified: Some(verified),
                returns: stored.elites.iter().map(|elite| elite.objective).collect(),
            },
            None => Found {
                stored: run.search().metrics(),
                verified: None,
                returns: run.search().state().archives.elites().map(|elite| elite.entry.objective).collect(),
            },
        }
    }
}

/// How the archive compares with what it was learned from, where the true returns of that are known.
fn learned_from(run: &TrainRun, found: &Found) -> Option<json::LearnedFrom> {
    let columns = run.demonstrations()?.columns();
    let episodes = &columns.episodes;
    let returns: Vec<f64> = episodes.iter().map(|episode| episode.true_return).collect::<Option<_>>()?;
    let return_min = returns.iter().copied().reduce(f64::min)?;
    Some(json::LearnedFrom {
        demonstrations: returns.len(),
        every: run.config().reward.thinning,
        return_min,
        return_max: returns.iter().copied().reduce(f64::max)?,
        // Sums of another program's rewards compare with nothing here.
        elites_as_good: columns
            .about
            .foreign
            .is_none()
            .then(|| found.returns.iter().filter(|&&objective| objective >= return_min).count()),
    })
}

/// What a search has found so far, for people.
pub fn summary(out: &mut impl Write, run: &TrainRun) -> std::io::Result<()> {
    let path = run.directory().path();
    let (folder, typed) = (path.display(), quoted(path));
    let (found, made) = (Found::of(run), run.search().state().iteration);
    let cells = run.search().state().archives.cells().count();
    let scores = |m: &Metrics| {
        format!(
            "{} of {cells} cells filled ({:.1} %), QD-Score {:.0}{}, best return {}, mean {}",
            m.elites,
            100.0 * m.coverage,
            m.qd_score,
            with_offset(run, m),
            or_dash(m.best, 0),
            or_dash(m.mean, 0),
        )
    };
    let title = format!("{} after {}", run.config().task, count(made, "iteration"));
    match &found.verified {
        Some(verified) => {
            writeln!(out, "{title}")?;
            let episodes = count(verified.episodes, "fresh episode");
            writeln!(out, "verified {} ({episodes} for each elite)", scores(&verified.metrics))?;
            writeln!(out, "stored   {}", scores(&found.stored))?;
        }
        None => writeln!(out, "{title}: {}", scores(&found.stored))?,
    }
    if let Some(learned) = learned_from(run, &found) {
        writeln!(out, "learned  {}", beside_demonstrations(&learned))?;
    }
    writeln!(out, "archive  {folder}/archive.safetensors")?;
    writeln!(out, "picture  {folder}/plots/archive.png")?;
    writeln!(out, "metrics  {folder}/metrics.csv")?;
    if !run.is_finished() {
        return Ok(());
    }
    writeln!(out, "next     magpie eval {typed} · magpie archive info {typed}")?;
    writeln!(out, "further  magpie train --resume {typed} --iterations {}", 2 * made)
}

/// The score that only grows, in parentheses, where the other may fall: more than one elite in ten has a negative return.
fn with_offset(run: &TrainRun, m: &Metrics) -> String {
    let archives = &run.search().state().archives;
    let negative = archives.elites().filter(|elite| elite.entry.objective < 0.0).count();
    match 10 * negative > archives.result().len() {
        true => format!(" ({:.0} with offset)", m.qd_score_offset),
        false => String::new(),
    }
}

fn beside_demonstrations(learned: &json::LearnedFrom) -> String {
    let &json::LearnedFrom { demonstrations, every, return_min, return_max, elites_as_good } = learned;
    let steps = match every {
        1 => "all steps".to_owned(),
        2 => "every 2nd step".to_owned(),
        3 => "every 3rd step".to_owned(),
        every => format!("every {every}th step"),
    };
    let returns = match demonstrations {
        1 => format!("return {return_min:.0}"),
        _ => format!("returns {return_min:.0} to {return_max:.0}"),
    };
    let demonstrations = count(demonstrations, "demonstration");
    match elites_as_good {
        Some(elites) => format!(
            "from {demonstrations} ({steps}; {returns}); elites that match or beat the worst one: {elites}"
        ),
        None => format!(
            "from {demonstrations} ({steps}; {returns}, by the rewards in their file, not the task's)"
        ),
    }
}

/// How far a reward model is that learns before the search: ten lines at most.
pub struct Preparation<'a> {
    model: ModelName,
    stop: &'a Stop,
    output: Output,
    tenths: usize,
}

impl<'a> Preparation<'a> {
    pub fn new(model: ModelName, stop: &'a Stop, output: Output) -> Preparation<'a> {
        Preparation { model, stop, output, tenths: 0 }
    }

    pub fn show(&mut self, progress: magpie_rewards::Progress) -> ControlFlow<()> {
        let magpie_rewards::Progress { done, total, loss } = progress;
        let tenths = 10 * done / total.max(1);
        if tenths > self.tenths {
            self.tenths = tenths;
            let model = self.model;
            self.output
                .say(&format!("training the {model} reward model: epoch {done} of {total}, loss {loss:.4}"));
            let model = model.to_string();
            self.output.progress(&json::Preparation { model, epochs: done, of: total, loss });
        }
        self.stop.go_on()
    }
}

/// How far settling is: a line for each tenth of a round.
pub struct SettlingDisplay<'a> {
    stop: &'a Stop,
    output: Output,
    /// Round and tenth of the last line.
    last: Option<(u32, bool, usize)>,
}

impl<'a> SettlingDisplay<'a> {
    pub fn new(stop: &'a Stop, output: Output) -> SettlingDisplay<'a> {
        SettlingDisplay { stop, output, last: None }
    }

    pub fn show(&mut self, progress: SettlingProgress) -> ControlFlow<()> {
        let SettlingProgress { round, verifying, done, of, steps } = progress;
        let tenth = Some((round, verifying, 10 * done / of.max(1)));
        if self.last != tenth {
            self.last = tenth;
            let stage = if verifying { "verifying".to_owned() } else { format!("settling, round {round}") };
            self.output.say(&format!("{stage}: {done} of {of} solutions evaluated again"));
            self.output.progress(&json::Settling { round, verifying, done, of, steps });
        }
        if self.stop.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// How fast work is done, whatever it is counted in.
pub struct Pace {
    started: Instant,
    /// What had been done at the start.
    before: f64,
}

impl Pace {
    /// From now on.
    pub fn from(before: f64) -> Pace {
        Pace { started: Instant::now(), before }
    }

    /// Work in a second.
    pub fn rate(&self, done: f64) -> f64 {
        (done - self.before) / self.started.elapsed().as_secs_f64().max(1e-9)
    }

    /// Seconds until `total` is done.
    pub fn left(&self, done: f64, total: f64) -> f64 {
        (total - done).max(0.0) / self.rate(done)
    }
}

/// Live lines on a terminal; elsewhere plain lines, one an iteration or one in a while; for programs, an event an iteration.
pub struct Display {
    live: Live,
    output: Output,
    /// Name of the run, if there are several.
    name: Option<String>,
    /// Before everything else in a line.
    title: String,
    /// After the time that is left.
    of_all: &'static str,
    pace: Pace,
    /// Time between plain lines.
    every: Duration,
    printed: Option<Instant>,
}

impl Display {
    pub fn new(run: &TrainRun, output: Output) -> Display {
        let state = run.search().state();
        Display {
            live: Live::new(run.config().iterations, state.iteration, "", output),
            output,
            name: None,
            title: String::new(),
            of_all: "",
            pace: Pace::from(state.env_steps as f64),
            every: Duration::ZERO,
            printed: None,
        }
    }

    /// For one of many runs: `number`, as in "2 of 8", and its name. The time left is that of all; a plain line every so often.
    pub fn one_of_many(self, number: &str, name: &str, every: Duration) -> Display {
        let title = format!("run {number}, {name}");
        Display { name: Some(name.to_owned()), title, of_all: " in all", every, ..self }
    }

    pub fn show(&mut self, run: &TrainRun, progress: &Progress, seconds_left: f64) {
        let (report, m) = (&progress.report, &progress.report.metrics);
        self.output.progress(&json::Iteration {
            run: self.name.clone(),
            metrics: json::Columns(row(progress)),
            saved: progress.saved,
            seconds_left: Some(seconds_left),
        });
        let columns = [
            format!("QD-Score {:9.0}{}", m.qd_score, with_offset(run, m)),
            format!("coverage {:5.2} %", 100.0 * m.coverage),
            format!("best {:>7}", or_dash(m.best, 1)),
            format!("mean {:>7}", or_dash(m.mean, 1)),
            format!("new cells {:3}", report.new_cells),
            format!("restarts {:2}", report.restarts()),
        ];
        let rate = self.pace.rate(report.env_steps as f64);
        let left = format!("{} left{}", duration(seconds_left), self.of_all);
        let mut head = vec![left, format!("{rate:.0} steps/s")];
        if !self.title.is_empty() {
            head.insert(0, self.title.clone());
        }
        if self.live.is_shown() {
            self.live.show(report.iteration, &head, &columns);
        } else if self.printed.is_none_or(|at| at.elapsed() >= self.every) || run.is_finished() {
            self.printed = Some(Instant::now());
            let gap = if self.title.is_empty() { "" } else { "  " };
            self.output.say(&format!(
                "{}{gap}{:5}/{}  {}  {rate:6.0} steps/s  {} left{}",
                self.title,
                report.iteration,
                run.config().iterations,
                columns.join("  "),
                duration(seconds_left),
                self.of_all
            ));
        }
    }

    /// Above the live lines.
    pub fn warn(&self, warning: &str) {
        self.live.above(|| self.output.warn(warning));
    }

    pub fn close(&self) {
        self.live.close();
    }
}
