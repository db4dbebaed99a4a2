//! What the columns of an Arrow stream are.

use super::flat::Table;
use crate::error::{Problem, problem};

/// More columns, with what they hold, have no trajectories.
const MOST_FIELDS: usize = 1000;
/// Lists in lists: trajectories, steps and entries are three.
const DEEPEST: usize = 16;

/// A column, or what one holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: String,
    pub kind: Kind,
    pub children: Vec<Field>,
}

/// How the numbers of a column lie in its buffers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// No buffers at all.
    Null,
    F32,
    F64,
    /// Whole numbers of this many bytes, with a sign or without.
    Int(usize, bool),
    Bool,
    /// Lists with a table of offsets, of eight bytes each if it is large.
    List {
        large: bool,
    },
    /// Lists that all have this length.
    FixedList(usize),
    /// One of each child.
    Struct,
    /// Anything that is never read, with this many buffers.
    Other(usize),
}

impl Kind {
    /// How many buffers it has itself, without its children.
    pub fn buffers(self) -> usize {
        match self {
            Kind::Null => 0,
            Kind::Struct | Kind::FixedList(_) => 1,
            Kind::F32 | Kind::F64 | Kind::Int(..) | Kind::Bool | Kind::List { .. } => 2,
            Kind::Other(buffers) => buffers,
        }
    }
}

/// The columns of a schema.
pub fn columns(schema: Table) -> Result<Vec<Field>, Problem> {
    if schema.i16(0) != 0 {
        return problem!("an Arrow file in big-endian order; expected little endian");
    }
    let mut left = MOST_FIELDS;
    fields(schema, 1, DEEPEST, &mut left).ok_or_else(|| {
        Problem("the schema of the Arrow file is damaged, or has types that are not read".to_owned())
    })
}

fn fields(parent: Table, number: usize, depth: usize, left: &mut usize) -> Option<Vec<Field>> {
    let Some(children) = parent.tables(number) else { return Some(Vec::new()) };
    let depth = depth.checked_sub(1)?;
    let mut found = Vec::new();
    for child in children {
        *left = left.checked_sub(1)?;
        let child = child?;
        // In place of values a dictionary's column has their numbers.
        let dictionary = child.table(4).is_some();
        found.push(Field {
            name: child.text(0).unwrap_or_default().to_owned(),
            kind: if dictionary { Kind::Other(2) } else { kind(child)? },
            children: if dictionary { Vec::new() } else { fields(child, 5, depth, left)? },
        });
    }
    Some(found)
}

/// The type of a field, by the numbers of Arrow's `Schema.fbs`; nothing for one whose buffers cannot be counted.
fn kind(field: Table) -> Option<Kind> {
    let of = |number: usize| field.table(3).map_or(0, |table| table.i32(number));
    Some(match field.u8(2) {
        1 => Kind::Null,
        2 => match of(0) {
            bits @ (8 | 16 | 32 | 64) => Kind::Int(bits as usize / 8, field.table(3)?.u8(1) != 0),
            _ => return None,
        },
        3 => match field.table(3).map_or(0, |table| table.i16(0)) {
            1 => Kind::F32,
            2 => Kind::F64,
            _ => Kind::Other(2),
        },
        // Binary, text, and both large.
        4 | 5 | 19 | 20 => Kind::Other(3),
        6 => Kind::Bool,
        // Decimals, dates, times, and bytes of fixed length.
        7..=11 | 15 | 18 => Kind::Other(2),
        12 | 17 => Kind::List { large: false },
        13 => Kind::Struct,
        16 => Kind::FixedList(usize::try_from(of(0)).ok()?),
        21 => Kind::List { large: true },
        _ => return None,
    })
}
