//! Elites of an archive demonstrate, or a single policy does.
//!
//! An archive keeps the luckiest of noisy evaluations, and a single episode may be an exception. So each elite runs
//! several fresh episodes. If these are not what the archive says of it, the next elite is asked; if they are, the episode
//! that is [typical](super::typical) of them is recorded.

mod options;
mod result;
mod takes;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use magpie_files::count;
use magpie_learn::Recording;
use magpie_qd::select::{Farthest, Rated, best};
use magpie_qd::{Cells, Grid};
use magpie_random::Stream;

pub use self::options::{Choice, DemonstrateOptions, EliteOptions};
pub use self::result::{Demonstrated, Mismatch, Recorded, Skipped, StoredElite};
use self::takes::{Stage, Takes};
use super::OpenArchive;
use super::open::{acting, fits};
use super::typical::{FreshEpisodes, cell_widths};
use crate::archive::SavedElite;
use crate::error::{FewGoodElites, RunError};
use crate::policy_file::load_policy;
use crate::ppo::POLICY;
use crate::world::EnvOverrides;

/// Elites in the order in which they are asked.
enum Candidates<'a> {
    Diverse(Farthest<'a>),
    Listed(std::vec::IntoIter<usize>),
}

impl<'a> Candidates<'a> {
    fn new(options: &DemonstrateOptions, rated: &'a [Rated<'a>], mut pool: Vec<usize>) -> Candidates<'a> {
        match options.elites.choice {
            Choice::Diverse => Candidates::Diverse(Farthest::new(rated, pool)),
            Choice::Best => Candidates::Listed(pool.into_iter()),
            Choice::Random => {
                Stream::new(options.seed, "demonstrators").draws(0, 0).shuffle(&mut pool);
                Candidates::Listed(pool.into_iter())
            }
        }
    }

    fn take(&mut self) -> Option<usize> {
        match self {
            Candidates::Diverse(farthest) => farthest.take(),
            Candidates::Listed(list) => list.next(),
        }
    }

    fn keep(&mut self, elite: usize) {
        if let Candidates::Diverse(farthest) = self {
            farthest.keep(elite);
        }
    }
}

/// Lets elites of an archive demonstrate in its own world.
pub fn demonstrate(open: &OpenArchive, options: &DemonstrateOptions) -> Result<Demonstrated, RunError> {
    options.check()?;
    let EliteOptions { top, min_return, max_cells, .. } = options.elites;
    let (archive, wanted) = (&open.archive, options.number);
    let about = &archive.about;
    let rated: Vec<Rated<'_>> =
        archive.elites.iter().map(|e| Rated { objective: e.objective, measures: &e.measures }).collect();
    let pool = best(&rated, top as usize);
    let (tried, limited) = (pool.len(), pool.len() < archive.elites.len());
    if tried < wanted as usize {
        return Err(RunError::FewElites { path: open.path.clone(), wanted, found: tried, limited });
    }
    let actions = options.actions.unwrap_or(about.actions);
    let env = Arc::new(open.environment(None)?);
    let stage = Stage {
        env: &env,
        networks: acting(&about.actor)?,
        actions,
        options,
        widths: cell_widths(&about.cells, &about.ranges),
    };
    let mut candidates = Candidates::new(options, &rated, pool);
    let mut made = Takes::default();
    let mut skipped = Vec::new();
    let mut number = 0;
    while made.recorded.len() < wanted as usize {
        let Some(candidate) = candidates.take() else {
            let low = skipped.iter().filter(|s: &&Skipped| s.reason == Mismatch::Return).count();
            return Err(RunError::FewGoodElites(Box::new(FewGoodElites {
                path: open.path.clone(),
                wanted,
                good: made.recorded.len(),
                tried,
                low,
                moved: skipped.len() - low,
                min_return,
                max_cells,
                limited,
                other_actions: actions != about.actions,
            })));
        };
        let elite = &archive.elites[candidate];
        let stored = StoredElite {
            cell: about.cell_name(elite.cell),
            objective: elite.objective,
            measures: elite.measures.clone(),
        };
        let recordings = stage.episodes(&elite.policy, number);
        number += 1;
        let fresh = FreshEpisodes::of(&recordings);
        match mismatch(elite, &fresh, &recordings, &stage) {
            Some(reason) => skipped.push(Skipped { elite: stored, fresh, reason }),
            None => {
                candidates.keep(candidate);
                made.add(Some(stored), fresh, recordings, &stage.widths);
            }
        }
    }
    let who = format!("elites of an archive after {}", count(about.iteration, "iteration"));
    made.finish(&open.path, &about.task, who, &stage, skipped)
}

/// What the episodes do not have in common with what the archive says of the elite.
fn mismatch(
    elite: &SavedElite,
    fresh: &FreshEpisodes,
    recordings: &[Recording],
    stage: &Stage<'_>,
) -> Option<Mismatch> {
    let EliteOptions { min_return, max_cells, .. } = stage.options.elites;
    // A share of what it returns, up or down from zero.
    let least = elite.objective - (1.0 - min_return) * elite.objective.abs();
    let cells = fresh.cells_from(&elite.measures, &stage.widths);
    if !are_finite(recordings) {
        Some(Mismatch::NotFinite)
    } else if fresh.mean_return < least {
        Some(Mismatch::Return)
    } else if cells > max_cells {
        Some(Mismatch::Measures(cells))
    } else {
        None
    }
}

fn are_finite(recordings: &[Recording]) -> bool {
    recordings.iter().all(|r| {
        [&r.observations, &r.actions, &r.final_observation, &r.rewards, &r.measures]
            .into_iter()
            .all(|table| table.iter().all(|value| value.is_finite()))
    })
}

/// Cells along each measure of a policy, whose file knows no archive: as many as archives have.
const RESOLUTION: usize = 50;

/// Lets a single policy demonstrate: that in the folder of a PPO run or of behaviour cloning, or of a file. How its behaviour is
/// measured is not in the file; the task's first measure if not given.
pub fn demonstrate_policy(
    run: &Path,
    measure: Option<&str>,
    options: &DemonstrateOptions,
) -> Result<Demonstrated, RunError> {
    options.check()?;
    let path = if run.is_dir() { run.join(POLICY) } else { run.to_owned() };
    let file = load_policy(&path)?;
    let world = EnvOverrides::of_run(path.parent().unwrap_or(Path::new(".")))?;
    let env = Arc::new(world.environment(&file.task, measure)?);
    fits(&file.actor, &env)?;
    let ranges: Vec<[f64; 2]> = env.measure_dimensions().iter().map(|d| d.range).collect();
    let [lower, upper] = [0, 1].map(|end| ranges.iter().map(|range| range[end]).collect());
    let cells = Cells::from(Grid::new(vec![RESOLUTION; ranges.len()], lower, upper)?);
    let stage = Stage {
        env: &env,
        networks: acting(&file.actor)?,
        actions: options.actions.unwrap_or(file.actions),
        options,
        widths: cell_widths(&cells, &ranges),
    };
    let mut made = Takes::default();
    for number in 0..options.number {
        let recordings = stage.episodes(&file.policy, number);
        if !are_finite(&recordings) {
            return Err(RunError::Foreign {
                path,
                problem: "the simulation met numbers that are not finite; the policy or its robot is broken"
                    .to_owned(),
            });
        }
        made.add(None, FreshEpisodes::of(&recordings), recordings, &stage.widths);
    }
    made.finish(&path, &file.task, "a single policy".to_owned(), &stage, Vec::new())
}
