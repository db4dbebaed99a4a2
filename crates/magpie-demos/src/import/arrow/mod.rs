//! Trajectories as versions 1 of the library `imitation` save them: a folder of Hugging Face's `datasets`, whose data are
//! streams of Arrow's IPC format. One row is one trajectory of T steps.
//!
//! | column | of each row | |
//! |---|---|---|
//! | `obs` | T + 1 lists of O numbers | |
//! | `acts` | T lists of A numbers | |
//! | `terminal` | a truth value | whether the episode ended; if not, it was cut off |
//! | `rews` | T numbers | may be absent |
//!
//! `infos` holds pickled Python objects as text and is never looked at.
//!
//! A stream is a sequence of messages: four bytes of ones, the length of the head, the head, which is a FlatBuffers table,
//! and the bytes that it describes. The crate `arrow-ipc` would read it, but panics where a head refers beyond those bytes,
//! and takes as long to compile as the rest of this crate; what is needed of it is little.

mod batch;
mod flat;
mod schema;

use super::limit::Limit;
use super::table::Table;
use super::{Actions, Given};
use crate::demonstrations::{Columns, Demonstrations, Episode, Foreign, Sizes};
use crate::error::{Problem, problem, shown};
use batch::{Batch, Column};
use schema::Field;

/// What a file rather than a stream begins with; the same messages follow.
const FILE: &[u8] = b"ARROW1\0\0";
/// What each message begins with.
const CONTINUATION: [u8; 4] = [0xff; 4];
const MESSAGE_SCHEMA: u8 = 1;
const MESSAGE_BATCH: u8 = 3;

/// Reads the parts of a dataset, one after the other.
pub(super) fn read(parts: &[&[u8]], given: &Given) -> Result<Demonstrations, Problem> {
    let limit = Limit::of(parts.iter().map(|part| part.len()).sum());
    let mut gathered = Gathered::default();
    for part in parts {
        let part = part.strip_prefix(FILE).unwrap_or(part);
        stream(part, &limit, &mut gathered)?;
    }
    let Gathered { mut columns, actions, unpaid } = gathered;
    if columns.episodes.is_empty() {
        return problem!("the Arrow file has no rows; expected one for each trajectory");
    }
    if unpaid {
        columns.rewards.clear();
        columns.episodes.iter_mut().for_each(|episode| episode.true_return = None);
    }
    for episode in &mut columns.episodes {
        episode.terminated &= episode.length < given.horizon as usize;
    }
    columns.about = given.about();
    columns.about.foreign = Some(Foreign { simulator: String::new(), clipped: actions.clipped });
    columns.about.repairs.extend(actions.repair());
    columns.actions = actions.limited;
    given.checked(columns)
}

/// What has been read so far.
#[derive(Default)]
struct Gathered {
    columns: Columns,
    actions: Actions,
    /// Whether some rows have no rewards.
    unpaid: bool,
}

fn stream(mut rest: &[u8], limit: &Limit, gathered: &mut Gathered) -> Result<(), Problem> {
    let cut = || Problem("the Arrow file is cut off or damaged; write it again".to_owned());
    let mut fields: Option<Vec<Field>> = None;
    while let Some(after) = rest.strip_prefix(&CONTINUATION) {
        let length = flat::bytes(after, 0).map(u32::from_le_bytes).ok_or_else(cut)? as usize;
        if length == 0 {
            break;
        }
        let (head, after) = after[4..].split_at_checked(length).ok_or_else(cut)?;
        let message = flat::Table::root(head).ok_or_else(cut)?;
        let body = usize::try_from(message.i64(3)).map_err(|_| cut())?;
        let (body, after) = after.split_at_checked(body).ok_or_else(cut)?;
        rest = after;
        match (message.u8(1), message.table(2)) {
            (MESSAGE_SCHEMA, Some(schema)) => fields = Some(schema::columns(schema)?),
            (MESSAGE_BATCH, Some(head)) => {
                let fields = fields.as_deref().ok_or_else(cut)?;
                gathered.add(fields, Batch::new(head, body, limit)?)?;
            }
            // Dictionaries hold nothing that is wanted.
            _ => {}
        }
    }
    match fields {
        Some(_) => Ok(()),
        None => Err(cut()),
    }
}

