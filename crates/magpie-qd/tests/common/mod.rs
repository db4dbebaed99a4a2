//! Reading the golden files.
#![allow(dead_code)] // Each test binary uses its own part of this module.

use npyz::{Deserialize, npz::NpzArchive};
use std::{env, fs, io::BufReader, path::PathBuf};

/// The folder of golden numbers: `$MAGPIE_GOLDEN/numerics`, by default that of the repository.
fn folder() -> PathBuf {
    let golden = env::var_os("MAGPIE_GOLDEN")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden")));
    golden.join("numerics")
}

/// Names (without `.npz`) of the golden files that start with `prefix`.
pub fn files(prefix: &str) -> Vec<String> {
    let folder = folder();
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".npz")?.to_owned()))
        .filter(|name| name.starts_with(prefix))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no {prefix}*.npz in {}", folder.display());
    names
}

/// One golden file.
pub struct Golden {
    name: String,
    npz: NpzArchive<BufReader<fs::File>>,
}

impl Golden {
    pub fn open(name: &str) -> Self {
        let path = folder().join(name).with_extension("npz");
        let npz = NpzArchive::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Golden { name: name.to_owned(), npz }
    }

    /// The prefixes before `suffix` in the names of the arrays: the cases of a file that holds several.
    pub fn cases(&self, suffix: &str) -> Vec<String> {
        let cases: Vec<String> =
            self.npz.array_names().filter_map(|name| Some(name.strip_suffix(suffix)?.to_owned())).collect();
        assert!(!cases.is_empty(), "no *{suffix} in {}", self.name);
        cases
    }

    fn read<T: Deserialize>(&mut self, array: &str) -> (Vec<T>, Vec<usize>) {
        let what = format!("{}: {array}", self.name);
        let npy = self.npz.by_name(array).unwrap_or_else(|e| panic!("{what}: {e}"));
        let npy = npy.unwrap_or_else(|| panic!("{what}: missing"));
        let shape = npy.shape().iter().map(|&n| n as usize).collect();
        (npy.into_vec().unwrap_or_else(|e| panic!("{what}: {e}")), shape)
    }

    pub fn f64s(&mut self, array: &str) -> Vec<f64> {
        self.read(array).0
    }

    pub fn f64(&mut self, array: &str) -> f64 {
        self.f64s(array)[0]
    }

    /// Whole numbers that count or number something.
    pub fn indices(&mut self, array: &str) -> Vec<usize> {
        self.read::<i64>(array).0.into_iter().map(|i| usize::try_from(i).unwrap()).collect()
    }

    pub fn index(&mut self, array: &str) -> usize {
        self.indices(array)[0]
    }

    pub fn flags(&mut self, array: &str) -> Vec<bool> {
        self.read::<u8>(array).0.into_iter().map(|flag| flag != 0).collect()
    }

    /// The shape of an array of f64.
    pub fn shape(&mut self, array: &str) -> Vec<usize> {
        self.read::<f64>(array).1
    }
}

/// Equal up to 1e-9 of the larger of one and the wanted number, the limit for double precision in the notes
/// to the golden numbers.
#[track_caller]
pub fn assert_close(got: f64, want: f64, what: &str) {
    let close = (got - want).abs() <= 1e-9 * want.abs().max(1.0);
    assert!(close || got == want || (got.is_nan() && want.is_nan()), "{what}: {got} instead of {want}");
}
