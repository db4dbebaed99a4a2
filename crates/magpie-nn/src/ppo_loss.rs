//! The loss of proximal policy optimisation for one row, with its derivatives.
//!
//! ```text
//! ρ = exp(log π - log π_old)
//! policy term  max(-A ρ, -A clip(ρ, 1-ε, 1+ε))
//! value term   max((v - R)², (v_old + clip(v - v_old, ±ε_v) - R)²)       (no ½)
//! ```
//!
//! If the clipped branch is the larger one outside the clipping range, the derivative is zero. The approximate KL
//! divergences are `ρ - 1 - log ρ` (low variance and never negative; this one ends an update) and `-log ρ`.

use magpie_simd::Transcendental;

/// The policy's terms of a row.
#[derive(Debug, Clone, Copy)]
pub struct PolicyTerm<N> {
    /// max(-A ρ, -A clip(ρ)).
    pub loss: N,
    /// Its derivative with respect to log π.
    pub d_log_prob: N,
    /// ρ - 1 - log ρ.
    pub kl: N,
    /// -log ρ.
    pub old_kl: N,
    /// 1 where |ρ - 1| > ε.
    pub clipped: N,
}

/// The critic's terms of a row.
#[derive(Debug, Clone, Copy)]
pub struct ValueTerm<N> {
    /// max((v - R)², (v_clipped - R)²).
    pub loss: N,
    /// Its derivative with respect to v.
    pub d_value: N,
}

/// The policy term of a row with (normalised) advantage A and clipping range ε.
#[inline(always)]
pub fn policy_term<N: Transcendental>(log_prob: N, old_log_prob: N, advantage: N, clip: N) -> PolicyTerm<N> {
    let one = log_prob.constant(1.0);
    let log_ratio = log_prob - old_log_prob;
    let ratio = log_ratio.exp();
    let plain = -(advantage * ratio);
    let limited = -(advantage * ratio.clamp(one - clip, one + clip));
    let clipped = (ratio - one).abs().gt(clip);
    let flat = clipped & limited.gt(plain);
    PolicyTerm {
        loss: N::select(limited.gt(plain), limited, plain),
        d_log_prob: N::select(flat, log_prob.zero(), plain),
        kl: ratio - one - log_ratio,
        old_kl: -log_ratio,
        clipped: one.masked(clipped),
    }
}

/// The value term of a row with return R and clipping range ε_v.
#[inline(always)]
pub fn value_term<N: Transcendental>(value: N, old_value: N, target: N, clip: N) -> ValueTerm<N> {
    let moved = value - old_value;
    let (error, limited) = (value - target, old_value + moved.clamp(-clip, clip) - target);
    let (plain, limited) = (error * error, limited * limited);
    let flat = moved.abs().gt(clip) & limited.gt(plain);
    ValueTerm {
        loss: N::select(limited.gt(plain), limited, plain),
        d_value: N::select(flat, value.zero(), error + error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points on both sides of every branch, none within 1e-3 of a kink.
    fn grid() -> impl Iterator<Item = f64> {
        (-20..=20).map(|i| f64::from(i) * 0.0731 + 0.0123)
    }

    #[test]
    fn policy_derivative_agrees_with_differences() {
        let h = 1e-6;
        for log_ratio in grid() {
            for advantage in [-1.3, -0.2, 0.4, 2.0] {
                let at = |x: f64| policy_term(x - 3.0, -3.0, advantage, 0.2);
                let slope = (at(log_ratio + h).loss - at(log_ratio - h).loss) / (2.0 * h);
                assert!((at(log_ratio).d_log_prob - slope).abs() < 1e-8, "{log_ratio} {advantage}");
            }
        }
    }

    #[test]
    fn value_derivative_agrees_with_differences() {
        let h = 1e-6;
        for value in grid() {
            for target in [-1.0, -0.1, 0.3, 1.5] {
                let at = |v: f64| value_term(v, 0.05, target, 0.2);
                let slope = (at(value + h).loss - at(value - h).loss) / (2.0 * h);
                assert!((at(value).d_value - slope).abs() < 1e-8, "{value} {target}");
            }
        }
    }

    #[test]
    fn an_unmoved_policy_has_no_divergence() {
        let term = policy_term(-2.0_f64, -2.0, 1.5, 0.2);
        assert_eq!((term.kl, term.old_kl, term.clipped, term.loss), (0.0, 0.0, 0.0, -1.5));
    }
}
