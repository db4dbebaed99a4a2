//! Exponential functions of lanes.
//!
//! Polynomials and the rational function are fitted for the smallest maximal relative error over their interval. The
//! stated errors are relative to `f64` over dense sweeps (tests fail if they are exceeded): `exp` 2e-7 relative, `ln`
//! 2e-7 relative, `tanh` 5e-7 relative, `sigmoid` 3e-7 relative, `softplus` 4e-7 relative. None of them uses reciprocal
//! estimates, so that all instruction sets with FMA give the same bits, and all of them propagate NaN.

use fearless_simd::{Bytes, Simd, f32x16, i32x16};

use crate::elementary::polynomial;
use crate::number::Number;

/// A number with exponential functions, which networks and distributions need in addition to what physics uses.
pub trait Transcendental: Number {
    /// eˣ. Lanes saturate outside [-87.3, 88.3], at about 1e-38 and 2e38.
    fn exp(self) -> Self;
    /// Natural logarithm of a positive normal number; NaN for anything that is not positive.
    fn ln(self) -> Self;
    /// Hyperbolic tangent, never outside [-1, 1].
    fn tanh(self) -> Self;

    /// 1 / (1 + e⁻ˣ).
    #[inline(always)]
    fn sigmoid(self) -> Self {
        let one = self.constant(1.0);
        one / (one + (-self).exp())
    }

    /// ln(1 + eˣ) = max(x, 0) + ln(1 + e^-|x|).
    #[inline(always)]
    fn softplus(self) -> Self {
        let (one, e) = (self.constant(1.0), (-self.abs()).exp());
        let sum = one + e;
        // Adds back what the sum lost of e, to first order, so that small results are accurate.
        let tail = sum.ln() + (e - (sum - one)) / sum;
        Self::select(self.gt(self.zero()), self + tail, tail)
    }
}

impl Transcendental for f64 {
    #[inline(always)]
    fn exp(self) -> f64 {
        f64::exp(self)
    }
    #[inline(always)]
    fn ln(self) -> f64 {
        f64::ln(self)
    }
    #[inline(always)]
    fn tanh(self) -> f64 {
        f64::tanh(self)
    }
}

/// eʳ = 1 + r + r² P(r) for |r| ≤ ln(2)/2; relative error of the exact polynomial 3e-9.
const EXP: [f32; 5] = [0.49999994, 0.16666521, 0.04166839, 0.008368711, 0.001381461];

/// ln(1 + f) = f - f²/2 + f³ P(f) for 1 + f in [√½, √2]; relative error of the exact polynomial 6e-9.
const LN: [f32; 8] =
    [0.3333333, -0.2500082, 0.20001227, -0.16623357, 0.14201757, -0.13160183, 0.12761578, -0.076344974];

/// ln(2) in two parts, the first with enough trailing zeros that multiples of it are exact.
const LN_2_PARTS: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// tanh(x) = x P(x²) / Q(x²) for |x| ≤ 8; relative error of the exact function 1.5e-7. Beyond 8, the value at 8 is
/// used, one rounding below 1.
const TANH_P: [f32; 4] = [0.9999999, 0.1292566, 0.002951022, 1.1428406e-5];
const TANH_Q: [f32; 5] = [1.0, 0.46258876, 0.023815546, 0.00023866893, 2.4592055e-7];

/// Clamps x to [`low`, `high`]. The variable is the second operand: x86 returns the second operand if one is NaN.
#[inline(always)]
fn limit<S: Simd>(x: f32x16<S>, low: f32, high: f32) -> f32x16<S> {
    let constant = |c| f32x16::splat(x.simd, c);
    constant(high).min(constant(low).max(x))
}

/// 2ⁿ for a whole n in [-126, 127].
#[inline(always)]
fn power_of_two<S: Simd>(n: f32x16<S>) -> f32x16<S> {
    let exponent: i32x16<S> = fearless_simd::SimdFloat::to_int(n);
    ((exponent + 127) << 23).bitcast()
}

/// x = 2ⁿ m with m in [√½, √2).
#[inline(always)]
fn exponent_and_mantissa<S: Simd>(x: f32x16<S>) -> (f32x16<S>, f32x16<S>) {
    const SQRT_HALF: i32 = std::f32::consts::FRAC_1_SQRT_2.to_bits() as i32;
    let bits: i32x16<S> = x.bitcast();
    let exponent = (bits - SQRT_HALF) >> 23;
    (fearless_simd::SimdInt::to_float(exponent), (bits - (exponent << 23)).bitcast())
}

impl<S: Simd> Transcendental for f32x16<S> {
    #[inline(always)]
    fn exp(self) -> Self {
        let constant = |c| f32x16::splat(self.simd, c);
        // The limits keep 2ⁿ a normal number.
        let x = limit(self, -87.3, 88.3);
        let n = (x * constant(std::f32::consts::LOG2_E)).round();
        let r = n.mul_add(constant(-LN_2_PARTS[1]), n.mul_add(constant(-LN_2_PARTS[0]), x));
        let value = (r * r).mul_add(polynomial(r, EXP), r) + constant(1.0);
        value * power_of_two(n)
    }

