//! Batches, rows and snapshots of a simulator that is not magpie's.

mod point_mass;

use std::sync::Arc;

use magpie_envs::{Batch, Description, Environment, Rows, Simulation, Simulator};
use magpie_simd::Isa;
use point_mass::EPISODE;

/// The position of point i after this many steps along x, with speed i / 20 - 1.
fn run(batch: &mut Batch, rows: &mut Rows, steps: u32) {
    let actions: Vec<f32> = (0..batch.len()).flat_map(|i| [i as f32 / 20.0 - 1.0, 0.5]).collect();
    for _ in 0..steps {
        batch.step(&actions, rows);
    }
}

#[test]
fn points_move_are_paid_and_start_anew() {
    let mut batch = Batch::new(point_mass::environment(), 0..100, 1);
    let mut rows = batch.rows();
    batch.reset(&mut rows);
    let starts = rows.observation.clone();
    assert!(starts.iter().all(|place| place.abs() < 0.1), "{starts:?}");
    run(&mut batch, &mut rows, 1);
    for i in 0..100 {
        // Actions are clipped before a simulator receives them: from point 40 on they are 1.
        let speed = (i as f32 / 20.0 - 1.0).min(1.0);
        assert_eq!(rows.reward[i], 0.1 * speed, "{i}");
        assert_eq!(rows.observation[2 * i], starts[2 * i] + 0.1 * speed, "{i}");
        assert_eq!(rows.measure[2 * i..][..2], rows.observation[2 * i..][..2]);
    }
    // At full speed the edge is 20 steps away, at half speed 40, which is the length of an episode.
    run(&mut batch, &mut rows, 19);
    assert!(rows.terminated[60] || rows.observation[2 * 60] > 1.8);
    run(&mut batch, &mut rows, EPISODE - 20);
    assert!(rows.truncated[20] && !rows.terminated[20], "it stood still");
    assert!(rows.final_observation[2 * 20 + 1] > 1.8 && rows.observation[2 * 20 + 1].abs() < 0.1);
}

#[test]
fn saved_points_go_on_as_if_nothing_had_happened() {
    let env = point_mass::environment();
    let mut whole = Batch::new(Arc::clone(&env), 0..70, 1);
    let mut rows = whole.rows();
    whole.reset(&mut rows);
    run(&mut whole, &mut rows, 33);
    let snapshot = whole.save();
    assert_eq!(snapshot.state.len(), 2 * 70);
    let mut restored = Batch::new(env, 0..70, 1);
    restored.restore(&snapshot).unwrap();
    let mut again = rows.clone();
    run(&mut whole, &mut rows, 50);
    run(&mut restored, &mut again, 50);
    assert_eq!(rows, again);
    assert_eq!(whole.save(), restored.save());
}

#[test]
fn environments_of_nothing_are_refused() {
    struct Nothing;
    impl Simulator for Nothing {
        fn simulate(&self, _: usize, _: Isa) -> Box<dyn Simulation> {
            unreachable!("there are no such environments")
        }
        fn state_size(&self) -> usize {
            0
        }
    }
    let description = Description {
        task: "nothing".to_owned(),
        robot: "nobody".to_owned(),
        observation: Vec::new(),
        action: Vec::new(),
        measure: "none".to_owned(),
        dimensions: Vec::new(),
        episode_steps: 0,
        step_seconds: 1.0,
        hints: Default::default(),
    };
    let error = Environment::from_simulator(description, Nothing).unwrap_err().to_string();
    assert_eq!(error, "an environment needs at least one observation entry");
}
