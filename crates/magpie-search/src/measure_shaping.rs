//! The direction in which each measure is trained, and its reward.
//!
//! PPGA trains the copy of a measure upwards and rewards the walk with cⱼ·mⱼ. Both fail at the ends of a range. A copy
//! that already is at the upper end has nothing to learn, so that its direction is noise. And if cⱼ is negative, every
//! step costs something, which rewards falling early. With shaping, the reward is the distance of the measure from the
//! end of the range that it should leave, which is never negative, and the copy of a measure leaves the nearer end.
//! Measures are limited to their range, because archives do not distinguish values beyond it.

use magpie_envs::{Dimension, Environment};

/// The ranges of the measures, and whether measures are shaped.
pub(crate) struct MeasureShaping {
    dimensions: Vec<Dimension>,
    measure_shaping: bool,
}

impl MeasureShaping {
    pub fn new(env: &Environment, measure_shaping: bool) -> MeasureShaping {
        MeasureShaping { dimensions: env.measure_dimensions(), measure_shaping }
    }

    /// The direction in which the copy of each measure is trained, up (1) or down (-1), given the search policy's
    /// `measures`.
    pub fn slopes(&self, measures: &[f64]) -> Vec<f32> {
        let down = |m: f64, [low, high]: [f64; 2]| self.measure_shaping && m - low > high - m;
        let ranges = self.dimensions.iter().map(|dimension| dimension.range);
        measures.iter().zip(ranges).map(|(&m, range)| if down(m, range) { -1.0 } else { 1.0 }).collect()
    }

    /// The bounds to which each measure is limited.
    pub fn bounds(&self) -> Vec<[f32; 2]> {
        let bounds = |dimension: &Dimension| dimension.range.map(|end| end as f32);
        let none = |_: &Dimension| [f32::NEG_INFINITY, f32::INFINITY];
        self.dimensions.iter().map(if self.measure_shaping { bounds } else { none }).collect()
    }

    /// The constant reward per step in addition to Σ cⱼ·mⱼ, so that the sum is Σ |cⱼ|·(distance of mⱼ from the end to
    /// leave).
    pub fn shift(&self, coefficients: &[f32]) -> f32 {
        if !self.measure_shaping {
            return 0.0;
        }
        let left = |c: f32, [low, high]: [f64; 2]| if c < 0.0 { high } else { low } as f32;
        coefficients.iter().zip(&self.dimensions).map(|(&c, dimension)| -c * left(c, dimension.range)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaping(measure_shaping: bool) -> MeasureShaping {
        let dimension = |name: &str, range| Dimension { name: name.into(), range };
        MeasureShaping {
            dimensions: vec![dimension("a", [0.0, 1.0]), dimension("b", [-1.0, 1.0])],
            measure_shaping,
        }
    }

    #[test]
    fn copies_leave_the_nearer_end() {
        assert_eq!(shaping(true).slopes(&[0.9, -0.1]), [-1.0, 1.0]);
        assert_eq!(shaping(true).slopes(&[0.4, 0.1]), [1.0, -1.0]);
        assert_eq!(shaping(true).slopes(&[f64::NAN, 0.0]), [1.0, 1.0]);
        assert_eq!(shaping(false).slopes(&[0.9, 0.9]), [1.0, 1.0]);
    }

    #[test]
    fn measures_are_paid_as_distances() {
        let shaping = shaping(true);
        for (c, m, paid) in
            [([2.0, 0.0], [0.3, 0.5], 0.6), ([-2.0, 0.0], [0.3, 0.5], 1.4), ([0.0, 1.0], [0.3, 0.5], 1.5)]
        {
            let sum: f32 = c.iter().zip(m).map(|(c, m)| c * m).sum();
            assert!((sum + shaping.shift(&c) - paid).abs() < 1e-6);
        }
    }

    #[test]
    fn the_paper_pays_measures_as_they_are() {
        assert_eq!(shaping(false).shift(&[-2.0, 1.0]), 0.0);
    }
}
