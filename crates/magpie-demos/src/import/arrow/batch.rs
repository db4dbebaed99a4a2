//! Numbers from the buffers of a record batch.

use super::flat::{self, Table};
use super::schema::{Field, Kind};
use crate::error::{Problem, problem};
use crate::import::limit::Limit;

/// What a column holds: lists of lists of numbers.
#[derive(Debug)]
pub enum Column {
    /// Where each list begins among what the lists hold, and where the last one ends.
    Lists(Vec<usize>, Box<Column>),
    /// Numbers.
    Numbers(Vec<f64>),
}

/// The buffers of a batch, taken one after the other in the order of the schema.
pub struct Batch<'a> {
    body: &'a [u8],
    nodes: std::vec::IntoIter<[i64; 2]>,
    buffers: std::vec::IntoIter<[i64; 2]>,
    limit: &'a Limit,
}

impl<'a> Batch<'a> {
    /// From the head of a batch and the bytes after it.
    pub fn new(head: Table, body: &'a [u8], limit: &'a Limit) -> Result<Batch<'a>, Problem> {
        if head.table(3).is_some() {
            return problem!(
                "a packed Arrow file; save it without compression, as the library imitation does"
            );
        }
        let (Some(nodes), Some(buffers)) = (head.pairs(1), head.pairs(2)) else { return damaged("a batch") };
        Ok(Batch { body, nodes: nodes.into_iter(), buffers: buffers.into_iter(), limit })
    }

    /// Passes over a column.
    pub fn skip(&mut self, field: &Field) {
        self.nodes.next();
        self.buffers.by_ref().take(field.kind.buffers()).for_each(drop);
        field.children.iter().for_each(|child| self.skip(child));
    }

    /// Reads a column of numbers, or of lists of them.
    pub fn column(&mut self, field: &Field) -> Result<Column, Problem> {
        let name = &field.name;
        let Some([length, nulls]) = self.nodes.next() else { return damaged(name) };
        let Ok(length) = usize::try_from(length) else { return damaged(name) };
        if nulls != 0 {
            return problem!("the column {name} has {nulls} entries without a value; expected numbers");
        }
        self.limit.take(name, Some(length as u64))?;
        let child = |batch: &mut Batch<'a>| match &field.children[..] {
            [child] => batch.column(child).map(Box::new),
            _ => damaged(name),
        };
        // Which entries are there at all: with none missing, nothing is to be learned from it.
        if field.kind != Kind::Null {
            self.buffers.next();
        }
        match field.kind {
            Kind::F32 => self.numbers(name, length, |b| f32::from_le_bytes(b).into()),
            Kind::F64 => self.numbers(name, length, f64::from_le_bytes),
            Kind::Int(1, true) => self.numbers(name, length, |b| i8::from_le_bytes(b).into()),
            Kind::Int(1, false) => self.numbers(name, length, |b| u8::from_le_bytes(b).into()),
            Kind::Int(2, true) => self.numbers(name, length, |b| i16::from_le_bytes(b).into()),
            Kind::Int(2, false) => self.numbers(name, length, |b| u16::from_le_bytes(b).into()),
            Kind::Int(4, true) => self.numbers(name, length, |b| i32::from_le_bytes(b).into()),
            Kind::Int(4, false) => self.numbers(name, length, |b| u32::from_le_bytes(b).into()),
            Kind::Int(_, true) => self.numbers(name, length, |b| i64::from_le_bytes(b) as f64),
            Kind::Int(_, false) => self.numbers(name, length, |b| u64::from_le_bytes(b) as f64),
            Kind::Bool => {
                let bits = self.buffer(name, length.div_ceil(8))?;
                let bit = |i: usize| f64::from(bits[i / 8] >> (i % 8) & 1);
                Ok(Column::Numbers((0..length).map(bit).collect()))
            }
            Kind::List { large } => {
                let offsets = self.offsets(name, length, large)?;
                Ok(Column::Lists(offsets, child(self)?))
            }
            Kind::FixedList(size) => {
                let Some(_) = length.checked_mul(size) else { return damaged(name) };
                Ok(Column::Lists((0..=length).map(|i| i * size).collect(), child(self)?))
            }
            Kind::Null | Kind::Struct | Kind::Other(_) => {
                problem!("the column {name} has no numbers in it, nor lists of them")
            }
        }
    }

    fn numbers<const N: usize>(
        &mut self,
        name: &str,
        length: usize,
        number: fn([u8; N]) -> f64,
    ) -> Result<Column, Problem> {
        let Some(bytes) = length.checked_mul(N) else { return damaged(name) };
        let bytes = self.buffer(name, bytes)?;
        Ok(Column::Numbers(bytes.as_chunks::<N>().0.iter().map(|b| number(*b)).collect()))
    }

    fn offsets(&mut self, name: &str, length: usize, large: bool) -> Result<Vec<usize>, Problem> {
        // No lists may have no offsets.
        if length == 0 {
            self.buffers.next();
            return Ok(vec![0]);
        }
        let width = if large { 8 } else { 4 };
        let Some(bytes) = length.checked_add(1).and_then(|n| n.checked_mul(width)) else {
            return damaged(name);
        };
        let bytes = self.buffer(name, bytes)?;
        let offset = |b: &[u8]| match large {
            true => flat::bytes(b, 0).map(i64::from_le_bytes),
            false => flat::bytes(b, 0).map(|b| i32::from_le_bytes(b).into()),
        };
        let offsets: Option<Vec<usize>> =
            bytes.chunks_exact(width).map(|b| usize::try_from(offset(b)?).ok()).collect();
        match offsets {
            Some(offsets) if offsets.is_sorted() => Ok(offsets),
            _ => damaged(name),
        }
    }

    /// The first bytes of the next buffer.
    fn buffer(&mut self, name: &str, bytes: usize) -> Result<&'a [u8], Problem> {
        let found = self.buffers.next().and_then(|[offset, length]| {
            let (offset, length) = (usize::try_from(offset).ok()?, usize::try_from(length).ok()?);
            self.body.get(offset..)?.get(..length)?.get(..bytes)
        });
        found.map_or_else(|| damaged(name), Ok)
    }
}

impl Column {
    /// The lists, and what they hold.
    pub fn lists(&self, name: &str) -> Result<(&[usize], &Column), Problem> {
        match self {
            Column::Lists(offsets, inner) => Ok((offsets, inner)),
            Column::Numbers(_) => problem!("the column {name} has too few axes; expected lists of numbers"),
        }
    }

    /// The numbers of a range of its rows.
    pub fn numbers(&self, name: &str, range: std::ops::Range<usize>) -> Result<&[f64], Problem> {
        match self {
            Column::Numbers(numbers) => numbers.get(range).map_or_else(|| damaged(name), Ok),
            Column::Lists(..) => problem!("the column {name} has too many axes; expected plain numbers"),
        }
    }
}

fn damaged<V>(name: &str) -> Result<V, Problem> {
    problem!("{name} of the Arrow file does not fit its buffers; the file is damaged, write it again")
}
