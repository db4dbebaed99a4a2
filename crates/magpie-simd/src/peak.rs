//! The limit that a rate can be held against: what a processor reaches with fused multiply-adds alone.

use std::hint::black_box;
use std::time::Instant;

use crate::{Isa, LANES, Lanes, Number, Pack, Simd, SimdTask};

/// Tries, of which the best counts: a peak is what the machine can do, not what it did while something else ran.
const TRIES: usize = 4;
/// Links of a chain: a few milliseconds.
const LINKS: usize = 2_000_000;

/// The fastest fused multiply-adds of `threads` threads, in 10⁹ floating-point operations a second. `on_all` has to run
/// the work it is handed once on each of them.
///
/// It is the better of two numbers of independent chains. Twelve hide the latency of two units of AVX-512. A chain of
/// sixteen lanes needs two registers of AVX2, which has sixteen in all: there six are as many as fit beside the constants.
pub fn peak_gflops(isa: Isa, threads: usize, on_all: impl Fn(&(dyn Fn() + Sync))) -> f64 {
    let rate = |chains: usize, work: &(dyn Fn() + Sync)| {
        let start = Instant::now();
        on_all(work);
        (threads * LINKS * chains * LANES * 2) as f64 / start.elapsed().as_secs_f64() / 1e9
    };
    let few = || {
        black_box(isa.run(Chains::<6>));
    };
    let many = || {
        black_box(isa.run(Chains::<12>));
    };
    (0..TRIES).map(|_| rate(6, &few).max(rate(12, &many))).fold(0.0, f64::max)
}

struct Chains<const COUNT: usize>;

impl<const COUNT: usize> SimdTask for Chains<COUNT> {
    type Output = Pack;
    #[inline(always)]
    fn run<S: Simd>(self, token: S) -> Pack {
        // Unknown and different in every lane, or the compiler computes one lane for all.
        let unknown = |start: f32| {
            let lanes = Pack(std::array::from_fn(|lane| start + lane as f32 * 1e-3));
            Lanes::load(token, &black_box(lanes))
        };
        let factor = unknown(0.9);
        let mut chains: [Lanes<S>; COUNT] = std::array::from_fn(|i| unknown(i as f32));
        for _ in 0..LINKS {
            for chain in &mut chains {
                *chain = chain.mul_add(factor, factor);
            }
        }
        let mut sum = Pack::default();
        chains.into_iter().fold(factor, |a, b| a + b).store(&mut sum);
        sum
    }
}
