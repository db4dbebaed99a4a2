//! `magpie archive`: what a search has found, for people and for other programs.

use std::io::Write;
use std::path::PathBuf;

use magpie_learn::Actions;
use magpie_run::operations::{
    ArchiveInfo, ExportFormat, OpenArchive, archive_info, export_archive, open_outline,
};

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Show what an archive holds.
    Info(Info),
    /// Write an archive in a form that other programs read.
    Export(Export),
}

#[derive(clap::Args)]
struct Info {
    /// The folder of a run, or its archive.safetensors.
    run: PathBuf,
}

#[derive(clap::Args)]
struct Export {
    /// The folder of a run, or its archive.safetensors.
    run: PathBuf,
    /// csv: one line an elite, with the columns of a pyribs archive. npz: one row a cell, with the arrays of a QDax
    /// repertoire, and the elites' observation normalisers as obs_mean and obs_var.
    #[arg(long, value_enum)]
    format: FormatArg,
    /// File to write; archive.csv or archive.npz beside the archive if not given.
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum FormatArg {
    Csv,
    Npz,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Info(info) => Ok(print(&archive_info(&open_outline(&info.run)?))?),
        Command::Export(export) => {
            let open = OpenArchive::open(&export.run)?;
            let format = match export.format {
                FormatArg::Csv => ExportFormat::Csv,
                FormatArg::Npz => ExportFormat::Npz,
            };
            let out = export.out.clone().unwrap_or_else(|| open.path.with_extension(format.extension()));
            export_archive(&open.archive, format, &out)?;
            writeln!(
                crate::screen::stdout(),
                "{} elites written to {}",
                open.archive.elites.len(),
                out.display()
            )?;
            Ok(())
        }
    }
}

fn print(info: &ArchiveInfo) -> std::io::Result<()> {
    let m = &info.metrics;
    let mut out = crate::screen::stdout().lock();
    writeln!(out, "{}, measured by {}, after {} iterations", info.task, info.measure, info.iteration)?;
    match &info.grid {
        Some(dims) => {
            let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
            writeln!(out, "cells            {} = {}", dims.join(" × "), info.cells)?;
        }
        None => writeln!(out, "cells            {}, those of a tessellation (CVT)", info.cells)?,
    }
    for (j, (name, [low, high])) in info.names.iter().zip(&info.ranges).enumerate() {
        writeln!(out, "  measure {j}      {name}, {low} to {high}")?;
    }
    writeln!(out, "elites           {} (coverage {:.2} %)", m.elites, 100.0 * m.coverage)?;
    writeln!(out, "QD-Score         {:.1}", m.qd_score)?;
    writeln!(out, "QD-Score, offset {:.1} (+{} a step)", m.qd_score_offset, info.qd_offset)?;
    let (Some(best), Some(mean), Some(length)) = (&info.best, m.mean, info.length) else {
        writeln!(out, "The archive is empty.")?;
        return Ok(());
    };
    let (cell, objective, iteration) = (&best.cell, best.objective, best.iteration);
    writeln!(out, "best             {objective:.1} in cell {cell}, found in iteration {iteration}")?;
    writeln!(out, "mean             {mean:.1}")?;
    writeln!(out, "mean length      {length:.1} steps")?;
    let sizes: Vec<String> = info.actor.sizes().iter().map(usize::to_string).collect();
    writeln!(out, "parameters       {} a policy, layers {}", info.parameters, sizes.join("–"))?;
    let manner = match info.actions {
        Actions::Sampled => "drawn",
        Actions::Mean => "mean",
    };
    writeln!(out, "actions          {manner}, when elites were evaluated")
}
