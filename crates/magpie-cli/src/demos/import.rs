//! `magpie demos import`: demonstrations from elsewhere.

use std::io::Write;
use std::path::PathBuf;

use magpie_run::WorldChanges;
use magpie_run::operations::{ImportOptions, ImportedDemonstrations, import_demonstrations, may_write};

use super::table;
use crate::session;

#[derive(clap::Args)]
pub struct Args {
    /// The file or folder: the paper's trajs_ppga_*.pt, an npz file or folder of the library imitation, a dataset of Minari, or
    /// an hdf5 file of D4RL.
    file: PathBuf,
    /// The task that they demonstrate, or a task file (docs/tasks.md).
    #[arg(long)]
    task: String,
    /// Your own robot, if it is not the task's that demonstrates (the file format: docs/robots.md).
    #[arg(long, value_name = "FILE")]
    robot: Option<PathBuf>,
    /// What the file's measures are, if it has any: feet_contact, jump or angle.
    #[arg(long, default_value = "feet_contact")]
    measure: String,
    /// File to write.
    #[arg(long)]
    out: PathBuf,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    may_write(&args.out, &[&args.file])?;
    let world = WorldChanges { robot: args.robot.clone(), ..WorldChanges::default() };
    let options = ImportOptions { task: args.task.clone(), measure: args.measure.clone(), world };
    let ImportedDemonstrations { demonstrations, warnings } = import_demonstrations(&args.file, &options)?;
    demonstrations.save(&args.out)?;
    let mut screen = std::io::stdout().lock();
    table::write(&mut screen, &demonstrations)?;
    writeln!(screen)?;
    screen.flush()?;
    session::warn(&warnings)?;
    writeln!(screen, "written to {}", args.out.display())?;
    Ok(())
}
