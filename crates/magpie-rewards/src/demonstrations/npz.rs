//! Arrays of an npz file: a zip archive with one npy file for each.
//!
//! Nothing that a header claims is believed before it agrees with the bytes that are there, and memory grows with
//! what has been read.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use zip::ZipArchive;

use super::Problem;
use super::array::{Array, Item};
use super::error::problem;

const MAGIC: &[u8] = b"\x93NUMPY";

/// numpy refuses longer headers too, because parsing them could take forever.
const MOST_HEADER_BYTES: usize = 10_000;

/// Deflate cannot make more than this out of one byte, so an entry that claims more is damaged or hostile.
const MOST_EXPANSION: u64 = 1032;

/// A larger array than this is no demonstration.
const MOST_ARRAY_BYTES: u64 = 1 << 30;

/// An open npz file.
pub(super) struct Npz<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
}

impl<'a> Npz<'a> {
    pub fn new(bytes: &'a [u8]) -> Result<Npz<'a>, Problem> {
        match ZipArchive::new(Cursor::new(bytes)) {
            Ok(zip) => Ok(Npz { zip }),
            Err(e) => problem!("it begins like a zip archive, but cannot be read ({e}); it may be cut off"),
        }
    }

    /// Names of all entries.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.zip.file_names().filter_map(|n| Some(n.ok()?.into_owned())).collect();
        names.sort_unstable();
        names
    }

    /// Whether there is such an array.
    pub fn contains(&self, name: &str) -> bool {
        self.zip.index_for_name(&format!("{name}.npy")).is_some()
    }

    /// Reads an array.
    pub fn array(&mut self, name: &str) -> Result<Array<'static>, Problem> {
        let mut entry = match self.zip.by_name(&format!("{name}.npy")) {
            Ok(entry) => entry,
            Err(e) => return problem!("the array {name} cannot be read ({e})"),
        };
        let (stored, size) = (entry.compressed_size(), entry.size());
        if size > stored.saturating_mul(MOST_EXPANSION) || size > MOST_ARRAY_BYTES {
            return problem!(
                "the array {name} claims {size} bytes, which its {stored} packed ones cannot hold, or which are more \
                 than {MOST_ARRAY_BYTES}"
            );
        }
        let mut bytes = Vec::new();
        if let Err(e) = entry.by_ref().take(size + 1).read_to_end(&mut bytes) {
            return problem!("the array {name} cannot be unpacked ({e}); the file is damaged");
        }
        parse(bytes).map_err(|Problem(text)| Problem(format!("the array {name}: {text}")))
    }
}

/// Reads an npy file.
fn parse(npy: Vec<u8>) -> Result<Array<'static>, Problem> {
    let cut_off = || Problem("its npy header is cut off".to_owned());
    let rest = npy.strip_prefix(MAGIC).ok_or_else(|| Problem("it has no npy header".to_owned()))?;
    let (&version, rest) = rest.split_first().ok_or_else(cut_off)?;
    let rest = rest.get(1..).ok_or_else(cut_off)?;
    // Version 1 has a length of two bytes, versions 2 and 3 of four.
    let (length, rest) = match version {
        1 => rest.split_first_chunk().map(|(b, rest)| (u32::from(u16::from_le_bytes(*b)), rest)),
        2 | 3 => rest.split_first_chunk().map(|(b, rest)| (u32::from_le_bytes(*b), rest)),
        other => return problem!("npy version {other} is not known"),
    }
    .ok_or_else(cut_off)?;
    let length = length as usize;
    if length > MOST_HEADER_BYTES {
        return problem!("its npy header has {length} bytes; expected at most {MOST_HEADER_BYTES}");
    }
    let (text, data) = rest.split_at_checked(length).ok_or_else(cut_off)?;
    let text = std::str::from_utf8(text).map_err(|_| Problem("its npy header is no text".to_owned()))?;
    let value = |key: &str| text.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
    let malformed = || Problem(format!("its npy header makes no sense: {}", text.trim_end()));

    let descr = value("descr").and_then(|rest| rest.strip_prefix('\'')?.split('\'').next());
    let descr = descr.ok_or_else(malformed)?;
    let item = match descr.split_at_checked(1) {
        Some(("<" | "|", name)) => Item::named(name),
        _ => None,
    };
    let Some(item) = item else {
        return problem!("its type is {descr}; expected <f4, <f8, <i4, <i8, |u1 or |b1");
    };
    let fortran_order = match value("fortran_order") {
        Some(rest) if rest.starts_with("True") => true,
        Some(rest) if rest.starts_with("False") => false,
        _ => return Err(malformed()),
    };
    let axes = value("shape").and_then(|rest| rest.strip_prefix('(')?.split_once(')'));
    let (axes, _) = axes.ok_or_else(malformed)?;
    let shape: Result<Vec<usize>, _> =
        axes.split(',').map(str::trim).filter(|axis| !axis.is_empty()).map(str::parse).collect();
    let shape = shape.map_err(|_| malformed())?;
    Array::new(item, shape, fortran_order, Cow::Owned(data.to_vec()))
}
