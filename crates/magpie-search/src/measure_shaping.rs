//! Which way measures are pushed, and what a step is paid for it.
//!
//! PPGA trains the copy of a measure upwards, and pays the walk cⱼ·mⱼ. Both go wrong at the ends of a range. A copy that
//! is at the upper end already has nothing to learn, so that its direction is noise. And where cⱼ is negative every step
//! costs something, so that falling early pays. Shaped inward, a measure is paid as its distance from the end of
//! the range that it is to leave, which is never negative, and lets the copy of a measure leave the end that is nearer.
//! Beyond the ends, where archives tell nothing apart, there is nothing more to earn.

use magpie_envs::{Dimension, Environment};

/// The ranges of the measures, and whether to steer away from their ends.
pub(crate) struct MeasureShaping {
    dimensions: Vec<Dimension>,
    measure_shaping: bool,
}

impl MeasureShaping {
    pub fn new(env: &Environment, measure_shaping: bool) -> MeasureShaping {
        MeasureShaping { dimensions: env.measure_dimensions(), measure_shaping }
    }

    /// Which way the copy of each measure is trained, up (1) or down (-1), when the search policy's are `measures`.
    pub fn slopes(&self, measures: &[f64]) -> Vec<f32> {
        let down = |m: f64, [low, high]: [f64; 2]| self.measure_shaping && m - low > high - m;
        let ranges = self.dimensions.iter().map(|dimension| dimension.range);
        measures.iter().zip(ranges).map(|(&m, range)| if down(m, range) { -1.0 } else { 1.0 }).collect()
    }

    /// Between which bounds each measure counts.
    pub fn bounds(&self) -> Vec<[f32; 2]> {
        let bounds = |dimension: &Dimension| dimension.range.map(|end| end as f32);
        let none = |_: &Dimension| [f32::NEG_INFINITY, f32::INFINITY];
        self.dimensions.iter().map(if self.measure_shaping { bounds } else { none }).collect()
    }

    /// What every step is paid besides Σ cⱼ·mⱼ, so that the sum is Σ |cⱼ|·(distance of mⱼ from the end that it leaves).
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
