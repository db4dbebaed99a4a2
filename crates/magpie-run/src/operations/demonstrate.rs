//! Elites of an archive demonstrate.

use std::sync::Arc;

use magpie_demos::{About, Columns, DemonstrationError, Demonstrator, Episode, Problem};
use magpie_demos::{Demonstrations, Sizes};
use magpie_envs::Environment;
use magpie_learn::{Actions, Policy, Recording, record};
use magpie_qd::select::{Rated, best, diverse};
use magpie_random::Stream;

use super::OpenArchive;
use super::open::acting;
use crate::archive::SavedElite;
use crate::error::RunError;

/// Which of the best elites demonstrate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The best one, and then again and again the one that behaves least like those chosen.
    Diverse,
    /// The ones with the highest returns.
    Best,
    /// Any.
    Random,
}

/// Who demonstrates, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct DemonstrateOptions {
    /// How many demonstrations, one episode each.
    pub number: u32,
    /// Who demonstrates.
    pub choice: Choice,
    /// How many elites are the best ones.
    pub top: u32,
    /// Seed of the starts, and of a random choice.
    pub seed: u64,
    /// Keep only every Nth step.
    pub every: u32,
    /// How to act. Noise teaches nothing, so that the mean is usual even where elites were found with drawn actions.
    pub actions: Actions,
}

impl Default for DemonstrateOptions {
    fn default() -> DemonstrateOptions {
        DemonstrateOptions {
            number: 4,
            choice: Choice::Diverse,
            top: 500,
            seed: 0,
            every: 1,
            actions: Actions::Mean,
        }
    }
}

impl DemonstrateOptions {
    /// Positions of those who demonstrate, in the order of choice.
    fn choose(&self, elites: &[SavedElite]) -> Vec<usize> {
        let rated: Vec<Rated<'_>> =
            elites.iter().map(|e| Rated { objective: e.objective, measures: &e.measures }).collect();
        let (top, number) = (self.top as usize, self.number as usize);
        match self.choice {
            Choice::Diverse => diverse(&rated, top, number),
            Choice::Best => best(&rated, top.min(number)),
            Choice::Random => {
                let mut pool = best(&rated, top);
                Stream::new(self.seed, "demonstrators").draws(0, 0).shuffle(&mut pool);
                pool.truncate(number);
                pool
            }
        }
    }
}

/// Lets elites of an archive demonstrate in its own world.
pub fn demonstrate(open: &OpenArchive, options: &DemonstrateOptions) -> Result<Demonstrations, RunError> {
    let archive = &open.archive;
    let chosen: Vec<&SavedElite> =
        options.choose(&archive.elites).into_iter().map(|i| &archive.elites[i]).collect();
    if chosen.len() != options.number as usize {
        return Err(RunError::FewElites {
            path: open.path.clone(),
            wanted: options.number,
            found: chosen.len(),
            limited: (options.top as usize) < archive.elites.len(),
        });
    }
    let env = Arc::new(open.environment(None)?);
    let policies: Vec<&Policy> = chosen.iter().map(|e| &e.policy).collect();
    let recordings = record(&env, &acting(&archive.about.actor)?, &policies, options.actions, options.seed);
    let no_demonstrations = |problem: Problem| DemonstrationError::Content {
        path: open.path.clone(),
        problem: Problem(format!("the episodes make no demonstrations: {problem}")),
    };
    let columns = columns(open, options.actions, &env, &chosen, &recordings);
    let all = Demonstrations::new(columns).map_err(no_demonstrations)?;
    Ok(all.sparse(options.every).map_err(no_demonstrations)?)
}

fn columns(
    open: &OpenArchive,
    actions: Actions,
    env: &Environment,
    elites: &[&SavedElite],
    recordings: &[Recording],
) -> Columns {
    let archive = &open.archive.about;
    let manner = match actions {
        Actions::Mean => "mean actions",
        Actions::Sampled => "drawn actions",
    };
    let about = About {
        task: archive.task.clone(),
        robot: env.robot().to_owned(),
        measure: archive.measure.clone(),
        horizon: env.episode_steps(),
        source: format!("elites of an archive after {} iterations, {manner}", archive.iteration),
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
    Columns {
        about,
        sizes: Sizes { observation: env.observation_size(), action: env.action_size() },
        episodes: elites.iter().zip(recordings).map(episode).collect(),
        observations: column(|r| &r.observations),
        actions: column(|r| &r.actions),
        final_observations: column(|r| &r.final_observation),
        next_observations: Vec::new(),
        rewards: column(|r| &r.rewards),
        measures: column(|r| &r.measures),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::tests::{CELLS, hopper};

    #[test]
    fn the_chosen_demonstrate_in_the_order_of_choice() {
        for cells in CELLS {
            let (_folder, open) = hopper(cells());
            let made = |options: DemonstrateOptions| demonstrate(&open, &options);
            let both = made(DemonstrateOptions { number: 2, ..DemonstrateOptions::default() }).unwrap();
            let objectives: Vec<f64> = both
                .columns()
                .episodes
                .iter()
                .filter_map(|e| e.demonstrator.as_ref().map(|d| d.objective))
                .collect();
            assert_eq!(objectives, [2.0, 1.0], "the best one comes first");
            let options = DemonstrateOptions { number: 1, ..DemonstrateOptions::default() };
            let one = made(options.clone()).unwrap();
            assert_eq!(
                one.columns().observations,
                both.columns().observations[..one.columns().observations.len()]
            );
            let drawn = made(DemonstrateOptions { actions: Actions::Sampled, ..options.clone() }).unwrap();
            assert_ne!(drawn.columns().actions, one.columns().actions);
            assert!(drawn.columns().about.source.ends_with("drawn actions"));
            let random = |seed| made(DemonstrateOptions { choice: Choice::Random, seed, ..options.clone() });
            assert_eq!(random(1).unwrap(), random(1).unwrap());
        }
    }

    #[test]
    fn more_than_there_are_is_refused() {
        let (_folder, open) = hopper(CELLS[0]());
        let refused = |number, top| {
            let options = DemonstrateOptions { number, top, ..DemonstrateOptions::default() };
            demonstrate(&open, &options).unwrap_err().to_string()
        };
        let message = refused(3, 500);
        assert!(message.contains("3 demonstrations were asked for, but there are 2 elites"), "{message}");
        assert!(message.ends_with("ask for fewer"), "{message}");
        assert!(refused(2, 1).contains("choose among more"), "{}", refused(2, 1));
    }
}
