//! What must not change a single bit: threads, batch size, position in the batch, the instruction set (if it has FMA),
//! the order in which chunks are stepped, and saving and restoring.

use std::sync::Arc;

use magpie_envs::{Batch, Environment, Options, Rows, TASKS, Task};
use magpie_random::Stream;
use magpie_simd::{Isa, Pack};

fn environment(task: &str) -> Arc<Environment> {
    Arc::new(Environment::new(task, Options::default()).unwrap())
}

/// Actions of environment `id` at step `t`, independent of its position.
fn actions(env: &Environment, ids: std::ops::Range<u32>, t: u64) -> Vec<f32> {
    let stream = Stream::new(7, "test actions");
    ids.flat_map(|id| {
        let mut draws = stream.draws(id, t);
        (0..env.action_size()).map(|_| draws.uniform(-1.5, 1.5)).collect::<Vec<_>>()
    })
    .collect()
}

/// All results of `steps` steps.
fn run(batch: &mut Batch, ids: std::ops::Range<u32>, steps: std::ops::Range<u64>) -> Vec<Rows> {
    let env = Arc::clone(batch.environment());
    let mut rows = batch.rows();
    if steps.start == 0 {
        batch.reset(&mut rows);
    }
    steps
        .map(|t| {
            // Rows of unfinished episodes keep old values; cleared to make them comparable.
            rows.final_observation.fill(0.0);
            batch.step(&actions(&env, ids.clone(), t), &mut rows);
            rows.clone()
        })
        .collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// Fails unless environment rows `a` (from `first_a`) and `b` (from `first_b`) are identical for `count` rows.
fn assert_same(what: &str, a: &[Rows], first_a: usize, b: &[Rows], first_b: usize, count: usize) {
    assert_eq!(a.len(), b.len());
    for (t, (a, b)) in a.iter().zip(b).enumerate() {
        let width = a.observation.len() / a.reward.len();
        let dims = a.measure.len() / a.reward.len();
        for (x, y, width) in [
            (&a.observation, &b.observation, width),
            (&a.final_observation, &b.final_observation, width),
            (&a.reward, &b.reward, 1),
            (&a.measure, &b.measure, dims),
        ] {
            let x = &x[first_a * width..][..count * width];
            let y = &y[first_b * width..][..count * width];
            assert_eq!(bits(x), bits(y), "{what}, step {t}");
        }
        assert_eq!(a.terminated[first_a..][..count], b.terminated[first_b..][..count], "{what}, step {t}");
        assert_eq!(a.truncated[first_a..][..count], b.truncated[first_b..][..count], "{what}, step {t}");
    }
}

#[test]
fn threads_change_nothing() {
    for task in TASKS {
        let results = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&mut Batch::new(environment(task), 0..200, 1), 0..200, 0..60))
        });
        assert_same(task, &results[0], 0, &results[1], 0, 200);
        assert_same(task, &results[0], 0, &results[2], 0, 200);
    }
}

#[test]
fn batch_size_and_position_change_nothing() {
    for task in TASKS {
        let env = environment(task);
        let large = run(&mut Batch::new(Arc::clone(&env), 0..150, 1), 0..150, 0..60);
        for (ids, count) in [(0..1, 1), (0..17, 17), (37..38, 1), (100..150, 50)] {
            let small = run(&mut Batch::new(Arc::clone(&env), ids.clone(), 1), ids.clone(), 0..60);
            assert_same(task, &large, ids.start as usize, &small, 0, count);
        }
    }
}

#[test]
fn instruction_sets_with_fma_change_nothing() {
    for task in TASKS {
        let results: Vec<_> = Isa::available()
            .filter(|isa| isa.has_fma())
            .map(|isa| run(&mut Batch::with_isa(environment(task), 0..40, 1, isa), 0..40, 0..100))
            .collect();
        for pair in results.windows(2) {
            assert_same(task, &pair[0], 0, &pair[1], 0, 40);
        }
    }
}

