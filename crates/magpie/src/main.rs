//! The command line: a thin layer over the crates.

mod bench;

use clap::{Parser, Subcommand};

/// Turns a handful of demonstrations into an archive of many different, good ways to do a task.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure how fast this machine simulates each task.
    Bench(bench::Args),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Bench(args) => bench::run(&args),
    }
}
