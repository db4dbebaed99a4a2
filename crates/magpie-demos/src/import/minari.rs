//! Datasets of Minari: the HDF5 file `main_data.hdf5`.
//!
//! | in each group `episode_N` | shape | |
//! |---|---|---|
//! | `observations` | [T + 1, O] | one more than steps |
//! | `actions` | [T, A] | |
//! | `rewards`, `terminations`, `truncations` | [T] | |
//!
//! The HDF5 reader is handed the bytes that were read, and is asked for a table only after its announced size has been
//! compared with what may come out of the file.

use std::cell::Cell;

use hdf5_pure::{Dataset, File};

use super::table::Table;
use super::{Given, limited, most_bytes};
use crate::demonstrations::{Columns, Demonstrations, Episode, Sizes};
use crate::error::{Problem, problem};

/// Reads an HDF5 file.
pub(super) fn read(bytes: &[u8], given: &Given) -> Result<Demonstrations, Problem> {
    let file = match File::from_bytes(bytes.to_vec()) {
        Ok(file) => file,
        Err(e) => {
            return problem!("it begins like an HDF5 file, but cannot be read ({e}); it may be cut off");
        }
    };
    let groups = match file.root().groups() {
        Ok(groups) => groups,
        Err(e) => return problem!("the groups of the HDF5 file cannot be listed ({e}); the file is damaged"),
    };
    let number = |group: &String| group.strip_prefix("episode_")?.parse::<u32>().ok();
    let mut numbers: Vec<u32> = groups.iter().filter_map(number).collect();
    numbers.sort_unstable();
    if numbers.is_empty() {
        return problem!(
            "an HDF5 file without episodes; expected groups episode_0, episode_1 … as Minari writes"
        );
    }
    // Of all tables together: many names may lead to one table.
    let left = Cell::new(most_bytes(bytes) / size_of::<f64>() as u64);
    let open = |number: u32, name: &str| -> Result<(Vec<usize>, Dataset), Problem> {
        let path = format!("episode_{number}/{name}");
        let opened = file.dataset(&path).and_then(|dataset| Ok((dataset.shape()?, dataset)));
        let (shape, dataset) = match opened {
            Ok(opened) => opened,
            Err(e) => return problem!("{path} is no table of numbers ({e}); expected one, as Minari writes"),
        };
        let count = shape.iter().try_fold(1_u64, |product, &n| product.checked_mul(n));
        match count.and_then(|count| left.get().checked_sub(count)) {
            Some(rest) => {
                left.set(rest);
                Ok((shape.iter().map(|&n| n as usize).collect(), dataset))
            }
            None => problem!(
                "{path} claims the shape {shape:?}: more numbers than a file of {} bytes can be expected to hold",
                bytes.len()
            ),
        }
    };
    let numbers_of = |number: u32, name: &str| -> Result<(Vec<usize>, Vec<f64>), Problem> {
        let (shape, dataset) = open(number, name)?;
        match dataset.read_f64() {
            Ok(values) if values.len() == shape.iter().product::<usize>() => Ok((shape, values)),
            Ok(values) => problem!("episode_{number}/{name} has {} numbers for {shape:?}", values.len()),
            Err(e) => problem!("episode_{number}/{name} cannot be read ({e}); the file is damaged"),
        }
    };
    let table = |number: u32, name: &str| -> Result<Table, Problem> {
        let (shape, values) = numbers_of(number, name)?;
        match shape[..] {
            [rows, columns] => Ok(Table { rows, columns, values }),
            _ => problem!("episode_{number}/{name} has the shape {shape:?}; expected rows and columns"),
        }
    };

    let mut columns = Columns { about: given.about(), ..Columns::default() };
    let mut outside = 0;
    for &number in &numbers {
        let (observations, actions) = (table(number, "observations")?, table(number, "actions")?);
        let (_, rewards) = numbers_of(number, "rewards")?;
        let (_, ends) = open(number, "terminations")?;
        let ends = match ends.read_u8().or_else(|_| Ok(ends.read_i8()?.iter().map(|&b| b as u8).collect())) {
            Ok::<Vec<u8>, hdf5_pure::Error>(ends) => ends,
            Err(e) => return problem!("episode_{number}/terminations cannot be read ({e})"),
        };
        let sizes = Sizes { observation: observations.columns, action: actions.columns };
        if columns.episodes.is_empty() {
            columns.sizes = sizes;
        }
        let length = actions.rows;
        let fits = observations.rows == length + 1 && rewards.len() == length && ends.len() == length;
        if length == 0 || !fits || sizes != columns.sizes {
            return problem!(
                "episode_{number} has {} observations of {}, {length} actions of {}, {} rewards and {} ends; expected \
                 one observation more than the others, and the widths of the first episode, {} and {}",
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
        let (actions, clipped) = limited(&actions);
        columns.actions.extend(actions);
        outside += clipped;
        columns.rewards.extend(rewards.iter().map(|&r| r as f32));
        columns.episodes.push(Episode {
            length,
            terminated: ends[length - 1] != 0,
            true_return: Some(rewards.iter().sum()),
            measures: Vec::new(),
            demonstrator: None,
        });
    }
    if outside > 0 {
        let all = columns.actions.len();
        columns.about.repairs.push(format!("{outside} of {all} entries of actions were limited to -1…1"));
    }
    Demonstrations::new(columns)
}
