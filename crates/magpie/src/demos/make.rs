//! `magpie demos make`: elites of an archive demonstrate.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use magpie_envs::{EPISODE_STEPS, Environment};
use magpie_learn::{Actions, Policy, Recording, record};
use magpie_qd::select::{Rated, best, diverse};
use magpie_random::Stream;
use magpie_rewards::demonstrations::{About, Columns, Demonstrator, Episode};
use magpie_rewards::{Demonstrations, Sizes};
use magpie_run::{SavedArchive, SavedElite, load_archive};

use super::table;
use crate::archive;

#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run, or its archive.safetensors. The world is that of the run.
    run: PathBuf,
    /// How many demonstrations.
    #[arg(short, long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    number: u32,
    /// Which of the best elites demonstrate.
    #[arg(long, value_enum, default_value = "diverse")]
    select: Select,
    /// How many elites are the best ones.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,
    /// Seed of the starts, and of a random choice.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Keep every so-many-th step alone, for a small file; a reward is learnt from every 20th unless told otherwise.
    #[arg(long, value_name = "STEPS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=EPISODE_STEPS as i64))]
    every: u32,
    /// File to write; demos.safetensors beside the archive if not given.
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Select {
    /// The best one, and then again and again the one that behaves least like those chosen.
    Diverse,
    /// The ones with the highest returns.
    Best,
    /// Any.
    Random,
}

impl Args {
    /// Positions of those who demonstrate, in the order of choice.
    fn choose(&self, elites: &[SavedElite]) -> Vec<usize> {
        let rated: Vec<Rated<'_>> =
            elites.iter().map(|e| Rated { objective: e.objective, measures: &e.measures }).collect();
        let (top, number) = (self.top as usize, self.number as usize);
        match self.select {
            Select::Diverse => diverse(&rated, top, number),
            Select::Best => best(&rated, top.min(number)),
            Select::Random => {
                let mut pool = best(&rated, top);
                Stream::new(self.seed, "demonstrators").draws(0, 0).shuffle(&mut pool);
                pool.truncate(number);
                pool
            }
        }
    }
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let path = archive::file_of(&args.run);
    let out = args.out.clone().unwrap_or_else(|| path.with_file_name("demos.safetensors"));
    archive::spare(&out)?;
    let saved = load_archive(&path)?;
    let chosen: Vec<&SavedElite> = args.choose(&saved.elites).into_iter().map(|i| &saved.elites[i]).collect();
    let remedy = match (args.top as usize) < saved.elites.len() {
        true => "ask for fewer, or raise --top",
        false => "ask for fewer",
    };
    ensure!(
        chosen.len() == args.number as usize,
        "{}: {} demonstrations were asked for, but there are {} elites to choose from; {remedy}",
        path.display(),
        args.number,
        chosen.len()
    );
    let world = saved.world(path.parent().unwrap_or(Path::new(".")));
    let env = Arc::new(world.environment(&saved.about.task, Some(saved.about.measure))?);
    let networks = archive::networks_of(&chosen, &env)?;
    let policies: Vec<&Policy> = chosen.iter().map(|e| &e.policy).collect();
    let recordings = record(&env, &networks, &policies, Actions::Mean, args.seed);

    let demonstrations = demonstrations(&saved, &env, &chosen, &recordings)
        .with_context(|| format!("the episodes make no demonstrations: {}", path.display()))?;
    let demonstrations = demonstrations.sparse(args.every)?;
    demonstrations.save(&out)?;
    let mut screen = std::io::stdout().lock();
    table::write(&mut screen, &demonstrations)?;
    let (all, top) = (saved.elites.len(), args.top);
    if all <= top as usize && all > chosen.len() && !matches!(args.select, Select::Best) {
        writeln!(
            screen,
            "\nAll {all} elites were candidates (--top {top}): a lower --top leaves out poor ones."
        )?;
    }
    writeln!(screen, "\nwritten to {}", out.display())?;
    Ok(())
}

fn demonstrations(
    archive: &SavedArchive,
    env: &Environment,
    elites: &[&SavedElite],
    recordings: &[Recording],
) -> anyhow::Result<Demonstrations> {
    let about = About {
        task: archive.about.task.clone(),
        robot: env.robot.name.clone(),
        measure: archive.about.measure.name().to_owned(),
        horizon: EPISODE_STEPS,
        source: format!("elites of an archive after {} iterations, mean actions", archive.about.iteration),
        ..About::default()
    };
    let episode = |(elite, recording): (&&SavedElite, &Recording)| Episode {
        length: recording.length(),
        terminated: recording.terminated,
        true_return: Some(recording.true_return()),
        measures: Vec::new(),
        demonstrator: Some(Demonstrator { objective: elite.objective, measures: elite.measures.clone() }),
    };
    let column = |select: fn(&Recording) -> &Vec<f32>| recordings.iter().flat_map(select).copied().collect();
    Ok(Demonstrations::new(Columns {
        about,
        sizes: Sizes { observation: env.observation_size(), action: env.action_size() },
        episodes: elites.iter().zip(recordings).map(episode).collect(),
        observations: column(|r| &r.observations),
        actions: column(|r| &r.actions),
        final_observations: column(|r| &r.final_observation),
        next_observations: Vec::new(),
        rewards: column(|r| &r.rewards),
        measures: column(|r| &r.measures),
    })?)
}
