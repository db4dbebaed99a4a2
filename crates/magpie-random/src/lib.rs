//! Counter-based random numbers, the only source of randomness in magpie.
//!
//! There is no generator to pass around, split or save. A [`Stream`] consists of a seed and a purpose. Its draws for an
//! *index* (an environment, a row, a branch) and a *time* (a step, an iteration) are computed from these four values
//! alone. So they do not depend on the number of threads, on the order of draws, or on whether the run was stopped and
//! resumed.
//!
//! ```
//! use magpie_random::Stream;
//!
//! let noise = Stream::new(42, "reset noise");
//! let mut draws = noise.draws(7, 1000); // environment 7, step 1000
//! let angle = draws.uniform(-0.1, 0.1);
//! assert_eq!(angle, noise.draws(7, 1000).uniform(-0.1, 0.1));
//! assert_ne!(angle, noise.draws(8, 1000).uniform(-0.1, 0.1));
//! ```
//!
//! The generator is Philox4x32 with ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011),
//! which cuRAND and PyTorch use on GPUs. It takes twenty lines; existing crates wrap it in a sequential generator with
//! a position, which is not needed here.

mod philox;

pub use philox::philox4x32;

/// Random numbers for one purpose under one seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    key: [u32; 2],
}

/// The draws of one (who, when), in order.
#[derive(Debug, Clone)]
pub struct Draws {
    key: [u32; 2],
    /// (block, when, who, high half of when): the counter of the next block of four.
    counter: [u32; 4],
    block: [u32; 4],
    used: usize,
}

impl Stream {
    /// The stream for `purpose` under `seed`. Different purposes give unrelated streams.
    pub fn new(seed: u64, purpose: &str) -> Stream {
        // FNV-1a hashes the purpose to a number; one Philox block then mixes it with the seed.
        let purpose = purpose
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        let mixed =
            philox4x32([purpose as u32, (purpose >> 32) as u32, 0, 0], [seed as u32, (seed >> 32) as u32]);
        Stream { key: [mixed[0], mixed[1]] }
    }

    /// The draws of index `who` at time `when`. A sequence has 2³⁴ numbers.
    pub fn draws(self, who: u32, when: u64) -> Draws {
        Draws { key: self.key, counter: [0, when as u32, who, (when >> 32) as u32], block: [0; 4], used: 4 }
    }
}

impl Draws {
    /// 32 random bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        if self.used == 4 {
            self.block = philox4x32(self.counter, self.key);
            self.counter[0] += 1;
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    /// Uniform in [0, 1), with 24 bits.
    #[inline]
    pub fn unit(&mut self) -> f32 {
        (self.bits() >> 8) as f32 * (1.0 / 16_777_216.0)
    }

    /// Uniform in [low, high); `low` if there is no number between them.
    #[inline]
    pub fn uniform(&mut self, low: f32, high: f32) -> f32 {
        (self.unit() * (high - low) + low).min(high.next_down()).max(low)
    }

    /// A pair of independent standard normals (Box–Muller transform).
    #[inline]
    pub fn normal_pair(&mut self) -> [f32; 2] {
        // (bits + 1/2) / 2³² never gives 0, whose logarithm would be infinite.
        let radius = (-2.0 * ((f64::from(self.bits()) + 0.5) / 4_294_967_296.0).ln()).sqrt();
        let (sin, cos) = (f64::from(self.bits()) * (std::f64::consts::TAU / 4_294_967_296.0)).sin_cos();
        [(radius * cos) as f32, (radius * sin) as f32]
    }

    /// A standard normal. It costs as much as a pair.
    #[inline]
    pub fn normal(&mut self) -> f32 {
        self.normal_pair()[0]
    }

    /// A seed for other streams.
    pub fn seed(&mut self) -> u64 {
        u64::from(self.bits()) << 32 | u64::from(self.bits())
    }

    /// Uniform in 0..n without bias; 0 if n is 0.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        // Lemire's multiply-and-reject.
        let threshold = if n == 0 { return 0 } else { n.wrapping_neg() % n };
        loop {
            let wide = u64::from(self.bits()) * u64::from(n);
            if wide as u32 >= threshold {
                return (wide >> 32) as u32;
            }
        }
    }

    /// A random permutation (Fisher–Yates shuffle).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_key_matters() {
        let first = |seed, purpose, who, when| Stream::new(seed, purpose).draws(who, when).bits();
        let base = first(1, "a", 2, 3);
        assert_eq!(base, first(1, "a", 2, 3));
        for other in [first(2, "a", 2, 3), first(1, "b", 2, 3), first(1, "a", 3, 3), first(1, "a", 2, 4)] {
            assert_ne!(base, other);
        }
        assert_ne!(base, first(1 << 40, "a", 2, 3));
        assert_ne!(base, first(1, "a", 2, 3 + (1 << 40)));
    }

    #[test]
    fn uniform_has_the_right_moments_and_stays_inside() {
        let mut draws = Stream::new(0, "test").draws(0, 0);
        let n = 200_000;
        let values: Vec<f64> = (0..n).map(|_| f64::from(draws.uniform(-1.0, 3.0))).collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
        assert!(values.iter().all(|v| (-1.0..3.0).contains(v)));
        assert!((mean - 1.0).abs() < 0.01 && (variance - 16.0 / 12.0).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn normal_has_the_right_moments() {
        let mut draws = Stream::new(0, "test").draws(0, 0);
        let n = 100_000;
        let values: Vec<f64> = (0..n).flat_map(|_| draws.normal_pair()).map(f64::from).collect();
        let moment = |k| values.iter().map(|v: &f64| v.powi(k)).sum::<f64>() / values.len() as f64;
        let moments = [moment(1), moment(2), moment(3), moment(4)];
        for (got, want) in moments.iter().zip([0.0, 1.0, 0.0, 3.0]) {
            assert!((got - want).abs() < 0.05, "{moments:?}");
        }
    }

    #[test]
    fn below_is_even_and_shuffle_is_a_permutation() {
        let mut draws = Stream::new(5, "test").draws(1, 2);
        let mut counts = [0; 7];
        (0..70_000).for_each(|_| counts[draws.below(7) as usize] += 1);
        assert!(counts.iter().all(|c| (9_500..10_500).contains(c)), "{counts:?}");
        let mut items: Vec<u32> = (0..100).collect();
        draws.shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
