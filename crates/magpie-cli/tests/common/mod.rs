//! Running the real binary, and npz files for it to read.
#![allow(dead_code)] // Each test binary uses its own part of this module.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Runs the program.
pub fn magpie(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_magpie")).args(args).output().expect("the program starts")
}

/// Runs the program, which has to succeed; what it printed.
#[track_caller]
pub fn succeed(args: &[&str]) -> String {
    let output = magpie(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// What the program said on its standard error.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// An npy file, free to be wrong.
#[derive(Clone)]
pub struct Npy {
    pub name: String,
    pub descr: String,
    pub fortran_order: bool,
    pub shape: String,
    pub numbers: Vec<u8>,
}

impl Npy {
    pub fn f32s(name: &str, shape: &[usize], values: &[f64]) -> Npy {
        Npy {
            name: name.to_owned(),
            descr: "'<f4'".to_owned(),
            fortran_order: false,
            shape: format!("{shape:?}").replace('[', "(").replace(']', ")"),
            numbers: values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect(),
        }
    }

    /// The same numbers in double precision.
    pub fn widened(mut self) -> Npy {
        self.descr = "'<f8'".to_owned();
        self.numbers = self
            .numbers
            .as_chunks::<4>()
            .0
            .iter()
            .flat_map(|&b| f64::from(f32::from_le_bytes(b)).to_le_bytes())
            .collect();
        self
    }

    /// The same array of three axes with the first axis fastest.
    pub fn transposed(mut self, [a, b, c]: [usize; 3]) -> Npy {
        let width = self.numbers.len() / (a * b * c);
        let mut numbers = Vec::new();
        for k in 0..c {
            for j in 0..b {
                for i in 0..a {
                    numbers.extend_from_slice(&self.numbers[((i * b + j) * c + k) * width..][..width]);
                }
            }
        }
        (self.numbers, self.fortran_order) = (numbers, true);
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let order = if self.fortran_order { "True" } else { "False" };
        let header =
            format!("{{'descr': {}, 'fortran_order': {order}, 'shape': {}, }}\n", self.descr, self.shape);
        let length = u16::try_from(header.len()).expect("a short header");
        [b"\x93NUMPY\x01\x00", &length.to_le_bytes()[..], header.as_bytes(), &self.numbers].concat()
    }
}

/// Writes arrays into a zip archive.
pub fn write_npz(path: &Path, arrays: &[Npy], method: CompressionMethod) {
    let files: Vec<_> = arrays.iter().map(|array| (array.name.as_str(), array.bytes())).collect();
    write_zip(path, &files, method);
}

/// Writes files, named without `.npy`, into a zip archive.
pub fn write_zip(path: &Path, files: &[(&str, Vec<u8>)], method: CompressionMethod) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, bytes) in files {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default().compression_method(method))
            .unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

/// Name and header of every array, in the order of the file.
pub fn headers(path: &Path) -> Vec<(String, String)> {
    let mut zip = ZipArchive::new(File::open(path).unwrap()).unwrap();
    (0..zip.len())
        .map(|i| {
            let mut file = zip.by_index(i).unwrap();
            let name = file.name().unwrap().strip_suffix(".npy").expect("an array").to_owned();
            let mut start = [0; 10];
            file.read_exact(&mut start).unwrap();
            let mut header = vec![0; usize::from(u16::from_le_bytes([start[8], start[9]]))];
            file.read_exact(&mut header).unwrap();
            (name, String::from_utf8(header).unwrap().trim_end().to_owned())
        })
        .collect()
}

/// Trajectories of a golden file, over and over, cut after some steps: input for a rollout.
pub fn golden_start(task: &str, count: usize, steps: usize) -> Vec<Npy> {
    let mut golden = magpie_golden::Npz::open(&format!("physics/trajectories/{task}.npz"));
    ["init_pos", "init_rot", "init_vel", "init_ang", "actions"]
        .map(|name| {
            let mut array = golden.array(name);
            let keep = if name == "actions" { steps } else { array.shape[1] };
            let width = array.shape[2];
            let found = array.shape[0];
            let rows: Vec<f64> =
                (0..count).flat_map(|i| array.row(i % found)[..keep * width].to_vec()).collect();
            array.shape[..2].copy_from_slice(&[count, keep]);
            Npy::f32s(name, &array.shape, &rows)
        })
        .into()
}
