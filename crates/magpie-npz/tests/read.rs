//! npz files as they come, whole and damaged.

use std::io::{Cursor, Write};

use magpie_npz::{Dtype, Npz, NpzError};
use zip::write::SimpleFileOptions;

fn npy(descr: &str, fortran_order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes(), data].concat()
}

fn zipped(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn open(bytes: &[u8], most_bytes: u64) -> Result<Npz<Cursor<&[u8]>>, NpzError> {
    Npz::new(Cursor::new(bytes), Dtype::ALL, most_bytes)
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn arrays_are_widened_and_in_c_order() {
    let bytes = zipped(&[
        ("f.npy", npy("|u1", "True", "(2, 3)", &[0, 3, 1, 4, 2, 5])),
        ("c.npy", npy("<f8", "False", "()", &doubles(&[0.1]))),
        ("note.txt", b"hello".to_vec()),
    ]);
    let mut npz = open(&bytes, 1 << 10).unwrap();
    assert_eq!(npz.names(), ["c", "f", "note.txt"]);
    assert!(npz.contains("f") && !npz.contains("note.txt"));
    assert_eq!(npz.shape("f").unwrap(), [2, 3]);
    assert_eq!(npz.array("f").unwrap().values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(npz.array("c").unwrap().values, [0.1]);
    let doubled = npz.read("f", |at, value| Ok((at, value as f32 * 2.0))).unwrap();
    assert_eq!(doubled.values[1], (2, 2.0), "the place is that in the file");
    let error = npz.array("g").unwrap_err().to_string();
    assert_eq!(error, "g: there is no such array; the file has c, f, note.txt");
    let error = npz.read::<f32>("c", |_, value| Err(format!("found {value}"))).unwrap_err().to_string();
    assert_eq!(error, "c: found 0.1");
}

#[test]
fn memory_is_limited_before_anything_is_unpacked() {
    let bytes = zipped(&[
        ("x.npy", npy("|u1", "False", "(1000000,)", &[0; 1_000_000])),
        ("y.npy", npy("|u1", "False", "(10,)", &[0; 10])),
    ]);
    // Ten numbers of y are 80 bytes.
    let error = open(&bytes, 7_999_999).unwrap().array("x").unwrap_err().to_string();
    assert!(
        error.contains("x: its 1000000 numbers take 8000000 bytes of memory; expected at most 7999999"),
        "{error}"
    );
    let mut npz = open(&bytes, 8_000_000).unwrap();
    assert_eq!(npz.array("x").unwrap().values.len(), 1_000_000);
    let error = npz.array("y").unwrap_err().to_string();
    assert!(error.contains("expected at most 0"), "all arrays count: {error}");
    let narrow = open(&bytes, 1_000_000).unwrap().read("x", |_, value| Ok(value as u8));
    assert_eq!(narrow.unwrap().values.len(), 1_000_000);
}

/// A directory that claims less than what comes out, or more, is found out.
#[test]
fn sizes_in_the_directory_are_not_believed() {
    let whole = zipped(&[("x.npy", npy("|u1", "False", "(1000000,)", &[0; 1_000_000]))]);
    let header = npy("|u1", "False", "(1000000,)", &[]).len();
    let entry = whole.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    let claiming = |size: u32| {
        let mut bytes = whole.clone();
        bytes[entry + 24..entry + 28].copy_from_slice(&size.to_le_bytes());
        open(&bytes, 1 << 30).unwrap().array("x").unwrap_err().to_string()
    };
    let error = claiming(0x7000_0000);
    assert!(error.contains("claims 1879048192 bytes"), "{error}");
    let error = claiming(header as u32 + 10);
    assert!(error.contains("takes 1000000 bytes, but there are 10"), "{error}");
    // The header may agree with the directory, and still more may come out.
    let mut lying = npy("|u1", "False", "(1000000,)", &[0; 1_000_000]);
    lying.extend([7; 1000]);
    let mut bytes = zipped(&[("x.npy", lying)]);
    let entry = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    bytes[entry + 24..entry + 28].copy_from_slice(&((header + 1_000_000) as u32).to_le_bytes());
    let error = open(&bytes, 1 << 30).unwrap().array("x").unwrap_err().to_string();
    assert!(
        error.contains("more bytes than its entry says") || error.contains("cannot be unpacked"),
        "{error}"
    );
}

#[test]
fn what_is_no_npz_file_says_so() {
    let whole = zipped(&[("x.npy", npy("|u1", "False", "(1,)", &[1]))]);
    for bytes in [&b""[..], b"hello, world", &whole[..whole.len() / 2]] {
        let error = open(bytes, 1 << 20).unwrap_err().to_string();
        assert!(error.contains("not an npz file, or cut off") && error.contains("numpy.savez"), "{error}");
    }
    // A flipped bit among the numbers is found by the checksum.
    let mut stored = Cursor::new(Vec::new());
    let mut zip = zip::ZipWriter::new(&mut stored);
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("x.npy", options).unwrap();
    zip.write_all(&npy("<f8", "False", "(3,)", &doubles(&[1.0, 2.0, 3.0]))).unwrap();
    zip.finish().unwrap();
    let mut bytes = stored.into_inner();
    let at = bytes.windows(8).position(|w| w == 3.0_f64.to_le_bytes()).unwrap();
    bytes[at] ^= 1;
    let error = open(&bytes, 1 << 20).unwrap().array("x").unwrap_err().to_string();
    assert!(error.contains("damaged"), "{error}");
}
