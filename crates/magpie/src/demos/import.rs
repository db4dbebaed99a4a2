//! `magpie demos import`: demonstrations from elsewhere.

use std::io::Write;
use std::path::PathBuf;

use anyhow::ensure;
use magpie_envs::{EPISODE_STEPS, Environment, Measure, Options, TASKS};
use magpie_rewards::Sizes;
use magpie_rewards::demonstrations::{Given, import};

use super::table;
use crate::archive;

#[derive(clap::Args)]
pub struct Args {
    /// The file: the paper's trajs_ppga_*.pt, an npz file of the library imitation, or Minari's main_data.hdf5.
    file: PathBuf,
    /// The task that they demonstrate.
    #[arg(long, value_parser = TASKS.map(|t| t.name))]
    task: String,
    /// What the file's measures are, if it has any: feet_contact, jump or angle.
    #[arg(long, default_value = "feet_contact")]
    measure: Measure,
    /// File to write.
    #[arg(long)]
    out: PathBuf,
}

/// Imports a file. Observations and actions are taken to be those of magpie's task, entry by entry: nothing in the
/// formats says so, and the same robot in another simulator may have as many.
pub fn run(args: &Args) -> anyhow::Result<()> {
    archive::spare(&args.out)?;
    super::keep_apart(&args.file, "--out", &args.out)?;
    let options = Options { measure: Some(args.measure), ..Options::default() };
    let env = Environment::new(&args.task, options)?;
    let name = args.file.file_name().unwrap_or(args.file.as_os_str());
    let demonstrations = import(
        &args.file,
        &Given {
            task: args.task.clone(),
            robot: env.robot.name.clone(),
            measure: args.measure.name().to_owned(),
            horizon: EPISODE_STEPS,
            source: name.to_string_lossy().into_owned(),
            sizes: Some(Sizes { observation: env.observation_size(), action: env.action_size() }),
        },
    )?;
    let dimensions = env.measure_dimensions().len();
    for place in demonstrations.places().into_iter().flatten() {
        ensure!(
            place.len() == dimensions,
            "{}: the file has {} measures an episode, but {} of {} has {dimensions}; say what they are with --measure",
            args.file.display(),
            place.len(),
            args.measure,
            args.task
        );
    }
    demonstrations.save(&args.out)?;
    let mut screen = std::io::stdout().lock();
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
