//! The demonstrations published with the paper: `trajs_ppga_TASK.pt`, a pickled dictionary of arrays.
//!
//! | entry | shape | |
//! |---|---|---|
//! | `states` | [N, O] | `states[t]` is the observation *after* `actions[t]`, not before |
//! | `actions` | [N, A] | as drawn, not limited |
//! | `lengths` | [E] | of the episodes, which lie one after the other |
//! | `measures` | [N, k] | of the steps |
//! | `rewards` | [N] | all zero |
//! | `returns` | [E] | true returns of the episodes |
//! | `demonstrator_returns`, `demonstrator_measures` | [E], [E, k] | what the archive says of the policies |
//!
//! Two things are repaired. An action belongs to the observation before it, so actions move one step back. And when an
//! episode ended, the recorder's automatic reset wrote the *first* observation of that same episode over its last
//! one: it is put where it belongs, before the first action. So no pair is lost, but the observation after the
//! last step of each episode is not known.

use super::limit::Limit;
use super::table::{Table, counts, list};
use super::{Actions, Given, pickle};
use crate::demonstrations::{About, Columns, Demonstrations, Demonstrator, Episode, Foreign, Sizes};
use crate::error::{Problem, problem};

/// Reads the paper's pickle.
pub(super) fn read(bytes: &[u8], given: &Given) -> Result<Demonstrations, Problem> {
    let arrays = pickle::arrays(bytes)?;
    // Many names may lead to one array.
    let limit = Limit::of(bytes.len());
    let mut names: Vec<&str> = arrays.keys().map(String::as_str).collect();
    names.sort_unstable();
    names.truncate(20);
    let names = names.join(", ");
    let read = |name: &str, array: &pickle::Stored| {
        limit.take(name, Some(array.count()))?;
        array.read()
    };
    let find = |name: &str| match arrays.get(name) {
        Some(array) => read(name, array),
        None => {
            problem!("the pickle has no array {name}; expected states, actions and lengths, found {names}")
        }
    };
    let states = Table::of("states", find("states")?)?;
    let actions = Table::of("actions", find("actions")?)?;
    let lengths = counts("lengths", &list("lengths", find("lengths")?)?)?;
    let rows = lengths.iter().try_fold(0_usize, |sum, &n| sum.checked_add(n));
    if states.rows == 0 || rows != Some(states.rows) || actions.rows != states.rows {
        return problem!(
            "there are {} states and {} actions; expected as many as the episodes' lengths {lengths:?} add up to",
            states.rows,
            actions.rows
        );
    }
    let optional = |name: &str| arrays.get(name).map(|array| list(name, read(name, array)?)).transpose();
    let table = |name: &str| arrays.get(name).map(|array| Table::of(name, read(name, array)?)).transpose();
    let returns = optional("returns")?;
    let objectives = optional("demonstrator_returns")?;
    let demonstrator_measures = table("demonstrator_measures")?;
    let measures = table("measures")?;
    let rewards = optional("rewards")?.unwrap_or_default();

    let found = [
        ("returns", returns.as_ref().map(Vec::len)),
        ("demonstrator_returns", objectives.as_ref().map(Vec::len)),
        ("demonstrator_measures", demonstrator_measures.as_ref().map(|table| table.rows)),
    ];
    for (name, found) in found {
        if let Some(found) = found.filter(|&found| found != lengths.len()) {
            let episodes = lengths.len();
            return problem!(
                "{name} has {found} rows; expected {episodes}, one for each of the lengths {lengths:?}"
            );
        }
    }

    let known = rewards.iter().any(|&reward| reward != 0.0);
    let mut taken = Actions::default();
    taken.add(&actions);
    let mut repairs = vec![
        "actions belong to the observation one step before the state they were stored with".to_owned(),
        "the last state of each episode is its first observation, put there by an automatic reset; the \
         observation after the last step is not known"
            .to_owned(),
    ];
    repairs.extend(taken.repair());
    if demonstrator_measures.is_some() && objectives.is_none() {
        repairs.push(
            "demonstrator_measures were left out: there are no demonstrator_returns beside them".to_owned(),
        );
    }
    if !rewards.is_empty() && !known {
        repairs.push("rewards were all zero and were left out".to_owned());
    }
    let episode = |(number, &length): (usize, &usize)| Episode {
        length,
        // The file does not say so, but only an episode of full length was cut off.
        terminated: length < given.horizon as usize,
        true_return: returns.as_ref().map(|returns| returns[number]),
        measures: Vec::new(),
        demonstrator: objectives.as_ref().map(|objectives| Demonstrator {
            objective: objectives[number],
            measures: demonstrator_measures
                .as_ref()
                .map_or_else(Vec::new, |table| table.row(number).to_vec()),
        }),
    };
    let foreign = Some(Foreign { simulator: String::new(), clipped: taken.clipped });
    given.checked(Columns {
        about: About { measure: given.measure.clone(), repairs, foreign, ..given.about() },
        sizes: Sizes { observation: states.columns, action: actions.columns },
        episodes: lengths.iter().enumerate().map(episode).collect(),
        observations: moved_back(&states, &lengths),
        actions: taken.limited,
        rewards: if known { rewards.iter().map(|&r| r as f32).collect() } else { Vec::new() },
        measures: measures.map_or_else(Vec::new, |table| table.single()),
        ..Columns::default()
    })
}

/// The observation before each step: the state after the step before, and before the first step the last state.
fn moved_back(states: &Table, lengths: &[usize]) -> Vec<f32> {
    let all = states.single();
    let width = states.columns;
    let mut observations = Vec::with_capacity(all.len());
    let mut rest = &all[..];
    for &length in lengths {
        let (episode, after) = rest.split_at(length * width);
        let (others, last) = episode.split_at(episode.len().saturating_sub(width));
        observations.extend_from_slice(last);
        observations.extend_from_slice(others);
        rest = after;
    }
    observations
}
