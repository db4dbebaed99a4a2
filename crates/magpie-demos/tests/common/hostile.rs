//! Small files that cost much: each was a way to spend minutes or gigabytes.

use std::io::{Cursor, Write};

use super::npy;

/// An HDF5 file of version 0 whose root has a tree of `levels` levels: each node has `fan` children, which are all the same
/// node. Each of the `fan` entries of its only leaf is called `name`.
pub fn shared_tree(levels: usize, fan: usize, name: &[u8]) -> Vec<u8> {
    const HEAD: usize = 0x60;
    const HEAP: usize = 200;
    let names = (name.len() + 1).next_multiple_of(8);
    let segment = HEAP + 32;
    let symbols = segment + names;
    let node = 8 + fan * 40;
    let tree_bytes = 24 + fan * 16 + 8;
    let first_tree = symbols + node;
    let root = first_tree + levels * tree_bytes;
    let end = root + tree_bytes;
    let mut out = b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0\x04\0\x10\0\0\0\0\0".to_vec();
    let word = |out: &mut Vec<u8>, value: usize| out.extend((value as u64).to_le_bytes());
    let undefined = |out: &mut Vec<u8>| out.extend([0xff; 8]);
    word(&mut out, 0);
    undefined(&mut out);
    word(&mut out, end);
    undefined(&mut out);
    for value in [0, HEAD, 1, root, HEAP] {
        word(&mut out, value);
    }
    // The head of the root: one message with its tree and its names.
    out.extend(b"\x01\0\x01\0\x01\0\0\0\x18\0\0\0\0\0\0\0\x11\0\x10\0\0\0\0\0");
    word(&mut out, root);
    word(&mut out, HEAP);
    out.resize(HEAP, 0);
    out.extend(b"HEAP\0\0\0\0");
    word(&mut out, names);
    undefined(&mut out);
    word(&mut out, segment);
    out.extend(name);
    out.resize(symbols, 0);
    out.extend(b"SNOD\x01\0");
    out.extend((fan as u16).to_le_bytes());
    for _ in 0..fan {
        word(&mut out, 0);
        word(&mut out, HEAD);
        out.extend([0; 24]);
    }
    for level in 0..=levels {
        let child = if level == 0 { symbols } else { first_tree + (level - 1) * tree_bytes };
        out.extend(b"TREE\0");
        out.push(level as u8);
        out.extend((fan as u16).to_le_bytes());
        undefined(&mut out);
        undefined(&mut out);
        for _ in 0..fan {
            word(&mut out, 0);
            word(&mut out, child);
        }
        word(&mut out, 0);
    }
    out
}

/// `episodes` episodes of Minari with `steps` steps each, in which all numbers are zeros.
pub fn packed_hdf5(episodes: usize, steps: usize) -> Vec<u8> {
    let mut file = hdf5_pure::FileBuilder::new();
    let zeros = vec![0.0; steps + 1];
    for number in 0..episodes {
        let mut group = file.create_group(&format!("episode_{number}"));
        for (name, rows) in [("observations", steps + 1), ("actions", steps)] {
            let shape = [rows as u64, 1];
            group.create_dataset(name).with_f64_data(&zeros[..rows]).with_shape(&shape).with_deflate(6);
        }
        group.create_dataset("rewards").with_f64_data(&zeros[..steps]).with_deflate(6);
        group.create_dataset("terminations").with_u8_data(&vec![0; steps]).with_deflate(6);
        file.add_group(group.finish());
    }
    file.finish().unwrap()
}

