//! Options of every command that makes a run: which task in which world, which settings, in which folder.

use std::path::PathBuf;

use magpie_run::RunChoices;

use crate::world::WorldArgs;

#[derive(clap::Args)]
pub struct RunArgs {
    /// Task: one listed by `magpie envs`, such as walker2d, or your own task file, such as my-task.toml (docs/tasks.md).
    /// --config can name it instead.
    #[arg(required_unless_present_any = ["resume", "config"], conflicts_with = "resume")]
    pub task: Option<String>,
    /// Seed of all random streams. [default: 0]
    #[arg(long, conflicts_with = "resume", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// TOML file with settings that differ from the defaults, such as the config.toml of another run.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub config: Option<PathBuf>,
    /// One setting, such as world.friction=0.8; overrides --config and can be repeated. `magpie settings` lists them all.
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "resume")]
    pub set: Vec<String>,
    /// Folder for the results. [default: a folder in runs/, named after task, seed and whatever is not a default]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub out: Option<PathBuf>,
    /// Continue the run in this folder, longer than first planned if you say so.
    #[arg(long, value_name = "DIR", conflicts_with = "WorldArgs")]
    pub resume: Option<PathBuf>,
    /// Number of threads. [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    #[command(flatten)]
    pub world: WorldArgs,
}

impl RunArgs {
    /// For the library.
    pub fn choices(&self) -> RunChoices {
        RunChoices {
            task: self.task.clone(),
            file: self.config.clone(),
            sets: self.set.clone(),
            seed: self.seed,
            world: self.world.changes(),
        }
    }

    /// Where to begin a run that would be called `name`.
    pub fn folder(&self, name: &str) -> PathBuf {
        self.out.clone().unwrap_or_else(|| format!("runs/{name}").into())
    }
}
