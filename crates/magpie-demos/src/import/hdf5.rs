//! Tables of numbers in HDF5 files, read within a limit.
//!
//! HDF5 is a format of pointers: two of them may lead to one place, so that a file of a few kilobytes has a tree of a
//! million nodes or a thousand tables that all unpack the same megabytes. So each byte that the reader looks at is
//! counted ([`Metered`]), and a table is unpacked only after its chunks, not only its shape, have been taken from the
//! [`Limit`].

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use hdf5_pure::{AttrValue, DType, Dataset, File, FormatError, Group, Source};

use super::limit::Limit;
use super::table::Table;
use crate::error::{Problem, problem};

/// How often a byte of a file may be looked at, on average. Tables are read once; the heads of objects a few times.
const LOOKS: u64 = 8;
/// And in a small file.
const LEAST_LOOKS: u64 = 32 << 20;
/// What a look costs besides its bytes.
const LOOK: u64 = 32;
/// Shuffle, deflate and a checksum are three.
const MOST_FILTERS: usize = 4;
/// Bytes of the file that the index of chunks needs for each, at least.
const ENTRY_OF_AN_INDEX: u64 = 8;
/// Names of groups and tables are short. The reader copies one for each entry of a group, and all entries may share one.
const LONGEST_NAME: usize = 255;

/// The bytes of a file, and how many more may be looked at.
struct Metered {
    bytes: Vec<u8>,
    left: AtomicU64,
    /// Length of the table of names that the reader asks for next, if it has just read the head of one.
    names: AtomicUsize,
}

impl Metered {
    fn new(bytes: &[u8]) -> Metered {
        let looks = LEAST_LOOKS.max(LOOKS.saturating_mul(bytes.len() as u64));
        Metered { bytes: bytes.to_vec(), left: AtomicU64::new(looks), names: AtomicUsize::new(usize::MAX) }
    }

    /// Refuses a table of names with a long one. A local heap has a signature, a version with three bytes of padding, the
    /// size of its table, and more; offsets have eight bytes in all files but odd ones.
    fn check_names(&self, read: &[u8]) -> Result<(), FormatError> {
        if let (Some(b"HEAP"), Some(size)) = (read.get(..4), read.get(8..16)) {
            let mut length = [0; 8];
            length.copy_from_slice(size);
            self.names.store(u64::from_le_bytes(length) as usize, Ordering::Relaxed);
        } else if self.names.swap(usize::MAX, Ordering::Relaxed) == read.len()
            && read.split(|&byte| byte == 0).any(|name| name.len() > LONGEST_NAME)
        {
            return Err(FormatError::Source(format!(
                "a name has more than {LONGEST_NAME} bytes; the file is damaged"
            )));
        }
        Ok(())
    }

    fn spent() -> FormatError {
        FormatError::Source(
            "it leads to the same bytes over and over, beyond the limit of 8 looks at each; the file is damaged, \
             write it again"
                .to_owned(),
        )
    }
}

impl Source for Metered {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), FormatError> {
        let cost = LOOK + buf.len() as u64;
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(cost))
            .map_err(|_| Metered::spent())?;
        let from = usize::try_from(offset).ok().and_then(|offset| self.bytes.get(offset..)?.get(..buf.len()));
        match from {
            Some(from) => {
                buf.copy_from_slice(from);
                self.check_names(buf)
            }
            None => Err(FormatError::UnexpectedEof {
                expected: usize::try_from(offset).unwrap_or(usize::MAX).saturating_add(buf.len()),
                available: self.bytes.len(),
            }),
        }
    }
}

/// An open file.
pub(super) struct Hdf5 {
    file: File,
    limit: Limit,
}

/// A group, and what it is called in messages.
pub(super) struct Place {
    name: String,
    group: Group,
}

impl Hdf5 {
    /// Opens the bytes of a file.
    pub fn open(bytes: &[u8]) -> Result<Hdf5, Problem> {
        match File::from_source(Metered::new(bytes)) {
            Ok(file) => Ok(Hdf5 { file, limit: Limit::of(bytes.len()) }),
            Err(e) => {
                problem!("it begins like an HDF5 file, but cannot be read ({e}); it may be cut off")
            }
        }
    }

    /// The outermost group.
    pub fn root(&self) -> Place {
        Place { name: String::new(), group: self.file.root() }
    }

    /// All groups in a group.
    pub fn groups(&self, place: &Place) -> Result<Vec<Place>, Problem> {
        match place.group.iter_groups() {
            Ok(groups) => Ok(groups.map(|(name, group)| Place { name, group }).collect()),
            Err(e) => {
                problem!("the groups of the HDF5 file cannot be listed ({e}); the file is damaged")
            }
        }
    }

    /// The names of all tables in a group.
    pub fn tables(&self, place: &Place) -> Result<Vec<String>, Problem> {
        match place.group.datasets() {
            Ok(names) => Ok(names),
            Err(e) => {
                problem!("the tables of the HDF5 file cannot be listed ({e}); the file is damaged")
            }
        }
    }

