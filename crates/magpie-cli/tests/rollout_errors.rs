//! Whatever is wrong with a rollout is said with the file, the array, what was expected and what was found; nothing
//! is left behind.

mod common;

use std::fs;
use std::path::Path;

use common::{Npy, golden_start, magpie, text, write_npz, write_zip};
use zip::CompressionMethod::{Deflated, Stored};

const COUNT: usize = 2;
const STEPS: usize = 3;

/// Runs a rollout of hopper that must fail with this exit code and a message with all these parts.
#[track_caller]
fn fails(input: &Path, options: &[&str], code: i32, parts: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.npz");
    fails_with_out(input, &out, options, code, parts);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[track_caller]
fn fails_with_out(input: &Path, out: &Path, options: &[&str], code: i32, parts: &[&str]) {
    let args = [&["rollout", "hopper", "--from", text(input), "--out", text(out)], options].concat();
    let output = magpie(&args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.starts_with("error: "), "{said}");
    assert!(code == 2 || said.lines().count() == 1, "{said}");
    for part in parts {
        assert!(said.contains(part), "no {part:?} in: {said}");
    }
    assert!(output.stdout.is_empty());
}

/// Valid input with one array changed.
#[track_caller]
fn fails_with(change: impl FnOnce(&mut Vec<Npy>), parts: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.npz");
    let mut arrays = golden_start("hopper", COUNT, STEPS);
    change(&mut arrays);
    write_npz(&input, &arrays, Stored);
    fails(&input, &[], 1, &[&["in.npz: "], parts].concat());
}

#[track_caller]
fn fails_with_array(name: &str, change: impl FnOnce(&mut Npy), parts: &[&str]) {
    fails_with(
        |arrays| change(arrays.iter_mut().find(|array| array.name == name).expect("such an array")),
        &[&[&format!("{name}: ")[..]], parts].concat(),
    );
}

/// Valid input, with options that are wrong.
#[track_caller]
fn fails_with_options(options: &[&str], code: i32, parts: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.npz");
    write_npz(&input, &golden_start("hopper", COUNT, STEPS), Stored);
    fails(&input, options, code, parts);
}

#[test]
fn missing_arrays() {
    for name in ["init_pos", "init_rot", "init_vel", "init_ang", "actions"] {
        fails_with(
            |arrays| arrays.retain(|array| array.name != name),
            &[&format!("{name}: there is no such array"), "the file has ", "init"],
        );
    }
    fails_with(Vec::clear, &["actions: there is no such array", "the file has no arrays"]);
}

#[test]
fn wrong_shapes() {
    let actions = |shape: &str, numbers: usize, parts: &[&str]| {
        let change = |array: &mut Npy| {
            array.shape = shape.to_owned();
            array.numbers.resize(4 * numbers, 0);
        };
        fails_with_array("actions", change, &[&["expected the shape (N, T, 3)"], parts].concat());
    };
    actions("(2, 9)", 18, &["found (2, 9)"]);
    actions("(18,)", 18, &["found (18,)"]);
    actions("()", 1, &["found ()"]);
    actions("(2, 3, 3, 1)", 18, &["found (2, 3, 3, 1)"]);
    actions("(2, 3, 6)", 36, &["found (2, 3, 6)", "hopper takes 3 numbers a step"]);
    actions("(0, 3, 3)", 0, &["at least 1, found (0, 3, 3)"]);
    actions("(2, 0, 3)", 0, &["at least 1, found (2, 0, 3)"]);

    let state = |name: &str, shape: &str, numbers: usize, parts: &[&str]| {
        let change = |array: &mut Npy| {
            array.shape = shape.to_owned();
            array.numbers.resize(4 * numbers, 0);
        };
        fails_with_array(name, change, parts);
    };
    state(
        "init_pos",
        "(2, 4, 3)",
        24,
        &["expected the shape (2, 5, 3), found (2, 4, 3)", "4 bodies and the ground"],
    );
    state(
        "init_rot",
        "(1, 5, 4)",
        20,
        &["expected the shape (2, 5, 4)", "found (1, 5, 4)", "2 trajectories"],
    );
    state("init_rot", "(2, 5, 3)", 30, &["expected the shape (2, 5, 4), found (2, 5, 3)"]);
    state("init_ang", "(30,)", 30, &["expected the shape (2, 5, 3), found (30,)"]);
}

#[test]
fn numbers_that_are_none() {
    for (value, parts) in [
        (f32::NAN, ["flat index 7 is NaN", "expected finite numbers"]),
        (f32::INFINITY, ["flat index 7 is inf", "expected finite numbers"]),
    ] {
        for name in ["init_vel", "actions"] {
            fails_with_array(
                name,
                |array| array.numbers[28..32].copy_from_slice(&value.to_le_bytes()),
                &parts,
            );
        }
    }
    let too_large = |array: &mut Npy| {
        *array = array.clone().widened();
        array.numbers[..8].copy_from_slice(&1e300_f64.to_le_bytes());
    };
    fails_with_array("init_pos", too_large, &["single precision", "--precision f64"]);
    let zero = |array: &mut Npy| array.numbers[16..32].fill(0);
    fails_with_array(
        "init_rot",
        zero,
        &["trajectory 0, body 1 (thigh)", "length 0", "expected (w, x, y, z)"],
    );
}

#[test]
fn types_other_than_float32_and_float64() {
    for (descr, parts) in [
        ("'<f2'", ["the type is float16 (<f2)", "astype"]),
        ("'<i4'", ["the type is int32 (<i4)", "astype"]),
        ("'|u1'", ["the type is uint8 (|u1)", "astype"]),
        ("'>f4'", ["the type is big-endian float32 (>f4)", "little endian"]),
        ("'|b1'", ["the type is bool (|b1)", "astype"]),
        ("'<c8'", ["the type is complex64 (<c8)", "astype"]),
        ("'|O'", ["the type is Python objects", "expected float32 or float64"]),
        ("'<U7'", ["the type is text (<U7)", "expected float32 or float64"]),
        ("'<f99999999999'", ["the type is \"<f99999999999\"", "expected float32 or float64"]),
        ("[('x', '<f4'), ('shape', '<f4')]", ["a structured array", "expected plain numbers"]),
    ] {
        fails_with_array("actions", |array| array.descr = descr.to_owned(), &parts);
    }
}

#[test]
fn headers_that_claim_too_much_or_nonsense() {
    for shape in
        ["(1000000000000, 3, 3)", "(2, 3, 4611686018427387904)", "(9223372036854775808, 9223372036854775808)"]
    {
        fails_with_array(
            "actions",
            |array| array.shape = shape.to_owned(),
            &[&format!("the shape {shape} takes"), "but there are 72", "damaged"],
        );
    }
    for shape in ["(2, x, 3)", "(-2, 3, 3)", "2", "(2, 3", "(99999999999999999999, 3, 3)"] {
        fails_with_array("actions", |array| array.shape = shape.to_owned(), &["malformed npy header"]);
    }
    fails_with_array("actions", |array| array.descr = "'<f4".to_owned(), &["the type is"]);
    fails_with_array(
        "init_pos",
        |array| array.numbers.truncate(100),
        &["takes 120 bytes, but there are 100"],
    );
    fails_with_array("init_pos", |array| array.numbers.push(0), &["takes 120 bytes, but there are 121"]);
}

#[test]
fn entries_that_are_no_npy_files() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.npz");
    let long = [b"\x93NUMPY\x02\x00", &u32::MAX.to_le_bytes()[..], b"{'descr'"].concat();
    let nested = [b"\x93NUMPY\x02\x00", &9000_u32.to_le_bytes()[..], "[".repeat(9000).as_bytes()].concat();
    let cut = [b"\x93NUMPY\x01\x00", &100_u16.to_le_bytes()[..], b"{'descr'"].concat();
    for (bytes, part) in [
        (b"".to_vec(), "no npy header"),
        (b"some text".to_vec(), "no npy header"),
        (b"\x93NUMPY\x07\x00".to_vec(), "npy version 7 is not known"),
        (b"\x93NUMPY\x01\x00\x07".to_vec(), "the npy header is cut off"),
        (long, "the npy header has 4294967295 bytes"),
        (nested, "malformed npy header"),
        (cut, "the npy header is cut off"),
    ] {
        write_zip(&input, &[("actions", bytes)], Deflated);
        fails(&input, &[], 1, &["in.npz: actions: ", part]);
    }
}

