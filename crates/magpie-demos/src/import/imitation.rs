//! Trajectories as versions of the library `imitation` before 1 saved them with numpy: an npz file.
//!
//! | array | shape | |
//! |---|---|---|
//! | `obs` | [N + E, O] | one more than steps for each of the E episodes |
//! | `acts` | [N, A] | |
//! | `indices` | [E - 1] | where in `acts` the second and later episodes begin |
//! | `terminal` | [E] | whether the episode ended; if not, it was cut off |
//! | `rews` | [N] | may be absent |
//!
//! `infos` holds pickled Python objects and is never looked at.

use std::io::Cursor;

use magpie_npz::Npz;

use super::table::{Table, counts, list};
use super::{Actions, Given};
use crate::demonstrations::{About, Columns, Demonstrations, Episode, Foreign, Sizes};
use crate::error::{Problem, problem};

/// Reads the npz file.
pub(super) fn read(npz: &mut Npz<Cursor<&[u8]>>, given: &Given) -> Result<Demonstrations, Problem> {
    let observations = Table::of("obs", npz.array("obs")?)?;
    let actions = Table::of("acts", npz.array("acts")?)?;
    let cuts = counts("indices", &list("indices", npz.array("indices")?)?)?;
    let terminal = list("terminal", npz.array("terminal")?)?;
    let rewards = if npz.contains("rews") { list("rews", npz.array("rews")?)? } else { Vec::new() };

    let episodes = cuts.len() + 1;
    let mut ends = cuts.clone();
    ends.push(actions.rows);
    let rising = ends.windows(2).all(|pair| pair[0] <= pair[1]);
    if !rising || terminal.len() != episodes || observations.rows != actions.rows.saturating_add(episodes) {
        return problem!(
            "{} observations, {} actions, {} terminal flags and the indices {cuts:?} do not fit; expected rising \
             indices, a flag for each episode, and one observation more than actions in each",
            observations.rows,
            actions.rows,
            terminal.len()
        );
    }
    let all = observations.single();
    let width = observations.columns;
    let (mut before, mut last) = (Vec::with_capacity(all.len()), Vec::new());
    let (mut parts, mut first) = (Vec::with_capacity(episodes), 0);
    let mut rest = &all[..];
    for (number, (&end, &terminal)) in ends.iter().zip(&terminal).enumerate() {
        let length = end - first;
        let (episode, after) = rest.split_at((length + 1) * width);
        let (steps, end_observation) = episode.split_at(length * width);
        before.extend_from_slice(steps);
        last.extend_from_slice(end_observation);
        let earned = rewards.get(first..end).filter(|_| !rewards.is_empty());
        parts.push(Episode {
            length,
            terminated: terminal != 0.0 && length < given.horizon as usize,
            true_return: earned.map(|rewards| rewards.iter().sum()),
            measures: Vec::new(),
            demonstrator: None,
        });
        if length == 0 {
            return problem!("episode {number} has no steps; expected at least one");
        }
        (first, rest) = (end, after);
    }
    let mut taken = Actions::default();
    taken.add(&actions);
    let repairs = taken.repair().into_iter().collect();
    let foreign = Some(Foreign { simulator: String::new(), clipped: taken.clipped });
    given.checked(Columns {
        about: About { repairs, foreign, ..given.about() },
        sizes: Sizes { observation: width, action: actions.columns },
        episodes: parts,
        observations: before,
        actions: taken.limited,
        final_observations: last,
        rewards: rewards.iter().map(|&r| r as f32).collect(),
        ..Columns::default()
    })
}
