//! Reading recordings: arrays of floating-point numbers, all finite.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use magpie_npz::{Dtype, tuple};
use magpie_simd::Scalar;

/// An open npz file.
pub struct Npz {
    path: PathBuf,
    arrays: magpie_npz::Npz<BufReader<File>>,
}

/// The memory that the arrays of a file of so many bytes may take. Recordings may be constant, and pack well.
fn most_bytes(file: u64) -> u64 {
    file.saturating_mul(64).max(1 << 30)
}

impl Npz {
    /// Opens a file.
    pub fn open(path: &Path) -> anyhow::Result<Npz> {
        let label = || path.display().to_string();
        let about = std::fs::metadata(path)
            .with_context(|| format!("{}: cannot open the file; check the path", label()))?;
        ensure!(about.is_file(), "{}: not a file; expected an npz file", label());
        let file = File::open(path).with_context(label)?;
        let arrays = magpie_npz::Npz::new(BufReader::new(file), Dtype::FLOATS, most_bytes(about.len()));
        Ok(Npz { path: path.to_owned(), arrays: arrays.map_err(|e| anyhow!("{}: {e}", label()))? })
    }

    /// The shape of an array, without reading its numbers.
    pub fn shape(&mut self, name: &str) -> anyhow::Result<Vec<usize>> {
        self.arrays.shape(name).map_err(|e| anyhow!("{}: {e}", self.path.display()))
    }

    /// Reads an array of the shape given, in C order. Every number must be finite in the precision of `T`.
    pub fn read<T: Scalar>(&mut self, name: &str, shape: &[usize]) -> anyhow::Result<Vec<T>> {
        let found = self.shape(name)?;
        ensure!(
            found == shape,
            "{}: {name}: expected the shape {}, found {}",
            self.path.display(),
            tuple(shape),
            tuple(&found)
        );
        let array = self.arrays.read(name, finite).map_err(|e| anyhow!("{}: {e}", self.path.display()))?;
        Ok(array.values)
    }
}

/// The number at index `at` of a file in the precision of `T`.
fn finite<T: Scalar>(at: usize, exact: f64) -> Result<T, String> {
    let value = T::from_f64(exact);
    match value.to_f64().is_finite() {
        true => Ok(value),
        false => Err(format!(
            "the number at flat index {at} is {exact}; expected {}",
            if exact.is_finite() {
                "numbers within single precision: scale it, or use --precision f64"
            } else {
                "finite numbers: leave that trajectory out"
            }
        )),
    }
}
