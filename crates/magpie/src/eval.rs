//! `magpie eval`: whole episodes with a trained policy.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use magpie_envs::Measure;
use magpie_learn::{Actions, Networks, evaluate};
use magpie_run::{World, load_policy};

use crate::world::WorldArgs;

#[derive(clap::Args)]
pub struct Args {
    /// A policy file (policy.safetensors of a run), or the folder of a run. The world is that of the run, with the
    /// changes named here.
    policy: PathBuf,
    /// Number of episodes.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    episodes: u32,
    /// Draw actions as in training; otherwise the policy's mean action is used.
    #[arg(long)]
    sample: bool,
    /// Seed of the starts and of the drawn actions.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How behaviour is measured: feet_contact, jump or angle.
    #[arg(long, default_value = "feet_contact")]
    measure: Measure,
    #[command(flatten)]
    world: WorldArgs,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let path =
        if args.policy.is_dir() { args.policy.join("policy.safetensors") } else { args.policy.clone() };
    let folder = path.parent().unwrap_or(Path::new("."));
    let world = args.world.change(World::of_run(folder)?);
    let mut found = None;
    let file = load_policy(&path, |task| {
        let env = world.environment(task, Some(args.measure))?;
        let networks = Networks::paper(env.observation_size(), env.action_size())?;
        found = Some((Arc::new(env), networks.clone()));
        Ok(networks)
    })?;
    let Some((env, networks)) = found else { anyhow::bail!("{}: no task", path.display()) };
    let actions = if args.sample { Actions::Sampled } else { Actions::Mean };
    let result = &evaluate(&env, &networks, &[&file.policy], args.episodes, actions, args.seed)[0];

    let mean = result.mean_return();
    let spread =
        (result.returns.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / result.returns.len() as f64).sqrt();
    let (low, high) =
        result.returns.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &r| (l.min(r), h.max(r)));
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}, {} episodes", file.task, args.episodes)?;
    writeln!(out, "return   {mean:.1} ± {spread:.1} (from {low:.1} to {high:.1})")?;
    writeln!(out, "length   {:.1}", result.mean_length())?;
    for (dimension, value) in env.measure_dimensions().iter().zip(result.mean_measures()) {
        writeln!(out, "measure  {value:.3} {}", dimension.name)?;
    }
    Ok(())
}
