//! Writing, reading, thinning and checking.

use crate::demonstrations::{About, Columns, Demonstrations, Demonstrator, Episode, Sizes};

fn columns() -> Columns {
    let lengths = [45, 100, 1];
    let rows: usize = lengths.iter().sum();
    let table = |width: usize| (0..rows * width).map(|i| (i as f32 * 0.37).sin()).collect::<Vec<f32>>();
    Columns {
        about: About { task: "walker2d".to_owned(), horizon: 100, ..About::default() },
        sizes: Sizes { observation: 3, action: 2 },
        episodes: lengths
            .iter()
            .map(|&length| Episode {
                length,
                terminated: length < 100,
                true_return: Some(length as f64),
                measures: vec![],
                demonstrator: Some(Demonstrator { objective: 1.5, measures: vec![0.1, 0.2] }),
            })
            .collect(),
        observations: table(3),
        actions: table(2),
        final_observations: vec![7.0; 9],
        next_observations: vec![],
        rewards: table(1),
        measures: table(2),
    }
}

#[test]
fn a_file_is_read_back_as_written_and_the_same_bytes_each_time() {
    let demonstrations = Demonstrations::new(columns()).unwrap();
    let bytes = demonstrations.to_bytes().unwrap();
    assert_eq!(bytes, demonstrations.to_bytes().unwrap());
    let again = Demonstrations::from_bytes(&bytes).unwrap();
    let about = About { magpie: env!("CARGO_PKG_VERSION").to_owned(), ..columns().about };
    assert_eq!(again.columns(), &Columns { about, ..columns() });
    assert_eq!(again.to_bytes().unwrap(), bytes);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.safetensors");
    demonstrations.save(&path).unwrap();
    assert_eq!(Demonstrations::load(&path).unwrap(), again);
    let error = Demonstrations::load(&folder.path().join("none")).unwrap_err().to_string();
    assert!(error.contains("none: opening: there is no such file"), "{error}");
    let error = Demonstrations::load(folder.path()).unwrap_err().to_string();
    assert!(error.contains("not a file"), "{error}");
}

#[test]
fn a_head_whose_length_looks_like_a_pickle_is_read() {
    let mut met = false;
    for padding in 0..256 {
        let about = About { source: "x".repeat(padding), ..columns().about };
        let bytes = Demonstrations::new(Columns { about, ..columns() }).unwrap().to_bytes().unwrap();
        met |= bytes[0] == 0x80 && (2..=5).contains(&bytes[1]);
        let read = crate::import_bytes(&bytes, &crate::Given::default());
        assert!(read.is_ok(), "a source of {padding} letters: {}", read.unwrap_err());
    }
    assert!(met, "heads grow by 8 bytes, so that one of them has such a length");
}

#[test]
fn what_may_be_absent_may_be_absent() {
    let bare = Columns { final_observations: vec![], rewards: vec![], measures: vec![], ..columns() };
    let demonstrations = Demonstrations::new(bare).unwrap();
    let again = Demonstrations::from_bytes(&demonstrations.to_bytes().unwrap()).unwrap();
    assert!(again.columns().rewards.is_empty() && again.columns().final_observations.is_empty());
}

#[test]
fn thinning_takes_every_nth_step_of_each_episode() {
    let demonstrations = Demonstrations::new(columns()).unwrap();
    let pairs = demonstrations.thinned(20, false).unwrap();
    let taken: Vec<usize> = vec![0, 20, 40, 45, 65, 85, 105, 125, 145];
    let all = columns();
    for (i, &row) in taken.iter().enumerate() {
        assert_eq!(pairs.observations[i * 3..][..3], all.observations[row * 3..][..3]);
        assert_eq!(pairs.actions[i * 2..][..2], all.actions[row * 2..][..2]);
        assert_eq!(pairs.rewards[i], all.rewards[row]);
    }
    assert_eq!(pairs.actions.len(), taken.len() * 2);
    assert_eq!(pairs.terminated, [[false; 8].as_slice(), &[true]].concat());
    // 55 lost steps of the first episode, none of the second, 99 of the third.
    assert_eq!(pairs.lost, [0, 0, 3, 0, 0, 0, 0, 0, 5]);
}

#[test]
fn next_observations_are_those_of_the_next_step_or_the_final_ones() {
    let all = columns();
    let demonstrations = Demonstrations::new(columns()).unwrap();
    let pairs = demonstrations.thinned(1, true).unwrap();
    assert_eq!(pairs.next_observations.len(), pairs.observations.len());
    assert_eq!(pairs.next_observations[..3], all.observations[3..6]);
    assert_eq!(pairs.next_observations[44 * 3..45 * 3], [7.0; 3]);
    let unknown = Demonstrations::new(Columns { final_observations: vec![], ..columns() }).unwrap();
    let pairs = unknown.thinned(1, true).unwrap();
    assert_eq!(pairs.observations.len() / 3, 146 - 3);
    assert_eq!(pairs.next_observations[..44 * 3], all.observations[3..45 * 3]);
    assert_eq!(pairs.observations[44 * 3..][..3], all.observations[45 * 3..][..3]);
}

