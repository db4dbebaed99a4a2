//! `magpie demos import`: demonstrations from elsewhere.

use std::io::Write;
use std::path::PathBuf;

use magpie_run::WorldChanges;
use magpie_run::operations::{ImportOptions, ImportedDemonstrations, import_demonstrations, may_write};

use super::table;
use crate::json;
use crate::output::Output;

#[derive(clap::Args)]
pub struct Args {
    /// The file or folder: the paper's trajs_ppga_*.pt, an npz file or a folder of the imitation library, a dataset of Minari, or
    /// an hdf5 file of D4RL.
    file: PathBuf,
    /// The demonstrated task, or a task file (docs/tasks.md).
    #[arg(long)]
    task: String,
    /// The robot that demonstrates, if it is not the task's own (docs/robots.md).
    #[arg(long, value_name = "FILE")]
    robot: Option<PathBuf>,
    /// The measure of the file, if it has any: feet_contact, jump, angle, or a measure of your task file.
    #[arg(long, default_value = "feet_contact")]
    measure: String,
    /// File to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    may_write(&args.out, &[&args.file])?;
    let world = WorldChanges { robot: args.robot.clone(), ..WorldChanges::default() };
    let options = ImportOptions { task: args.task.clone(), measure: args.measure.clone(), world };
    let ImportedDemonstrations { demonstrations, warnings } = import_demonstrations(&args.file, &options)?;
    demonstrations.save(&args.out)?;
    output.result(&table::describe(&demonstrations), |out| table::write(out, &demonstrations))?;
    output.warn_all(&warnings);
    let path = args.out.display().to_string();
    output.result(&json::Written { path: path.clone() }, |out| writeln!(out, "\nwritten to {path}"))?;
    Ok(())
}
