//! `magpie sweep status`: how the runs of a sweep stand.

use std::io::Write;
use std::path::PathBuf;

use magpie_run::sweep::{RunStatus, Standing, Sweep, status_of_folder};

use super::folder_of;
use crate::json;
use crate::output::Output;
use crate::words::{count, duration};

#[derive(clap::Args)]
pub struct Args {
    /// The sweep file; or the folder of its runs, which knows those alone that have begun.
    #[arg(value_name = "FILE|FOLDER")]
    sweep: PathBuf,
    /// With a sweep file: folder of the runs. [default: runs/NAME, where NAME is that of the file]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    let (folder, runs) = match args.sweep.is_dir() {
        true if args.out.is_some() => {
            anyhow::bail!("--out goes with a sweep file, and {} is a folder", args.sweep.display())
        }
        true => (args.sweep.clone(), status_of_folder(&args.sweep)?),
        false => {
            let out = folder_of(&args.sweep, args.out.as_deref());
            let runs = Sweep::read(&args.sweep)?.status(&out);
            (out, runs)
        }
    };
    for status in &runs {
        let owner = status.standing.owner();
        output.event(&json::RunStatus {
            run: status.run.clone(),
            folder: status.folder.display().to_string(),
            state: status.standing.name().to_owned(),
            made: status.made,
            iterations: status.iterations,
            host: owner.map(|owner| owner.host.clone()),
            process: owner.map(|owner| owner.process),
            heartbeat: owner.map(|owner| owner.silent.as_secs_f64()),
            message: match &status.standing {
                Standing::Failed(message) => Some(message.clone()),
                _ => None,
            },
        })?;
    }
    let number = |name: &str| runs.iter().filter(|status| status.standing.name() == name).count();
    let [done, running, stale, failed, waiting] =
        ["done", "running", "stale", "failed", "waiting"].map(number);
    let event = json::SweepStatus {
        folder: folder.display().to_string(),
        runs: runs.len(),
        done,
        running,
        stale,
        failed,
        waiting,
    };
    output.result(&event, |screen| {
        let width = runs.iter().map(|status| status.run.len()).max().unwrap_or(0).max(3);
        writeln!(screen, "{:<width$}  state    iterations", "run")?;
        for status in &runs {
            let made = match status.iterations {
                Some(iterations) => format!("{}/{iterations}", status.made),
                None => status.made.to_string(),
            };
            let line = format!(
                "{:<width$}  {:<7}  {made:<10}  {}",
                status.run,
                status.standing.name(),
                about(status)
            );
            writeln!(screen, "{}", line.trim_end())?;
        }
        let runs = count(runs.len(), "run");
        writeln!(
            screen,
            "{runs} in {}: {done} done, {running} running, {stale} stale, {failed} failed, {waiting} waiting",
            folder.display()
        )
    })?;
    Ok(())
}

/// Who has a run, or why it failed.
fn about(status: &RunStatus) -> String {
    match &status.standing {
        Standing::Running(owner) | Standing::Stale(owner) => {
            let ago = duration(owner.silent.as_secs_f64());
            format!("{}, process {}, heartbeat {ago} ago", owner.host, owner.process)
        }
        Standing::Failed(message) => message.lines().next().unwrap_or_default().to_owned(),
        Standing::Done | Standing::Waiting => String::new(),
    }
}