#[test]
fn damaged_archives() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.npz");
    let arrays = golden_start("hopper", COUNT, STEPS);
    write_npz(&input, &arrays, Stored);
    let whole = fs::read(&input).unwrap();

    for length in [0, 1, 30, whole.len() / 2, whole.len() - 1] {
        fs::write(&input, &whole[..length]).unwrap();
        fails(&input, &[], 1, &["in.npz: not an npz file, or cut off", "numpy.savez"]);
    }
    fs::write(&input, "not a zip").unwrap();
    fails(&input, &[], 1, &["in.npz: not an npz file, or cut off"]);

    // A flipped bit among the numbers.
    let mut flipped = whole.clone();
    let numbers = &arrays[0].numbers;
    let init_pos = whole.windows(numbers.len()).position(|w| w == numbers).expect("stored as it is");
    flipped[init_pos + numbers.len() / 2] ^= 1;
    fs::write(&input, &flipped).unwrap();
    fails(&input, &[], 1, &["in.npz: init_pos: ", "damaged"]);

    // The directory at the end claims that the last array is larger than the whole file.
    let mut claiming = whole.clone();
    let entry = whole.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    for size in [entry + 20, entry + 24] {
        claiming[size..size + 4].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    }
    fs::write(&input, &claiming).unwrap();
    fails(&input, &[], 1, &["in.npz: actions: ", "claims 2147483647 bytes"]);
}

