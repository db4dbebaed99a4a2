//! The peak rate of fused multiply-adds, to which other rates can be compared.

use std::hint::black_box;
use std::time::Instant;

use crate::{Isa, LANES, Lanes, Number, Pack, Simd, SimdTask};

/// The number of tries, of which the best counts: a peak must not depend on what else runs at the time.
const TRIES: usize = 4;
/// Links per chain, which take a few milliseconds.
const LINKS: usize = 2_000_000;

/// The peak rate of fused multiply-adds on `threads` threads, in 10⁹ floating-point operations per second. `on_all`
/// must run the given work once on each thread.
///
/// It is the maximum over two numbers of independent chains. Twelve hide the latency of two AVX-512 units. On AVX2, a
/// chain of sixteen lanes needs two of the sixteen registers, so that only six chains fit beside the constants.
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
        // Unknown and different in every lane; otherwise the compiler computes one lane for all.
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
