//! The same bytes for any number of threads, and on every instruction set with FMA.

use magpie_nn::ppo::{ActorCritic, Batch, Ppo, PpoConfig, PpoStats};
use magpie_nn::{Kernel, Shape, init};
use magpie_random::Stream;
use magpie_simd::Isa;

/// Three steps on 3003 rows: four parts, and a last panel that is not full.
fn train(kernel: impl Into<Kernel>, threads: usize) -> (Vec<u32>, PpoStats) {
    let (observation, action, rows) = (11, 3, 3003);
    let actor = Shape::tanh(&[observation, 20, 24, action]).unwrap();
    let critic = Shape::tanh(&[observation, 40, 40, 1]).unwrap();
    let mut draws = Stream::new(1, "determinism").draws(0, 0);
    let mut policy = init::orthogonal(&actor, 2_f32.sqrt(), 0.01, &mut draws);
    policy.resize(actor.parameters() + action, -0.1);
    let mut weights = ActorCritic::new(policy, init::orthogonal(&critic, 2_f32.sqrt(), 1.0, &mut draws));
    let mut normals = |n: usize| (0..n).map(|_| draws.normal()).collect::<Vec<f32>>();
    let (observations, actions) = (normals(rows * observation), normals(rows * action));
    let [log_probs, advantages, returns, values] = [-4.0, 0.0, 0.0, 0.0]
        .map(|middle: f32| normals(rows).iter().map(|n| middle + 0.3 * n).collect::<Vec<f32>>());
    let order: Vec<u32> = (0..rows as u32).rev().collect();
    let batch = Batch {
        rows: &order,
        observations: &observations,
        actions: &actions,
        log_probs: &log_probs,
        advantages: &advantages,
        returns: &returns,
        values: &values,
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut ppo = Ppo::new(&actor, &critic, kernel);
    let config = PpoConfig { entropy_weight: 0.01, ..PpoConfig::default() };
    let stats = pool.install(|| {
        for _ in 0..2 {
            ppo.step(&config, &mut weights, &batch);
        }
        ppo.step(&config, &mut weights, &batch)
    });
    let bits = weights.policy.iter().chain(&weights.critic).map(|p| p.to_bits()).collect();
    (bits, stats)
}

#[test]
fn threads_do_not_change_a_bit() {
    for kernel in Kernel::available() {
        let one = train(kernel, 1);
        assert!(one.1.loss.is_finite() && one.1.clip_fraction > 0.0);
        for threads in [2, 3, 5] {
            assert_eq!(one, train(kernel, threads), "{kernel}, {threads} threads");
        }
    }
}

#[test]
fn instruction_sets_that_fuse_agree_bit_for_bit() {
    let results: Vec<_> = Isa::available().filter(|isa| isa.has_fma()).map(|isa| train(isa, 1)).collect();
    assert!(results.windows(2).all(|w| w[0] == w[1]));
}

#[test]
fn a_minibatch_with_a_nan_leaves_the_learner_alone() {
    // Wide enough for tiles.
    let shape = Shape::tanh(&[2, 16, 20, 1]).unwrap();
    let mut draws = Stream::new(1, "determinism").draws(0, 0);
    let mut policy = init::xavier(&shape, &mut draws);
    policy.push(0.0);
    let mut weights = ActorCritic::new(policy, init::xavier(&shape, &mut draws));
    let before = weights.clone();
    let batch = Batch {
        rows: &[0, 1],
        observations: &[0.1, 0.2, 0.3, f32::NAN],
        actions: &[0.5, -0.5],
        log_probs: &[-1.0, -1.0],
        advantages: &[1.0, -1.0],
        returns: &[0.0, 1.0],
        values: &[0.0, 0.0],
    };
    for kernel in Kernel::available() {
        let stats = Ppo::new(&shape, &shape, kernel).step(&PpoConfig::default(), &mut weights, &batch);
        assert!(!stats.loss.is_finite(), "{kernel}: {stats:?}");
        assert_eq!(weights, before);
    }
}
