//! `magpie sweep`: many searches, one after the other, here or on a cluster.

mod plan;
mod status;
mod submit;
mod watch;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use magpie_run::sweep::{Outcome, ShardChoice, Sweep, make};

use crate::json;
use crate::output::Output;
use crate::session;
use crate::words::quoted;

#[derive(clap::Args)]
#[command(subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    make: Option<Make>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Write a job for a cluster that makes the runs, with cores, memory and time from a short measurement.
    Submit(submit::Args),
    /// Say which runs are done, running, stale, failed or waiting, from any machine that sees their folder.
    Status(status::Args),
}

#[derive(clap::Args)]
struct Make {
    /// The sweep file (docs/sweep.md describes every key).
    file: PathBuf,
    /// Folder for the runs, one subfolder each. [default: runs/NAME, where NAME is that of the file]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Make only one part of the runs: 2/4 is the second of four; auto, or auto/COUNT, asks the job array (SLURM, Kubernetes).
    #[arg(long, value_name = "NUMBER/COUNT")]
    shard: Option<ShardChoice>,
    /// Check all runs and list them with their state; run nothing.
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run, estimate how long runs take on this machine, from one iteration of each kind of run.
    #[arg(long, requires = "dry_run")]
    measure: bool,
    /// Save a checkpoint every N iterations. [default: about once a minute]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: Option<u64>,
    /// Number of threads. [default: one per core that the process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<ExitCode> {
    match (&args.command, &args.make) {
        (Some(Command::Submit(args)), None) => submit::run(args, output),
        (Some(Command::Status(args)), None) => status::run(args, output).map(|()| ExitCode::SUCCESS),
        (None, Some(args)) => make_runs(args, output),
        (Some(_), Some(_)) => anyhow::bail!("what `submit` or `status` is to know comes after that word"),
        (None, None) => anyhow::bail!("name a sweep file"),
    }
}

/// Where the runs of a sweep file are if nothing else is said.
fn folder_of(file: &Path, out: Option<&Path>) -> PathBuf {
    let named = || Path::new("runs").join(file.file_stem().unwrap_or(file.as_os_str()));
    out.map_or_else(named, Path::to_owned)
}

fn make_runs(args: &Make, output: Output) -> anyhow::Result<ExitCode> {
    session::threads(args.threads, output)?;
    let shard = args.shard.map(|choice| choice.shard(|name| std::env::var(name).ok())).transpose()?;
    let sweep = Sweep::read(&args.file)?;
    sweep.notes().iter().for_each(|note| output.note(note));
    let out = folder_of(&args.file, args.out.as_deref());
    if args.dry_run {
        return plan::run(args, &sweep, &out, shard, output);
    }
    output.warn_all(&sweep.check()?);
    if let (Some(ShardChoice::Auto { .. }), Some(shard)) = (args.shard, shard) {
        output.note(&format!("this process makes shard {shard}"));
    }
    let runs = sweep.runs_of(shard.unwrap_or_default());
    let stop = session::stop_on_ctrl_c()?;
    let mut shown = watch::Shown {
        stop: &stop,
        output,
        folder: out.display().to_string(),
        runs: runs.len(),
        shard,
        preparation: None,
        display: None,
        settling: None,
    };
    let outcome = make(&runs, &out, args.checkpoint_every, &mut shown)?;
    summary(&outcome, runs.len(), &out, output)
}

fn summary(outcome: &Outcome, runs: usize, folder: &Path, output: Output) -> anyhow::Result<ExitCode> {
    let Outcome { done, in_use, failed, stopped } = outcome;
    let text = |out: &mut crate::screen::Screen<std::io::StdoutLock<'static>>| {
        writeln!(out, "{done} of {runs} runs are done; {}", folder.display())?;
        for run in in_use {
            writeln!(out, "skipped  {run}: another process is running it")?;
        }
        for (run, reason) in watch::reasons(failed) {
            writeln!(out, "failed   {run}: {reason}")?;
        }
        match done {
            _ if *stopped => writeln!(out, "Interrupted. To continue, repeat the command."),
            0 => Ok(()),
            _ => writeln!(out, "next     magpie report {}", quoted(folder)),
        }
    };
    let result = json::SweepResult {
        runs,
        done: *done,
        in_use: in_use.clone(),
        failed: failed.iter().map(|(run, _)| run.clone()).collect(),
    };
    let (folder, sweep) = (folder.display().to_string(), Some(result));
    if *stopped {
        let resume = Some(std::env::args().skip(1).fold("magpie".to_owned(), |command, argument| {
            format!("{command} {}", quoted(Path::new(&argument)))
        }));
        output.result(&json::Interrupted { run: None, folder, resume, search: None, sweep }, text)?;
        return Ok(ExitCode::from(session::INTERRUPTED));
    }
    output.result(&json::Finished { run: None, folder, search: None, policy: None, sweep }, text)?;
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
