//! Measures: the numbers by which behaviours differ. Each is defined per step; that of an episode is the mean.

use std::fmt;
use std::str::FromStr;

use magpie_physics::{Quat, Vec3, World, lowest_point};
use magpie_simd::Number;

use crate::stage::Stage;

/// A way to describe behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// For each foot, whether anything touched it during the step.
    FeetContact,
    /// Height of the lowest foot above the ground, in m.
    Jump,
    /// Cosine and sine of the heading of the root.
    Angle,
}

/// A name that is no measure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no measure \"{0}\"; choose feet_contact, jump or angle")]
pub struct UnknownMeasure(String);

/// One dimension of a measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Dimension {
    /// What it is called in tables and plots.
    pub name: String,
    /// Smallest and largest value that an archive distinguishes.
    pub range: [f64; 2],
}

impl Measure {
    /// All of them.
    pub const ALL: [Measure; 3] = [Measure::FeetContact, Measure::Jump, Measure::Angle];

    /// As in configuration files.
    pub fn name(self) -> &'static str {
        match self {
            Measure::FeetContact => "feet_contact",
            Measure::Jump => "jump",
            Measure::Angle => "angle",
        }
    }

    /// The dimensions for a robot with the given feet.
    pub fn dimensions<'a>(self, feet: impl Iterator<Item = &'a str>) -> Vec<Dimension> {
        match self {
            Measure::FeetContact => {
                feet.map(|foot| Dimension { name: format!("{foot} contact"), range: [0.0, 1.0] }).collect()
            }
            // A quarter of a metre is what trained jumpers reach; higher jumps share the last cell.
            Measure::Jump => vec![Dimension { name: "lowest foot (m)".to_owned(), range: [0.0, 0.25] }],
            Measure::Angle => ["cos yaw", "sin yaw"]
                .map(|name| Dimension { name: name.to_owned(), range: [-1.0, 1.0] })
                .into(),
        }
    }

    /// Number of dimensions for a robot with `feet` feet.
    pub fn size(self, feet: usize) -> usize {
        match self {
            Measure::FeetContact => feet,
            Measure::Jump => 1,
            Measure::Angle => 2,
        }
    }

    /// Measures the step that has just been made.
    #[inline(always)]
    pub(crate) fn write<N: Number>(
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
pub(crate) fn touched<N: Number>(token: N::Token, world: &World<N::Pack>, body: usize) -> N {
    let change = Vec3::<N>::load(token, &world.impacts[body].vel);
    let largest = change.x.abs().max(change.y.abs()).max(change.z.abs());
    largest.constant(1.0).masked(largest.gt(largest.zero()))
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Measure {
    type Err = UnknownMeasure;

    fn from_str(name: &str) -> Result<Measure, UnknownMeasure> {
        Measure::ALL.into_iter().find(|m| m.name() == name).ok_or_else(|| UnknownMeasure(name.to_owned()))
    }
}