#[test]
fn a_sparse_file_gives_a_model_what_the_whole_one_gives() {
    let whole = Demonstrations::new(columns()).unwrap();
    let sparse = whole.sparse(5).unwrap();
    let sparse = Demonstrations::from_bytes(&sparse.to_bytes().unwrap()).unwrap();
    assert_eq!(sparse.steps(), 9 + 20 + 1);
    for next_observations in [false, true] {
        for every in [5, 20] {
            assert_eq!(sparse.thinned(every, next_observations), whole.thinned(every, next_observations));
        }
        let refused = sparse.thinned(8, next_observations).unwrap_err().0;
        assert!(refused.contains("holds only every 5th"), "{refused}");
    }
    assert_eq!(sparse.places(), whole.places());
    let returns = |d: &Demonstrations| d.columns().episodes.iter().map(|e| e.true_return).collect::<Vec<_>>();
    assert_eq!(returns(&sparse), returns(&whole));
    assert_eq!(
        sparse.subset(2).columns().next_observations,
        whole.subset(2).sparse(5).unwrap().columns().next_observations
    );
    assert_eq!(whole.sparse(1).unwrap().columns().observations, columns().observations);
    assert!(sparse.sparse(7).is_err());
}

#[test]
fn a_subset_is_the_first_episodes() {
    let demonstrations = Demonstrations::new(columns()).unwrap();
    let two = demonstrations.subset(2);
    two.columns().check(&[]).unwrap();
    assert_eq!((two.steps(), two.columns().episodes.len()), (145, 2));
    assert_eq!(two.columns().final_observations.len(), 6);
    assert_eq!(two.columns().measures[..], columns().measures[..290]);
    assert_eq!(demonstrations.subset(10), demonstrations);
}

#[test]
fn what_does_not_fit_is_named() {
    let refused = |change: &dyn Fn(&mut Columns)| {
        let mut columns = columns();
        change(&mut columns);
        Demonstrations::new(columns).unwrap_err().0
    };
    for (problem, message) in [
        (refused(&|c| c.observations[5] = f32::NAN), "observations has NaN in row 1"),
        (refused(&|c| c.actions[5] = 1.5), "an action of row 2 is 1.5"),
        (
            refused(&|c| c.actions.truncate(c.actions.len() - 1)),
            "actions has 291 numbers; expected 146 rows of 2",
        ),
        (refused(&|c| c.rewards.truncate(c.rewards.len() - 1)), "rewards has 145 numbers"),
        (refused(&|c| c.measures.truncate(c.measures.len() - 1)), "measures has 291 numbers"),
        (
            refused(&|c| c.final_observations.truncate(c.final_observations.len() - 1)),
            "final observations has 8 numbers",
        ),
        (refused(&|c| c.episodes.clear()), "no episodes"),
        (refused(&|c| c.about.horizon = 50), "episode 1 has 100 steps; expected 1 to 50"),
        (refused(&|c| c.episodes[0].true_return = Some(f64::INFINITY)), "episode 0 is not finite"),
    ] {
        assert!(problem.contains(message), "{problem}");
    }
}

#[test]
fn episodes_lie_at_the_mean_of_their_steps_or_where_their_demonstrator_does() {
    let mut some = columns();
    some.measures = (0..146).flat_map(|row| if row < 45 { [0.25, 0.5] } else { [1.0, 0.0] }).collect();
    let places = Demonstrations::new(some.clone()).unwrap().places();
    assert_eq!(places, [Some(vec![0.25, 0.5]), Some(vec![1.0, 0.0]), Some(vec![1.0, 0.0])]);
    some.measures.clear();
    some.episodes[1].demonstrator = None;
    let places = Demonstrations::new(some).unwrap().places();
    assert_eq!(places, [Some(vec![0.1, 0.2]), None, Some(vec![0.1, 0.2])]);
}

#[test]
fn every_flipped_bit_is_noticed() {
    let whole = Demonstrations::new(columns()).unwrap().to_bytes().unwrap();
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(Demonstrations::from_bytes(&flipped).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
    }
}

/// As versions before checksums wrote it: the same file with that entry taken out.
#[test]
fn files_without_checksums_are_read() {
    let demonstrations = Demonstrations::new(columns()).unwrap();
    let bytes = demonstrations.to_bytes().unwrap();
    let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
    let (head, body) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let mut head: serde_json::Value = serde_json::from_slice(head).unwrap();
    head["__metadata__"].as_object_mut().unwrap().remove("crc32").expect("the file has checksums");
    let head = serde_json::to_vec(&head).unwrap();
    let earlier = [&(head.len() as u64).to_le_bytes()[..], &head, body].concat();
    let again = Demonstrations::from_bytes(&earlier).unwrap();
    assert_eq!(again.columns().episodes, demonstrations.columns().episodes);
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("demos.safetensors");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let error = Demonstrations::load(&pipe).unwrap_err().to_string();
    assert!(error.contains("demos.safetensors") && error.contains("not a file"), "{error}");
}
