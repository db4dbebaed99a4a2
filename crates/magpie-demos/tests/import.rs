//! Demonstrations of other formats.

mod common;

use std::path::{Path, PathBuf};

use common::{Array, Style, hdf5, imitation, npy, paper, pickle, zipped};
use magpie_demos::{Clipped, Demonstrations, Given, Sizes, import, import_bytes};

fn given() -> Given {
    Given { task: "walker2d".to_owned(), source: "file".to_owned(), horizon: 5, ..Given::default() }
}

#[test]
fn the_papers_pickle_is_repaired() {
    for style in [Style::Buffer, Style::Reconstruct] {
        let demonstrations = import_bytes(&pickle(style, &paper(&[4, 5])), &given()).unwrap();
        let columns = demonstrations.columns();
        // Before the first action stands the first observation; then what the step before led to.
        let first: Vec<f32> = columns.observations.iter().step_by(3).copied().collect();
        assert_eq!(first, [-1.0, 0.0, 1.0, 2.0, -2.0, 100.0, 101.0, 102.0, 103.0]);
        let actions: Vec<f32> = columns.actions.iter().step_by(2).copied().collect();
        assert_eq!(actions, [0.0, 0.001, 0.002, 0.003, 0.0, 0.001, 0.002, 0.003, 0.004]);
        assert_eq!(columns.actions[5], -1.0, "limited as the environment does");
        assert!(columns.final_observations.is_empty() && columns.rewards.is_empty());
        assert_eq!(columns.measures.len(), 18);
        let ends: Vec<bool> = columns.episodes.iter().map(|episode| episode.terminated).collect();
        assert_eq!(ends, [true, false], "only the second one was cut off at the horizon");
        assert_eq!(columns.episodes[1].true_return, Some(1.0));
        assert_eq!(columns.episodes[1].demonstrator.as_ref().unwrap().measures, [0.25, 0.25]);
        let repairs = columns.about.repairs.join("; ");
        for word in ["one step before", "automatic reset", "2 of 18 entries", "rewards were all zero"] {
            assert!(repairs.contains(word), "{repairs}");
        }
        assert_eq!(
            demonstrations.thinned(1, true).unwrap().terminated.len(),
            7,
            "two last steps have no next"
        );
    }
}

/// The folder with the paper's own files is not part of the repository.
#[test]
fn golden_demonstrations_of_the_paper() {
    let folder = magpie_golden::directory().join("demos");
    if !folder.is_dir() {
        eprintln!("skipped: {} is not there", folder.display());
        return;
    }
    for (task, observation, action) in [("halfcheetah", 18, 6), ("walker2d", 17, 6), ("humanoid", 227, 17)] {
        let given =
            Given { task: task.to_owned(), sizes: Some(Sizes { observation, action }), ..Given::default() };
        let path = folder.join(format!("original/trajs_ppga_{task}.pt"));
        let demonstrations = import(&path, &given).unwrap();
        let columns = demonstrations.columns();
        let mut golden = magpie_golden::Npz::open(&format!("demos/{task}.npz"));
        let equal = |name: &str, got: &[f32], want: Vec<f32>| assert!(got == want, "{task}: {name}");
        equal("observations", &columns.observations, golden.array("observations_before").to_f32());
        equal("actions", &columns.actions, golden.array("actions_clipped").to_f32());
        equal("measures", &columns.measures, golden.array("measures").to_f32());
        let lengths: Vec<usize> = columns.episodes.iter().map(|episode| episode.length).collect();
        assert_eq!(lengths, golden.indices("episode_lengths"));
        for (i, episode) in columns.episodes.iter().enumerate() {
            assert_eq!(episode.true_return, Some(golden.numbers("returns")[i]));
            assert_eq!(episode.terminated, episode.length < 1000);
            let demonstrator = episode.demonstrator.as_ref().unwrap();
            assert_eq!(demonstrator.objective, golden.numbers("demonstrator_returns")[i]);
            assert_eq!(demonstrator.measures, golden.array("demonstrator_measures").row(i));
        }
        assert_eq!(
            demonstrations.thinned(20, false).unwrap().terminated.len(),
            match task {
                "walker2d" => 36 + 50 + 18 + 22,
                _ => 200,
            }
        );
    }
}

