//! `magpie demos import`: demonstrations from elsewhere.

use std::io::Write;
use std::path::PathBuf;

use magpie_envs::TASKS;
use magpie_run::operations::{ImportOptions, import_demonstrations, may_write};

use super::table;

#[derive(clap::Args)]
pub struct Args {
    /// The file: the paper's trajs_ppga_*.pt, an npz file of the library imitation, or Minari's main_data.hdf5.
    file: PathBuf,
    /// The task that they demonstrate.
    #[arg(long, value_parser = TASKS)]
    task: String,
    /// What the file's measures are, if it has any: feet_contact, jump or angle.
    #[arg(long, default_value = "feet_contact")]
    measure: String,
    /// File to write.
    #[arg(long)]
    out: PathBuf,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    may_write(&args.out, &[&args.file])?;
    let options = ImportOptions { task: args.task.clone(), measure: args.measure.clone() };
    let demonstrations = import_demonstrations(&args.file, &options)?;
    demonstrations.save(&args.out)?;
    let mut screen = crate::screen::stdout().lock();
    table::write(&mut screen, &demonstrations)?;
    writeln!(
        screen,
        "\nObservations and actions are taken to be those of magpie's {} (Brax 0.1.0), in its order; nothing in the file\n\
         says so.",
        args.task
    )?;
    writeln!(screen, "\nwritten to {}", args.out.display())?;
    Ok(())
}
