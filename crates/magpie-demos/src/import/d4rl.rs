//! Datasets of D4RL: one HDF5 file with a row a step and no episodes.
//!
//! | table | shape | |
//! |---|---|---|
//! | `observations` | [N, O] | |
//! | `actions` | [N, A] | |
//! | `rewards` | [N] | |
//! | `terminals` | [N] | the episode ended by itself with this step |
//! | `timeouts` | [N] | it was cut off after this step; absent in old files |
//! | `next_observations` | [N, O] | may be absent |
//!
//! An episode goes to the next terminal or timeout. Without timeouts it is also cut off where it is as long as an episode
//! may be, as D4RL itself does. The steps after the last end are no whole episode and are left out.

use magpie_files::count;

use super::hdf5::Hdf5;
use super::{Actions, Given};
use crate::demonstrations::{Columns, Demonstrations, Episode, Foreign, Sizes};
use crate::error::{Problem, problem};

/// Whether these are the tables of such a file.
pub(super) fn recognised(tables: &[String]) -> bool {
    ["observations", "actions", "rewards", "terminals"].iter().all(|name| tables.iter().any(|t| t == name))
}

/// Reads the tables of a file.
pub(super) fn read(file: &Hdf5, tables: &[String], given: &Given) -> Result<Demonstrations, Problem> {
    let root = file.root();
    let there = |name: &str| tables.iter().any(|table| table == name);
    let (observations, actions) = (file.table(&root, "observations")?, file.table(&root, "actions")?);
    let (_, rewards) = file.numbers(&root, "rewards")?;
    let terminals = file.flags(&root, "terminals")?;
    let timeouts = there("timeouts").then(|| file.flags(&root, "timeouts")).transpose()?;
    let nexts = there("next_observations").then(|| file.table(&root, "next_observations")).transpose()?;
    let rows = actions.rows;
    let width = observations.columns;
    let found = [
        ("observations", observations.rows),
        ("rewards", rewards.len()),
        ("terminals", terminals.len()),
        ("timeouts", timeouts.as_ref().map_or(rows, Vec::len)),
        ("next_observations", nexts.as_ref().map_or(rows, |nexts| nexts.rows)),
    ];
    if let Some((name, found)) = found.iter().find(|(_, found)| *found != rows) {
        return problem!("{name} has {found} rows and actions {rows}; expected a row a step in each");
    }
    if let Some(nexts) = nexts.as_ref().filter(|nexts| nexts.columns != width) {
        let columns = nexts.columns;
        return problem!("next_observations has {columns} columns; expected {width}, as observations has");
    }
    let mut episodes = Vec::new();
    let mut finals = Vec::new();
    let mut first = 0;
    for row in 0..rows {
        let length = row + 1 - first;
        let timeout = match &timeouts {
            Some(timeouts) => timeouts[row],
            None => length == given.horizon as usize,
        };
        if !terminals[row] && !timeout {
            continue;
        }
        episodes.push(Episode {
            length,
            terminated: terminals[row],
            true_return: Some(rewards[first..=row].iter().sum()),
            measures: Vec::new(),
            demonstrator: None,
        });
        if let Some(nexts) = &nexts {
            finals.extend(nexts.row(row).iter().map(|&value| value as f32));
        }
        first = row + 1;
    }
    if episodes.is_empty() {
        return problem!(
            "none of the {rows} steps ends an episode, by terminals or timeouts; expected at least one whole episode"
        );
    }
    let mut before = observations.single();
    before.truncate(first * width);
    let actions = actions.truncated(first);
    let mut taken = Actions::default();
    taken.add(&actions);
    let mut about = given.about();
    about.foreign = Some(Foreign { simulator: String::new(), clipped: taken.clipped });
    about.repairs.extend(taken.repair());
    if first < rows {
        about
            .repairs
            .push(format!("left out {} after the last end of an episode", count(rows - first, "step")));
    }
    given.checked(Columns {
        about,
        sizes: Sizes { observation: width, action: actions.columns },
        episodes,
        observations: before,
        actions: taken.limited,
        final_observations: finals,
        rewards: rewards[..first].iter().map(|&r| r as f32).collect(),
        ..Columns::default()
    })
}
