//! Trigonometric functions of lanes.
//!
//! Polynomials are fitted for the smallest maximal relative error over their interval. The stated errors are relative
//! to `f64` over dense sweeps (tests fail if they are exceeded): `atan2` 4e-7 absolute and 3e-7 relative, `acos` and
//! `asin` 5e-7 absolute, `sin_cos` 2e-7 absolute for |x| ≤ 1000.

use fearless_simd::{Simd, f32x16};

use crate::number::Number;

use std::f32::consts::{FRAC_2_PI, FRAC_PI_2, PI};

/// atan(a) = a + a³ P(a²) on [0, 1]; relative error of the exact polynomial 1.7e-8.
const ATAN: [f32; 8] =
    [-0.33333153, 0.19993773, -0.14211056, 0.10666004, -0.075522125, 0.043211836, -0.016367914, 0.0029206886];

/// sin(r) = r + r³ P(r²) on [-π/4, π/4].
const SIN: [f32; 3] = [-0.16666654, 0.008332131, -0.00019510872];

/// cos(r) = 1 - r²/2 + r⁴ P(r²) on [-π/4, π/4].
const COS: [f32; 3] = [0.041666646, -0.0013887306, 2.4431241e-5];

/// π/2 in three parts, the first two with enough trailing zeros that multiples of them are exact.
const HALF_PI_PARTS: [f32; 3] = [1.570_312_5, 4.837_513e-4, 7.549_79e-8];

#[inline(always)]
pub(crate) fn polynomial<S: Simd, const N: usize>(x: f32x16<S>, coefficients: [f32; N]) -> f32x16<S> {
    let mut sum = f32x16::splat(x.simd, coefficients[N - 1]);
    for &c in coefficients[..N - 1].iter().rev() {
        sum = sum.mul_add(x, f32x16::splat(x.simd, c));
    }
    sum
}

/// Angle of the point (x, y), from the quotient of the smaller and the larger coordinate, which lies in [0, 1].
#[inline(always)]
pub fn atan2<S: Simd>(y: f32x16<S>, x: f32x16<S>) -> f32x16<S> {
    let (ax, ay) = (x.abs(), y.abs());
    // The floor prevents 0/0: the angle of the origin is 0.
    let a = ax.min(ay) / ax.max(ay).max(f32x16::splat(x.simd, f32::MIN_POSITIVE));
    let s = a * a;
    let angle = (a * s).mul_add(polynomial(s, ATAN), a);
    let angle = Number::select(ay.gt(ax), f32x16::splat(x.simd, FRAC_PI_2) - angle, angle);
    let angle = Number::select(x.lt(f32x16::splat(x.simd, 0.0)), f32x16::splat(x.simd, PI) - angle, angle);
    fearless_simd::SimdFloat::copysign(angle, y)
}

/// Arc cosine. (1 - x)(1 + x) is accurate near the ends, where 1 - x² would cancel.
#[inline(always)]
pub fn acos<S: Simd>(x: f32x16<S>) -> f32x16<S> {
    atan2(other_leg(x), x)
}

/// Arc sine.
#[inline(always)]
pub fn asin<S: Simd>(x: f32x16<S>) -> f32x16<S> {
    atan2(x, other_leg(x))
}

#[inline(always)]
fn other_leg<S: Simd>(x: f32x16<S>) -> f32x16<S> {
    let one = x.constant(1.0);
    ((one - x) * (one + x)).max(x.zero()).sqrt()
}

