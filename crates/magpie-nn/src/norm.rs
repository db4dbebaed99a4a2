//! The norm of a gradient, and gradient clipping.

use magpie_simd::{Isa, LANES, Lanes, Number, Pack, Simd, SimdTask};

/// Euclidean norm of the slices, taken as one vector. Short runs are summed in lanes of `f32`, the runs in `f64`.
pub fn global_norm(isa: Isa, slices: &[&[f32]]) -> f32 {
    slices.iter().map(|slice| isa.run(SumOfSquares(slice))).sum::<f64>().sqrt() as f32
}

/// Scales the slices, taken as one vector, by min(1, `limit` / (norm + 1e-6)), as `torch.nn.utils.clip_grad_norm_`
/// does. Returns the norm before scaling.
pub fn clip_norm(isa: Isa, slices: &mut [&mut [f32]], limit: f32) -> f32 {
    let norm = slices.iter().map(|slice| isa.run(SumOfSquares(slice))).sum::<f64>().sqrt() as f32;
    let factor = limit / (norm + 1e-6);
    if factor < 1.0 {
        slices.iter_mut().flat_map(|slice| slice.iter_mut()).for_each(|value| *value *= factor);
    }
    norm
}

struct SumOfSquares<'a>(&'a [f32]);

impl SimdTask for SumOfSquares<'_> {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, token: S) -> f64 {
        const RUN: usize = 64 * LANES;
        let mut total = 0.0;
        for run in self.0.chunks(RUN) {
            let mut sum = Lanes::splat(token, 0.0);
            let (whole, rest) = run.as_chunks::<LANES>();
            for values in whole {
                let value = Lanes::load(token, &Pack(*values));
                sum = value.mul_add(value, sum);
            }
            let mut pack = Pack::default();
            sum.store(&mut pack);
            total += pack.0.iter().map(|&v| f64::from(v)).sum::<f64>();
            total += rest.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>();
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_one_vector() {
        for isa in Isa::available() {
            let (mut a, mut b) = (vec![3.0; 1000], vec![4.0; 5]);
            let want = (9.0 * 1000.0 + 16.0 * 5.0_f64).sqrt() as f32;
            assert_eq!(global_norm(isa, &[&a, &b]), want);
            assert_eq!(clip_norm(isa, &mut [&mut a, &mut b], 1e9), want);
            assert_eq!((a[0], b[4]), (3.0, 4.0));
            clip_norm(isa, &mut [&mut a, &mut b], 2.0);
            assert!((global_norm(isa, &[&a, &b]) - 2.0).abs() < 1e-5);
        }
    }

    #[test]
    fn a_nan_shows() {
        let mut row = vec![1.0, f32::NAN];
        assert!(clip_norm(Isa::best(), &mut [&mut row], 1.0).is_nan());
    }
}