/// Episodes of one step, with observations in chunks that unpack to `numbers` numbers each.
pub fn wide_chunks(episodes: usize, numbers: usize) -> Vec<u8> {
    let mut file = hdf5_pure::FileBuilder::new();
    for number in 0..episodes {
        let mut group = file.create_group(&format!("episode_{number}"));
        let chunk = [numbers as u64 / 2, 2];
        group
            .create_dataset("observations")
            .with_f64_data(&[0.0; 4])
            .with_shape(&[2, 2])
            .with_maxshape(&[hdf5_pure::MaxExtent::Unlimited, hdf5_pure::MaxExtent::Fixed(2)])
            .with_chunks(&chunk)
            .with_deflate(6);
        group.create_dataset("actions").with_f64_data(&[0.0]).with_shape(&[1, 1]);
        group.create_dataset("rewards").with_f64_data(&[0.0]);
        group.create_dataset("terminations").with_u8_data(&[1]);
        file.add_group(group.finish());
    }
    file.finish().unwrap()
}

/// An npz file whose `obs` are zeros of one byte each: packed, unless their order has to be turned.
pub fn packed_npz(shape: &str, fortran_order: bool, numbers: usize) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    let order = |npy: Vec<u8>| match fortran_order {
        false => npy,
        true => {
            let text = String::from_utf8_lossy(&npy[10..]).replace("False", "True ");
            [&npy[..10], text.as_bytes()].concat()
        }
    };
    let stored = options.compression_method(zip::CompressionMethod::Stored);
    zip.start_file("obs.npy", if fortran_order { stored } else { options }).unwrap();
    zip.write_all(&order(npy("|u1", shape, &[]))).unwrap();
    let zeros = vec![0; 1 << 20];
    let mut left = numbers;
    while left > 0 {
        let now = left.min(zeros.len());
        zip.write_all(&zeros[..now]).unwrap();
        left -= now;
    }
    for (name, npy) in [
        ("acts.npy", npy("|u1", "(1000, 1)", &[0; 1000])),
        ("terminal.npy", npy("|b1", "(1,)", &[0])),
        ("indices.npy", npy("<i8", "(0,)", &[])),
    ] {
        zip.start_file(name, options).unwrap();
        zip.write_all(&npy).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.push(b'X');
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

/// A pickle that makes a type `calls` times, from a name and `more` other arguments that are kept under one number.
pub fn repeated_call(name: &str, more: usize, calls: usize) -> Vec<u8> {
    let mut out = b"\x80\x04Nq\x000cnumpy\ndtype\nq\x010(".to_vec();
    text(&mut out, name);
    out.extend(b"h\x00".repeat(more));
    out.extend(b"tq\x020");
    out.extend(b"h\x01h\x02R0".repeat(calls));
    out.extend(b"}.");
    out
}

/// A pickled dictionary with one array under one long name, `entries` times over.
pub fn repeated_name(length: usize, entries: usize) -> Vec<u8> {
    let mut out = b"\x80\x05".to_vec();
    text(&mut out, &"n".repeat(length));
    out.extend(b"q\x000");
    out.extend(b"cnumpy.core.numeric\n_frombuffer\n(C\x01\0cnumpy\ndtype\nX\x02\0\0\0u1\x85RK\x01\x85X\x01\0\0\0CtRq\x010");
    out.extend(b"}(");
    out.extend(b"h\x00h\x01".repeat(entries));
    out.extend(b"u.");
    out
}

/// A pickled dictionary in which every name of the paper's leads to one array of bytes.
pub fn shared_array(numbers: usize) -> Vec<u8> {
    let mut out = b"\x80\x05cnumpy.core.numeric\n_frombuffer\n(".to_vec();
    out.push(0x8e);
    out.extend((numbers as u64).to_le_bytes());
    out.resize(out.len() + numbers, 1);
    out.extend(b"cnumpy\ndtype\nX\x02\0\0\0u1\x85RJ");
    out.extend((numbers as i32).to_le_bytes());
    out.extend(b"K\x01\x86X\x01\0\0\0CtRq\x000}(");
    for name in ["states", "actions", "measures", "rewards", "returns", "lengths", "demonstrator_measures"] {
        text(&mut out, name);
        out.extend(b"h\x00");
    }
    out.extend(b"u.");
    out
}