    #[inline(always)]
    fn ln(self) -> Self {
        let constant = |c| f32x16::splat(self.simd, c);
        let (n, mantissa) = exponent_and_mantissa(self);
        let f = mantissa - constant(1.0);
        let s = f * f;
        let small = n.mul_add(constant(LN_2_PARTS[1]), (f * s) * polynomial(f, LN));
        let value = n.mul_add(constant(LN_2_PARTS[0]), s.mul_add(constant(-0.5), small) + f);
        Number::select(self.gt(self.zero()), value, constant(f32::NAN))
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        let x = limit(self, -8.0, 8.0);
        let s = x * x;
        x * polynomial(s, TANH_P) / polynomial(s, TANH_Q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Isa, LANES, Lanes, Pack, SimdTask};

    #[derive(Clone, Copy, Debug)]
    enum Function {
        Exp,
        Ln,
        Tanh,
        Sigmoid,
        Softplus,
    }

    const ALL: [Function; 5] =
        [Function::Exp, Function::Ln, Function::Tanh, Function::Sigmoid, Function::Softplus];

    #[inline(always)]
    fn call<N: Transcendental>(f: Function, x: N) -> N {
        match f {
            Function::Exp => x.exp(),
            Function::Ln => x.ln(),
            Function::Tanh => x.tanh(),
            Function::Sigmoid => x.sigmoid(),
            Function::Softplus => x.softplus(),
        }
    }

    fn apply(isa: Isa, f: Function, values: &[f32]) -> Vec<f32> {
        struct Apply<'a>(Function, &'a [f32]);
        impl SimdTask for Apply<'_> {
            type Output = Vec<f32>;
            #[inline(always)]
            fn run<S: Simd>(self, token: S) -> Vec<f32> {
                let mut out = Vec::new();
                for chunk in self.1.chunks(LANES) {
                    let mut pack = Pack::default();
                    pack.0[..chunk.len()].copy_from_slice(chunk);
                    call(self.0, Lanes::load(token, &pack)).store(&mut pack);
                    out.extend_from_slice(&pack.0[..chunk.len()]);
                }
                out
            }
        }
        isa.run(Apply(f, values))
    }

    fn sweep(low: f32, high: f32, n: usize) -> impl Iterator<Item = f32> {
        (0..=n).map(move |i| low + (high - low) * i as f32 / n as f32)
    }

    /// Positive numbers, uniform over the exponents.
    fn magnitudes() -> impl Iterator<Item = f32> {
        sweep(-37.0, 38.0, 100_000).map(|e| 10_f32.powf(e))
    }

    fn assert_relative(f: Function, values: &[f32], limit: f64) {
        for isa in Isa::available() {
            let mut worst = (0.0, 0.0);
            for (&x, got) in values.iter().zip(apply(isa, f, values)) {
                let want = call(f, f64::from(x));
                let error = (f64::from(got) - want).abs() / want.abs().max(1e-37);
                assert!(error.is_finite(), "{isa}: {f:?}({x}) = {got}, expected {want}");
                if error > worst.0 {
                    worst = (error, x);
                }
            }
            assert!(worst.0 < limit, "{isa}: {f:?} is off by {:e} at {}", worst.0, worst.1);
        }
    }

    #[test]
    fn exp_within_stated_error() {
        assert_relative(Function::Exp, &sweep(-87.0, 88.0, 300_000).collect::<Vec<_>>(), 2e-7);
        assert_relative(Function::Exp, &sweep(-1.0, 1.0, 300_000).collect::<Vec<_>>(), 2e-7);
    }

    #[test]
    fn ln_within_stated_error() {
        assert_relative(Function::Ln, &magnitudes().collect::<Vec<_>>(), 2e-7);
        assert_relative(Function::Ln, &sweep(0.5, 2.0, 300_000).collect::<Vec<_>>(), 2e-7);
    }

    #[test]
    fn tanh_within_stated_error_and_inside_one() {
        let values: Vec<f32> =
            sweep(-12.0, 12.0, 600_000).chain(magnitudes()).chain(magnitudes().map(|x| -x)).collect();
        assert_relative(Function::Tanh, &values, 5e-7);
        for isa in Isa::available() {
            assert!(apply(isa, Function::Tanh, &values).iter().all(|t| t.abs() <= 1.0));
        }
    }

    #[test]
    fn sigmoid_and_softplus_within_stated_error() {
        let values: Vec<f32> = sweep(-80.0, 80.0, 600_000).collect();
        assert_relative(Function::Sigmoid, &values, 3e-7);
        assert_relative(Function::Softplus, &values, 4e-7);
    }

    #[test]
    fn a_nan_is_handed_on() {
        for isa in Isa::available() {
            for f in ALL {
                assert!(apply(isa, f, &[f32::NAN])[0].is_nan(), "{isa}: {f:?}");
            }
            assert!(apply(isa, Function::Ln, &[0.0, -1.0]).iter().all(|l| l.is_nan()));
        }
    }

    #[test]
    fn fused_instruction_sets_agree_bit_for_bit() {
        let values: Vec<f32> = sweep(-20.0, 20.0, 99_999).collect();
        for f in ALL {
            let bits: Vec<Vec<u32>> = Isa::available()
                .filter(|isa| isa.has_fma())
                .map(|isa| apply(isa, f, &values).into_iter().map(f32::to_bits).collect())
                .collect();
            assert!(bits.windows(2).all(|w| w[0] == w[1]), "{f:?}");
        }
    }
}
