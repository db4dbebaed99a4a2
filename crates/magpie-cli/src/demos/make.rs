//! `magpie demos make`: elites of an archive demonstrate, or a single policy does.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use magpie_learn::Actions;
use magpie_run::operations::{
    Choice, DemonstrateOptions, Demonstrated, EliteOptions, Mismatch, OpenArchive, Recorded, Skipped,
    demonstrate, demonstrate_policy, holds_archive, may_write,
};

use super::table;
use crate::eval::ActionsArg;
use crate::json;
use crate::output::Output;
use crate::words::count;

#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run, its archive.safetensors or its policy.safetensors. Policies act in the world of the run.
    run: PathBuf,
    /// Number of demonstrations.
    #[arg(short, long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    number: u32,
    /// Fresh episodes for each demonstration; the one nearest to their mean measures and return is recorded.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    episodes: u32,
    /// Of an archive, which elites to record, among the best ones. [default: diverse]
    #[arg(long, value_enum)]
    select: Option<Select>,
    /// Of an archive, choose among this many best elites. [default: 500]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Of an archive, skip elites whose fresh episodes do not reach this share of the stored return. [default: 0.8]
    #[arg(long, value_name = "SHARE")]
    min_return: Option<f64>,
    /// Of an archive, skip elites whose fresh measures are on average more than this many cells from the stored ones.
    /// [default: 3]
    #[arg(long, value_name = "CELLS")]
    max_cells: Option<f64>,
    /// How to measure the behaviour of a single policy: feet_contact, jump, angle, or a measure of its task file. An archive
    /// knows its own. [default: the task's first]
    #[arg(long)]
    measure: Option<String>,
    /// Seed of the start states, of drawn actions and of --select random.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Keep only every Nth step, to make the file smaller (training uses every 20th by default).
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Take the mean action, or draw one as in training. [default: elites as when they were found, policies of `magpie ppo`
    /// the mean]
    #[arg(long, value_enum)]
    actions: Option<ActionsArg>,
    /// File to write. [default: demos.safetensors beside the archive or the policy]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
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
        let usual = EliteOptions::default();
        DemonstrateOptions {
            number: self.number,
            episodes: self.episodes,
            seed: self.seed,
            every: self.every,
            actions: self.actions.map(Actions::from),
            elites: EliteOptions {
                choice: match self.select {
                    None => usual.choice,
                    Some(Select::Diverse) => Choice::Diverse,
                    Some(Select::Best) => Choice::Best,
                    Some(Select::Random) => Choice::Random,
                },
                top: self.top.unwrap_or(usual.top),
                min_return: self.min_return.unwrap_or(usual.min_return),
                max_cells: self.max_cells.unwrap_or(usual.max_cells),
            },
        }
    }

    /// The file to write, which may not be the one that is read.
    fn out(&self, read: &Path) -> anyhow::Result<PathBuf> {
        let out = self.out.clone().unwrap_or_else(|| read.with_file_name("demos.safetensors"));
        may_write(&out, &[read])?;
        Ok(out)
    }
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    let options = args.options();
    let (made, out, note) = if holds_archive(&args.run)? {
        if args.measure.is_some() {
            bail!("{} is an archive, which knows its measure: leave out --measure", args.run.display());
        }
        let open = OpenArchive::open(&args.run)?;
        let out = args.out(&open.path)?;
        let (all, top) = (open.archive.elites.len(), options.elites.top);
        let note = (all <= top as usize && all > args.number as usize && args.select != Some(Select::Best))
            .then(|| {
                format!("all {all} elites were candidates (--top {top}), poor ones too; a lower --top leaves those out")
            });
        (demonstrate(&open, &options)?, out, note)
    } else {
        if args.select.is_some()
            || args.top.is_some()
            || args.min_return.is_some()
            || args.max_cells.is_some()
        {
            bail!(
                "{} is one policy: --select, --top, --min-return and --max-cells are for archives",
                args.run.display()
            );
        }
        let policy = if args.run.is_dir() { args.run.join("policy.safetensors") } else { args.run.clone() };
        let out = args.out(&policy)?;
        (demonstrate_policy(&args.run, args.measure.as_deref(), &options)?, out, None)
    };
    output.warn_all(&made.warnings);
    made.demonstrations.save(&out)?;
    output.result(&table::describe(&made.demonstrations), |screen| {
        table::write(screen, &made.demonstrations)?;
        write_report(screen, &made)
    })?;
    if let Some(note) = note {
        output.note(&note);
    }
    let path = out.display().to_string();
    output.result(&json::Written { path: path.clone() }, |out| writeln!(out, "\nwritten to {path}"))?;
    Ok(())
}

/// Skipped elites that are listed; of the others only the number is said.
const LISTED: usize = 5;

/// What demonstrators do on the mean, and what was recorded of them.
fn write_report(out: &mut dyn Write, made: &Demonstrated) -> std::io::Result<()> {
    let rows: Vec<[String; 6]> = made.recorded.iter().map(row).collect();
    let head = ["cell", "stored", "fresh mean", "recorded", "length", "terminated"].map(str::to_owned);
    let width = rows.iter().map(|row| row[0].len()).max().unwrap_or(0).max(8);
    writeln!(
        out,
        "\nreturns of the demonstrators, stored and in fresh episodes, and of the recorded episode"
    )?;
    for [cell, stored, fresh, recorded, length, terminated] in std::iter::once(&head).chain(&rows) {
        writeln!(out, "{cell:>width$} {stored:>10} {fresh:>18} {recorded:>10} {length:>7} {terminated:>11}")?;
    }
    for Skipped { elite, fresh, reason } in made.skipped.iter().take(LISTED) {
        let stored = elite.objective;
        let why = match reason {
            Mismatch::Return => format!("mean return {:.1}, and {stored:.1} stored", fresh.mean_return),
            Mismatch::Measures(cells) => {
                format!("behaves differently: {cells:.1} cells from the stored measures")
            }
            Mismatch::NotFinite => "the simulation met numbers that are not finite".to_owned(),
        };
        writeln!(out, "skipped cell {}: {why}", elite.cell)?;
    }
    if made.skipped.len() > LISTED {
        let more = count(made.skipped.len() - LISTED, "elite");
        writeln!(out, "skipped {more} more, for the same reasons")?;
    }
    Ok(())
}

fn row(recorded: &Recorded) -> [String; 6] {
    let Recorded { elite, fresh, true_return, length, .. } = recorded;
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        or_dash(elite.as_ref().map(|elite| elite.cell.clone())),
        or_dash(elite.as_ref().map(|elite| format!("{:.1}", elite.objective))),
        format!("{:.1} ± {:.1}", fresh.mean_return, fresh.std_return),
        format!("{true_return:.1}"),
        length.to_string(),
        format!("{} of {}", fresh.terminated, fresh.episodes),
    ]
}
