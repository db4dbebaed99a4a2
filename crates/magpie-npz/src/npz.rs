//! The zip archive, and reading an array of it.

use std::io::{Read, Seek, SeekFrom};

use zip::ZipArchive;

use crate::array::Array;
use crate::dtype::Dtype;
use crate::header::Header;

/// Deflate cannot make more than this out of one byte, so an entry that claims more is damaged or hostile.
const MOST_EXPANSION: u64 = 1032;

/// Bytes that are unpacked at a time: whole entries of every type.
const BLOCK: u64 = 1 << 16;

/// What is wrong with an npz file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NpzError {
    /// Not a zip archive, or not all of it.
    #[error("not an npz file, or cut off ({0}); write it again with numpy.savez or savez_compressed")]
    Archive(String),
    /// An array that is not there or cannot be read.
    #[error("{name}: {problem}")]
    Array {
        /// The array.
        name: String,
        /// What was found and what was expected.
        problem: String,
    },
}

/// An open npz file.
#[derive(Debug)]
pub struct Npz<R> {
    zip: ZipArchive<R>,
    bytes: u64,
    allowed: &'static [Dtype],
    /// Of the memory that arrays may take.
    left: u64,
}

impl<R: Read + Seek> Npz<R> {
    /// Opens a file whose arrays may be of the types `allowed`. All arrays that are read together may take `most_bytes`
    /// of memory, as what they are read to.
    pub fn new(mut file: R, allowed: &'static [Dtype], most_bytes: u64) -> Result<Npz<R>, NpzError> {
        let bytes = file.seek(SeekFrom::End(0)).map_err(|e| NpzError::Archive(e.to_string()))?;
        let zip = ZipArchive::new(file).map_err(|e| NpzError::Archive(e.to_string()))?;
        Ok(Npz { zip, bytes, allowed, left: most_bytes })
    }

    /// Names of the entries in alphabetical order: arrays without `.npy`, other files as they are.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .zip
            .file_names()
            .filter_map(|name| name.ok())
            .map(|name| name.strip_suffix(".npy").unwrap_or(&name).to_owned())
            .collect();
        names.sort_unstable();
        names
    }

    /// Whether there is such an array.
    pub fn contains(&self, name: &str) -> bool {
        self.zip.index_for_name(&format!("{name}.npy")).is_some()
    }

    /// The shape of an array, without reading its numbers.
    pub fn shape(&mut self, name: &str) -> Result<Vec<usize>, NpzError> {
        self.enter(name, |header, _, _, _| Ok(header.shape))
    }

    /// Reads an array.
    pub fn array(&mut self, name: &str) -> Result<Array<f64>, NpzError> {
        self.read(name, |_, value| Ok(value))
    }

    /// Reads an array and makes a `T` of each number, which is told where in the file it lies. What it refuses becomes
    /// the problem of the array.
    pub fn read<T: Copy>(
        &mut self,
        name: &str,
        mut number: impl FnMut(usize, f64) -> Result<T, String>,
    ) -> Result<Array<T>, NpzError> {
        self.enter(name, |header, count, npy, left| {
            // Putting them into C order takes a copy.
            let copies = 1 + u64::from(header.fortran_order);
            let memory = (count as u64).saturating_mul(copies * size_of::<T>() as u64);
            *left = left.checked_sub(memory).ok_or_else(|| {
                format!("its {count} numbers take {memory} bytes of memory; expected at most {left} for what the file holds")
            })?;
            let mut values: Vec<T> = Vec::new();
            values.try_reserve_exact(count).map_err(|_| {
                format!("its {count} numbers do not fit into memory; read fewer at a time")
            })?;
            let (mut block, mut wide) = (Vec::new(), Vec::new());
            loop {
                block.clear();
                wide.clear();
                npy.take(BLOCK).read_to_end(&mut block).map_err(|e| {
                    format!("cannot be unpacked ({e}); the file is damaged, write it again")
                })?;
                if block.is_empty() {
                    break;
                }
                header.dtype.widen(&block, &mut wide);
                // A directory may claim less than what comes out.
                if values.len() + wide.len() > count {
                    return Err("there are more bytes than its entry says; the file is damaged, write it again".to_owned());
                }
                for &value in &wide {
                    values.push(number(values.len(), value)?);
                }
            }
            match values.len() == count {
                true => Ok(header.ordered(values)),
                false => Err("the numbers end too early; the file is damaged, write it again".to_owned()),
            }
        })
    }

    /// Does something with the header of an array, how many entries it has, and the bytes that follow it.
    fn enter<V>(
        &mut self,
        name: &str,
        work: impl FnOnce(Header, usize, &mut dyn Read, &mut u64) -> Result<V, String>,
    ) -> Result<V, NpzError> {
        let fail = |problem: String| NpzError::Array { name: name.to_owned(), problem };
        if !self.contains(name) {
            let names = self.names();
            let found = if names.is_empty() { "no arrays".to_owned() } else { names.join(", ") };
            return Err(fail(format!("there is no such array; the file has {found}")));
        }
        let mut entry = self
            .zip
            .by_name(&format!("{name}.npy"))
            .map_err(|e| fail(format!("cannot be read ({e}); write the file again with numpy.savez")))?;
        let (stored, size) = (entry.compressed_size(), entry.size());
        if stored > self.bytes || size > stored.saturating_mul(MOST_EXPANSION) {
            return Err(fail(format!(
                "the entry claims {size} bytes, which {stored} of the file's {} bytes cannot hold; the file is damaged, \
                 write it again",
                self.bytes
            )));
        }
        Header::read(&mut entry, self.allowed)
            .and_then(|(header, length)| {
                let count = header.fits(size.saturating_sub(length))?;
                work(header, count, &mut entry, &mut self.left)
            })
            .map_err(fail)
    }
}