/// Sine and cosine, after subtracting the nearest multiple of π/2 (Cody–Waite reduction).
#[inline(always)]
pub fn sin_cos<S: Simd>(x: f32x16<S>) -> (f32x16<S>, f32x16<S>) {
    let quarter = (x * f32x16::splat(x.simd, FRAC_2_PI)).round();
    let mut r = x;
    for part in HALF_PI_PARTS {
        r = quarter.mul_add(f32x16::splat(x.simd, -part), r);
    }
    let s = r * r;
    let sin = (r * s).mul_add(polynomial(s, SIN), r);
    let cos = (s * s)
        .mul_add(polynomial(s, COS), s.mul_add(f32x16::splat(x.simd, -0.5), f32x16::splat(x.simd, 1.0)));

    // The quarter turn modulo 4, as a float in {-2, -1, 0, 1, 2}, decides which of ±sin and ±cos is which.
    let turn = (quarter * f32x16::splat(x.simd, 0.25)).round().mul_add(f32x16::splat(x.simd, -4.0), quarter);
    let half = turn.abs().gt(f32x16::splat(x.simd, 1.5));
    let odd = turn.abs().gt(f32x16::splat(x.simd, 0.5)) & !half;
    let (a, b) = (Number::select(odd, cos, sin), Number::select(odd, sin, cos));
    let minus_sin = half | turn.lt(f32x16::splat(x.simd, -0.5));
    let minus_cos = half | turn.gt(f32x16::splat(x.simd, 0.5));
    (Number::select(minus_sin, -a, a), Number::select(minus_cos, -b, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Isa, LANES, Lanes, Pack, SimdTask};

    /// Applies a lane function to a slice of pairs.
    fn apply(isa: Isa, f: Function, pairs: &[(f32, f32)]) -> Vec<f32> {
        struct Apply<'a>(Function, &'a [(f32, f32)]);
        impl SimdTask for Apply<'_> {
            type Output = Vec<f32>;
            #[inline(always)]
            fn run<S: Simd>(self, token: S) -> Vec<f32> {
                let mut out = Vec::new();
                for chunk in self.1.chunks(LANES) {
                    let mut packs = [Pack::default(); 2];
                    for (i, &(a, b)) in chunk.iter().enumerate() {
                        (packs[0].0[i], packs[1].0[i]) = (a, b);
                    }
                    let [a, b] = packs.map(|p| Lanes::load(token, &p));
                    let value = match self.0 {
                        Function::Atan2 => atan2(a, b),
                        Function::Acos => acos(a),
                        Function::Asin => asin(a),
                        Function::Sin => sin_cos(a).0,
                        Function::Cos => sin_cos(a).1,
                    };
                    value.store(&mut packs[0]);
                    out.extend_from_slice(&packs[0].0[..chunk.len()]);
                }
                out
            }
        }
        isa.run(Apply(f, pairs))
    }

    #[derive(Clone, Copy)]
    enum Function {
        Atan2,
        Acos,
        Asin,
        Sin,
        Cos,
    }

    /// Largest absolute and relative error against f64.
    fn errors(f: Function, exact: impl Fn(f64, f64) -> f64, pairs: &[(f32, f32)]) -> (f64, f64) {
        let mut worst = (0.0_f64, 0.0_f64);
        for isa in Isa::available() {
            for (&(a, b), got) in pairs.iter().zip(apply(isa, f, pairs)) {
                let want = exact(a.into(), b.into());
                let error = (f64::from(got) - want).abs();
                assert!(error.is_finite(), "{isa}: f({a}, {b}) = {got}, expected {want}");
                worst = (worst.0.max(error), worst.1.max(error / want.abs().max(1e-30)));
            }
        }
        worst
    }

    fn sweep(low: f32, high: f32, n: usize) -> impl Iterator<Item = f32> {
        (0..=n).map(move |i| low + (high - low) * i as f32 / n as f32)
    }

    #[test]
    fn atan2_within_stated_error() {
        let circle: Vec<_> = sweep(-3.2, 3.2, 100_000)
            .flat_map(|t| [1e-6, 1.0, 1e6].map(|r| (r * t.sin(), r * t.cos())))
            .collect();
        let (absolute, relative) = errors(Function::Atan2, f64::atan2, &circle);
        assert!(absolute < 4e-7 && relative < 3e-7, "{absolute:e} {relative:e}");
    }

    #[test]
    fn atan2_of_axes_and_origin() {
        let points = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0)];
        assert_eq!(apply(Isa::best(), Function::Atan2, &points), [0.0, 0.0, FRAC_PI_2, PI, -FRAC_PI_2]);
    }

    #[test]
    fn acos_and_asin_within_stated_error() {
        let ends = (0..2000).flat_map(|i| [1.0 - i as f32 * 6e-8, -1.0 + i as f32 * 6e-8]);
        let values: Vec<_> = sweep(-1.0, 1.0, 100_000).chain(ends).map(|x| (x, 0.0)).collect();
        let (acos_error, _) = errors(Function::Acos, |x, _| x.acos(), &values);
        let (asin_error, _) = errors(Function::Asin, |x, _| x.asin(), &values);
        assert!(acos_error < 5e-7 && asin_error < 5e-7, "{acos_error:e} {asin_error:e}");
    }

    #[test]
    fn sin_cos_within_stated_error() {
        let values: Vec<_> =
            sweep(-10.0, 10.0, 100_000).chain(sweep(-1000.0, 1000.0, 100_000)).map(|x| (x, 0.0)).collect();
        let (sin_error, _) = errors(Function::Sin, |x, _| x.sin(), &values);
        let (cos_error, _) = errors(Function::Cos, |x, _| x.cos(), &values);
        assert!(sin_error < 2e-7 && cos_error < 2e-7, "{sin_error:e} {cos_error:e}");
    }

    #[test]
    fn fused_instruction_sets_agree_bit_for_bit() {
        let pairs: Vec<_> = sweep(-1.0, 1.0, 9_999).zip(sweep(0.9, -0.7, 9_999)).collect();
        for f in [Function::Atan2, Function::Acos, Function::Asin, Function::Sin, Function::Cos] {
            let results: Vec<_> =
                Isa::available().filter(|isa| isa.has_fma()).map(|isa| apply(isa, f, &pairs)).collect();
            assert!(results.windows(2).all(|w| w[0] == w[1]));
        }
    }
}
