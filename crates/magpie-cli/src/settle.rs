//! `magpie settle`: evaluates the archive of a search again until each elite lies in its cell, and verifies it.

use std::path::PathBuf;
use std::process::ExitCode;

use magpie_run::train::TrainRun;
use magpie_search::Effort;

use crate::drive::{SettlingDisplay, mention_surprises, result, summary};
use crate::json::{Finished, Interrupted};
use crate::output::Output;
use crate::session;
use crate::words::quoted;

#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run of `magpie train`. Its archive.safetensors becomes the settled one; the search itself is not
    /// changed, and `magpie train --resume` goes on as if it had never been settled.
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Evaluate until every elite has at least N episodes, then verify each with N fresh ones. [default: as many as
    /// the share search.settle of the run's environment steps allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    episodes: Option<u32>,
    /// Number of threads. [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<ExitCode> {
    session::threads(args.threads, output)?;
    let stop = session::stop_on_ctrl_c()?;
    let mut run = TrainRun::resume(&args.run, None)?;
    mention_surprises(&run, output);
    let folder = args.run.display().to_string();
    let enough = |settled: magpie_run::train::SettledArchive| {
        let elites = settled.stored.elites.iter().map(|elite| elite.episodes.unwrap_or_default());
        let least = elites.chain([settled.verified.episodes]).min().unwrap_or_default();
        args.episodes.is_none_or(|episodes| least >= episodes)
    };
    if run.settled().is_some_and(enough) {
        output.say(&format!("nothing to do: {folder} is settled and verified; --episodes asks for more"));
    } else {
        let effort = args.episodes.map_or_else(|| run.usual_effort(), Effort::Episodes);
        let mut display = SettlingDisplay::new(&stop, output);
        if run.settle(effort, &mut |progress| display.show(progress))?.is_break() {
            let episodes = args.episodes.map(|n| format!(" --episodes {n}")).unwrap_or_default();
            let command = format!("magpie settle {}{episodes}", quoted(&args.run));
            let (resume, search) = (Some(command.clone()), Some(result(&run)));
            output.result(&Interrupted { run: None, folder, resume, search, sweep: None }, |out| {
                use std::io::Write;
                writeln!(out, "Interrupted; the archive is as it was. To continue: {command}")
            })?;
            return Ok(ExitCode::from(session::INTERRUPTED));
        }
    }
    let event = Finished { run: None, folder, search: Some(result(&run)), policy: None, sweep: None };
    output.result(&event, |out| summary(out, &run))?;
    Ok(ExitCode::SUCCESS)
}
