//! `magpie demos make`: elites of an archive demonstrate.

use std::io::Write;
use std::path::PathBuf;

use magpie_run::operations::{Choice, DemonstrateOptions, OpenArchive, demonstrate, may_write};

use super::table;
use crate::eval::ActionsArg;

#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run, or its archive.safetensors. The world is that of the run.
    run: PathBuf,
    /// How many demonstrations.
    #[arg(short, long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    number: u32,
    /// Which of the best elites demonstrate.
    #[arg(long, value_enum, default_value = "diverse")]
    select: Select,
    /// How many elites are the best ones.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,
    /// Seed of the starts, and of a random choice.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Keep only every Nth step, for a small file; a reward is learned from every 20th unless told otherwise.
    #[arg(long, value_name = "STEPS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// How to act: the mean action, or one drawn as in training.
    #[arg(long, value_enum, default_value = "mean")]
    actions: ActionsArg,
    /// File to write; demos.safetensors beside the archive if not given.
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Select {
    /// The best one, and then again and again the one that behaves least like those chosen.
    Diverse,
    /// The ones with the highest returns.
    Best,
    /// Any.
    Random,
}

impl Args {
    fn options(&self) -> DemonstrateOptions {
        DemonstrateOptions {
            number: self.number,
            choice: match self.select {
                Select::Diverse => Choice::Diverse,
                Select::Best => Choice::Best,
                Select::Random => Choice::Random,
            },
            top: self.top,
            seed: self.seed,
            every: self.every,
            actions: self.actions.into(),
        }
    }
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let open = OpenArchive::open(&args.run)?;
    let out = args.out.clone().unwrap_or_else(|| open.path.with_file_name("demos.safetensors"));
    may_write(&out, &[&open.path])?;
    let demonstrations = demonstrate(&open, &args.options())?;
    demonstrations.save(&out)?;
    let mut screen = crate::screen::stdout().lock();
    table::write(&mut screen, &demonstrations)?;
    let (all, top, chosen) = (open.archive.elites.len(), args.top, args.number as usize);
    if all <= top as usize && all > chosen && !matches!(args.select, Select::Best) {
        writeln!(
            screen,
            "\nAll {all} elites were candidates (--top {top}): a lower --top leaves out poor ones."
        )?;
    }
    writeln!(screen, "\nwritten to {}", out.display())?;
    Ok(())
}
