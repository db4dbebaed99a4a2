//! `magpie archive`: what a search has found, for people and for other programs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use magpie_envs::Environment;
use magpie_learn::Networks;
use magpie_run::{SavedArchive, SavedElite, load_archive};

use crate::npz::OutFile;

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
    format: Format,
    /// File to write; archive.csv or archive.npz beside the archive if not given.
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    Csv,
    Npz,
}

/// The archive of a run's folder, or the file itself.
pub fn file_of(run: &Path) -> PathBuf {
    if run.is_dir() { run.join("archive.safetensors") } else { run.to_owned() }
}

/// What `magpie train` and `magpie ppo` leave in the folder of a run.
const FILES_OF_A_RUN: [&str; 8] = [
    "archive.safetensors",
    "config.toml",
    "demonstrations.safetensors",
    "lock",
    "metrics.csv",
    "policy.safetensors",
    "reevaluation.csv",
    "robot.toml",
];

/// Refuses to write a result over a file of a run.
pub fn spare(out: &Path) -> anyhow::Result<()> {
    let folder = out.parent().unwrap_or(Path::new(""));
    let in_run = |folder: &Path| folder.join("config.toml").is_file();
    let named = out.file_name().is_some_and(|name| FILES_OF_A_RUN.iter().any(|&file| name == file));
    let in_checkpoint = folder.ends_with("checkpoint") && folder.parent().is_some_and(in_run);
    anyhow::ensure!(
        !(named && in_run(folder) || in_checkpoint),
        "{}: this is the name of a file that a run needs; choose another",
        out.display()
    );
    Ok(())
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Info(info) => print(&load_archive(&file_of(&info.run))?),
        Command::Export(export) => {
            let file = file_of(&export.run);
            let archive = load_archive(&file)?;
            let extension = match export.format {
                Format::Csv => "csv",
                Format::Npz => "npz",
            };
            let out = export.out.clone().unwrap_or_else(|| file.with_extension(extension));
            spare(&out)?;
            match export.format {
                Format::Csv => write_csv(&archive, &out)?,
                Format::Npz => write_npz(&archive, &out)?,
            }
            writeln!(std::io::stdout(), "{} elites written to {}", archive.elites.len(), out.display())?;
            Ok(())
        }
    }
}

fn print(archive: &SavedArchive) -> anyhow::Result<()> {
    let (about, m) = (&archive.about, archive.metrics());
    let mut out = std::io::stdout().lock();
    let dims: Vec<String> = about.grid.dims().iter().map(usize::to_string).collect();
    writeln!(out, "{}, measured by {}, after {} iterations", about.task, about.measure, about.iteration)?;
    writeln!(out, "cells            {} = {}", dims.join(" × "), about.grid.count())?;
    for (j, name) in about.names.iter().enumerate() {
        writeln!(out, "  measure {j}      {name}, {} to {}", about.grid.lower()[j], about.grid.upper()[j])?;
    }
    writeln!(out, "elites           {} (coverage {:.2} %)", m.elites, 100.0 * m.coverage)?;
    writeln!(out, "QD-Score         {:.1}", m.qd_score)?;
    writeln!(out, "QD-Score, offset {:.1} (+{} a step)", m.qd_score_offset, about.qd_offset)?;
    let (Some(best), Some(best_objective), Some(mean)) = (archive.best(), m.best, m.mean) else {
        writeln!(out, "The archive is empty.")?;
        return Ok(());
    };
    let cell = coordinates(archive, best.cell);
    writeln!(
        out,
        "best             {best_objective:.1} in cell {cell}, found in iteration {}",
        best.iteration
    )?;
    writeln!(out, "mean             {mean:.1}")?;
    let length = archive.elites.iter().map(|e| e.length).sum::<f64>() / m.elites as f64;
    writeln!(out, "mean length      {length:.1} steps")?;
    writeln!(out, "parameters       {} a policy", best.policy.parameters.len())?;
    Ok(())
}

