//! `magpie rollout` against the trajectories of Brax 0.1.0.

mod common;

use common::{Npy, golden_start, headers, succeed, text, write_npz};
use magpie_golden::{Array, Npz, assert_close, directory};
use zip::CompressionMethod;

const TASKS: [&str; 5] = ["halfcheetah", "walker2d", "hopper", "ant", "humanoid"];

fn tolerances() -> serde_json::Value {
    serde_json::from_str(&magpie_golden::text("physics/tolerances.json")).unwrap()
}

/// How many steps can be compared before chaos takes over (README of the data).
fn horizon(task: &str, precision: &str) -> usize {
    match (task, precision) {
        ("halfcheetah", "f64") => 20,
        ("halfcheetah", _) => 5,
        ("ant", "f64") => 50,
        ("ant", _) => 20,
        _ => usize::MAX,
    }
}

/// Allowed difference of positions after `step` steps: in single precision four times what is listed between single
/// and double; in double precision 1e-9, except that halfcheetah multiplies any error by a hundred thousand in twenty
/// steps: there, a hundred times what an independent implementation is listed with.
fn allowed(listed: &serde_json::Value, task: &str, precision: &str, step: usize) -> f64 {
    let horizons = listed["horizons"].as_array().expect("horizons");
    let place =
        horizons.iter().position(|h| step as u64 <= h.as_u64().expect("a horizon")).expect("a horizon");
    let number = |value: &serde_json::Value| value[place].as_f64().expect("a listed maximum");
    match (task, precision) {
        (_, "f32") => 4.0 * number(&listed["float32_vs_float64"][task]["max"]),
        ("halfcheetah", _) => {
            let check = &listed["independent_numpy_check"]["float64_trajectory_pos_max_up_to_horizon"];
            (1e2 * number(&check[task])).max(1e-9)
        }
        _ => 1e-9,
    }
}

/// Compares `steps` steps of all trajectories.
fn compare(got: &Array, want: &Array, steps: usize, tolerance: impl Fn(usize) -> f64) {
    assert_eq!(got.shape, want.shape, "{} and {}", got.name, want.name);
    for i in 0..want.shape[0] {
        for t in 0..steps.min(want.shape[1]) {
            let label = format!("{} trajectory {i} step {t}", want.name);
            assert_close(&label, got.row2(i, t), want.row2(i, t), tolerance(t + 1));
        }
    }
}

fn rollout_golden(precision: &str) {
    let folder = tempfile::tempdir().unwrap();
    let listed = tolerances();
    for task in TASKS {
        let input = directory().join(format!("physics/trajectories/{task}.npz"));
        let out = folder.path().join(format!("{task}.npz"));
        let said = succeed(&[
            "rollout",
            task,
            "--from",
            text(&input),
            "--out",
            text(&out),
            "--precision",
            precision,
        ]);
        let mut single = Npz::open(text(&input));
        let mut double = Npz::open(&format!("physics/trajectories_f64/{task}.npz"));
        let mut got = Npz::open(text(&out));
        let actions = single.array("actions");
        let (count, steps) = (actions.shape[0], actions.shape[1]);
        assert!(said.contains(&format!("{count} trajectories of {steps} steps")), "{said}");

        let compared = horizon(task, precision);
        compare(&got.array("pos"), &double.array("pos"), compared, |t| allowed(&listed, task, precision, t));
        for flag in ["done", "feet_contact"] {
            compare(&got.array(flag), &double.array(flag), compared, |_| 0.0);
        }
        if precision == "f64" {
            // Velocities of halfcheetah diverge faster than its positions.
            let compared = if task == "halfcheetah" { 1 } else { compared };
            for name in ["rot", "vel", "ang", "reward"] {
                compare(&got.array(name), &double.array(name), compared, |_| 1e-9);
            }
        }
        // Observations and first steps are listed for single steps.
        for name in ["obs", "rot", "vel", "ang", "reward"] {
            let tolerance =
                4.0 * listed["single_step"][task][name]["max"].as_f64().expect("a listed maximum");
            compare(&got.array(name), &single.array(name), 1, |_| tolerance);
        }
    }
}

#[test]
fn golden_rollouts_in_double_precision() {
    rollout_golden("f64");
}

#[test]
fn golden_rollouts_in_single_precision() {
    rollout_golden("f32");
}

#[test]
fn golden_rollouts_have_the_arrays_of_the_golden_files() {
    let folder = tempfile::tempdir().unwrap();
    for (precision, reference) in [("f32", "trajectories"), ("f64", "trajectories_f64")] {
        let input = directory().join("physics/trajectories/ant.npz");
        let out = folder.path().join("out.npz");
        succeed(&["rollout", "ant", "--from", text(&input), "--out", text(&out), "--precision", precision]);
        let names = ["pos", "rot", "vel", "ang", "obs", "reward", "done", "feet_contact"];
        let got = headers(&out);
        assert_eq!(got.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names);
        let golden = headers(&directory().join(format!("physics/{reference}/ant.npz")));
        let mut common = got.iter().filter(|(name, _)| golden.iter().any(|(n, _)| n == name)).peekable();
        assert!(common.peek().is_some());
        for array in common {
            assert!(golden.contains(array), "{array:?}");
        }
    }
}

/// More trajectories than are replayed at a time: all copies of a trajectory give the same bytes.
#[test]
fn golden_rollouts_do_not_depend_on_their_place_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("in.npz"), folder.path().join("out.npz"));
    let mut golden = Npz::open("physics/trajectories/hopper.npz");
    let shape = golden.shape("actions");
    let (originals, count) = (shape[0], 900);
    write_npz(&input, &golden_start("hopper", count, shape[1]), CompressionMethod::Deflated);
    succeed(&["rollout", "hopper", "--from", text(&input), "--out", text(&out)]);
    let mut got = Npz::open(text(&out));
    for name in got.names() {
        let array = got.array(&name);
        assert_eq!(array.shape[0], count);
        for i in originals..count {
            assert_eq!(array.row(i), array.row(i % originals), "{name} {i}");
        }
    }
}

/// Types, orders and compressions of the same numbers.
#[test]
fn golden_rollouts_do_not_depend_on_how_the_input_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("in.npz"), folder.path().join("out.npz"));
    let plain = golden_start("hopper", 2, 7);
    let shapes = |array: &Npy| match array.name.as_str() {
        "actions" => [2, 7, 3],
        "init_rot" => [2, 5, 4],
        _ => [2, 5, 3],
    };
    let wide: Vec<Npy> = plain.iter().cloned().map(Npy::widened).collect();
    let fortran: Vec<Npy> = wide.iter().map(|array| array.clone().transposed(shapes(array))).collect();
    let mut results = Vec::new();
    for (arrays, method) in [
        (&plain, CompressionMethod::Stored),
        (&plain, CompressionMethod::Deflated),
        (&wide, CompressionMethod::Stored),
        (&fortran, CompressionMethod::Deflated),
    ] {
        write_npz(&input, arrays, method);
        succeed(&["rollout", "hopper", "--from", text(&input), "--out", text(&out)]);
        results.push(std::fs::read(&out).unwrap());
    }
    assert!(results.iter().all(|bytes| *bytes == results[0]));
}
