//! Tables of FlatBuffers, as far as the heads of Arrow's messages need them.
//!
//! A table begins with the distance back to its vtable: two bytes for its length, two for that of the table, and two for
//! where each field lies in the table, or 0. Tables, vectors and texts are referred to by their distance. Every access is
//! checked, and `None` means that the bytes are damaged or the field is absent.

/// The bytes at a place, if there are enough.
pub fn bytes<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// A table.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    all: &'a [u8],
    at: usize,
    vtable: usize,
}

impl<'a> Table<'a> {
    /// The outermost one.
    pub fn root(all: &'a [u8]) -> Option<Table<'a>> {
        Table::at(all, distance(all, 0)?)
    }

    fn at(all: &'a [u8], at: usize) -> Option<Table<'a>> {
        let back = i64::from(i32::from_le_bytes(bytes(all, at)?));
        let vtable = usize::try_from(i64::try_from(at).ok()? - back).ok()?;
        Some(Table { all, at, vtable })
    }

    /// Where a field lies.
    fn field(&self, number: usize) -> Option<usize> {
        let length = usize::from(u16::from_le_bytes(bytes(self.all, self.vtable)?));
        let entry = 4 + 2 * number;
        if entry + 2 > length {
            return None;
        }
        match u16::from_le_bytes(bytes(self.all, self.vtable + entry)?) {
            0 => None,
            offset => Some(self.at + usize::from(offset)),
        }
    }

    /// A whole number of one byte; 0 if it is absent.
    pub fn u8(&self, number: usize) -> u8 {
        self.number(number).map_or(0, u8::from_le_bytes)
    }

    /// A whole number of two bytes; 0 if it is absent.
    pub fn i16(&self, number: usize) -> i16 {
        self.number(number).map_or(0, i16::from_le_bytes)
    }

    /// A whole number of four bytes; 0 if it is absent.
    pub fn i32(&self, number: usize) -> i32 {
        self.number(number).map_or(0, i32::from_le_bytes)
    }

    /// A whole number of eight bytes; 0 if it is absent.
    pub fn i64(&self, number: usize) -> i64 {
        self.number(number).map_or(0, i64::from_le_bytes)
    }

    fn number<const N: usize>(&self, number: usize) -> Option<[u8; N]> {
        bytes(self.all, self.field(number)?)
    }

    /// A table that a field refers to.
    pub fn table(&self, number: usize) -> Option<Table<'a>> {
        let at = self.field(number)?;
        Table::at(self.all, at.checked_add(distance(self.all, at)?)?)
    }

    /// A text.
    pub fn text(&self, number: usize) -> Option<&'a str> {
        let (count, from) = self.vector(number)?;
        std::str::from_utf8(self.all.get(from..)?.get(..count)?).ok()
    }

    /// The tables that a vector refers to.
    pub fn tables(&self, number: usize) -> Option<impl Iterator<Item = Option<Table<'a>>> + use<'a>> {
        let (count, from) = self.vector(number)?;
        let all = self.all;
        let entries = all.get(from..)?.get(..count.checked_mul(4)?)?;
        let table = move |i: usize| Table::at(all, (from + 4 * i).checked_add(distance(all, from + 4 * i)?)?);
        Some((0..entries.len() / 4).map(table))
    }

    /// A vector of pairs of whole numbers of eight bytes.
    pub fn pairs(&self, number: usize) -> Option<Vec<[i64; 2]>> {
        let (count, from) = self.vector(number)?;
        let entries = self.all.get(from..)?.get(..count.checked_mul(16)?)?;
        let whole = |half: &[u8]| bytes(half, 0).map_or(0, i64::from_le_bytes);
        Some(entries.chunks_exact(16).map(|pair| [whole(&pair[..8]), whole(&pair[8..])]).collect())
    }

    /// How many elements a vector has, and where they begin.
    fn vector(&self, number: usize) -> Option<(usize, usize)> {
        let at = self.field(number)?;
        let start = at.checked_add(distance(self.all, at)?)?;
        Some((distance(self.all, start)?, start + 4))
    }
}

/// A distance or length.
fn distance(all: &[u8], at: usize) -> Option<usize> {
    bytes(all, at).map(|bytes| u32::from_le_bytes(bytes) as usize)
}
