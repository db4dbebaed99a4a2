//! Reading arrays of floating-point numbers.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use magpie_simd::Scalar;
use zip::ZipArchive;

use super::tuple;

const MAGIC: [u8; 6] = *b"\x93NUMPY";

/// numpy refuses longer headers too, because parsing them could take forever.
const MAX_HEADER_BYTES: u64 = 10_000;

/// Deflate cannot make more than this out of one byte, so an entry that claims more is damaged or hostile.
const MAX_EXPANSION: u64 = 1032;

/// An open npz file.
pub struct Npz {
    path: PathBuf,
    zip: ZipArchive<BufReader<File>>,
    bytes: u64,
}

/// What stands before the numbers of an array.
struct Header {
    item: Item,
    fortran_order: bool,
    shape: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Item {
    F32,
    F64,
}

impl Npz {
    /// Opens a file.
    pub fn open(path: &Path) -> anyhow::Result<Npz> {
        let label = || path.display().to_string();
        let file =
            File::open(path).with_context(|| format!("{}: cannot open the file; check the path", label()))?;
        let about = file.metadata().with_context(label)?;
        ensure!(about.is_file(), "{}: not a file; expected an npz file", label());
        let zip = ZipArchive::new(BufReader::new(file)).map_err(|e| {
            anyhow!(
                "{}: not an npz file, or cut off ({e}); write it again with numpy.savez or savez_compressed",
                label()
            )
        })?;
        Ok(Npz { path: path.to_owned(), zip, bytes: about.len() })
    }

    /// The shape of an array, without reading its numbers.
    pub fn shape(&mut self, name: &str) -> anyhow::Result<Vec<usize>> {
        self.enter(name, |header, _| Ok(header.shape))
    }

    /// Reads an array of the shape given, in C order. Every number must be finite in the precision of `T`.
    pub fn read<T: Scalar>(&mut self, name: &str, shape: &[usize]) -> anyhow::Result<Vec<T>> {
        self.enter(name, |header, bytes| {
            ensure!(
                header.shape == shape,
                "expected the shape {}, found {}",
                tuple(shape),
                tuple(&header.shape)
            );
            let values: Vec<T> = match header.item {
                Item::F32 => numbers(bytes, |b: [u8; 4]| f32::from_le_bytes(b).into())?,
                Item::F64 => numbers(bytes, f64::from_le_bytes)?,
            };
            // The size of the entry has been compared with the shape: what came out short was cut off or damaged.
            ensure!(
                values.len() == shape.iter().product::<usize>(),
                "the numbers end too early; the file is damaged, write it again"
            );
            Ok(if header.fortran_order { in_c_order(&values, shape) } else { values })
        })
    }

    /// Does something with the header of an array and the bytes that follow it. Errors get the names of both.
    fn enter<R>(
        &mut self,
        name: &str,
        work: impl FnOnce(Header, &mut dyn Read) -> anyhow::Result<R>,
    ) -> anyhow::Result<R> {
        let label = format!("{}: {name}", self.path.display());
        let file = format!("{name}.npy");
        ensure!(
            self.zip.index_for_name(&file).is_some(),
            "{label}: there is no such array; the file has {}",
            self.names()
        );
        let mut entry = self
            .zip
            .by_name(&file)
            .map_err(|e| anyhow!("{label}: cannot be read ({e}); write the file again with numpy.savez"))?;
        let possible = entry.compressed_size().saturating_mul(MAX_EXPANSION);
        let (stored, size) = (entry.compressed_size(), entry.size());
        ensure!(
            stored <= self.bytes && size <= possible,
            "{label}: the entry claims {size} bytes, which {stored} of the file's {} bytes cannot hold; \
             the file is damaged, write it again",
            self.bytes
        );
        header(&mut entry, size).and_then(|header| work(header, &mut entry)).context(label)
    }

