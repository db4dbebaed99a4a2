//! `magpie sweep submit`: a job for a cluster.

use std::io::Write;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};
use magpie_run::operations::may_write;
use magpie_run::sweep::Sweep;
use magpie_run::sweep::submit::{Job, Pods, Request, TRAVELLING, VOLUME, kubernetes, slurm};
use magpie_run::write_whole;

use super::{folder_of, plan};
use crate::json;
use crate::output::Output;
use crate::session;
use crate::words::{count, duration, quoted};

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("engine").required(true))]
pub struct Args {
    /// The sweep file.
    file: PathBuf,
    /// Write a job array for SLURM.
    #[arg(long, group = "engine")]
    slurm: bool,
    /// Write an Indexed Job for Kubernetes.
    #[arg(long, group = "engine", requires_all = ["image", "claim"])]
    kubernetes: bool,
    /// Folder for the runs, which all nodes see; with --kubernetes, within the volume. [default: runs/NAME; with --kubernetes, NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Tasks of the job; each makes its shard of the runs. [default: one per run, at most 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    tasks: Option<u16>,
    /// Cores of each task. [default: those of this machine that the process may use]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    cores: Option<u16>,
    /// Memory of each task, in GiB. [default: what the runs took when measured, with a full archive, and a quarter more]
    #[arg(long, value_name = "GIB", value_parser = clap::value_parser!(u16).range(1..))]
    memory: Option<u16>,
    /// Limit of time of each task in hours; a task that meets it goes on later. [default: 1.5 times what was measured, at most 24]
    #[arg(long, value_name = "HOURS", value_parser = hours)]
    time: Option<f64>,
    /// The job's file. [default: NAME.sbatch, or NAME.yaml]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// With --slurm: hand the job to sbatch as well, with the options after `--`, such as --partition=long.
    #[arg(long, conflicts_with = "kubernetes")]
    now: bool,
    /// With --kubernetes: the container image.
    #[arg(long, conflicts_with = "slurm")]
    image: Option<String>,
    /// With --kubernetes: the claim of a volume that all nodes can write to.
    #[arg(long, conflicts_with = "slurm")]
    claim: Option<String>,
    /// With --kubernetes: the sweep file within the volume, if it lies there beside files that it names. Otherwise it travels with
    /// the job.
    #[arg(long, value_name = "PATH", conflicts_with = "slurm")]
    file_on_volume: Option<PathBuf>,
    /// Options for sbatch.
    #[arg(last = true, requires = "now")]
    sbatch: Vec<String>,
}

/// SLURM takes arrays of up to 1001 tasks if nobody has changed that.
const MOST_TASKS: usize = 1000;

fn hours(text: &str) -> Result<f64, String> {
    let hours: f64 = text.parse().map_err(|_| "not a number of hours".to_owned())?;
    match (0.05..=8760.0).contains(&hours) {
        true => Ok(hours),
        false => Err("must be from 0.05 to 8760 hours".to_owned()),
    }
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<ExitCode> {
    session::threads(args.cores, output)?;
    let sweep = Sweep::read(&args.file)?;
    sweep.notes().iter().for_each(|note| output.note(note));
    output.warn_all(&sweep.check()?);
    let stem = args.file.file_stem().unwrap_or(args.file.as_os_str()).to_string_lossy().into_owned();
    let name = |end: &str| PathBuf::from(format!("{stem}.{end}"));
    let to = args.to.clone().unwrap_or_else(|| name(if args.slurm { "sbatch" } else { "yaml" }));
    may_write(&to, &[&args.file])?;
    let travels = args.kubernetes && args.file_on_volume.is_none();
    if let Some(file) = sweep.files().into_iter().next().filter(|_| travels) {
        bail!(
            "the sweep names {}, which pods will not find; put the sweep file and what it names on the volume, and say where it \
             is there: --file-on-volume PATH",
            file.display()
        );
    }
    let Some(estimates) = plan::measure(&sweep, &session::stop_on_ctrl_c()?, output)? else {
        return Ok(ExitCode::from(session::INTERRUPTED));
    };
    let runs = sweep.runs().len();
    let tasks = args.tasks.map_or(MOST_TASKS, usize::from).min(runs);
    let cores = u16::try_from(rayon::current_num_threads()).unwrap_or(u16::MAX);
    let mut each = Request::reckon(&sweep, tasks, cores, &estimates);
    if let Some(memory) = args.memory {
        each.memory = memory.into();
    }
    if let Some(hours) = args.time {
        each = each.with_time((3600.0 * hours) as u64);
    }
    let on_volume = |path: &Path| Path::new(VOLUME).join(path.strip_prefix("/").unwrap_or(path));
    let (file, out) = match args.slurm {
        true => (absolute_of(&args.file)?, absolute_of(&folder_of(&args.file, args.out.as_deref()))?),
        false => (
            args.file_on_volume.as_deref().map_or_else(|| TRAVELLING.into(), on_volume),
            on_volume(args.out.as_deref().unwrap_or(Path::new(&stem))),
        ),
    };
    let job = Job { name: stem, file, out, tasks, each };
    let text = match (&args.image, &args.claim) {
        (Some(image), Some(claim)) => {
            let text = std::fs::read_to_string(&args.file).context("reading the sweep file")?;
            let sweep = travels.then_some(text);
            kubernetes(&job, &Pods { image: image.clone(), claim: claim.clone(), sweep })
        }
        _ => slurm(&job, &std::env::current_exe().context("looking for this program")?),
    };
    write_whole(&to, text.as_bytes())?;
    let (hours, grace) = (each.seconds as f64 / 3600.0, each.grace);
    let all: f64 = estimates.iter().map(|estimate| estimate.seconds).sum();
    let event = json::Submitted {
        file: to.display().to_string(),
        runs,
        tasks,
        cores: each.cores,
        memory_gib: each.memory,
        hours,
        grace,
        seconds: all,
    };
    output.result(&event, |screen| {
        let (runs, tasks) = (count(runs, "run"), count(tasks, "task"));
        writeln!(screen, "{runs}, at most {} on this machine one after the other", duration(all))?;
        writeln!(
            screen,
            "{tasks}, each with {}, {} GiB of memory and a limit of {hours:.2} h",
            count(each.cores, "core"),
            each.memory
        )?;
        writeln!(screen, "job      {}", to.display())?;
        match (args.slurm, args.now) {
            (true, true) => Ok(()),
            (true, false) => writeln!(screen, "next     sbatch {}", quoted(&to)),
            (false, _) => writeln!(screen, "next     kubectl create -f {}", quoted(&to)),
        }
    })?;
    if args.now {
        let status =
            Command::new("sbatch").args(&args.sbatch).arg(&to).status().context("starting sbatch")?;
        if !status.success() {
            bail!("sbatch refused the job ({status}); it is in {}", to.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn absolute_of(path: &Path) -> anyhow::Result<PathBuf> {
    absolute(path).with_context(|| format!("{}: where it is", path.display()))
}
