//! Demonstrations: a few whole episodes, with everything that reward models and reports ask of them.
//!
//! Observations are raw; actions are as the environment took them, limited to ±1; both are of the same step. Within an
//! episode the observation after a step is the one before the next, so only the last of each is kept beside. A small
//! file may hold every so-many-th step alone ([`Demonstrations::sparse`]); it then keeps what followed each of them.
//!
//! [`Demonstrations::load`] and [`Demonstrations::save`] are magpie's own file format, [`import`] reads others, and
//! [`bundled`] ones come with the crate.

mod array;
mod bundled;
mod error;
mod file;
mod imitation;
mod import;
mod minari;
mod npz;
mod paper;
mod pickle;

use std::ops::Range;

use magpie_nn::normaliser::{Moments, Running};
use serde::{Deserialize, Serialize};

use crate::transitions::{Needs, Sizes, Transitions};

pub use bundled::bundled;
use error::problem;
pub use error::{DemonstrationError, Problem, in_words};
pub use import::{Given, import, import_bytes};

/// Longer episodes than this are a mistake in a file.
const LONGEST_HORIZON: u32 = 1_000_000;

/// Where demonstrations come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The task; empty if nobody said.
    #[serde(default)]
    pub task: String,
    /// Name of the robot; empty if nobody said.
    #[serde(default)]
    pub robot: String,
    /// The measure; empty if nobody said.
    #[serde(default)]
    pub measure: String,
    /// Steps after which an episode is cut off.
    pub horizon: u32,
    /// Every how many steps of an episode one was kept, the first included.
    #[serde(default = "all")]
    pub every: u32,
    /// The run or file they were made from.
    #[serde(default)]
    pub source: String,
    /// What was changed on the way, in words.
    #[serde(default)]
    pub repairs: Vec<String>,
    /// The version of magpie that wrote them.
    #[serde(default)]
    pub magpie: String,
}

fn all() -> u32 {
    1
}

impl Default for About {
    fn default() -> About {
        let [task, robot, measure, source, magpie] = Default::default();
        About { task, robot, measure, horizon: 0, every: all(), source, repairs: Vec::new(), magpie }
    }
}

/// One episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    /// Steps, kept or not.
    pub length: usize,
    /// Whether it ended by itself; if not, it was cut off.
    pub terminated: bool,
    /// Sum of its true rewards, if known.
    pub true_return: Option<f64>,
    /// Mean of its measures, if known and not to be had from those of its steps.
    #[serde(default)]
    pub measures: Vec<f64>,
    /// Who did it, if known.
    pub demonstrator: Option<Demonstrator>,
}

/// What an archive says of the elite that gave a demonstration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Demonstrator {
    /// Its objective.
    pub objective: f64,
    /// Its measures.
    pub measures: Vec<f64>,
}

/// Everything, as flat tables with a row a step that was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    /// Where they come from.
    pub about: About,
    /// Widths of the tables.
    pub sizes: Sizes,
    /// The episodes, in the order of their rows.
    pub episodes: Vec<Episode>,
    /// Raw observations on which actions were chosen.
    pub observations: Vec<f32>,
    /// Actions, limited to ±1.
    pub actions: Vec<f32>,
    /// The observation after the last step of each episode; empty if not known, or if not all steps were kept.
    pub final_observations: Vec<f32>,
    /// The observation after each step; empty if all steps were kept, or if not known.
    pub next_observations: Vec<f32>,
    /// True rewards; empty if not known.
    pub rewards: Vec<f32>,
    /// Measures of the steps; empty if not known.
    pub measures: Vec<f32>,
}

/// Demonstrations that have been checked: all sizes fit and all numbers are finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Demonstrations {
    columns: Columns,
}

/// Rows of demonstrations, ready for a reward model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pairs {
    /// Raw observations.
    pub observations: Vec<f32>,
    /// Actions.
    pub actions: Vec<f32>,
    /// Observations after the step; empty unless asked for.
    pub next_observations: Vec<f32>,
    /// Whether the episode ended by itself with the step.
    pub terminated: Vec<bool>,
    /// True rewards; empty if not known.
    pub rewards: Vec<f32>,
    /// log π under the current policy: whoever has the policy fills it in.
    pub log_probs: Vec<f32>,
    /// Steps that the end of the episode cost, thinned like the rows, at its last row.
    pub lost: Vec<u32>,
}

impl Pairs {
    /// As transitions.
    pub fn transitions(&self) -> Transitions<'_> {
        Transitions {
            observations: &self.observations,
            actions: &self.actions,
            next_observations: &self.next_observations,
            terminated: &self.terminated,
            log_probs: &self.log_probs,
            rewards: &self.rewards,
            lost: &self.lost,
        }
    }
}

