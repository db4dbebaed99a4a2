//! The command line: a thin layer over the crates.

mod archive;
mod bench;
mod check;
mod demos;
mod drive;
mod envs;
mod eval;
mod hint;
mod npz;
mod ppo;
mod report;
mod rollout;
mod screen;
mod session;
mod settings;
mod sweep;
mod train;
mod world;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};
use magpie_simd::{ISA_VARIABLE, Isa};

/// Turns a handful of demonstrations into an archive of many different, good ways to do a task.
#[derive(Parser)]
#[command(name = "magpie", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the tasks: sizes, time step, measures and their ranges.
    Envs(envs::Args),
    /// Replay recorded actions from given states.
    Rollout(rollout::Args),
    /// Train one policy with PPO on a task's own reward.
    Ppo(ppo::Args),
    /// Search for many different, good policies; the result is an archive.
    Train(train::Args),
    /// Run many searches from one file, here or on several machines; can be stopped and started again.
    Sweep(sweep::Args),
    /// Make, import or look at demonstrations: what rewards are learned from.
    Demos(demos::Args),
    /// Run whole episodes with a trained policy, or with elites of an archive.
    Eval(eval::Args),
    /// Show or export the archive of a search.
    Archive(archive::Args),
    /// Check that the files of a run are what was written: checksums, rows, and what belongs together.
    Check(check::Args),
    /// Compare runs: a page with curves, archives, tables and tests, and all of it as files.
    Report(report::Args),
    /// What can be set about a search: defaults, ranges, and what each setting does.
    Settings(settings::Args),
    /// Measure how fast this machine simulates each task.
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    // Every part of the program asks for the instruction set by itself; a wrong name is answered once, here.
    let result = Isa::chosen().with_context(|| format!("environment variable {ISA_VARIABLE}")).map(|_| ());
    let result = result.and_then(|()| match command {
        Command::Envs(args) => envs::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Rollout(args) => rollout::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Ppo(args) => ppo::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Demos(args) => demos::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Archive(args) => archive::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Eval(args) => eval::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Check(args) => check::run(&args),
        Command::Report(args) => report::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Settings(args) => settings::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Bench(args) => bench::run(&args).map(|()| ExitCode::SUCCESS),
    });
    match result {
        // Whoever reads our output has seen enough, as in `magpie envs | head -1`.
        Err(e) if e.downcast_ref().is_some_and(|e: &std::io::Error| e.kind() == ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(e) => {
            // If even this cannot be written, the exit code has to do.
            let mut err = crate::screen::stderr();
            let _ = writeln!(err, "error: {e:#}");
            if let Some(hint) = hint::hint(&e) {
                let _ = writeln!(err, "hint: {hint}");
            }
            ExitCode::FAILURE
        }
        Ok(code) => code,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn options_of_all_commands_fit_together() {
        super::Cli::command().debug_assert();
    }
}