impl Gathered {
    fn add(&mut self, fields: &[Field], mut batch: Batch) -> Result<(), Problem> {
        let [mut observations, mut actions, mut terminals, mut rewards] = [const { None::<Column> }; 4];
        for field in fields {
            match field.name.as_str() {
                "obs" => observations = Some(batch.column(field)?),
                "acts" => actions = Some(batch.column(field)?),
                "terminal" => terminals = Some(batch.column(field)?),
                "rews" => rewards = Some(batch.column(field)?),
                _ => batch.skip(field),
            }
        }
        let (Some(observations), Some(actions), Some(terminals)) = (observations, actions, terminals) else {
            let names: Vec<String> = fields.iter().take(10).map(|field| shown(&field.name)).collect();
            return problem!(
                "an Arrow file with the columns {}; expected obs, acts and terminal, as the library imitation writes",
                names.join(", ")
            );
        };
        let trajectories = actions.lists("acts")?.0.len() - 1;
        self.unpaid |= rewards.is_none();
        for row in 0..trajectories {
            let (before, taken) = (steps("obs", &observations, row)?, steps("acts", &actions, row)?);
            let terminal = terminals.numbers("terminal", row..row + 1)?[0] != 0.0;
            let earned = rewards.as_ref().map(|rewards| list("rews", rewards, row)).transpose()?;
            self.episode(&before, &taken, terminal, earned)?;
        }
        Ok(())
    }

    fn episode(
        &mut self,
        before: &Table,
        taken: &Table,
        terminal: bool,
        earned: Option<&[f64]>,
    ) -> Result<(), Problem> {
        let number = self.columns.episodes.len();
        let sizes = Sizes { observation: before.columns, action: taken.columns };
        if number == 0 {
            self.columns.sizes = sizes;
        }
        let (length, rewards) = (taken.rows, earned.map_or(taken.rows, <[f64]>::len));
        if length == 0 || before.rows != length + 1 || rewards != length || sizes != self.columns.sizes {
            return problem!(
                "trajectory {number} has {} observations of {}, {length} actions of {} and {rewards} rewards; expected \
                 one observation more than actions, as many rewards, and the widths of the first, {} and {}",
                before.rows,
                sizes.observation,
                sizes.action,
                self.columns.sizes.observation,
                self.columns.sizes.action
            );
        }
        let single = before.single();
        let (steps, last) = single.split_at(length * sizes.observation);
        self.columns.observations.extend_from_slice(steps);
        self.columns.final_observations.extend_from_slice(last);
        self.actions.add(taken);
        self.columns.rewards.extend(earned.unwrap_or_default().iter().map(|&r| r as f32));
        self.columns.episodes.push(Episode {
            length,
            terminated: terminal,
            true_return: earned.map(|rewards| rewards.iter().sum()),
            measures: Vec::new(),
            demonstrator: None,
        });
        Ok(())
    }
}

/// Which entries of what the lists hold are those of a row.
fn range(name: &str, offsets: &[usize], row: usize) -> Result<std::ops::Range<usize>, Problem> {
    match offsets.get(row..).and_then(|rest| rest.first_chunk()) {
        Some(&[from, to]) => Ok(from..to),
        None => problem!("{name} has fewer rows than acts; expected one for each trajectory"),
    }
}

/// The numbers of a row.
fn list<'a>(name: &str, column: &'a Column, row: usize) -> Result<&'a [f64], Problem> {
    let (offsets, inner) = column.lists(name)?;
    inner.numbers(name, range(name, offsets, row)?)
}

/// The steps of a row, all of one width.
fn steps(name: &str, column: &Column, row: usize) -> Result<Table, Problem> {
    let (offsets, inner) = column.lists(name)?;
    let steps = range(name, offsets, row)?;
    let (offsets, entries) = inner.lists(name)?;
    let rows = steps.len();
    let Some(ends) = offsets.get(steps.start..=steps.end) else {
        return problem!(
            "{name} of trajectory {row} refers to steps that are not there; the file is damaged"
        );
    };
    let columns = ends.get(1).map_or(0, |second| second - ends[0]);
    if ends.windows(2).any(|pair| pair[1] - pair[0] != columns) {
        return problem!("{name} of trajectory {row} has steps of several widths; expected one");
    }
    let values = entries.numbers(name, ends[0]..ends[rows])?;
    Ok(Table { rows, columns, values: values.to_vec() })
}
