//! `magpie demos import`: demonstrations from elsewhere.

use std::io::Write;
use std::path::PathBuf;

use magpie_envs::TASKS;
use magpie_run::operations::{ImportOptions, import_demonstrations, may_write};

use super::table;
use crate::json;
use crate::output::Output;

#[derive(clap::Args)]
pub struct Args {
    /// The file: trajs_ppga_*.pt of the paper, an npz file of the imitation library, or main_data.hdf5 of Minari.
    file: PathBuf,
    /// The demonstrated task.
    #[arg(long, value_parser = TASKS)]
    task: String,
    /// Which measure the file has, if any: feet_contact, jump or angle.
    #[arg(long, default_value = "feet_contact")]
    measure: String,
    /// File to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    may_write(&args.out, &[&args.file])?;
    let options = ImportOptions { task: args.task.clone(), measure: args.measure.clone() };
    let demonstrations = import_demonstrations(&args.file, &options)?;
    demonstrations.save(&args.out)?;
    output.result(&table::describe(&demonstrations), |out| table::write(out, &demonstrations))?;
    let sizes = demonstrations.columns().sizes;
    output.warn(&format!(
        "only the sizes ({}, {}) were checked: the file does not name its simulator, and entries must be in the order of \
         magpie's {} (`magpie envs {} --entries`)",
        sizes.observation, sizes.action, args.task, args.task
    ));
    let path = args.out.display().to_string();
    output.result(&json::Written { path: path.clone() }, |out| writeln!(out, "\nwritten to {path}"))?;
    Ok(())
}