#[test]
fn chunks_driven_alone_do_what_the_batch_does() {
    for task in TASKS {
        let env = environment(task);
        let together = run(&mut Batch::new(Arc::clone(&env), 0..100, 1), 0..100, 0..50);
        let mut batch = Batch::new(Arc::clone(&env), 0..100, 1);
        // All steps of one chunk before the first step of the next.
        for chunk in batch.chunks_mut() {
            let ids = chunk.first()..chunk.first() + chunk.len() as u32;
            let mut packs = vec![Pack::default(); chunk.groups().len() * env.action_size()];
            chunk.reset();
            for t in 0..50 {
                chunk.pack_actions(&actions(&env, ids.clone(), t), &mut packs);
                chunk.step(&packs);
                for i in 0..chunk.len() {
                    let (group, lane) = (&chunk.groups()[i / 16], i % 16);
                    let (rows, row) = (&together[t as usize], ids.start as usize + i);
                    let observation: Vec<f32> = group.observation.iter().map(|pack| pack.0[lane]).collect();
                    let want = &rows.observation[row * env.observation_size()..][..env.observation_size()];
                    assert_eq!(bits(&observation), bits(want), "{} step {t}", task);
                    assert_eq!(group.reward.0[lane].to_bits(), rows.reward[row].to_bits());
                    assert_eq!(group.terminated >> lane & 1 == 1, rows.terminated[row]);
                }
            }
        }
    }
}

#[test]
fn restoring_in_mid_episode_changes_nothing() {
    for task in TASKS {
        let env = environment(task);
        let whole = run(&mut Batch::new(Arc::clone(&env), 0..70, 3), 0..70, 0..80);
        let mut first = Batch::new(Arc::clone(&env), 0..70, 3);
        run(&mut first, 0..70, 0..33);
        let snapshot = first.save();
        let mut second = Batch::new(Arc::clone(&env), 0..70, 3);
        second.restore(&snapshot).unwrap();
        assert_eq!(second.save(), snapshot);
        let rest = run(&mut second, 0..70, 33..80);
        assert_same(task, &whole[33..], 0, &rest, 0, 70);
    }
}

#[test]
fn restoring_chunks_that_were_driven_alone_changes_nothing() {
    let env = environment("hopper");
    let drive = |batch: &mut Batch, steps: std::ops::Range<u64>| {
        let chunk = &mut batch.chunks_mut()[1];
        let ids = chunk.first()..chunk.first() + chunk.len() as u32;
        let mut packs = vec![Pack::default(); chunk.groups().len() * env.action_size()];
        for t in steps {
            chunk.pack_actions(&actions(&env, ids.clone(), t), &mut packs);
            chunk.step(&packs);
        }
    };
    let mut whole = Batch::new(Arc::clone(&env), 0..100, 3);
    let mut rows = whole.rows();
    whole.reset(&mut rows);
    drive(&mut whole, 0..40);
    let snapshot = whole.save();
    let mut restored = Batch::new(Arc::clone(&env), 0..100, 3);
    restored.restore(&snapshot).unwrap();
    drive(&mut whole, 40..140);
    drive(&mut restored, 40..140);
    assert_eq!(whole.save(), restored.save());
}

#[test]
fn a_nan_action_ends_the_episode_and_no_other() {
    for task in TASKS {
        let env = environment(task);
        let mut batch = Batch::new(Arc::clone(&env), 0..20, 0);
        let mut rows = batch.rows();
        batch.reset(&mut rows);
        let mut poisoned = vec![0.0; 20 * env.action_size()];
        poisoned[3 * env.action_size()] = f32::NAN;
        batch.step(&poisoned, &mut rows);
        let ended: Vec<_> = (0..20).filter(|&i| rows.terminated[i]).collect();
        assert_eq!(ended, [3], "{}", task);
        assert!(rows.observation.iter().all(|v| v.is_finite()), "{}: a new episode has begun", task);
    }
}