impl Demonstrations {
    /// Checks that everything fits.
    pub fn new(columns: Columns) -> Result<Demonstrations, Problem> {
        columns.check()?;
        Ok(Demonstrations { columns })
    }

    /// All tables.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Widths of the tables.
    pub fn sizes(&self) -> Sizes {
        self.columns.sizes
    }

    /// Number of steps that were kept.
    pub fn steps(&self) -> usize {
        self.columns.observations.len() / self.columns.sizes.observation
    }

    /// Every `every`-th step of each episode, the first included; a file that kept fewer steps than that cannot give
    /// them. If next observations are needed, a step after which none is known is left out.
    pub fn thinned(&self, every: usize, needs: Needs) -> Result<Pairs, Problem> {
        let Columns { about, sizes, observations, actions, rewards, .. } = &self.columns;
        let Sizes { observation, action } = *sizes;
        let every = every.clamp(1, LONGEST_HORIZON as usize);
        let kept = about.every as usize;
        if !every.is_multiple_of(kept) {
            return problem!(
                "every {every}th step is asked for, but it holds every {kept}th alone; ask for a multiple of {kept}"
            );
        }
        let mut pairs = Pairs::default();
        for (number, (episode, rows)) in self.columns.rows().enumerate() {
            let mut taken = 0;
            for row in rows.clone().step_by(every / kept) {
                if needs.next_observations {
                    let Some(next) = self.columns.next(number, &rows, row) else { continue };
                    pairs.next_observations.extend_from_slice(next);
                }
                let last = (row - rows.start) * kept + 1 == episode.length;
                pairs.observations.extend_from_slice(&observations[row * observation..][..observation]);
                pairs.actions.extend_from_slice(&actions[row * action..][..action]);
                pairs.terminated.push(last && episode.terminated);
                pairs.rewards.extend(rewards.get(row));
                pairs.lost.push(0);
                taken += 1;
            }
            if let (true, Some(lost)) = (episode.terminated && taken > 0, pairs.lost.last_mut()) {
                *lost = (about.horizon - episode.length as u32).div_ceil(every as u32);
            }
        }
        Ok(pairs)
    }

    /// The same with every `every`-th step alone: all that a reward model with this thinning sees, in a fraction of the
    /// bytes. What followed is kept if it is known for all of them.
    pub fn sparse(&self, every: u32) -> Result<Demonstrations, Problem> {
        let pairs = self.thinned(every as usize, Needs::default())?;
        let followed = self.thinned(every as usize, Needs { next_observations: true, ..Needs::default() })?;
        let mut columns = self.columns.clone();
        for (episode, place) in columns.episodes.iter_mut().zip(self.places()) {
            episode.measures = place.unwrap_or_default();
        }
        if every > columns.about.every {
            columns.about.every = every;
            let all = followed.observations.len() == pairs.observations.len();
            columns.next_observations = if all { followed.next_observations } else { Vec::new() };
            columns.observations = pairs.observations;
            columns.actions = pairs.actions;
            columns.final_observations.clear();
            columns.rewards = pairs.rewards;
            // Their mean over all steps is what they are kept for.
            columns.measures.clear();
        }
        Demonstrations::new(columns)
    }

    /// The same without a word about where they come from, which may be said in many ways.
    pub fn anonymous(&self) -> Demonstrations {
        let mut columns = self.columns.clone();
        let About { source, repairs, magpie, .. } = &mut columns.about;
        (*source, *repairs, *magpie) = Default::default();
        Demonstrations { columns }
    }

    /// The first `count` episodes. Demonstrations are chosen one after the other, the best first, so these are what
    /// choosing fewer would have given.
    pub fn subset(&self, count: usize) -> Demonstrations {
        let mut columns = self.columns.clone();
        let old = columns.episodes.len();
        columns.episodes.truncate(count.max(1));
        let rows = columns.rows().map(|(_, rows)| rows.len()).sum::<usize>();
        let steps = self.steps();
        for table in [
            &mut columns.observations,
            &mut columns.actions,
            &mut columns.next_observations,
            &mut columns.rewards,
            &mut columns.measures,
        ] {
            table.truncate(table.len() / steps * rows);
        }
        columns.final_observations.truncate(columns.final_observations.len() / old * columns.episodes.len());
        Demonstrations { columns }
    }

