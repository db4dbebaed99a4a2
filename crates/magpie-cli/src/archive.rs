//! `magpie archive`: what a search has found, for people and for other programs.

use std::io::Write;
use std::path::{Path, PathBuf};

use magpie_learn::Actions;
use magpie_run::Reevaluation;
use magpie_run::operations::{
    ArchiveInfo, ExportFormat, ExportOptions, OpenArchive, archive_info, export_archive, open_outline,
};

use crate::json;
use crate::output::Output;
use crate::words::count;

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Show what an archive holds.
    Info(Info),
    /// Convert an archive for other programs.
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
    /// csv: one line per elite, with the columns of a pyribs archive. npz: one row per cell, with the arrays of a QDax
    /// repertoire, and the observation normalisers as obs_mean and obs_var. qdax: the same arrays as a folder of npy files,
    /// which `MapElitesRepertoire.load` reads (name the folder with a slash at the end).
    #[arg(long, value_enum)]
    format: FormatArg,
    /// File to write; for qdax, a folder. [default: archive.csv, archive.npz or archive-qdax beside the archive]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Leave out the policies, which are nearly all of the file, and write returns and measures only.
    #[arg(long)]
    no_solutions: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum FormatArg {
    Csv,
    Npz,
    Qdax,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    match &args.command {
        Command::Info(info) => {
            let outline = open_outline(&info.run)?;
            let folder = if info.run.is_dir() { Some(&*info.run) } else { info.run.parent() };
            let world = outline.about.world.seen_from_outside(folder.unwrap_or(Path::new(""))).in_words();
            let found = archive_info(&outline);
            // One that cannot be read, or is about another archive, says nothing of this one.
            let verified = folder.and_then(|folder| Reevaluation::load(folder).ok().flatten());
            let verified = verified.filter(|verified| verified.is_of(&outline));
            let event = json::Archive {
                verified: verified.as_ref().map(json::Verified::from),
                ..describe(info.run.display().to_string(), &found, world.clone())
            };
            Ok(output.result(&event, |out| print(out, &found, verified.as_ref(), world.as_deref()))?)
        }
        Command::Export(export) => {
            let open = OpenArchive::open(&export.run)?;
            let format = match export.format {
                FormatArg::Csv => ExportFormat::Csv,
                FormatArg::Npz => ExportFormat::Npz,
                FormatArg::Qdax => ExportFormat::Qdax,
            };
            let out = export.out.clone().unwrap_or_else(|| open.path.with_file_name(format.usual_name()));
            let options = ExportOptions { format, policies: !export.no_solutions };
            export_archive(&open.archive, options, &out)?;
            let (elites, path) = (open.archive.elites.len(), out.display().to_string());
            output.result(&json::Written { path: path.clone() }, |out| {
                writeln!(out, "{} written to {path}", count(elites, "elite"))
            })?;
            Ok(())
        }
    }
}

/// The archive for programs.
fn describe(run: String, info: &ArchiveInfo, world: Option<String>) -> json::Archive {
    let dimension =
        |(name, &[low, high]): (&String, &[f64; 2])| json::Dimension { name: name.clone(), low, high };
    json::Archive {
        run,
        task: info.task.clone(),
        world,
        measure: info.measure.clone(),
        dimensions: info.names.iter().zip(&info.ranges).map(dimension).collect(),
        iteration: info.iteration,
        cells: info.cells,
        grid: info.grid.clone(),
        verified: None,
        scores: (&info.metrics).into(),
        mean_episodes: info.episodes,
        qd_offset: info.qd_offset,
        best_cell: info.best.as_ref().map(|best| best.cell.clone()),
        best_iteration: info.best.as_ref().map(|best| best.iteration),
        mean_length: info.length,
        parameters: info.parameters,
        layers: info.actor.sizes().to_vec(),
        actions: info.actions.to_string(),
    }
}

fn print(
    out: &mut impl Write,
    info: &ArchiveInfo,
    verified: Option<&Reevaluation>,
    world: Option<&str>,
) -> std::io::Result<()> {
    let m = &info.metrics;
    let iterations = count(info.iteration, "iteration");
    writeln!(out, "{}, measured by {}, after {iterations}", info.task, info.measure)?;
    if let Some(world) = world {
        writeln!(out, "world            {world}")?;
    }
    match &info.grid {
        Some(dims) => {
            let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
            writeln!(
                out,
                "cells            {}",
                if dims.len() > 1 {
                    format!("{} = {}", dims.join(" × "), info.cells)
                } else {
                    dims.join("")
                }
            )?;
        }
        None => writeln!(out, "cells            {} of a tessellation (CVT)", info.cells)?,
    }
    for (j, (name, [low, high])) in info.names.iter().zip(&info.ranges).enumerate() {
        writeln!(out, "  measure {j}      {name}, {low} to {high}")?;
    }
    if let Some(Reevaluation { metrics, episodes, .. }) = verified {
        let (score, coverage) = (metrics.qd_score, 100.0 * metrics.coverage);
        let episodes = count(*episodes, "fresh episode");
        writeln!(
            out,
            "verified         QD-Score {score:.1}, coverage {coverage:.2} % ({episodes} for each elite)"
        )?;
    }
    writeln!(out, "elites           {} (coverage {:.2} %)", m.elites, 100.0 * m.coverage)?;
    writeln!(out, "QD-Score         {:.1}", m.qd_score)?;
    writeln!(out, "QD-Score, offset {:.1} ({} added per step)", m.qd_score_offset, info.qd_offset)?;
    let (Some(best), Some(mean), Some(length)) = (&info.best, m.mean, info.length) else {
        writeln!(out, "The archive is empty.")?;
        return Ok(());
    };
    let (cell, objective, iteration) = (&best.cell, best.objective, best.iteration);
    writeln!(out, "best             {objective:.1} in cell {cell}, found in iteration {iteration}")?;
    writeln!(out, "mean             {mean:.1}")?;
    writeln!(out, "mean length      {length:.1} steps")?;
    if let Some(episodes) = info.episodes {
        writeln!(out, "episodes         {episodes:.1} for each elite in the mean")?;
    }
    let sizes: Vec<String> = info.actor.sizes().iter().map(usize::to_string).collect();
    writeln!(out, "parameters       {} a policy, layers {}", info.parameters, sizes.join("–"))?;
    let manner = match info.actions {
        Actions::Sampled => "drawn",
        Actions::Mean => "mean",
    };
    writeln!(out, "actions          {manner}, as elites were evaluated")
}
