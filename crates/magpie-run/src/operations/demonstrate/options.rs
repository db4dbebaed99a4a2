//! What can be asked of demonstrators.

use magpie_learn::Actions;
use magpie_settings::SettingError;

use crate::error::RunError;

/// Which of the best elites demonstrate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The best one, and then again and again the one whose behaviour is farthest from those chosen.
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
    /// Fresh episodes for each of them, from which the typical one is recorded.
    pub episodes: u32,
    /// Seed of the starts, of drawn actions and of a random choice.
    pub seed: u64,
    /// Keep only every Nth step.
    pub every: u32,
    /// How to act; as the file says if not given: elites as they did when they were found.
    pub actions: Option<Actions>,
    /// Which elites of an archive demonstrate.
    pub elites: EliteOptions,
}

/// Which elites of an archive may demonstrate.
#[derive(Debug, Clone, PartialEq)]
pub struct EliteOptions {
    /// Which of the best.
    pub choice: Choice,
    /// How many elites are the best ones.
    pub top: u32,
    /// The share of its stored return that an elite must reach on the mean of its fresh episodes.
    pub min_return: f64,
    /// How many cells the mean measures may lie away from the stored ones, along any dimension.
    pub max_cells: f64,
}

impl Default for DemonstrateOptions {
    fn default() -> DemonstrateOptions {
        DemonstrateOptions {
            number: 4,
            episodes: 10,
            seed: 0,
            every: 1,
            actions: None,
            elites: EliteOptions::default(),
        }
    }
}

impl Default for EliteOptions {
    fn default() -> EliteOptions {
        EliteOptions { choice: Choice::Diverse, top: 500, min_return: 0.8, max_cells: 3.0 }
    }
}

/// Demonstrations of one file.
const MOST_DEMONSTRATIONS: u32 = 100_000;

/// Fresh episodes for one demonstration.
const MOST_EPISODES: u32 = 100;

impl DemonstrateOptions {
    pub(super) fn check(&self) -> Result<(), RunError> {
        let EliteOptions { min_return, max_cells, .. } = self.elites;
        let number = format!("from 1 to {MOST_DEMONSTRATIONS}");
        SettingError::unless(
            (1..=MOST_DEMONSTRATIONS).contains(&self.number),
            "number",
            self.number,
            number,
        )?;
        let episodes = format!("from 1 to {MOST_EPISODES}");
        SettingError::unless(
            (1..=MOST_EPISODES).contains(&self.episodes),
            "episodes",
            self.episodes,
            episodes,
        )?;
        let share = "a share from 0 to 1".to_owned();
        SettingError::unless((0.0..=1.0).contains(&min_return), "min_return", min_return, share)?;
        Ok(SettingError::unless(max_cells >= 0.0, "max_cells", max_cells, "at least 0".to_owned())?)
    }
}