#[test]
fn any_damaged_byte_gives_an_error_or_a_result_but_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("in.npz"), folder.path().join("out.npz"));
    write_npz(&input, &golden_start("hopper", 1, 1), Deflated);
    let whole = fs::read(&input).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        fs::write(&input, &damaged).unwrap();
        let output = magpie(&["rollout", "hopper", "--from", text(&input), "--out", text(&out)]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "byte {at}: {said}");
        assert!(!said.contains("panicked"), "byte {at}: {said}");
    }
}

#[test]
fn files_that_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fails(&here.join("nowhere.npz"), &[], 1, &["nowhere.npz: cannot open the file; check the path"]);
    fails(here, &[], 1, &["not a file"]);

    let input = here.join("in.npz");
    write_npz(&input, &golden_start("hopper", COUNT, STEPS), Stored);
    fails_with_out(
        &input,
        &here.join("no/out.npz"),
        &[],
        1,
        &["out.npz: there is no directory", "make it first"],
    );
    fails_with_out(&input, here, &[], 1, &["is a directory", "name a file"]);
    fails_with_out(&input, &input, &[], 1, &["this is the file to read"]);
    assert_eq!(fs::read_dir(here).unwrap().count(), 1, "only the input is there");
}

#[test]
fn an_existing_result_survives_a_failure_and_is_replaced_by_success() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("in.npz"), folder.path().join("out.npz"));
    fs::write(&out, "precious").unwrap();
    fs::write(&input, "not a zip").unwrap();
    fails_with_out(&input, &out, &[], 1, &[]);
    assert_eq!(fs::read(&out).unwrap(), b"precious");

    write_npz(&input, &golden_start("hopper", COUNT, STEPS), Stored);
    common::succeed(&["rollout", "hopper", "--from", text(&input), "--out", text(&out)]);
    assert_eq!(common::headers(&out).len(), 8);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
}

#[test]
fn wrong_options() {
    fails_with_options(&["--gravity", "-1"], 1, &["gravity is -1", "at least 0"]);
    fails_with_options(&["--hurdles", "body=yes"], 2, &["body is \"yes\"", "true or false"]);
    fails_with_options(&["--friction", "-1"], 1, &["friction is -1", "at least 0"]);
    fails_with_options(&["--friction", "nan"], 1, &["friction is NaN"]);
    fails_with_options(&["--friction", "wet"], 2, &["--friction", "wet"]);
    fails_with_options(
        &["--strength", "wing=0.5"],
        1,
        &["no actuator \"wing\"", "\"thigh_joint\", \"leg_joint\", \"foot_joint\""],
    );
    fails_with_options(&["--strength", "leg_joint=inf"], 1, &["strength is inf"]);
    fails_with_options(&["--strength", "leg_joint"], 2, &["no \"=\"", "NAME=NUMBER"]);
    fails_with_options(&["--strength", "leg_joint=weak"], 2, &["leg_joint is \"weak\""]);
    fails_with_options(&["--hurdles", "height=-1"], 1, &["hurdles.height is -1", "at least 0"]);
    fails_with_options(&["--hurdles", "spacing=0.01"], 1, &["hurdles.spacing is 0.01"]);
    fails_with_options(&["--hurdles", "depth=1"], 2, &["unknown key \"depth\"", "height, first, spacing"]);
    fails_with_options(&["--hurdles", "count=-3"], 2, &["count is \"-3\"", "whole number"]);
    fails_with_options(&["--precision", "f16"], 2, &["f16", "f32, f64"]);
    fails_with_options(&["--isa", "mmx"], 2, &["no instruction set \"mmx\"", "portable"]);
    fails_with_options(
        &["--isa", "portable", "--precision", "f64"],
        1,
        &["leave it out with --precision f64"],
    );
    fails_with_options(&["--robot", "nowhere.toml"], 1, &["nowhere.toml: cannot read the file"]);
}

#[test]
fn an_unknown_task_is_answered_with_the_nearest_name() {
    let output = magpie(&["rollout", "hoper", "--from", "in.npz", "--out", "out.npz"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("there is no task \"hoper\": did you mean \"hopper\"?"), "{said}");
}
