//! What must hold of demonstrations before a reward is learned from them.

use crate::demonstrations::{Columns, Sizes};
use crate::error::Problem;

/// Longer episodes than this are a mistake in a file.
pub(crate) const LONGEST_HORIZON: u32 = 1_000_000;

/// No position, angle, velocity or torque of a robot is larger, in SI units. Squares of larger ones would also spoil the
/// statistics of observations.
const LARGEST_OBSERVATION: f32 = 1e6;

impl Columns {
    /// Refuses tables that do not fit together, and numbers that make no sense. `entries` names the entries of an
    /// observation, as far as names are known.
    pub(crate) fn check(&self, entries: &[String]) -> Result<(), Problem> {
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
        for (name, table) in [
            ("observations", &self.observations),
            ("final observations", &self.final_observations),
            ("next observations", &self.next_observations),
        ] {
            if let Some(at) = table.iter().position(|value| value.abs() > LARGEST_OBSERVATION) {
                let entry = at % observation;
                let called = entries.get(entry).map(|name| format!(" ({name})")).unwrap_or_default();
                return fail(format!(
                    "{name} has {:e} in row {}, entry {entry}{called}; expected at most {LARGEST_OBSERVATION:e}, in metres, \
                     radians and seconds: check how the file was written",
                    table[at],
                    at / observation,
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
