//! `magpie demos`: what rewards are learned from.

mod import;
mod info;
mod make;
mod table;

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Let elites of an archive demonstrate, or a single policy: one typical episode each.
    Make(make::Args),
    /// Show what a file of demonstrations holds, and where they lie in the space of measures.
    Info(info::Args),
    /// Read demonstrations from elsewhere: the paper's .pt, the npz of the library imitation, Minari's hdf5.
    Import(import::Args),
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Make(args) => make::run(args),
        Command::Info(args) => info::run(args),
        Command::Import(args) => import::run(args),
    }
}
