//! Measuring a step.

use magpie_physics::{Quat, Vec3, World, lowest_point};
use magpie_simd::Number;

use super::Stage;
use crate::measure::Measure;

impl Measure {
    /// Measures the step that has just been made.
    #[inline(always)]
    pub(super) fn write<N: Number>(
        self,
        token: N::Token,
        stage: &Stage<N::Scalar>,
        world: &World<N::Pack>,
        out: &mut [N::Pack],
    ) {
        match self {
            Measure::FeetContact => {
                for (&foot, out) in stage.feet.iter().zip(out) {
                    touched::<N>(token, world, foot).store(out);
                }
            }
            Measure::Jump => {
                if let [out] = out {
                    let mut lowest = N::load(token, out).constant(f64::INFINITY);
                    for &foot in &stage.feet {
                        lowest = lowest.min(lowest_point::<N>(token, &stage.model, world, foot));
                    }
                    lowest.store(out);
                }
            }
            Measure::Angle => {
                let Quat { w, v: Vec3 { x, y, z } } = Quat::<N>::load(token, &world.bodies[stage.root].rot);
                let two = w.constant(2.0);
                let sin = two * w.mul_add(z, x * y);
                let cos = w.mul_add(w, x * x) - y.mul_add(y, z * z);
                // cos and sin of atan2(sin, cos) without the detour; a root that points straight up heads nowhere.
                let length = cos.mul_add(cos, sin * sin).sqrt();
                let heading = length.gt(length.constant(1e-12));
                let share = length.constant(1.0) / length.max(length.constant(1e-12));
                if let [cos_out, sin_out] = out {
                    N::select(heading, cos * share, length.constant(1.0)).store(cos_out);
                    (sin * share).masked(heading).store(sin_out);
                }
            }
        }
    }
}

/// 1 where a contact changed the velocity of `body` during the step, 0 elsewhere.
#[inline(always)]
fn touched<N: Number>(token: N::Token, world: &World<N::Pack>, body: usize) -> N {
    let change = Vec3::<N>::load(token, &world.impacts[body].vel);
    let largest = change.x.abs().max(change.y.abs()).max(change.z.abs());
    largest.constant(1.0).masked(largest.gt(largest.zero()))
}
