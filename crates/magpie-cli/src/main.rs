//! The command line: a thin layer over the crates.

mod archive;
mod bench;
mod clone;
mod demos;
mod drive;
mod envs;
mod eval;
mod hint;
mod npz;
mod ppo;
mod report;
mod rollout;
mod session;
mod settings;
mod sweep;
mod train;
mod world;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    /// Train one policy to act as in demonstrations, without a reward: behaviour cloning.
    Clone(clone::Args),
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
    /// Compare runs: a page with curves, archives, tables and tests, and all of it as files.
    Report(report::Args),
    /// What can be set about a search: defaults, ranges, and what each setting does.
    Settings(settings::Args),
    /// Measure how fast this machine simulates each task.
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Envs(args) => envs::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Rollout(args) => rollout::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Ppo(args) => ppo::run(&args),
        Command::Clone(args) => clone::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Demos(args) => demos::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Archive(args) => archive::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Eval(args) => eval::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Report(args) => report::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Settings(args) => settings::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Bench(args) => bench::run(&args).map(|()| ExitCode::SUCCESS),
    };
    match result {
        // Whoever reads our output has seen enough, as in `magpie envs | head -1`.
        Err(e) if e.downcast_ref().is_some_and(|e: &std::io::Error| e.kind() == ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(e) => {
            // If even this cannot be written, the exit code has to do.
            let mut err = std::io::stderr();
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
