//! Flips bits of every file of small runs, one at a time, and counts how many are noticed by reading the file or by
//! `magpie check`:
//!
//! ```sh
//! cargo run --release -p magpie-run --example flipped_bits -- 200000
//! ```
//!
//! The number is how many bits of a file to flip at most; of larger files every so-many-th one is.

use std::error::Error;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use magpie_demos::Demonstrations;
use magpie_rewards::ModelName;
use magpie_run::clone::{self, CloneRun};
use magpie_run::operations::{CheckReport, check};
use magpie_run::ppo::{self, PpoRun};
use magpie_run::train::{self, Budget, TrainRun};
use magpie_run::{load_archive, load_policy};
use magpie_settings::Method;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let most = std::env::args().nth(1).map_or(Ok(20_000), |text| text.parse::<usize>())?;
    let folder = tempfile::tempdir()?;
    println!("| file | bits | flipped | noticed |\n|---|---|---|---|");
    for (name, make) in [("train", search as fn(&Path) -> Result<()>), ("ppo", single), ("clone", cloned)] {
        let run = folder.path().join(name);
        make(&run)?;
        let whole = check(&run)?;
        for file in files(&run)? {
            let bytes = fs::read(&file)?;
            if bytes.is_empty() {
                continue;
            }
            let (bits, mut flipped, mut noticed) = (8 * bytes.len(), 0_usize, 0_usize);
            for bit in (0..bits).step_by(bits.div_ceil(most)) {
                let mut damaged = bytes.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                fs::write(&file, damaged)?;
                flipped += 1;
                noticed += usize::from(is_noticed(&run, &file, &whole));
            }
            fs::write(&file, &bytes)?;
            let share = 100.0 * noticed as f64 / flipped as f64;
            let name = file.strip_prefix(folder.path())?.display();
            println!("| `{name}` | {bits} | {flipped} | {noticed} ({share:.2} %) |");
        }
    }
    Ok(())
}

/// Whether a file cannot be read any more, or the run is not what it was.
fn is_noticed(run: &Path, file: &Path, whole: &CheckReport) -> bool {
    let read = match file.file_name().and_then(|name| name.to_str()) {
        Some("archive.safetensors") => load_archive(file).is_ok(),
        Some("policy.safetensors") => load_policy(file).is_ok(),
        Some("demonstrations.safetensors") => Demonstrations::load(file).is_ok(),
        _ => true,
    };
    !read || check(run).ok().as_ref() != Some(whole)
}

fn search(folder: &Path) -> Result<()> {
    let mut config =
        train::Config::new("hopper", "feet_contact", ModelName::Gail, Method::Magpie, Budget::Quick)?;
    let search = &mut config.search;
    (search.environments, search.branches, search.episodes) = (16, 4, 2);
    (search.actor, search.critic, search.train.rollout_length) = (4, 4, 16);
    (search.archive.resolution, search.archive.threshold_min) = (5, 0.0);
    (config.iterations, config.demos.count) = (2, Some(1));
    let mut run = TrainRun::start(config, folder, &mut |_| ControlFlow::Continue(()))?;
    while !run.is_finished() {
        run.iterate()?;
    }
    Ok(run.finish()?)
}

fn single(folder: &Path) -> Result<()> {
    let mut config = ppo::Config::new("hopper", 0, 2 * 16 * 8)?;
    (config.environments, config.train.rollout_length, config.train.minibatches) = (16, 8, 2);
    let mut run = PpoRun::start(config, folder)?;
    while !run.is_finished() {
        run.iterate()?;
    }
    Ok(())
}

fn cloned(folder: &Path) -> Result<()> {
    let mut config = clone::Config { task: "hopper".to_owned(), actor: 4, ..clone::Config::default() };
    (config.cloning.epochs, config.demos.count) = (3, Some(1));
    let mut run = CloneRun::start(config, folder)?;
    while !run.is_finished() {
        run.iterate()?;
    }
    Ok(())
}

/// All files below a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => found.extend(files(&path)?),
            false => found.push(path),
        }
    }
    found.sort();
    Ok(found)
}
