//! What hostile files may cost: a gigabyte of memory, or ten times the file, and ten seconds of one core. Each is imported
//! by a process of its own that the system holds to these limits.

#![cfg(target_os = "linux")]

mod common;

use std::path::Path;
use std::process::Command;

use common::hostile::{
    packed_hdf5, packed_npz, repeated_call, repeated_name, shared_array, shared_tree, wide_chunks,
};
use magpie_demos::{Given, import};

const FILE: &str = "MAGPIE_HOSTILE_FILE";
/// Seconds of one core.
const SECONDS: u64 = 10;
/// In KB.
const MEMORY: u64 = 1 << 20;
/// Address space that a process takes without any file: the program, and arenas of the allocator for its threads.
const BESIDE: u64 = 512 << 10;

/// The other process: imports the file that it was told, and says what came of it.
#[test]
fn child() {
    let Ok(file) = std::env::var(FILE) else { return };
    match import(Path::new(&file), &Given::default()) {
        Ok(demonstrations) => println!("RESULT {} steps", demonstrations.steps()),
        Err(error) => println!("RESULT {error}"),
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap());
    // Fields 14 and 15, behind the name in parentheses: time of the processor in hundredths of a second.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let hundredths: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    println!("SECONDS {}", hundredths as f64 / 100.0);
}

/// What an import says within the limits; what became of it otherwise.
fn held(file: &Path) -> Result<String, String> {
    let bytes = std::fs::metadata(file).unwrap().len();
    let memory = MEMORY.max(10 * bytes / 1024);
    let script = format!(
        "ulimit -v {} && ulimit -t {SECONDS} && exec \"$0\" --exact child --nocapture",
        memory + BESIDE
    );
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(std::env::current_exe().unwrap()).env(FILE, file);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line =
        |start: &str| text.lines().find_map(|line| line.split_once(start).map(|(_, rest)| rest.trim()));
    let (Some(result), Some(peak), Some(seconds)) = (line("RESULT"), line("VmHWM:"), line("SECONDS")) else {
        return Err(format!("{}: {text}{}", output.status, String::from_utf8_lossy(&output.stderr)));
    };
    let peak: u64 = peak.trim_end_matches("kB").trim().parse().unwrap();
    println!("{bytes} bytes: {} MB, {seconds} s: {result}", peak / 1024);
    match peak <= memory {
        true => Ok(result.to_owned()),
        false => Err(format!("{peak} KB in use: {result}")),
    }
}

#[test]
fn hostile_files_are_refused_within_the_limits() {
    let folder = tempfile::tempdir().unwrap();
    let name = |length: usize| vec![b'n'; length];
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("one node of a tree a million times", shared_tree(4, 32, b"episode_0"), "over and over"),
        ("one leaf 65,535 times", shared_tree(1, 65_535, b"episode_0"), "over and over"),
        ("one long name for many entries", shared_tree(1, 300, &name(5 << 20)), "more than 255 bytes"),
        ("tables of zeros", packed_hdf5(10, 200_000), "the limit of 1 GB"),
        ("small tables in chunks of zeros", wide_chunks(10, 1 << 22), "the limit of 1 GB"),
        (
            "bytes of zeros",
            packed_npz("(1001, 131072)", false, 1001 * 131_072),
            "take 1049624576 bytes of memory",
        ),
        (
            "thousands of axes of length 1",
            packed_npz(&format!("({}4000000,)", "1,".repeat(4500)), true, 4_000_000),
            "expected rows and columns",
        ),
        ("a call with many arguments", repeated_call("f4", 300_000, 400_000), "no array states"),
        (
            "a call with a long argument",
            repeated_call(&format!("{}f4", "<".repeat(1 << 20)), 0, 200_000),
            "a type with a name of",
        ),
        ("one long name for many arrays", repeated_name(1 << 20, 200_000), "no array states"),
        ("one array of many names", shared_array(70_000_000), "the limit of 1 GB"),
    ];
    for (what, bytes, message) in cases {
        let file = folder.path().join("file");
        std::fs::write(&file, bytes).unwrap();
        println!("{what}");
        let result = held(&file).unwrap_or_else(|failure| panic!("{what}: {failure}"));
        assert!(result.contains(message), "{what}: {result}");
    }
}

/// Files of at most 10 MB that cost the most that each way of wasting allows; slow, and for the figures alone.
#[test]
#[ignore = "an experiment: cargo test --release -p magpie-demos --test hostile -- --ignored --nocapture"]
fn what_ten_megabytes_may_cost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("a pickle that makes a type a million times", repeated_call("f4", 1_500_000, 1_000_000)),
        ("a pickle with one name for many arrays", repeated_name(1 << 20, 2_000_000)),
        ("a pickle with one array for many names", shared_array(9_000_000)),
        ("an npz of packed zeros, just taken", packed_npz("(1001, 60000)", false, 1001 * 60_000)),
        ("an npz of packed zeros, just refused", packed_npz("(1001, 131000)", false, 1001 * 131_000)),
        ("an npz whose order is turned", packed_npz("(1001, 9000)", true, 1001 * 9000)),
        ("HDF5 of packed zeros, a few", packed_hdf5(2, 200_000)),
        ("HDF5 of packed zeros, many episodes", packed_hdf5(2000, 100)),
        ("HDF5 in wide chunks, a few", wide_chunks(1, 1 << 24)),
        ("HDF5 in wide chunks, many episodes", wide_chunks(500, 1 << 18)),
        ("an HDF5 tree with a leaf of many entries", shared_tree(1, 65_535, b"episode_0")),
        ("an HDF5 tree of many levels", shared_tree(200, 1000, b"episode_0")),
    ];
    for (what, bytes) in cases {
        assert!(bytes.len() <= 10_000_000, "{what}: {} bytes", bytes.len());
        std::fs::write(&file, bytes).unwrap();
        println!("{what}");
        if let Err(failure) = held(&file) {
            panic!("{what}: {failure}");
        }
    }
}