    fn names(&self) -> String {
        let mut names: Vec<_> = self
            .zip
            .file_names()
            .filter_map(|name| Some(name.ok()?.strip_suffix(".npy")?.to_owned()))
            .collect();
        names.sort_unstable();
        if names.is_empty() { "no arrays".to_owned() } else { names.join(", ") }
    }
}

/// Reads the header of an npy file of `size` bytes and leaves the reader at the first number.
fn header(npy: &mut impl Read, size: u64) -> anyhow::Result<Header> {
    let mut start = [0; 8];
    npy.read_exact(&mut start).context("no npy header")?;
    ensure!(start[..6] == MAGIC, "no npy header; write it with numpy.savez");
    // Version 1 has a length of two bytes, versions 2 and 3 of four.
    let mut length = [0; 4];
    let length_bytes = match start[6] {
        1 => 2,
        2 | 3 => 4,
        version => bail!("npy version {version} is not known; write it with numpy.savez"),
    };
    npy.read_exact(&mut length[..length_bytes]).context("the npy header is cut off")?;
    let length = u64::from(u32::from_le_bytes(length));
    ensure!(
        length <= MAX_HEADER_BYTES,
        "the npy header has {length} bytes, but at most {MAX_HEADER_BYTES} make sense"
    );
    let mut text = String::new();
    npy.take(length).read_to_string(&mut text).context("the npy header is no text")?;
    ensure!(text.len() as u64 == length, "the npy header is cut off");

    let header = parse(&text)?;
    let announced = header
        .shape
        .iter()
        .try_fold(header.item.bytes(), |product, &n| product.checked_mul(n as u64))
        .unwrap_or(u64::MAX);
    let found = size.saturating_sub(8 + length_bytes as u64 + length);
    ensure!(
        announced == found,
        "the shape {} takes {announced} bytes, but there are {found}; the file is damaged, write it again",
        tuple(&header.shape)
    );
    Ok(header)
}

/// Parses a header such as `{'descr': '<f4', 'fortran_order': False, 'shape': (8, 200, 3), }`.
fn parse(text: &str) -> anyhow::Result<Header> {
    let value = |key: &str| {
        let (_, rest) = text.split_once(&format!("'{key}':"))?;
        Some(rest.trim_start())
    };
    let malformed = || anyhow!("malformed npy header: {}", text.trim_end());

    let descr = value("descr").ok_or_else(malformed)?;
    let Some(dtype) = descr.strip_prefix('\'').and_then(|rest| rest.split('\'').next()) else {
        bail!("a structured array; expected plain numbers, float32 or float64");
    };
    let item = match dtype {
        "<f4" => Item::F32,
        "<f8" => Item::F64,
        other => bail!(
            "the type is {}; expected float32 or float64, little endian: convert it with .astype(\"<f4\")",
            spelled_out(other)
        ),
    };
    let fortran_order = match value("fortran_order") {
        Some(rest) if rest.starts_with("True") => true,
        Some(rest) if rest.starts_with("False") => false,
        _ => return Err(malformed()),
    };
    let axes = value("shape")
        .and_then(|rest| rest.strip_prefix('(')?.split_once(')'))
        .map(|(axes, _)| axes)
        .ok_or_else(malformed)?;
    let shape = axes
        .split(',')
        .map(str::trim)
        .filter(|axis| !axis.is_empty())
        .map(|axis| axis.parse().map_err(|_| malformed()))
        .collect::<anyhow::Result<_>>()?;
    Ok(Header { item, fortran_order, shape })
}

/// `>f4` as "big-endian float32 (>f4)".
fn spelled_out(dtype: &str) -> String {
    let order = if dtype.starts_with('>') { "big-endian " } else { "" };
    let mut rest = dtype.trim_start_matches(['<', '>', '|', '=']).chars();
    let kind = match rest.next() {
        Some('f') => "float",
        Some('i') => "int",
        Some('u') => "uint",
        Some('c') => "complex",
        Some('b') => return format!("bool ({dtype})"),
        Some('U' | 'S') => return format!("text ({dtype})"),
        Some('O') => return "Python objects".to_owned(),
        _ => return format!("{dtype:?}"),
    };
    match rest.as_str().parse::<u32>() {
        Ok(bytes @ 1..=32) => format!("{order}{kind}{} ({dtype})", 8 * bytes),
        _ => format!("{dtype:?}"),
    }
}

/// All numbers up to the end of the bytes, which also checks the entry's checksum.
fn numbers<T: Scalar, const BYTES: usize>(
    bytes: &mut dyn Read,
    number: impl Fn([u8; BYTES]) -> f64,
) -> anyhow::Result<Vec<T>> {
    let mut values: Vec<T> = Vec::new();
    let mut block = Vec::new();
    loop {
        block.clear();
        bytes
            .take(1 << 16)
            .read_to_end(&mut block)
            .context("cannot be unpacked; the file is damaged, write it again")?;
        if block.is_empty() {
            return Ok(values);
        }
        values
            .try_reserve(block.len() / BYTES)
            .map_err(|_| anyhow!("does not fit into memory; replay fewer trajectories at a time"))?;
        for item in block.as_chunks().0 {
            let exact = number(*item);
            let value = T::from_f64(exact);
            ensure!(
                value.to_f64().is_finite(),
                "the number at flat index {} is {exact}; expected {}",
                values.len(),
                if exact.is_finite() {
                    "numbers within single precision: scale it, or use --precision f64"
                } else {
                    "finite numbers: leave that trajectory out"
                }
            );
            values.push(value);
        }
    }
}

/// From the first axis fastest to the last axis fastest.
fn in_c_order<T: Copy>(values: &[T], shape: &[usize]) -> Vec<T> {
    let mut index = vec![0; shape.len()];
    let mut ordered = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        let place = index.iter().zip(shape).rev().fold(0, |place, (i, n)| place * n + i);
        ordered.push(values[place]);
        for (i, &n) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < n {
                break;
            }
            *i = 0;
        }
    }
    ordered
}

impl Item {
    fn bytes(self) -> u64 {
        match self {
            Item::F32 => 4,
            Item::F64 => 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_order_is_turned_into_c_order() {
        // [[0, 1, 2], [3, 4, 5]] lies in a Fortran-ordered file column by column.
        assert_eq!(in_c_order(&[0, 3, 1, 4, 2, 5], &[2, 3]), [0, 1, 2, 3, 4, 5]);
        let shape = [2, 3, 4];
        let place = |i: usize| (i / 12) + (i / 4 % 3) * 2 + (i % 4) * 6;
        let mut file = [0; 24];
        (0..24).for_each(|i| file[place(i)] = i);
        assert_eq!(in_c_order(&file, &shape), (0..24).collect::<Vec<_>>());
    }

    #[test]
    fn headers_of_all_numpy_versions_are_understood() {
        let text = "{'descr': '<f8', 'fortran_order': True, 'shape': (2,), }\n";
        for (version, length) in
            [(1, (text.len() as u16).to_le_bytes().to_vec()), (2, (text.len() as u32).to_le_bytes().to_vec())]
        {
            let npy = [&MAGIC[..], &[version, 0], &length, text.as_bytes()].concat();
            let header = header(&mut &npy[..], npy.len() as u64 + 16).unwrap();
            assert!(header.fortran_order && header.shape == [2] && header.item.bytes() == 8);
        }
    }
}
