//! Golden data: numbers computed with the libraries of the field, which our tests must reproduce.
//!
//! They lie in the directory that the variable `MAGPIE_GOLDEN` names, by default `tests/golden` in the repository,
//! in folders such as `physics` and `numerics`. Everything here panics with a message that names the file, because
//! a missing file must fail a test and not skip it.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use magpie_npz::{Dtype, Npz as Reader};

/// The directory with the golden data.
pub fn directory() -> PathBuf {
    std::env::var_os("MAGPIE_GOLDEN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden"), PathBuf::from)
}

/// The text of a golden file.
pub fn text(path: &str) -> String {
    let path = directory().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Names of the npz files in a folder such as `numerics` that start with `prefix`, as [`Npz::open`] takes them.
pub fn files(folder: &str, prefix: &str) -> Vec<String> {
    let path = directory().join(folder);
    let entries = std::fs::read_dir(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut names: Vec<String> = entries
        .filter_map(|entry| {
            entry.unwrap_or_else(|e| panic!("{}: {e}", path.display())).file_name().into_string().ok()
        })
        .filter(|name| name.starts_with(prefix) && name.ends_with(".npz"))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no {prefix}*.npz in {}", path.display());
    names
}

/// An open npz file.
pub struct Npz {
    path: PathBuf,
    archive: Reader<BufReader<File>>,
}

/// An array, widened to `f64` whatever it was stored as, in C order.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Where it comes from, for messages.
    pub name: String,
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// The numbers.
    pub data: Vec<f64>,
}

impl Npz {
    /// Opens a file such as `physics/reset/ant.npz`; an absolute path is taken as it is.
    pub fn open(path: &str) -> Npz {
        let path = directory().join(path);
        let file = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let archive = Reader::new(BufReader::new(file), Dtype::ALL, u64::MAX)
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Npz { path, archive }
    }

    /// Names of the arrays.
    pub fn names(&self) -> Vec<String> {
        self.archive.names()
    }

    /// Whether there is such an array.
    pub fn contains(&self, name: &str) -> bool {
        self.archive.contains(name)
    }

    /// What stands before `suffix` in the names of the arrays: the cases of a file that holds several.
    pub fn cases(&self, suffix: &str) -> Vec<String> {
        let names = self.archive.names();
        let cases: Vec<String> =
            names.iter().filter_map(|name| Some(name.strip_suffix(suffix)?.to_owned())).collect();
        assert!(!cases.is_empty(), "no *{suffix} in {}", self.path.display());
        cases
    }

    /// The numbers of an array.
    pub fn numbers(&mut self, name: &str) -> Vec<f64> {
        self.array(name).data
    }

    /// The first number of an array.
    pub fn number(&mut self, name: &str) -> f64 {
        self.numbers(name)[0]
    }

    /// Whole numbers that count or number something.
    pub fn indices(&mut self, name: &str) -> Vec<usize> {
        let array = self.array(name);
        let index = |&value: &f64| {
            assert!(value >= 0.0 && value.fract() == 0.0, "{}: {value} is no index", array.name);
            value as usize
        };
        array.data.iter().map(index).collect()
    }

    /// The first of such numbers.
    pub fn index(&mut self, name: &str) -> usize {
        self.indices(name)[0]
    }

    /// Which numbers are not zero.
    pub fn flags(&mut self, name: &str) -> Vec<bool> {
        self.numbers(name).into_iter().map(|flag| flag != 0.0).collect()
    }

    /// Length of each axis of an array.
    pub fn shape(&mut self, name: &str) -> Vec<usize> {
        self.array(name).shape
    }

    /// Reads an array of any number type.
    pub fn array(&mut self, name: &str) -> Array {
        let label = format!("{}: {name}", self.path.display());
        match self.archive.array(name) {
            Ok(magpie_npz::Array { shape, values }) => Array { name: label, shape, data: values },
            Err(e) => panic!("{}: {e}", self.path.display()),
        }
    }
}

impl Array {
    /// Row `i` of the first axis.
    pub fn row(&self, i: usize) -> &[f64] {
        let width: usize = self.shape[1..].iter().product();
        &self.data[i * width..][..width]
    }

    /// Entry (i, j) of the first two axes.
    pub fn row2(&self, i: usize, j: usize) -> &[f64] {
        let width: usize = self.shape[2..].iter().product();
        &self.data[(i * self.shape[1] + j) * width..][..width]
    }

    /// As single precision.
    pub fn to_f32(&self) -> Vec<f32> {
        self.data.iter().map(|&v| v as f32).collect()
    }
}

/// Largest absolute difference; NaN counts as infinite.
fn largest_error(got: &[f64], want: &[f64]) -> f64 {
    assert_eq!(got.len(), want.len(), "lengths differ");
    got.iter().zip(want).map(|(a, b)| (a - b).abs()).fold(0.0, |worst, e| {
        if e <= worst {
            worst
        } else if e.is_nan() {
            f64::INFINITY
        } else {
            e
        }
    })
}

/// Fails unless every number is within `tolerance` of what is wanted, telling where it is not.
pub fn assert_close(what: &str, got: &[f64], want: &[f64], tolerance: f64) {
    let error = largest_error(got, want);
    if error > tolerance {
        let at = got.iter().zip(want).position(|(&a, &b)| largest_error(&[a], &[b]) > tolerance).unwrap_or(0);
        panic!(
            "{what}: off by {error:e} (allowed {tolerance:e}); first at {at}: {} for {}",
            got[at], want[at]
        );
    }
}