#[test]
fn a_robot_without_actuators_moves_all_the_same() {
    let robot = magpie_physics::robot::Robot::from_toml(
        r#"
        name = "ball"
        feet = ["ball"]
        placement = { root_at = [0, 0, 1.5] }
        [world]
        control_dt = 0.01
        substeps = 1
        gravity = [0, 0, -10]
        penetration_correction = 0.1
        [ground]
        friction = 1
        [[body]]
        name = "ball"
        mass = 1
        inertia = 1
        capsules = [{ radius = 0.1, friction = 1 }]
        "#,
        "ball",
    )
    .unwrap();
    let options = Options { robot: Some(robot), ..Options::default() };
    let mut batch = Batch::new(Arc::new(Environment::new("walker2d", options).unwrap()), 0..70, 0);
    let mut rows = batch.rows();
    batch.reset(&mut rows);
    for _ in 0..20 {
        batch.step(&[], &mut rows);
    }
    let width = batch.environment().observation_size();
    assert!(rows.observation.chunks(width).all(|row| (1.2..1.4).contains(&row[0])), "all have fallen 0.2 m");
}

#[test]
#[should_panic(expected = "rows of rewards")]
fn rows_of_another_batch_are_refused() {
    let mut batch = Batch::new(environment("hopper"), 0..20, 0);
    let mut rows = batch.rows();
    batch.reset(&mut rows);
    rows.reward.clear();
    batch.step(&[0.0; 60], &mut rows);
}

#[test]
fn the_last_environments_there_can_be_work() {
    let env = environment("hopper");
    let ids = u32::MAX - 3..u32::MAX;
    let rows = run(&mut Batch::new(env, ids.clone(), 0), ids, 0..50);
    assert!(rows.iter().all(|r| r.observation.iter().all(|v| v.is_finite())));
}

#[test]
fn snapshots_of_another_batch_are_refused() {
    let walker = Batch::new(environment("walker2d"), 0..20, 0).save();
    let error = Batch::new(environment("hopper"), 0..20, 0).restore(&walker).unwrap_err().to_string();
    assert!(error.contains("state") && error.contains("another task"), "{error}");
    assert!(Batch::new(environment("walker2d"), 0..21, 0).restore(&walker).is_err());
    let error = Batch::new(environment("walker2d"), 0..20, 1).restore(&walker).unwrap_err().to_string();
    assert!(error.contains("seed"), "{error}");
    assert!(Batch::new(environment("walker2d"), 1..21, 0).restore(&walker).is_err());
}

