//! Damaged and hostile files: errors, never a panic, and never memory that only a header asks for.
//!
//! More cases: `PROPTEST_CASES=1000000 cargo test --release -p magpie-demos --test fuzz`.

mod common;

use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::LazyLock;

use common::{Array, Style, hdf5, imitation, npy, paper, pickle, zipped};
use magpie_demos::{Given, import_bytes};
use peak_alloc::PeakAlloc;
use proptest::collection::vec;
use proptest::prelude::*;
use zip::write::SimpleFileOptions;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// What all tests of this binary together may take. Their files have a few kilobytes, and unpacked a few megabytes.
const MOST_BYTES: usize = 64 << 20;

/// Whole files of every format. Made once, for there may be millions of cases.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let arrays = paper(&[4, 5]);
    let given = Given { horizon: 5, ..Given::default() };
    let own = import_bytes(&pickle(Style::Buffer, &arrays), &given).unwrap();
    vec![
        pickle(Style::Buffer, &arrays),
        pickle(Style::Reconstruct, &arrays),
        imitation(),
        own.to_bytes().unwrap(),
        own.sparse(2).unwrap().to_bytes().unwrap(),
        hdf5(&[(4, 3), (3, 2)]),
        data("minari/data/main_data.hdf5"),
        data("d4rl.hdf5"),
        data("imitation/data-00000-of-00001.arrow"),
    ]
});

fn data(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

fn survives(bytes: &[u8]) {
    let result = import_bytes(bytes, &Given { horizon: 5, ..Given::default() });
    let peak = ALLOCATOR.peak_usage();
    assert!(peak <= MOST_BYTES, "{peak} bytes in use for a file of {}", bytes.len());
    if let Ok(demonstrations) = result {
        demonstrations.to_bytes().unwrap();
        // What is not there is refused.
        let _ = demonstrations.subset(1).thinned(6, true);
        let _ = demonstrations.sparse(3);
    }
}

proptest! {
    #[test]
    fn damaged_files(
        file in 0..FILES.len(),
        flips in vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
        insert in prop::option::weighted(0.3, (any::<prop::sample::Index>(), vec(any::<u8>(), 1..12))),
    ) {
        let mut bytes = FILES[file].clone();
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some((at, extra)) = insert {
            let at = at.index(bytes.len());
            bytes.splice(at..at, extra);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        survives(&bytes);
    }

    #[test]
    fn pickles_of_random_instructions(
        codes in vec(
            prop::sample::select(&b"\x80\x95(0.N\x88\x89KMJ\x8aG\x8cX\x8dCB\x8e\x96)]}t\x85\x86\x87aesu\x94qrhjc\x93Rb\x00\x01\x02\n"[..]),
            0..60,
        ),
    ) {
        survives(&[&[0x80, 4], &codes[..]].concat());
    }

    #[test]
    fn npy_headers_of_any_text(text in "[ -~]{0,80}", shape in "\\([0-9, ]{0,40}\\)", data in vec(any::<u8>(), 0..64)) {
        for head in [npy("<f4", &shape, &data), npy(&text, "(4, 1)", &data), text.clone().into_bytes()] {
            let files = [("obs.npy", head), ("acts.npy", vec![]), ("terminal.npy", vec![]), ("indices.npy", vec![])];
            survives(&zipped(&files));
        }
    }

    #[test]
    fn anything_at_all(start in prop::sample::select(vec![&b""[..], b"\x80\x05", b"PK\x03\x04", b"\x40\0\0\0\0\0\0\0{"]), rest in vec(any::<u8>(), 0..200)) {
        survives(&[start, &rest[..]].concat());
    }
}

#[test]
fn announced_sizes_are_not_believed() {
    let mut huge = b"\x80\x05}(\x8c\x06states\x96".to_vec();
    huge.extend((1_u64 << 60).to_le_bytes());
    survives(&huge);
    survives(&[&(1_u64 << 40).to_le_bytes()[..], b"{}"].concat());
    // A shape can be recalled for two bytes and is copied into each array.
    let axes = pickle(Style::Buffer, &[Array { name: "states", shape: vec![1; 100_000], values: vec![1.0] }]);
    let error = import_bytes(&axes, &Given::default()).unwrap_err().to_string();
    assert!(error.contains("100000 axes"), "{error}");
    // No numbers at all, in rows so wide that their number is too large to count.
    let about = r#"{\"format\":\"demonstrations 1\",\"about\":{\"horizon\":5},\"episodes\":[{\"length\":2,\"terminated\":false}]}"#;
    let table = |width: u64| format!(r#"{{"dtype":"F32","shape":[0,{width}],"data_offsets":[0,0]}}"#);
    let wide = table(1 << 63);
    let head = format!(r#"{{"__metadata__":{{"magpie":"{about}"}},"observations":{wide},"actions":{wide}}}"#);
    let head = format!("{head:<width$}", width = head.len().next_multiple_of(8));
    survives(&[&(head.len() as u64).to_le_bytes()[..], head.as_bytes()].concat());
    for shape in ["(18446744073709551615, 2)", "(4294967296, 4294967296)", "(1000000000000, 1)"] {
        let names = ["obs.npy", "acts.npy", "terminal.npy", "indices.npy"];
        survives(&zipped(&names.map(|name| (name, npy("<f4", shape, &[0; 16])))));
    }
    // A million zeros pack into a kilobyte: unpacked they are within what deflate can make, and no more is taken.
    let names = ["obs.npy", "acts.npy", "terminal.npy", "indices.npy"];
    survives(&zipped(&names.map(|name| (name, npy("<f4", "(250000, 1)", &vec![0; 1_000_000])))));
}

/// 131 MB of zeros, which pack into 128 KB and would be a gigabyte of `f64`: refused before anything is unpacked.
#[test]
fn packed_zeros_are_not_widened() {
    let shape = "(1001, 131072)";
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let zeros = vec![0; 1 << 20];
    zip.start_file("obs.npy", SimpleFileOptions::default()).unwrap();
    zip.write_all(&npy("|u1", shape, &[])).unwrap();
    for _ in 0..125 {
        zip.write_all(&zeros).unwrap();
    }
    zip.write_all(&zeros[..131_203_072 - (125 << 20)]).unwrap();
    for (name, npy) in [
        ("acts.npy", npy("|u1", "(1000, 1)", &[0; 1000])),
        ("terminal.npy", npy("|b1", "(1,)", &[0])),
        ("indices.npy", npy("<i8", "(0,)", &[])),
    ] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(&npy).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    assert!(bytes.len() < 1 << 18, "{}", bytes.len());
    survives(&bytes);
    let error = import_bytes(&bytes, &Given::default()).unwrap_err().to_string();
    assert!(error.contains("obs: its 131203072 numbers take 1049624576 bytes of memory"), "{error}");
}
