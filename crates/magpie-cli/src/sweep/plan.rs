//! `magpie sweep FILE --dry-run`: the runs, how far they are, and how long they take.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use magpie_run::RunError;
use magpie_run::sweep::{Estimate, Run, Shard, State, Sweep};

use super::Make;
use crate::drive::Preparation;
use crate::json;
use crate::output::Output;
use crate::session::{self, Stop};
use crate::words::{count, duration};

pub fn run(
    args: &Make,
    sweep: &Sweep,
    out: &Path,
    shard: Option<Shard>,
    output: Output,
) -> anyhow::Result<ExitCode> {
    let seconds = match args.measure {
        true => {
            sweep.check()?;
            let Some(estimates) = measure(sweep, &session::stop_on_ctrl_c()?, output)? else {
                return Ok(ExitCode::from(session::INTERRUPTED));
            };
            Some(estimates.into_iter().map(|estimate| estimate.seconds).collect::<Vec<_>>())
        }
        false => None,
    };
    let shards = sweep.shards(shard.unwrap_or_default().of);
    show(plan(sweep, out, &shards, seconds.as_deref()), out, shard, output)?;
    // After the table, so that it can be seen before there are demonstrations.
    output.warn_all(&sweep.check()?);
    Ok(ExitCode::SUCCESS)
}

/// What each run takes on this machine; `None` if interrupted.
pub fn measure(sweep: &Sweep, stop: &Stop, output: Output) -> anyhow::Result<Option<Vec<Estimate>>> {
    let mut preparation: Option<Preparation> = None;
    let measured = sweep.measure(
        &mut |run| output.say(&format!("measuring one iteration of {}", run.name)),
        &mut |run, progress| match progress {
            Some(progress) => preparation
                .get_or_insert_with(|| Preparation::new(run.config.reward.model, stop, output))
                .show(progress),
            None => {
                preparation = None;
                stop.go_on()
            }
        },
    );
    match measured {
        Err(RunError::Stopped) => Ok(None),
        measured => Ok(Some(measured?)),
    }
}

/// A run as the dry run lists it.
struct Plan<'a> {
    run: &'a Run,
    folder: PathBuf,
    state: Result<State, RunError>,
    shard: usize,
    steps: u64,
    /// At most, on this machine.
    seconds: Option<f64>,
}

fn plan<'a>(sweep: &'a Sweep, out: &Path, shards: &[usize], seconds: Option<&[f64]>) -> Vec<Plan<'a>> {
    let runs = sweep.runs().iter().zip(shards).enumerate();
    runs.map(|(i, (run, &shard))| {
        let folder = out.join(&run.name);
        let (state, steps) = (run.state(&folder), run.config.most_env_steps());
        Plan { run, folder, state, shard, steps, seconds: seconds.map(|seconds| seconds[i]) }
    })
    .collect()
}

/// All runs, how far they are, and who makes them.
fn show(plans: Vec<Plan<'_>>, out: &Path, shard: Option<Shard>, output: Output) -> anyhow::Result<()> {
    for plan in &plans {
        let (state, made) = match &plan.state {
            Ok(State::ToDo) => ("to do", 0),
            Ok(State::HalfDone(made)) => ("half done", *made),
            Ok(State::Done) => ("done", plan.run.config.iterations),
            Err(_) => ("refused", 0),
        };
        output.event(&json::Planned {
            run: plan.run.name.clone(),
            folder: plan.folder.display().to_string(),
            state: state.to_owned(),
            made,
            iterations: plan.run.config.iterations,
            steps: plan.steps,
            shard: plan.shard,
            seconds: plan.seconds,
        })?;
    }
    let sum = |of: Option<Shard>| {
        let plans = plans.iter().filter(move |plan| of.is_none_or(|of| plan.shard == of.number));
        let steps: f64 = plans.clone().map(|plan| plan.steps as f64).sum();
        (plans.clone().count(), steps, plans.map(|plan| plan.seconds).sum::<Option<f64>>())
    };
    let (runs, steps, seconds) = sum(shard);
    let folder = out.display().to_string();
    let named = shard.map(|shard| shard.to_string());
    output.result(&json::Plan { folder, runs, shard: named, steps, seconds }, |screen| {
        let width = plans.iter().map(|plan| plan.run.name.len()).max().unwrap_or(0).max(3);
        let time = |seconds: Option<f64>| seconds.map_or(String::new(), |s| format!("  {:>10}", duration(s)));
        write!(screen, "{:<width$}  {:>15}  {:>9}", "run", "state", "steps")?;
        write!(screen, "{}", if seconds.is_some() { format!("  {:>10}", "at most") } else { String::new() })?;
        writeln!(screen, "{}", if shard.is_some() { "  shard" } else { "" })?;
        for plan in &plans {
            let state = match &plan.state {
                Ok(State::ToDo) => "to do".to_owned(),
                Ok(State::HalfDone(made)) => format!("{made}/{}", plan.run.config.iterations),
                Ok(State::Done) => "done".to_owned(),
                Err(_) => "refused".to_owned(),
            };
            let steps = plan.steps as f64;
            write!(screen, "{:<width$}  {state:>15}  {steps:>9.2e}{}", plan.run.name, time(plan.seconds))?;
            match shard {
                Some(shard) => writeln!(screen, "  {}/{}", plan.shard, shard.of)?,
                None => writeln!(screen)?,
            }
        }
        let on_this_machine = |seconds: Option<f64>| {
            seconds.map_or(String::new(), |seconds| format!(", {} on this machine", duration(seconds)))
        };
        let (all, all_steps, all_seconds) = sum(None);
        let (all, all_seconds) = (count(all, "run"), on_this_machine(all_seconds));
        writeln!(
            screen,
            "{all} in {}, at most {all_steps:.2e} environment steps{all_seconds}",
            out.display()
        )?;
        if let Some(shard) = shard {
            let (runs, seconds) = (count(runs, "run"), on_this_machine(seconds));
            writeln!(screen, "shard {shard}: {runs}, at most {steps:.2e} environment steps{seconds}")?;
        }
        Ok(())
    })?;
    plans.into_iter().find_map(|plan| plan.state.err()).map_or(Ok(()), |reason| Err(reason.into()))
}
