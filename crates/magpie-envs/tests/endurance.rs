//! A million steps of every task with saturated actions: all numbers must stay finite, and no step may allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use magpie_envs::{Batch, Clip, Environment, Options, TASKS};
use magpie_random::Stream;

/// The system's allocator with a counter.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// One test, because the counter sees every thread of the process.
#[test]
fn a_million_saturated_steps_stay_finite_and_allocate_nothing() {
    const ENVIRONMENTS: u32 = 1000;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        for task in TASKS {
            let env =
                Arc::new(Environment::new(task, Options { clip: Clip::Off, ..Options::default() }).unwrap());
            let mut batch = Batch::new(Arc::clone(&env), 0..ENVIRONMENTS, 0);
            let mut rows = batch.rows();
            let mut actions = vec![0.0; batch.len() * env.action_size()];
            let stream = Stream::new(0, "saturated actions");
            batch.reset(&mut rows);
            let mut allocations = 0;
            for step in 0..1000 {
                let mut draws = stream.draws(0, step);
                // Constant for a while in every other environment: constant torque reaches stranger poses than noise.
                for (i, action) in actions.iter_mut().enumerate() {
                    let hold = (i / env.action_size()) % 2 == 1 && !step.is_multiple_of(50);
                    if !hold {
                        *action = if draws.bits() & 1 == 0 { 1.0 } else { -1.0 };
                    }
                }
                let before = ALLOCATIONS.load(Ordering::Relaxed);
                batch.step(&actions, &mut rows);
                // In the first steps the thread pool grows its queues.
                if step >= 100 {
                    allocations += ALLOCATIONS.load(Ordering::Relaxed) - before;
                }
                // Clipping and resets could hide values that are not finite, so neither is used, and bodies are checked
                // too.
                if step % 50 == 0 {
                    assert!(batch.save().state.iter().all(|v| v.is_finite()), "{} at step {step}", task);
                }
                let all = [&rows.observation, &rows.final_observation, &rows.reward, &rows.measure];
                for values in all {
                    assert!(values.iter().all(|v| v.is_finite()), "{} at step {step}", task);
                }
            }
            assert_eq!(allocations, 0, "{}: allocations in 900 steps", task);
        }
    });
}
