//! Measuring a step.

use magpie_physics::{Quat, Vec3, World, lowest_point};
use magpie_simd::Number;

use super::Stage;
use super::stage::pitch;
use crate::measure::{Measure, Quantity};

impl Measure {
    /// Measures the last step, which was made with `action`.
    #[inline(always)]
    pub(super) fn write<N: Number>(
        &self,
        token: N::Token,
        stage: &Stage<N::Scalar>,
        world: &World<N::Pack>,
        action: &[N::Pack],
        out: &mut [N::Pack],
    ) {
        let mut rest = out;
        for part in &self.parts {
            let Some((now, later)) = rest.split_at_mut_checked(part.quantity.size(stage.feet.len())) else {
                return;
            };
            part.quantity.write::<N>(token, stage, world, action, now);
            rest = later;
        }
    }
}

impl Quantity {
    /// Writes the dimensions of the quantity.
    #[inline(always)]
    pub(super) fn write<N: Number>(
        self,
        token: N::Token,
        stage: &Stage<N::Scalar>,
        world: &World<N::Pack>,
        action: &[N::Pack],
        out: &mut [N::Pack],
    ) {
        let root = &world.bodies[stage.root];
        match self {
            Quantity::FootContacts => {
                for (&foot, out) in stage.feet.iter().zip(out) {
                    touched::<N>(token, world, foot).store(out);
                }
            }
            Quantity::LowestFoot => {
                if let [out] = out {
                    let mut lowest = N::load(token, out).constant(f64::INFINITY);
                    for &foot in &stage.feet {
                        lowest = lowest.min(lowest_point::<N>(token, &stage.model, world, foot));
                    }
                    lowest.store(out);
                }
            }
            Quantity::Heading => {
                let Quat { w, v: Vec3 { x, y, z } } = Quat::<N>::load(token, &root.rot);
                let two = w.constant(2.0);
                let sin = two * w.mul_add(z, x * y);
                let cos = w.mul_add(w, x * x) - y.mul_add(y, z * z);
                // cos and sin of atan2(sin, cos), computed directly; a root that points straight up has no heading.
                let length = cos.mul_add(cos, sin * sin).sqrt();
                let heading = length.gt(length.constant(1e-12));
                let share = length.constant(1.0) / length.max(length.constant(1e-12));
                if let [cos_out, sin_out] = out {
                    N::select(heading, cos * share, length.constant(1.0)).store(cos_out);
                    (sin * share).masked(heading).store(sin_out);
                }
            }
            Quantity::Height => store_one(N::load(token, &root.pos[2]), out),
            Quantity::Pitch => store_one(pitch(Quat::<N>::load(token, &root.rot)), out),
            Quantity::ForwardVelocity => store_one(N::load(token, &root.vel[0]), out),
            Quantity::SidewaysVelocity => store_one(N::load(token, &root.vel[1]), out),
            Quantity::Effort => {
                let mut sum = N::load(token, &root.pos[2]).zero();
                for entry in action {
                    let entry = N::load(token, entry);
                    sum = entry.mul_add(entry, sum);
                }
                store_one(sum * sum.constant(1.0 / action.len().max(1) as f64), out);
            }
        }
    }
}

#[inline(always)]
fn store_one<N: Number>(value: N, out: &mut [N::Pack]) {
    if let [out] = out {
        value.store(out);
    }
}

/// 1 if a contact changed the velocity of `body` during the step, otherwise 0.
#[inline(always)]
fn touched<N: Number>(token: N::Token, world: &World<N::Pack>, body: usize) -> N {
    let change = Vec3::<N>::load(token, &world.impacts[body].vel);
    let largest = change.x.abs().max(change.y.abs()).max(change.z.abs());
    largest.constant(1.0).masked(largest.gt(largest.zero()))
}
