//! `magpie demos`: what rewards are learned from.

mod import;
mod info;
mod make;
mod table;

use crate::output::Output;

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Record typical episodes of elites of an archive, or of a single policy, as demonstrations.
    Make(make::Args),
    /// Show what a file of demonstrations holds.
    Info(info::Args),
    /// Convert demonstrations of the paper, the imitation library, Minari or D4RL.
    Import(import::Args),
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    match &args.command {
        Command::Make(args) => make::run(args, output),
        Command::Info(args) => info::run(args, output),
        Command::Import(args) => import::run(args, output),
    }
}
