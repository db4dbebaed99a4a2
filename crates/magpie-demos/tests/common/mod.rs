//! Files of other formats, made by hand.

#![allow(dead_code, reason = "each test uses some of it")]

pub mod hostile;

use std::io::{Cursor, Write};

/// How numpy arrays are pickled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Protocol 5: `numpy.core.numeric._frombuffer`.
    Buffer,
    /// Protocol 4 and before: `numpy.core.multiarray._reconstruct`, then filled in.
    Reconstruct,
}

/// An array of single precision.
pub struct Array {
    pub name: &'static str,
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
}

/// A pickled dictionary of arrays.
pub fn pickle(style: Style, arrays: &[Array]) -> Vec<u8> {
    let mut out = vec![0x80, if style == Style::Buffer { 5 } else { 4 }];
    let text = |out: &mut Vec<u8>, text: &str| {
        out.extend([0x8c, text.len() as u8]);
        out.extend(text.as_bytes());
        out.push(0x94);
    };
    let int = |out: &mut Vec<u8>, value: i32| {
        out.push(b'J');
        out.extend(value.to_le_bytes());
    };
    let global = |out: &mut Vec<u8>, module: &str, name: &str| {
        text(out, module);
        text(out, name);
        out.extend([0x93, 0x94]);
    };
    let dtype = |out: &mut Vec<u8>| {
        global(out, "numpy", "dtype");
        text(out, "f4");
        out.extend([0x89, 0x88, 0x87, b'R', 0x94, b'(']);
        int(out, 3);
        text(out, "<");
        out.extend([b'N'; 3]);
        [-1, -1, 0].iter().for_each(|&value| int(out, value));
        out.extend([b't', 0x94, b'b']);
    };
    let shape = |out: &mut Vec<u8>, shape: &[usize]| {
        out.push(b'(');
        shape.iter().for_each(|&n| int(out, n as i32));
        out.push(b't');
    };
    out.extend([b'}', 0x94, b'(']);
    for array in arrays {
        text(&mut out, array.name);
        let bytes: Vec<u8> = array.values.iter().flat_map(|v| v.to_le_bytes()).collect();
        match style {
            Style::Buffer => {
                global(&mut out, "numpy.core.numeric", "_frombuffer");
                out.extend([b'(', 0x96]);
                out.extend((bytes.len() as u64).to_le_bytes());
                out.extend(bytes);
                dtype(&mut out);
                shape(&mut out, &array.shape);
                text(&mut out, "C");
                out.extend([b't', b'R']);
            }
            Style::Reconstruct => {
                global(&mut out, "numpy._core.multiarray", "_reconstruct");
                global(&mut out, "numpy", "ndarray");
                out.extend([b'K', 0, 0x85, b'C', 1, b'b', 0x87, b'R', 0x94, b'(', b'K', 1]);
                shape(&mut out, &array.shape);
                dtype(&mut out);
                out.extend([0x89, b'B']);
                out.extend((bytes.len() as u32).to_le_bytes());
                out.extend(bytes);
                out.extend([b't', 0x94, b'b']);
            }
        }
    }
    out.extend(b"u.");
    out
}

/// The paper's layout with `lengths` steps an episode: entry j of the state after step t of episode e is
/// 100 e + t + j/10, the first observation's is -1 - e, and actions are t/1000 of their step.
pub fn paper(lengths: &[usize]) -> Vec<Array> {
    let (mut states, mut actions) = (vec![], vec![]);
    for (e, &length) in lengths.iter().enumerate() {
        for t in 0..length {
            let base = if t + 1 == length { -1.0 - e as f32 } else { (100 * e + t) as f32 };
            states.extend((0..3).map(|j| base + j as f32 / 10.0));
            actions.extend([t as f32 / 1000.0, if t == 2 { -3.0 } else { 0.5 }]);
        }
    }
    let n = lengths.iter().sum();
    let e = lengths.len();
    let zeros = |count: usize| vec![0.25; count];
    vec![
        Array { name: "states", shape: vec![n, 3], values: states },
        Array { name: "actions", shape: vec![n, 2], values: actions },
        Array { name: "rewards", shape: vec![n], values: vec![0.0; n] },
        Array { name: "measures", shape: vec![n, 2], values: zeros(2 * n) },
        Array { name: "returns", shape: vec![e], values: (0..e).map(|i| i as f32).collect() },
        Array { name: "lengths", shape: vec![e], values: lengths.iter().map(|&n| n as f32).collect() },
        Array { name: "demonstrator_returns", shape: vec![e], values: zeros(e) },
        Array { name: "demonstrator_measures", shape: vec![e, 2], values: zeros(2 * e) },
    ]
}

/// An npy file.
pub fn npy(dtype: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((text.len() as u16).to_le_bytes());
    out.extend(text.as_bytes());
    out.extend(data);
    out
}

/// A zip archive of such files.
pub fn zipped(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, bytes) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Two episodes of 3 and 2 steps as the library `imitation` saves them; observations count up from 0.
pub fn imitation() -> Vec<u8> {
    let singles =
        |values: &mut dyn Iterator<Item = f32>| values.flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    let doubles = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    zipped(&[
        ("obs.npy", npy("<f4", "(7, 2)", &singles(&mut (0..14).map(|i| i as f32)))),
        ("acts.npy", npy("<f4", "(5, 1)", &singles(&mut [0.1, 0.2, -2.0, 0.4, 0.5].into_iter()))),
        ("rews.npy", npy("<f8", "(5,)", &doubles(&[1.0, 2.0, 3.0, 4.0, 5.0]))),
        ("terminal.npy", npy("|b1", "(2,)", &[1, 0])),
        ("indices.npy", npy("<i8", "(1,)", &3_i64.to_le_bytes())),
        ("infos.npy", npy("|O", "(5,)", b"\x80\x04cos\nsystem\n")),
    ])
}

/// Minari's layout with so many (observations, actions) an episode; observations count up, the last action is 2.
pub fn hdf5(episodes: &[(usize, usize)]) -> Vec<u8> {
    let mut file = hdf5_pure::FileBuilder::new();
    for (number, &(observations, actions)) in episodes.iter().enumerate() {
        let mut group = file.create_group(&format!("episode_{number}"));
        let values: Vec<f64> = (0..2 * observations).map(|i| i as f64).collect();
        group.create_dataset("observations").with_f64_data(&values).with_shape(&[observations as u64, 2]);
        let values: Vec<f32> = (0..actions).map(|t| if t + 1 == actions { 2.0 } else { 0.5 }).collect();
        group.create_dataset("actions").with_f32_data(&values).with_shape(&[actions as u64, 1]);
        group.create_dataset("rewards").with_f64_data(&vec![1.0; actions]);
        let ends: Vec<u8> = (0..actions).map(|t| u8::from(t + 1 == actions)).collect();
        group.create_dataset("terminations").with_u8_data(&ends);
        file.add_group(group.finish());
    }
    file.finish().unwrap()
}