#[test]
fn trajectories_of_imitation_are_read() {
    let demonstrations = import_bytes(&imitation(), &given()).unwrap();
    let columns = demonstrations.columns();
    assert_eq!(columns.observations, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 9.0, 10.0, 11.0]);
    assert_eq!(columns.final_observations, [6.0, 7.0, 12.0, 13.0]);
    assert_eq!(columns.actions, [0.1, 0.2, -1.0, 0.4, 0.5]);
    assert_eq!(columns.rewards, [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(columns.episodes[0].true_return, Some(6.0));
    assert_eq!([columns.episodes[0].terminated, columns.episodes[1].terminated], [true, false]);
    assert!(columns.about.repairs[0].contains("1 of 5 entries"));
}

#[test]
fn datasets_of_minari_are_read() {
    let demonstrations = import_bytes(&hdf5(&[(4, 3), (3, 2)]), &given()).unwrap();
    let columns = demonstrations.columns();
    assert_eq!(columns.observations, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 1.0, 2.0, 3.0]);
    assert_eq!(columns.final_observations, [6.0, 7.0, 4.0, 5.0]);
    assert_eq!(columns.actions, [0.5, 0.5, 1.0, 0.5, 1.0]);
    assert_eq!(columns.rewards, [1.0; 5]);
    assert!(columns.episodes.iter().all(|episode| episode.terminated));
    assert_eq!(columns.episodes[0].true_return, Some(3.0));
    assert!(columns.about.repairs[0].contains("2 of 5 entries"));
}

/// What `tests/data/make.py` wrote with the libraries themselves.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

#[test]
fn datasets_of_other_libraries_are_read() {
    let given = Given { task: "walker2d".to_owned(), ..Given::default() };
    for (name, simulator) in [
        ("imitation", ""),
        ("imitation/data-00000-of-00001.arrow", ""),
        ("minari", "Walker2d-v5"),
        ("minari/data", "Walker2d-v5"),
        ("minari/data/main_data.hdf5", "Walker2d-v5"),
        ("d4rl.hdf5", ""),
    ] {
        let demonstrations = import(&data(name), &given).unwrap();
        let columns = demonstrations.columns();
        let want = [0.0, 0.1, 1.0, 1.1, 2.0, 2.1, 10.0, 10.1, 11.0, 11.1];
        assert_eq!(columns.observations, want, "{name}");
        assert_eq!(columns.final_observations, [3.0, 3.1, 12.0, 12.1], "{name}");
        assert_eq!(columns.actions, [0.0, 0.1, 1.0, 0.0, 1.0], "{name}");
        assert_eq!(columns.rewards, [1.0, 1.0, 1.0, 2.0, 2.0], "{name}");
        let ends: Vec<_> = columns.episodes.iter().map(|e| (e.length, e.terminated, e.true_return)).collect();
        assert_eq!(ends, [(3, true, Some(3.0)), (2, false, Some(4.0))], "{name}");
        let foreign = columns.about.foreign.as_ref().unwrap();
        assert_eq!(foreign.simulator, simulator, "{name}");
        assert_eq!(foreign.clipped, Some(Clipped { outside: 2, of: 5, largest: 3.0, entry: 0 }), "{name}");
    }
    let repairs = import(&data("d4rl.hdf5"), &given).unwrap().columns().about.repairs.join("; ");
    assert!(repairs.contains("left out 2 steps after the last end of an episode"), "{repairs}");
}

/// Old files of D4RL have no timeouts: episodes are as long as they may be.
#[test]
fn episodes_of_d4rl_without_timeouts_are_cut_at_the_horizon() {
    let file = |ends: &[u8]| {
        let mut file = hdf5_pure::FileBuilder::new();
        let rows = ends.len() as u64;
        let numbers: Vec<f64> = (0..rows).map(|i| i as f64).collect();
        file.create_dataset("observations").with_f64_data(&numbers).with_shape(&[rows, 1]);
        file.create_dataset("actions").with_f64_data(&vec![0.5; ends.len()]).with_shape(&[rows, 1]);
        file.create_dataset("rewards").with_f64_data(&numbers);
        file.create_dataset("terminals").with_u8_data(ends);
        file.finish().unwrap()
    };
    let given = Given { horizon: 3, ..Given::default() };
    let demonstrations = import_bytes(&file(&[0, 1, 0, 0, 0, 0]), &given).unwrap();
    let columns = demonstrations.columns();
    let ends: Vec<_> = columns.episodes.iter().map(|e| (e.length, e.terminated, e.true_return)).collect();
    assert_eq!(ends, [(2, true, Some(1.0)), (3, false, Some(9.0))]);
    assert!(columns.final_observations.is_empty(), "nothing says what followed");
    let error = import_bytes(&file(&[0, 0]), &given).unwrap_err().to_string();
    assert!(error.contains("none of the 2 steps ends an episode"), "{error}");
}

