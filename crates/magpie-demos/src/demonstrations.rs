//! What demonstrations are: whole episodes in flat tables.
//!
//! Within an episode the observation after a step is the one before the next, so only the last of each is stored
//! separately. A small file may hold only every Nth step ([`Demonstrations::sparse`]); it then stores what followed each.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::Problem;

/// Widths of the tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Entries of an observation.
    pub observation: usize,
    /// Entries of an action.
    pub action: usize,
}

/// Where demonstrations come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// What is known of their origin, if they were not recorded in magpie. Task and robot are then what the importer was
    /// told, not what the file says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<Foreign>,
}

/// The origin of demonstrations that another program recorded. Their returns are sums of its rewards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Foreign {
    /// The environment or dataset that the file names; empty if it names none.
    #[serde(default)]
    pub simulator: String,
    /// How actions were clipped, if some were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clipped: Option<Clipped>,
}

/// How many entries of actions lay outside -1 to 1 and were clipped to it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Clipped {
    /// Entries outside.
    pub outside: u64,
    /// Entries in all.
    pub of: u64,
    /// The one that was furthest outside.
    pub largest: f64,
    /// Which entry of the action it was, from 0.
    pub entry: usize,
}

fn all() -> u32 {
    1
}

impl Default for About {
    fn default() -> About {
        let [task, robot, measure, source, magpie] = Default::default();
        let (repairs, foreign) = Default::default();
        About { task, robot, measure, horizon: 0, every: all(), source, repairs, magpie, foreign }
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
#[derive(Debug, Clone, Default, PartialEq)]
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
    pub(crate) columns: Columns,
}

impl Demonstrations {
    /// Checks that everything fits.
    pub fn new(columns: Columns) -> Result<Demonstrations, Problem> {
        Demonstrations::named(columns, &[])
    }

    /// The same; problems call the entries of an observation by these names.
    pub(crate) fn named(columns: Columns, entries: &[String]) -> Result<Demonstrations, Problem> {
        columns.check(entries)?;
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

    /// The same without a word about where they come from, which may be said in many ways.
    pub fn anonymous(&self) -> Demonstrations {
        let mut columns = self.columns.clone();
        let About { source, repairs, magpie, foreign, .. } = &mut columns.about;
        (*source, *repairs, *magpie, *foreign) = Default::default();
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
}

impl Columns {
    /// The episodes with their rows.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&Episode, Range<usize>)> {
        let mut next = 0;
        self.episodes.iter().map(move |episode| {
            let first = next;
            next += episode.length.div_ceil(self.about.every as usize);
            (episode, first..next)
        })
    }

    /// What followed the step of `row`, which is one of the `rows` of episode `number`.
    pub(crate) fn next(&self, number: usize, rows: &Range<usize>, row: usize) -> Option<&[f32]> {
        let width = self.sizes.observation;
        if self.about.every > 1 {
            self.next_observations.chunks_exact(width).nth(row)
        } else if row + 1 < rows.end {
            self.observations.chunks_exact(width).nth(row + 1)
        } else {
            self.final_observations.chunks_exact(width).nth(number)
        }
    }
}
