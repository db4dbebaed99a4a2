//! Datasets of Minari: the HDF5 file `main_data.hdf5`, and the `metadata.json` beside it.
//!
//! | in each group `episode_N` | shape | |
//! |---|---|---|
//! | `observations` | [T + 1, O] | one more than steps |
//! | `actions` | [T, A] | |
//! | `rewards`, `terminations`, `truncations` | [T] | |
//!
//! The environment is named in `env_spec`, a text of JSON with an `id`: in `metadata.json`, or in older datasets an
//! attribute of the file.

use super::hdf5::{Hdf5, Place};
use super::{Actions, Given};
use crate::demonstrations::{Columns, Demonstrations, Episode, Foreign, Sizes};
use crate::error::{Problem, problem, shown};

/// Reads episodes, if there are any; `simulator` is what is known of where they were recorded.
pub(super) fn read(
    file: &Hdf5,
    groups: &[Place],
    given: &Given,
    simulator: Option<String>,
) -> Result<Demonstrations, Problem> {
    let number = |group: &&Place| group.name().strip_prefix("episode_")?.parse::<u32>().ok();
    let mut episodes: Vec<&Place> = groups.iter().filter(|group| number(group).is_some()).collect();
    episodes.sort_by_key(number);
    let mut columns = Columns { about: given.about(), ..Columns::default() };
    let mut taken = Actions::default();
    for episode in episodes {
        let name = episode.name();
        let (observations, actions) = (file.table(episode, "observations")?, file.table(episode, "actions")?);
        let (_, rewards) = file.numbers(episode, "rewards")?;
        let ends = file.flags(episode, "terminations")?;
        let sizes = Sizes { observation: observations.columns, action: actions.columns };
        if columns.episodes.is_empty() {
            columns.sizes = sizes;
        }
        let length = actions.rows;
        let fits = observations.rows == length + 1 && rewards.len() == length && ends.len() == length;
        if length == 0 || !fits || sizes != columns.sizes {
            return problem!(
                "{name} has {} observations of {}, {length} actions of {}, {} rewards and {} ends; expected one \
                 observation more than the others, and the widths of the first episode, {} and {}",
                observations.rows,
                sizes.observation,
                sizes.action,
                rewards.len(),
                ends.len(),
                columns.sizes.observation,
                columns.sizes.action
            );
        }
        let single = observations.single();
        let (before, last) = single.split_at(length * sizes.observation);
        columns.observations.extend_from_slice(before);
        columns.final_observations.extend_from_slice(last);
        taken.add(&actions);
        columns.rewards.extend(rewards.iter().map(|&r| r as f32));
        columns.episodes.push(Episode {
            length,
            terminated: ends[length - 1],
            true_return: Some(rewards.iter().sum()),
            measures: Vec::new(),
            demonstrator: None,
        });
    }
    let simulator = simulator.or_else(|| named(&file.text(&file.root(), "env_spec")?));
    let simulator = simulator.map(|name| shown(&name));
    columns.about.foreign =
        Some(Foreign { simulator: simulator.unwrap_or_default(), clipped: taken.clipped });
    columns.about.repairs.extend(taken.repair());
    columns.actions = taken.limited;
    given.checked(columns)
}

/// What `metadata.json` says of the environment.
pub(super) fn simulator(metadata: &str) -> Option<String> {
    let metadata: serde_json::Value = serde_json::from_str(metadata).ok()?;
    let of_spec = || named(metadata.get("env_spec")?.as_str()?);
    // Without an environment the name of the dataset still says what was recorded.
    of_spec().or_else(|| Some(metadata.get("dataset_id")?.as_str()?.to_owned()))
}

/// The id in a description of an environment by Gymnasium.
fn named(spec: &str) -> Option<String> {
    let spec: serde_json::Value = serde_json::from_str(spec).ok()?;
    Some(spec.get("id")?.as_str()?.to_owned())
}
