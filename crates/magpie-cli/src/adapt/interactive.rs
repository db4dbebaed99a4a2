//! Trials on a real robot: the program names an elite, somebody runs it and types in what it returned.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use anyhow::bail;
use magpie_run::adapt::{Candidate, LogHead, Trial, TrialLog, TrialSearch, comparable, draw_predictions};
use magpie_run::operations::OpenArchive;
use magpie_run::{ArchiveOutline, SavedElite, write_whole};

use super::Args;
use crate::json;
use crate::output::Output;
use crate::screen::stderr;
use crate::words::{count, quoted};

/// The log in the folder of results.
const LOG: &str = "adaptation-trials.jsonl";
/// Trials at most, if nobody says how many.
const TRIALS: u32 = 20;

/// The elites of several archives, side by side.
struct Pool {
    open: Vec<OpenArchive>,
    /// Archive and place in it of each candidate.
    at: Vec<(usize, usize)>,
}

impl Pool {
    fn elite(&self, candidate: usize) -> (usize, &SavedElite) {
        let (archive, elite) = self.at[candidate];
        (archive, &self.open[archive].archive.elites[elite])
    }

    fn cell(&self, candidate: usize) -> String {
        let (archive, elite) = self.elite(candidate);
        self.open[archive].archive.about.cell_name(elite.cell)
    }
}

pub fn run(args: &Args, runs: &[PathBuf], output: Output) -> anyhow::Result<()> {
    let open: Vec<OpenArchive> = runs.iter().map(|run| OpenArchive::open(run)).collect::<Result<_, _>>()?;
    for (run, other) in runs.iter().zip(&open).skip(1) {
        if !comparable(&open[0].archive.about, &other.archive.about) {
            bail!(
                "{} and {} differ in task, measure or its ranges, so that their elites cannot be tried together; name \
                 archives of one task and measure",
                runs[0].display(),
                run.display()
            );
        }
    }
    let folder = args.folder(&open[0], 1)?;
    let mut candidates = Vec::new();
    let mut at = Vec::new();
    for (number, open) in open.iter().enumerate() {
        candidates.extend(Candidate::of(&open.archive.about, &open.archive.elites));
        at.extend((0..open.archive.elites.len()).map(|elite| (number, elite)));
    }
    let mut search = TrialSearch::new(candidates, args.settings())?;
    let pool = Pool { open, at };
    let archives = pool.open.iter().map(|open| ArchiveOutline::from(&open.archive).fingerprint()).collect();
    let head = LogHead { trials: 1, archives, settings: args.settings() };
    let path = folder.join(LOG);
    let mut log = TrialLog::open(&path, &head, pool.at.len())?;
    log.trials().iter().for_each(|&trial| search.record(trial));
    if !log.trials().is_empty() {
        let trials = count(log.trials().len() as u64, "trial");
        output.note(&format!("{} has {trials} from before; they count", path.display()));
    }
    let most = args.trials.unwrap_or(TRIALS) as usize;
    let mut lines = std::io::stdin().lock().lines();
    draw(args, &pool, &search, &folder)?;
    while !search.is_finished() && search.trials().len() < most {
        let candidate = search.next();
        ask(&pool, runs, &search, candidate, output)?;
        let Some(value) = answer(&mut lines)? else { break };
        let trial = Trial { candidate, value };
        log.append(trial, pool.at[candidate].0, pool.cell(candidate))?;
        search.record(trial);
        draw(args, &pool, &search, &folder)?;
    }
    let best = search.best();
    let (archive, _) = pool.elite(best);
    let event = json::TrialsEnded {
        trials: search.trials().len(),
        finished: search.is_finished(),
        run: runs[archive].display().to_string(),
        cell: pool.cell(best),
        predicted: search.predictions()[best].mean,
        log: path.display().to_string(),
    };
    output.result(&event, |out| {
        let trials = count(search.trials().len() as u64, "trial");
        let why = match (search.is_finished(), search.trials().len() >= most) {
            (true, _) => "the best of them is close to the best that is expected of any elite",
            (false, true) => "no more were asked for; --trials sets how many",
            (false, false) => "the same command continues",
        };
        writeln!(out, "{trials}: {why}")?;
        writeln!(
            out,
            "best known elite: cell {} of {}, expected to return {:.1}",
            event.cell, event.run, event.predicted
        )?;
        writeln!(out, "trials are in {}", event.log)
    })?;
    Ok(())
}

/// Says what to try.
fn ask(
    pool: &Pool,
    runs: &[PathBuf],
    search: &TrialSearch,
    candidate: usize,
    output: Output,
) -> std::io::Result<()> {
    let (archive, elite) = pool.elite(candidate);
    let (prediction, names) = (search.predictions()[candidate], &pool.open[archive].archive.about.names);
    let measured = |(name, &value): (&String, &f64)| json::Measured { name: name.clone(), value };
    let event = json::NextTrial {
        trial: search.trials().len() + 1,
        run: runs[archive].display().to_string(),
        cell: pool.cell(candidate),
        measures: names.iter().zip(&elite.measures).map(measured).collect(),
        predicted: prediction.mean,
        deviation: prediction.deviation,
    };
    output.result(&event, |out| {
        let measures: Vec<String> =
            event.measures.iter().map(|m| format!("{} {:.3}", m.name, m.value)).collect();
        writeln!(
            out,
            "trial {}: cell {} of {} ({}), expected to return {:.1} ± {:.1}",
            event.trial,
            event.cell,
            quoted(&runs[archive]),
            measures.join(", "),
            event.predicted,
            event.deviation
        )?;
        out.flush()
    })
}

/// A finite number from the next lines; `None` at their end. What is no number is answered with words.
fn answer(lines: &mut impl Iterator<Item = std::io::Result<String>>) -> std::io::Result<Option<f64>> {
    let mut err = stderr();
    loop {
        let _ = write!(err, "return: ");
        let _ = err.flush();
        let Some(line) = lines.next().transpose()? else {
            let _ = writeln!(err, "end of input: stopped; what was typed in is saved");
            return Ok(None);
        };
        let text = line.trim();
        let problem = match text.parse::<f64>() {
            Ok(value) if value.is_finite() => return Ok(Some(value)),
            Ok(_) => format!("{text} is not a finite number"),
            Err(_) if text.is_empty() => "an empty line is no return".to_owned(),
            Err(_) => format!("{text:?} is no number"),
        };
        let remedy = "type what the trial returned, such as 812.5; if it could not be finished, what it returned until then; \
                      or end the input (Ctrl-D) to stop";
        let _ = writeln!(err, "{problem}; {remedy}");
    }
}

/// The picture of what is predicted now, of the first archive.
fn draw(args: &Args, pool: &Pool, search: &TrialSearch, folder: &std::path::Path) -> anyhow::Result<()> {
    if !args.maps {
        return Ok(());
    }
    let archive = &pool.open[0].archive;
    let values = archive.elites.iter().map(|elite| elite.objective);
    let scale = values
        .chain(search.trials().iter().map(|trial| trial.value))
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
    let number = search.trials().len();
    let title = format!("After {}", count(number as u64, "trial"));
    let into = folder.join("adaptation-trials-maps");
    std::fs::create_dir_all(&into)?;
    let figure = draw_predictions(&archive.about, &archive.elites, search, &title, scale)?;
    Ok(write_whole(&into.join(format!("{number:02}.png")), &figure.png()?)?)
}