/// A cell as one names it on the command line: `12,40`.
pub fn coordinates(archive: &SavedArchive, cell: usize) -> String {
    let coordinates = archive.about.grid.coordinates(cell).unwrap_or_default();
    coordinates.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// The networks that elites are parameters of, if they are any of this environment's.
pub fn networks_of(elites: &[&SavedElite], env: &Environment) -> anyhow::Result<Networks> {
    let networks = Networks::paper(env.observation_size(), env.action_size())?;
    let sizes = (networks.policy_len(), env.observation_size());
    let fits = |e: &&&SavedElite| (e.policy.parameters.len(), e.policy.normaliser.mean().len()) == sizes;
    if let Some(elite) = elites.iter().find(|e| !fits(e)) {
        bail!(
            "the elites have {} parameters, but a policy for {} has {}",
            elite.policy.parameters.len(),
            env.stage.task.name,
            sizes.0
        );
    }
    Ok(networks)
}

fn write_csv(archive: &SavedArchive, path: &Path) -> anyhow::Result<()> {
    let parameters = archive.elites.first().map_or(0, |e| e.policy.parameters.len());
    let mut columns: Vec<String> = (0..parameters).map(|i| format!("solution_{i}")).collect();
    columns.push("objective".to_owned());
    columns.extend((0..archive.about.names.len()).map(|j| format!("measures_{j}")));
    columns.extend(["threshold".to_owned(), "index".to_owned()]);
    let write = |out: &mut dyn Write| -> std::io::Result<()> {
        writeln!(out, "{}", columns.join(","))?;
        for elite in &archive.elites {
            for parameter in &elite.policy.parameters {
                write!(out, "{parameter},")?;
            }
            write!(out, "{},", elite.objective)?;
            for measure in &elite.measures {
                write!(out, "{measure},")?;
            }
            writeln!(out, "{},{}", elite.threshold, elite.cell)?;
        }
        out.flush()
    };
    let beside = path.with_extension("csv.part");
    File::create(&beside)
        .and_then(|file| write(&mut BufWriter::new(file)))
        .and_then(|()| std::fs::rename(&beside, path))
        .inspect_err(|_| {
            // Half a file helps nobody.
            let _ = std::fs::remove_file(&beside);
        })
        .with_context(|| format!("writing {}", path.display()))
}

fn write_npz(archive: &SavedArchive, path: &Path) -> anyhow::Result<()> {
    let grid = &archive.about.grid;
    let (cells, dims) = (grid.count(), grid.measure_dim());
    let parameters = archive.elites.first().map_or(0, |e| e.policy.parameters.len());
    let observation = archive.elites.first().map_or(0, |e| e.policy.normaliser.mean().len());
    let out = OutFile::create(path)?;
    let mut genotypes = out.column::<f32>("genotypes", vec![parameters]);
    let mut fitnesses = out.column::<f32>("fitnesses", vec![1]);
    let mut descriptors = out.column::<f32>("descriptors", vec![dims]);
    let mut centroids = out.column::<f32>("centroids", vec![dims]);
    let mut means = out.column::<f64>("obs_mean", vec![observation]);
    let mut variances = out.column::<f64>("obs_var", vec![observation]);
    let mut elites = archive.elites.iter().peekable();
    for cell in 0..cells {
        let centre = grid.centre(cell).unwrap_or_default();
        centroids.extend(centre.iter().map(|&c| c as f32))?;
        match elites.next_if(|e| e.cell == cell) {
            Some(elite) => {
                genotypes.extend(elite.policy.parameters.iter().copied())?;
                fitnesses.extend([elite.objective as f32])?;
                descriptors.extend(elite.measures.iter().map(|&m| m as f32))?;
                means.extend(elite.policy.normaliser.mean().iter().copied())?;
                variances.extend(elite.policy.normaliser.variance().iter().copied())?;
            }
            // As QDax leaves an empty cell.
            None => {
                genotypes.extend(std::iter::repeat_n(0.0_f32, parameters))?;
                fitnesses.extend([f32::NEG_INFINITY])?;
                descriptors.extend(std::iter::repeat_n(0.0_f32, dims))?;
                means.extend(std::iter::repeat_n(0.0_f64, observation))?;
                variances.extend(std::iter::repeat_n(1.0_f64, observation))?;
            }
        }
    }
    out.finish(vec![genotypes, fitnesses, descriptors, centroids, means, variances], cells)
}