/// The length of the head, the first eight bytes of a safetensors file, may begin like a pickle or any other format.
#[test]
fn own_files_are_recognised_whatever_the_length_of_their_head() {
    let mut columns = import_bytes(&imitation(), &given()).unwrap().columns().clone();
    let mut seen = Vec::new();
    while seen.len() < 4 {
        columns.about.source.push('.');
        let bytes = Demonstrations::new(columns.clone()).unwrap().to_bytes().unwrap();
        if let [0x80, second @ 2..=5, ..] = bytes[..]
            && !seen.contains(&second)
        {
            seen.push(second);
            let again = import_bytes(&bytes, &given()).unwrap();
            assert_eq!(again.columns().about.source, columns.about.source);
        }
    }
}

/// The name says what is in a file, so that damage is called by its name.
#[test]
fn files_named_safetensors_are_not_guessed_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("demonstrations.safetensors");
    std::fs::write(&path, b"\x80\x05 no head").unwrap();
    let error = import(&path, &given()).unwrap_err().to_string();
    assert!(error.contains("not a whole safetensors file"), "{error}");
}

#[test]
fn observations_beyond_all_bounds_are_refused_with_the_entry() {
    let mut arrays = paper(&[4, 5]);
    arrays[0].values[3 * 2 + 1] *= 1e20;
    let entries = ["root height", "root pitch", "knee angle"].map(str::to_owned).to_vec();
    let error = import_bytes(&pickle(Style::Buffer, &arrays), &Given { entries, ..given() }).unwrap_err();
    assert!(error.0.contains("observations has 2.1e20 in row 3, entry 1 (root pitch)"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let error = import(&path, &given()).unwrap_err().to_string();
    assert!(error.contains("not a file"), "{error}");
}

#[test]
fn folders_without_a_dataset_say_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let error = import(folder.path(), &given()).unwrap_err().to_string();
    assert!(error.contains("a folder without main_data.hdf5 or *.arrow files"), "{error}");
    // A list of parts does not lead out of the folder.
    std::fs::write(folder.path().join("state.json"), r#"{"_data_files": [{"filename": "../data.arrow"}]}"#)
        .unwrap();
    let error = import(folder.path(), &given()).unwrap_err().to_string();
    assert!(error.contains("a folder without"), "{error}");
}

#[test]
fn what_is_imported_can_be_written_and_imported_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.safetensors");
    let demonstrations = import_bytes(&pickle(Style::Buffer, &paper(&[4, 5])), &given()).unwrap();
    demonstrations.save(&path).unwrap();
    let again = import(&path, &Given::default()).unwrap();
    assert_eq!(again.columns().observations, demonstrations.columns().observations);
    assert_eq!(again.columns().about.repairs, demonstrations.columns().about.repairs);
}

#[test]
fn an_entry_that_claims_more_than_it_can_hold_is_refused() {
    let mut bytes = imitation();
    let directory = b"PK\x01\x02";
    for at in 0..bytes.len() - 28 {
        if &bytes[at..at + 4] == directory {
            bytes[at + 24..at + 28].copy_from_slice(&0x7000_0000_u32.to_le_bytes());
        }
    }
    let error = import_bytes(&bytes, &given()).unwrap_err().to_string();
    assert!(error.contains("claims 1879048192 bytes"), "{error}");
}

#[test]
fn errors_say_what_was_found_and_what_was_expected() {
    let whole = pickle(Style::Buffer, &paper(&[4, 5]));
    let changed = |change: &dyn Fn(&mut Vec<Array>)| {
        let mut arrays = paper(&[4, 5]);
        change(&mut arrays);
        pickle(Style::Buffer, &arrays)
    };
    let imitation_with = |name: &'static str, npy: Vec<u8>| {
        let mut files = vec![
            ("obs.npy", common::npy("<f4", "(4, 1)", &[0; 16])),
            ("acts.npy", common::npy("<f4", "(3, 1)", &[0; 12])),
            ("terminal.npy", common::npy("|b1", "(1,)", &[0])),
            ("indices.npy", common::npy("<i8", "(0,)", &[])),
        ];
        files.retain(|file| file.0 != name);
        files.push((name, npy));
        zipped(&files)
    };
    assert!(import_bytes(&imitation_with("rews.npy", npy("<f4", "(3,)", &[0; 12])), &given()).is_ok());
    for (bytes, messages) in [
        (vec![], ["the file is empty", "imitation"]),
        (b"hello, world".to_vec(), ["not known", "trajs_ppga"]),
        (b"\x89HDF\r\n\x1a\n".to_vec(), ["HDF5", "cut off"]),
        (hdf5(&[]), ["without episodes", "episode_0"]),
        (hdf5(&[(3, 2), (2, 2)]), ["episode_1", "expected one observation more"]),
        (b"ARROW1\0\0".to_vec(), ["Arrow", "cut off"]),
        (whole[..whole.len() / 2].to_vec(), ["cut off", "more were expected"]),
        (b"\x80\x04cos\nsystem\n(X\x02\x00\x00\x00lstR.".to_vec(), ["os.system", "nothing is run"]),
        (b"\x80\x04]\x94.".to_vec(), ["a list", "a dictionary"]),
        (b"\x80\x04}\x94.".to_vec(), ["no array states", "expected states, actions and lengths"]),
        (changed(&|a| a[0].shape = vec![9, 4]), ["takes 144 bytes", "there are 108"]),
        (changed(&|a| a[0].shape = vec![27]), ["states has the shape [27]", "rows and columns"]),
        (changed(&|a| a[0].values[4] = f32::NAN), ["NaN", "finite"]),
        (changed(&|a| a[5].values[0] = 3.0), ["9 states", "[3, 5] add up to"]),
        (changed(&|a| a[5].values[0] = 0.5), ["lengths holds 0.5", "numbers of steps"]),
        (
            changed(&|a| (a[4].shape, a[4].values) = (vec![1], vec![1.0])),
            ["returns has 1 rows", "expected 2"],
        ),
        (
            changed(&|a| (a[7].shape, a[7].values) = (vec![3, 1], vec![1.0; 3])),
            ["demonstrator_measures has 3 rows", "expected 2"],
        ),
        (pickle(Style::Buffer, &paper(&[4, 6])), ["6 steps", "1 to 5"]),
        (imitation()[..100].to_vec(), ["not an npz file, or cut off", "numpy.savez"]),
        (zipped(&[("x.npy", vec![])]), ["a zip archive with x;", "obs, acts"]),
        (zipped(&[("archive/data.pkl", vec![])]), ["torch.save", "pickle.dump"]),
        (
            imitation_with("obs.npy", npy("<f4", "(4, 2)", &[0; 16])),
            ["obs: ", "takes 32 bytes, but there are 16"],
        ),
        (
            imitation_with("obs.npy", npy("<f4", "(3, 1)", &[0; 12])),
            ["3 observations", "one observation more"],
        ),
        (
            imitation_with("obs.npy", npy("|O", "(4, 1)", &[0; 16])),
            ["obs: the type is Python objects", "float32, float64"],
        ),
        (
            imitation_with("obs.npy", npy(">f4", "(4, 1)", &[0; 16])),
            ["obs: the type is big-endian float32 (>f4)", "little endian"],
        ),
        (imitation_with("indices.npy", npy("<i8", "(1,)", &9_i64.to_le_bytes())), ["indices [9]", "rising"]),
    ] {
        let error = import_bytes(&bytes, &given()).unwrap_err().to_string();
        assert!(messages.iter().all(|message| error.contains(message)), "{messages:?}: {error}");
    }
    let sizes = Some(Sizes { observation: 17, action: 6 });
    let error = import_bytes(&whole, &Given { sizes, ..given() }).unwrap_err().to_string();
    assert!(error.contains("3 entries and actions 2; expected 17 and 6, as walker2d has"), "{error}");
    let error = import(Path::new("/none/such"), &given()).unwrap_err().to_string();
    assert!(error.contains("/none/such"), "{error}");
}