    /// Where each episode lies in the space of measures: the mean over its steps, or what is known of its
    /// demonstrator; nothing for an episode of which neither is known.
    pub fn places(&self) -> Vec<Option<Vec<f64>>> {
        let measures = &self.columns.measures;
        let width = measures.len() / self.steps();
        let place = |(episode, rows): (&Episode, Range<usize>)| {
            let steps = &measures[rows.start * width..rows.end * width];
            let mean = |d: usize| {
                steps.chunks_exact(width).map(|row| f64::from(row[d])).sum::<f64>() / rows.len() as f64
            };
            let of_steps = (0..width).map(mean).collect();
            let of_demonstrator = episode.demonstrator.iter().flat_map(|d| d.measures.clone()).collect();
            [of_steps, episode.measures.clone(), of_demonstrator].into_iter().find(|known| !known.is_empty())
        };
        self.columns.rows().map(place).collect()
    }

    /// Mean and variance of the observations.
    pub fn normaliser(&self) -> Running {
        let mut moments = Moments::new(self.columns.sizes.observation);
        moments.add_rows(&self.columns.observations);
        let mut running = Running::new(self.columns.sizes.observation);
        running.update(&moments);
        running
    }
}

impl Columns {
    /// The episodes with their rows.
    fn rows(&self) -> impl Iterator<Item = (&Episode, Range<usize>)> {
        let mut next = 0;
        self.episodes.iter().map(move |episode| {
            let first = next;
            next += episode.length.div_ceil(self.about.every as usize);
            (episode, first..next)
        })
    }

    /// What followed the step of `row`, which is one of the `rows` of episode `number`.
    fn next(&self, number: usize, rows: &Range<usize>, row: usize) -> Option<&[f32]> {
        let width = self.sizes.observation;
        if self.about.every > 1 {
            self.next_observations.chunks_exact(width).nth(row)
        } else if row + 1 < rows.end {
            self.observations.chunks_exact(width).nth(row + 1)
        } else {
            self.final_observations.chunks_exact(width).nth(number)
        }
    }

    fn check(&self) -> Result<(), Problem> {
        let Sizes { observation, action } = self.sizes;
        let fail = |problem: String| Err(Problem(problem));
        if observation == 0 || action == 0 || self.episodes.is_empty() {
            return fail("there are no episodes, observations or actions in it".to_owned());
        }
        let horizon = self.about.horizon;
        if !(1..=LONGEST_HORIZON).contains(&horizon) {
            return fail(format!("its horizon is {horizon} steps; expected 1 to {LONGEST_HORIZON}"));
        }
        for (number, episode) in self.episodes.iter().enumerate() {
            if !(1..=horizon as usize).contains(&episode.length) {
                return fail(format!(
                    "episode {number} has {} steps; expected 1 to {horizon}, its horizon",
                    episode.length
                ));
            }
        }
        let every = self.about.every;
        if !(1..=LONGEST_HORIZON).contains(&every) {
            return fail(format!(
                "it says that every {every}th step was kept; expected 1 to {LONGEST_HORIZON}"
            ));
        }
        let rows: usize = self.rows().map(|(_, rows)| rows.len()).sum();
        let measures = self.measures.len() / rows;
        // Either all steps are there, or what followed each of those that are.
        let (finals, nexts) = if every == 1 { (self.episodes.len(), 0) } else { (0, rows) };
        let tables = [
            ("observations", &self.observations, rows, observation, true),
            ("actions", &self.actions, rows, action, true),
            ("final observations", &self.final_observations, finals, observation, false),
            ("next observations", &self.next_observations, nexts, observation, false),
            ("rewards", &self.rewards, rows, 1, false),
            ("measures", &self.measures, rows, measures, false),
        ];
        for (name, table, rows, width, needed) in tables {
            if rows.checked_mul(width) != Some(table.len()) && (needed || !table.is_empty()) {
                let found = table.len();
                return fail(format!(
                    "{name} has {found} numbers; expected {rows} rows of {width}, as its episodes add up to"
                ));
            }
            if let Some(at) = table.iter().position(|value| !value.is_finite()) {
                return fail(format!(
                    "{name} has {} in row {}; expected finite numbers",
                    table[at],
                    at / width.max(1)
                ));
            }
        }
        if let Some(at) = self.actions.iter().position(|a| a.abs() > 1.0) {
            return fail(format!(
                "an action of row {} is {}; expected -1 to 1, as the environment takes them",
                at / action,
                self.actions[at]
            ));
        }
        for (number, episode) in self.episodes.iter().enumerate() {
            let demonstrator = episode
                .demonstrator
                .iter()
                .flat_map(|d| std::iter::once(d.objective).chain(d.measures.iter().copied()));
            let own = episode.true_return.into_iter().chain(episode.measures.iter().copied());
            if !own.chain(demonstrator).all(f64::is_finite) {
                return fail(format!("a return or measure of episode {number} is not finite"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