#[test]
fn seeds_and_episodes_differ() {
    let env = environment("hopper");
    let observe =
        |seed| run(&mut Batch::new(Arc::clone(&env), 0..3, seed), 0..3, 0..1)[0].observation.clone();
    assert_ne!(observe(1), observe(2));
    // After a finished episode the next one starts with new noise.
    let mut starts = Vec::new();
    for rows in run(&mut Batch::new(Arc::clone(&env), 0..1, 1), 0..1, 0..300) {
        if rows.terminated[0] {
            starts.push(bits(&rows.observation));
        }
    }
    assert!(starts.len() > 2, "hopper falls under random actions");
    assert!(starts.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn episodes_end_with_their_final_observation_kept() {
    let env = environment("walker2d");
    let health = Task::named("walker2d").unwrap().healthy.height.unwrap();
    let mut falls = 0;
    for rows in run(&mut Batch::new(Arc::clone(&env), 0..32, 5), 0..32, 0..300) {
        for i in 0..32 {
            if rows.terminated[i] {
                falls += 1;
                let (height, pitch) = (rows.final_observation[i * 17], rows.final_observation[i * 17 + 1]);
                let fallen =
                    f64::from(height) < health[0] || f64::from(height) > health[1] || pitch.abs() > 1.0;
                assert!(fallen, "the final observation shows the fall: height {height}, pitch {pitch}");
                assert!(
                    (rows.observation[i * 17] - 1.19).abs() < 0.01,
                    "the next one shows a standing robot"
                );
            }
        }
    }
    assert!(falls > 10, "{falls}");
}

#[test]
fn long_episodes_are_truncated_at_a_thousand_steps() {
    // Halfcheetah never terminates.
    let env = environment("halfcheetah");
    let mut batch = Batch::new(Arc::clone(&env), 0..2, 0);
    let mut rows = batch.rows();
    batch.reset(&mut rows);
    for t in 1..=2000 {
        batch.step(&actions(&env, 0..2, t), &mut rows);
        assert_eq!(rows.truncated, [t % 1000 == 0; 2], "step {t}");
        assert_eq!(rows.terminated, [false; 2]);
    }
}

#[test]
fn clipping_is_part_of_humanoid_and_can_be_switched_off() {
    let run_with = |clip| {
        let options = Options { clip, ..Options::default() };
        let env = Arc::new(Environment::new("humanoid", options).unwrap());
        run(&mut Batch::new(env, 0..16, 0), 0..16, 0..30)
    };
    let largest =
        |rows: &[Rows]| rows.iter().flat_map(|r| &r.observation).fold(0.0_f32, |worst, v| worst.max(v.abs()));
    assert_eq!(largest(&run_with(magpie_envs::Clip::Task)), 10.0);
    assert!(largest(&run_with(magpie_envs::Clip::Off)) > 10.0);
}

#[test]
fn measures_have_the_declared_shape_and_range() {
    for task in TASKS {
        for measure in Task::named(task).unwrap().measures {
            let measure = measure.name;
            let options = Options { measure: Some(measure.clone()), ..Options::default() };
            let env = Arc::new(Environment::new(task, options).unwrap());
            let dimensions = env.measure_dimensions();
            assert_eq!(dimensions.len(), env.measure_size());
            for rows in run(&mut Batch::new(Arc::clone(&env), 0..16, 0), 0..16, 0..50) {
                for row in rows.measure.chunks(dimensions.len()) {
                    for (value, dimension) in row.iter().zip(&dimensions) {
                        // Jumps have no upper limit, and a foot can be slightly below the ground while it is pushed
                        // out.
                        let range = match measure.as_str() {
                            "jump" => -0.2..=f64::INFINITY,
                            _ => dimension.range[0] - 1e-6..=dimension.range[1] + 1e-6,
                        };
                        assert!(range.contains(&f64::from(*value)), "{} {}: {value}", task, dimension.name);
                    }
                }
            }
        }
    }
}

/// Stepping without resets and resetting what has finished by hand: an episode's steps are the same, wherever and
/// beside whatever it runs.
#[test]
fn environments_can_be_reset_by_hand() {
    let env = environment("hopper");
    let by_hand = |count: u32| {
        let mut batch = Batch::new(Arc::clone(&env), 0..count, 5);
        let mut rows = batch.rows();
        batch.reset(&mut rows);
        let mut finished = 0;
        let mut all = Vec::new();
        for t in 0..80 {
            batch.step_without_reset(&actions(&env, 0..count, t), (&mut rows).into());
            let done: Vec<bool> = rows.terminated.iter().zip(&rows.truncated).map(|(a, b)| a | b).collect();
            finished += done.iter().filter(|&&done| done).count();
            all.push(rows.clone());
            batch.reset_where(&done, &mut rows.observation);
            let width = env.observation_size();
            for (row, &done) in done.iter().enumerate() {
                let [before, after] =
                    [&all[t as usize], &rows].map(|rows| bits(&rows.observation[row * width..][..width]));
                assert_eq!(before != after, done, "environment {row}, step {t}");
            }
        }
        assert!(finished > 0, "some episodes end");
        all
    };
    assert_same("fewer environments", &by_hand(10), 0, &by_hand(150), 0, 10);
}
