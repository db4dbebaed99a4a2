//! Activations and their first two derivatives.
//!
//! ```text
//! tanh   h = tanh z            h' = 1 - h²                 h'' = -2 h h'
//! Mish   h = z t               h' = t + z t'               h'' = 2 t' + z t''
//!        t = tanh(ln(1 + eᶻ)) = n / (n + 2),  n = e²ᶻ + 2eᶻ
//!        t' = s (1 - t²),  t'' = t' (1 - s - 2 s t),  s = σ(z)
//! ```
//!
//! The derivatives of tanh need only h, those of Mish need z; each layer keeps whichever its activation needs.

use magpie_simd::Transcendental;

use crate::shape::Activation;

/// The first two derivatives at a point.
#[derive(Debug, Clone, Copy)]
pub struct Jet<N> {
    /// f'(z).
    pub first: N,
    /// f''(z).
    pub second: N,
}

impl Activation {
    /// f(z).
    #[inline(always)]
    pub fn value<N: Transcendental>(self, z: N) -> N {
        match self {
            Activation::Identity => z,
            Activation::Tanh => z.tanh(),
            Activation::Mish => z * mish_gate(z),
        }
    }

    /// Whether the derivatives are computed from z; if not, from f(z).
    pub fn keeps_sums(self) -> bool {
        self == Activation::Mish
    }

    /// f'(z) from the values that the layer keeps.
    #[inline(always)]
    pub fn slope<N: Transcendental>(self, kept: N) -> N {
        self.jet(kept).first
    }

    /// f'(z) and f''(z) from the values that the layer keeps.
    #[inline(always)]
    pub fn jet<N: Transcendental>(self, kept: N) -> Jet<N> {
        let (one, two) = (kept.constant(1.0), kept.constant(2.0));
        match self {
            Activation::Identity => Jet { first: one, second: kept.zero() },
            Activation::Tanh => {
                let first = (-kept).mul_add(kept, one);
                Jet { first, second: -two * kept * first }
            }
            Activation::Mish => {
                let (t, s) = (mish_gate(kept), kept.sigmoid());
                let gate_slope = s * (-t).mul_add(t, one);
                let gate_curve = gate_slope * (one - s - two * s * t);
                Jet { first: kept.mul_add(gate_slope, t), second: two.mul_add(gate_slope, kept * gate_curve) }
            }
        }
    }
}

/// tanh(ln(1 + eᶻ)). It is 1 to the last bit above 20; e²ᶻ must not overflow.
#[inline(always)]
fn mish_gate<N: Transcendental>(z: N) -> N {
    let twenty = z.constant(20.0);
    let e = N::select(z.gt(twenty), twenty, z).exp();
    let two = z.constant(2.0);
    let n = e * (e + two);
    n / (n + two)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mish(z: f64) -> f64 {
        z * z.exp().ln_1p().tanh()
    }

    #[test]
    fn derivatives_agree_with_differences() {
        let h = 1e-5;
        for f in [Activation::Identity, Activation::Tanh, Activation::Mish] {
            for i in -60..=60 {
                let z = f64::from(i) * 0.1;
                let keep = |z: f64| if f.keeps_sums() { z } else { f.value(z) };
                let jet = f.jet(keep(z));
                let first = (f.value(z + h) - f.value(z - h)) / (2.0 * h);
                let second = (f.slope(keep(z + h)) - f.slope(keep(z - h))) / (2.0 * h);
                assert!((jet.first - first).abs() < 1e-9, "{f:?}'({z}): {} {first}", jet.first);
                assert!((jet.second - second).abs() < 1e-9, "{f:?}''({z}): {} {second}", jet.second);
            }
        }
    }

    #[test]
    fn mish_is_what_its_definition_says() {
        for i in -300..=300 {
            let z = f64::from(i) * 0.1;
            assert!((Activation::Mish.value(z) - mish(z)).abs() < 1e-8 * (1.0 + z.abs()), "{z}");
        }
    }
}