    /// A short text that is an attribute of a group.
    pub fn text(&self, place: &Place, name: &str) -> Option<String> {
        // A file that hides its attributes is read without them.
        let attributes = place.group.attrs().ok()?;
        attributes.get(name).and_then(AttrValue::as_str).map(str::to_owned)
    }

    /// Numbers with their shape.
    pub fn numbers(&self, place: &Place, name: &str) -> Result<(Vec<usize>, Vec<f64>), Problem> {
        let path = place.path(name);
        let (shape, dataset) = self.open_table(place, name)?;
        match dataset.read_f64() {
            Ok(values) if values.len() == shape.iter().product::<usize>() => Ok((shape, values)),
            Ok(values) => problem!("{path} has {} numbers for {shape:?}", values.len()),
            Err(e) => problem!("{path} cannot be read ({e}); the file is damaged"),
        }
    }

    /// Rows and columns of numbers.
    pub fn table(&self, place: &Place, name: &str) -> Result<Table, Problem> {
        let (shape, values) = self.numbers(place, name)?;
        match shape[..] {
            [rows, columns] => Ok(Table { rows, columns, values }),
            _ => problem!("{} has the shape {shape:?}; expected rows and columns", place.path(name)),
        }
    }

    /// Truth values, as h5py writes them: numbers of one byte.
    pub fn flags(&self, place: &Place, name: &str) -> Result<Vec<bool>, Problem> {
        let (_, dataset) = self.open_table(place, name)?;
        let read = dataset
            .read_u8()
            .or_else(|_| Ok(dataset.read_i8()?.iter().map(|&b| b as u8).collect::<Vec<u8>>()));
        match read {
            Ok::<_, hdf5_pure::Error>(flags) => Ok(flags.iter().map(|&flag| flag != 0).collect()),
            Err(e) => problem!("{} cannot be read ({e})", place.path(name)),
        }
    }

    /// A table that may be read: what it unpacks to has been taken from the limit.
    fn open_table(&self, place: &Place, name: &str) -> Result<(Vec<usize>, Dataset), Problem> {
        let path = place.path(name);
        let opened = place.group.dataset(name).and_then(|dataset| {
            Ok((dataset.shape()?, dataset.dtype()?, dataset.element_size()?, dataset.chunk_shape()?, dataset))
        });
        let (shape, dtype, width, chunk, dataset) = match opened {
            Ok(opened) => opened,
            Err(e) => return problem!("{path} is no table of numbers ({e}); expected one"),
        };
        let plain = !matches!(
            dtype,
            DType::String
                | DType::Compound(_)
                | DType::Array(..)
                | DType::VariableLengthString
                | DType::ObjectReference
        );
        if !plain || width > size_of::<f64>() as u64 {
            return problem!("{path} holds {dtype}, {width} bytes each; expected plain numbers");
        }
        let product = |axes: &[u64]| axes.iter().try_fold(1_u64, |product, &n| product.checked_mul(n));
        let count = product(&shape);
        let unpacked = match chunk {
            Some(chunk) => self.unpacked(&path, &shape, &chunk, &dataset)?,
            None => Some(0),
        };
        self.limit.take(&path, count.and_then(|count| unpacked.map(|unpacked| count.max(unpacked))))?;
        Ok((shape.iter().map(|&n| n as usize).collect(), dataset))
    }

    /// How many numbers all chunks of a table unpack to, which may be more than it holds.
    fn unpacked(
        &self,
        path: &str,
        shape: &[u64],
        chunk: &[u64],
        dataset: &Dataset,
    ) -> Result<Option<u64>, Problem> {
        let filters = dataset.filters().len();
        if filters > MOST_FILTERS {
            return problem!(
                "{path} is packed {filters} times over; at most {MOST_FILTERS} filters are undone"
            );
        }
        // Chunks are listed before they are counted, so their number is compared with the file first.
        let axes = || shape.iter().zip(chunk).map(|(&n, &c)| n.div_ceil(c.max(1)));
        let needed = axes().try_fold(1_u64, |product, n| product.checked_mul(n));
        let most = self.file.file_size() / ENTRY_OF_AN_INDEX;
        let Some(needed) = needed.filter(|&needed| needed <= most) else {
            return problem!(
                "{path} claims the shape {shape:?} in chunks of {chunk:?}: more chunks than its file has room for; the \
                 file is damaged"
            );
        };
        let found = match dataset.chunks() {
            Ok(chunks) => chunks.len() as u64,
            Err(e) => return problem!("the chunks of {path} cannot be listed ({e}); the file is damaged"),
        };
        if found > needed {
            return problem!("{path} has {found} chunks where its shape needs {needed}; the file is damaged");
        }
        Ok(chunk.iter().try_fold(found, |product, &n| product.checked_mul(n)))
    }
}

impl Place {
    /// Its name in its own group.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn path(&self, name: &str) -> String {
        if self.name.is_empty() { name.to_owned() } else { format!("{}/{name}", self.name) }
    }
}
