//! `magpie demos make`: elites of an archive demonstrate.

use std::io::Write;
use std::path::PathBuf;

use magpie_run::operations::{Choice, DemonstrateOptions, OpenArchive, demonstrate, may_write};

use super::table;
use crate::eval::ActionsArg;
use crate::json;
use crate::output::Output;

#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run, or its archive.safetensors. Elites act in the world of the run.
    run: PathBuf,
    /// Number of demonstrations.
    #[arg(short, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    number: u32,
    /// Which elites to record, among the best ones.
    #[arg(long, value_enum, default_value = "diverse")]
    select: Select,
    /// Choose among this many best elites.
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,
    /// Seed of the start states and of --select random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Keep only every Nth step, to make the file smaller (training uses every 20th by default).
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Take the mean action, or draw one as in training.
    #[arg(long, value_enum, default_value = "mean")]
    actions: ActionsArg,
    /// File to write. [default: demos.safetensors beside the archive]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Select {
    /// The best one, then again and again the one that behaves least like those already chosen.
    Diverse,
    /// Those with the highest returns.
    Best,
    /// A random choice.
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

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    let open = OpenArchive::open(&args.run)?;
    let out = args.out.clone().unwrap_or_else(|| open.path.with_file_name("demos.safetensors"));
    may_write(&out, &[&open.path])?;
    let demonstrations = demonstrate(&open, &args.options())?;
    demonstrations.save(&out)?;
    output.result(&table::describe(&demonstrations), |out| table::write(out, &demonstrations))?;
    let (all, top, chosen) = (open.archive.elites.len(), args.top, args.number as usize);
    if all <= top as usize && all > chosen && !matches!(args.select, Select::Best) {
        output.note(&format!(
            "all {all} elites were candidates (--top {top}), poor ones too; a lower --top leaves those out"
        ));
    }
    let path = out.display().to_string();
    output.result(&json::Written { path: path.clone() }, |out| writeln!(out, "\nwritten to {path}"))?;
    Ok(())
}
