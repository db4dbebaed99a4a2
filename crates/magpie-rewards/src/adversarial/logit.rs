//! The loss and the reward as functions of a discriminator's logit d.
//!
//! ```text
//! D = σ(d)    loss: expert -log D = softplus(-d),  policy -log(1 - D) = softplus(d)
//! ```

use magpie_settings::words;
use magpie_simd::{Isa, Lanes, Number, Pack, Simd, SimdTask, Transcendental};

words! {
    /// Reward as a function of the discriminator's logit d.
    pub enum RewardForm {
        /// -log(1 - D) = softplus(d), as in the paper. It is never negative, so that it also rewards staying alive.
        Softplus = "softplus",
        /// log D - log(1 - D) = d, of either sign.
        LogOdds = "log_odds",
        /// log D = -softplus(-d). It is never positive, so that it also rewards ending early.
        LogD = "log_d",
    }
}

impl RewardForm {
    /// Replaces each logit by its reward.
    pub(crate) fn apply(self, isa: Isa, logits: &mut [Pack]) {
        if self != RewardForm::LogOdds {
            isa.run(Apply { form: self, logits });
        }
    }
}

struct Apply<'a> {
    form: RewardForm,
    logits: &'a mut [Pack],
}

impl SimdTask for Apply<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        for pack in self.logits {
            let logit = Lanes::load(token, pack);
            let reward = match self.form {
                RewardForm::Softplus => logit.softplus(),
                RewardForm::LogOdds => logit,
                RewardForm::LogD => -(-logit).softplus(),
            };
            reward.store(pack);
        }
    }
}

/// The side of a discriminator that rows belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Expert,
    Policy,
}

/// Cross-entropy of `count` logits: mean loss and accuracy. Each logit is replaced by the derivative of the loss with
/// respect to it; lanes beyond the last row become zero.
pub(crate) fn cross_entropy(side: Side, logits: &mut [Pack], count: usize) -> (f64, f64) {
    let (mut loss, mut right) = (0.0, 0.0);
    for (row, logit) in logits.iter_mut().flat_map(|pack| pack.0.iter_mut()).enumerate() {
        if row >= count {
            *logit = 0.0;
            continue;
        }
        let d = f64::from(*logit);
        let sigmoid = 1.0 / (1.0 + (-d).exp());
        let derivative = match side {
            Side::Expert => {
                loss += softplus(-d);
                right += f64::from(u8::from(d > 0.0));
                sigmoid - 1.0
            }
            Side::Policy => {
                loss += softplus(d);
                right += f64::from(u8::from(d < 0.0));
                sigmoid
            }
        };
        *logit = (derivative / count as f64) as f32;
    }
    let n = count.max(1) as f64;
    (loss / n, right / n)
}

/// ln(1 + eˣ).
pub(crate) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_what_they_say() {
        for isa in Isa::available() {
            for d in [-30.0_f32, -1.0, 0.0, 0.5, 12.0] {
                let sigmoid = 1.0 / (1.0 + f64::from(-d).exp());
                for (form, want) in [
                    (RewardForm::Softplus, softplus(f64::from(d))),
                    (RewardForm::LogOdds, f64::from(d)),
                    (RewardForm::LogD, sigmoid.ln()),
                ] {
                    let mut packs = [Pack([d; 16])];
                    form.apply(isa, &mut packs);
                    let got = f64::from(packs[0].0[3]);
                    assert!((got - want).abs() < 1e-6 * want.abs().max(1.0), "{form:?} {d}: {got} {want}");
                }
            }
        }
    }

    #[test]
    fn cross_entropy_agrees_with_differences() {
        for side in [Side::Expert, Side::Policy] {
            let loss = |d: f32| cross_entropy(side, &mut [Pack([d; 16])], 16).0;
            let mut packs = [Pack([0.7; 16])];
            let (_, accuracy) = cross_entropy(side, &mut packs, 4);
            assert_eq!(accuracy, f64::from(u8::from(side == Side::Expert)));
            let slope = (loss(0.7 + 1e-3) - loss(0.7 - 1e-3)) / 2e-3;
            assert!((f64::from(packs[0].0[0]) * 4.0 - slope).abs() < 1e-3);
            assert_eq!(packs[0].0[4..], [0.0; 12]);
        }
    }
}
