//! The command line: a thin layer over the crates.

mod adapt;
mod archive;
mod bench;
mod check;
mod clone;
mod demos;
mod drive;
mod envs;
mod eval;
mod hint;
mod json;
mod live;
mod npz;
mod output;
mod ppo;
mod replay;
mod report;
mod rollout;
mod run_args;
mod screen;
mod session;
mod settings;
mod settle;
mod shell;
mod single;
mod sweep;
mod train;
mod view;
mod words;
mod world;

use std::io::ErrorKind;
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};
use magpie_simd::{ISA_VARIABLE, Isa};

use crate::output::Output;

/// From a handful of demonstrations to an archive of many different, good policies.
#[derive(Parser)]
#[command(name = "magpie", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: Output,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 failed; 2 wrong usage, such as an unknown option; 130 interrupted, and what was found is saved.";

#[derive(Subcommand)]
enum Command {
    /// Search for many different, good policies; the result is an archive.
    Train(train::Args),
    /// Run many searches from one file, here or shared by several machines; can be interrupted and resumed.
    Sweep(sweep::Args),
    /// Settle the archive of a search: evaluate its elites again until each lies in its cell, and verify it.
    Settle(settle::Args),
    /// Evaluate a trained policy, or elites of an archive, over whole episodes.
    Eval(eval::Args),
    /// Find the elites of an archive that cope with a changed world: damage, friction, gravity, hurdles.
    Adapt(adapt::Args),
    /// Show or export the archive of a search.
    Archive(archive::Args),
    /// Check that the files of a run are intact: checksums, rows, and whether they belong together.
    Check(check::Args),
    /// Look at runs: a local page with the archive, the gait of each elite, and what breaks it.
    View(view::Args),
    /// Run one episode of elites and write it as numbers, as a picture or as a page.
    Replay(replay::Args),
    /// Compare runs: a page with curves, archives, tables and tests, and each of them as a file.
    Report(report::Args),
    /// Make, import or show demonstrations, from which rewards are learned.
    Demos(demos::Args),
    /// Train one policy with PPO on a task's own reward.
    Ppo(ppo::Args),
    /// Train one policy to act as in demonstrations, without a reward: behaviour cloning.
    Clone(clone::Args),
    /// List the tasks with their sizes, time steps and measures.
    Envs(envs::Args),
    /// Explain the settings of a search, or of another run: defaults, ranges and meaning.
    Settings(settings::Args),
    /// Replay recorded actions from given states.
    Rollout(rollout::Args),
    /// Measure how fast this machine simulates each task.
    Bench(bench::Args),
    /// Print a completion script for a shell.
    Completions(shell::CompletionsArgs),
    /// Write manual pages.
    Man(shell::ManArgs),
}

fn main() -> ExitCode {
    let Cli { command, output } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            if e.use_stderr() {
                let text = e.to_string();
                let problem = text.split("\n\nFor more information").next().unwrap_or_default();
                let message = problem.trim_start_matches("error: ").trim_end().to_owned();
                let event = json::Error { message, hint: None, exit_code: 2 };
                let _ = Output::of(std::env::args_os()).event(&event);
            }
            e.exit();
        }
    };
    // Every part of the program asks for the instruction set by itself; a wrong name is reported once, here.
    let isa = Isa::chosen().with_context(|| format!("environment variable {ISA_VARIABLE}"));
    let result = isa.and_then(|_| match command {
        Command::Train(args) => train::run(&args, output),
        Command::Sweep(args) => sweep::run(&args, output),
        Command::Settle(args) => settle::run(&args, output),
        Command::Ppo(args) => ppo::run(&args, output),
        Command::Check(args) => check::run(&args, output),
        Command::Clone(args) => clone::run(&args, output),
        Command::Eval(args) => eval::run(&args, output).map(|()| ExitCode::SUCCESS),
        Command::Adapt(args) => adapt::run(&args, output).map(|()| ExitCode::SUCCESS),
        Command::Archive(args) => archive::run(&args, output).map(|()| ExitCode::SUCCESS),
        Command::View(args) => view::run(&args, output).map(|()| ExitCode::SUCCESS),
        Command::Replay(args) => replay::run(&args, output).map(|()| ExitCode::SUCCESS),
        Command::Report(args) => report::run(&args, output).map(|()| ExitCode::SUCCESS),
        Command::Demos(args) => demos::run(&args, output).map(|()| ExitCode::SUCCESS),
        Command::Envs(args) => envs::run(&args, output).map(|()| ExitCode::SUCCESS),
        Command::Settings(args) => settings::run(&args, output).map(|()| ExitCode::SUCCESS),
        Command::Rollout(args) => rollout::run(&args, output).map(|()| ExitCode::SUCCESS),
        Command::Bench(args) => bench::run(&args, output).map(|()| ExitCode::SUCCESS),
        Command::Completions(args) => shell::completions(&args, Cli::command()).map(|()| ExitCode::SUCCESS),
        Command::Man(args) => shell::man(&args, Cli::command(), output).map(|()| ExitCode::SUCCESS),
    });
    match result {
        // Whoever reads our output has seen enough, as in `magpie envs | head -1`.
        Err(e) if e.downcast_ref().is_some_and(|e: &std::io::Error| e.kind() == ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(e) => {
            output.error(&format!("{e:#}"), hint::hint(&e).as_deref());
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
