//! The penalty on slopes: P = w/n Σ (‖g‖ - 1)², g the slope of the discriminator at a mixed row.
//!
//! Its parameter gradient goes through [`magpie_nn::Tangent`], along v = ∂P/∂g = 2w/n (‖g‖ - 1) g/‖g‖.

use magpie_simd::{LANES, Pack};

/// Squared lengths of the slopes of a batch, lane by lane: one pack a panel.
#[derive(Debug, Default)]
pub(crate) struct Slopes {
    squares: Vec<Pack>,
}

/// What a penalty comes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Penalty {
    /// P.
    pub value: f64,
    /// Mean ‖g‖.
    pub slope: f64,
}

impl Slopes {
    /// Forgets all slopes and makes room for those of `panels` panels.
    pub fn clear(&mut self, panels: usize) {
        self.squares.clear();
        self.squares.resize(panels, Pack::default());
    }

    /// Adds entries of the slopes, `[panel][entry]`: all of them, or those of one of several inputs.
    pub fn add(&mut self, slopes: &[Pack]) {
        let width = slopes.len() / self.squares.len().max(1);
        for (sum, panel) in self.squares.iter_mut().zip(slopes.chunks_exact(width.max(1))) {
            for entry in panel {
                for (sum, value) in sum.0.iter_mut().zip(entry.0) {
                    *sum = value.mul_add(value, *sum);
                }
            }
        }
    }

    /// The penalty over the first `count` rows. Squared lengths become factors that turn g into v.
    pub fn finish(&mut self, count: usize, weight: f32) -> Penalty {
        let (mut value, mut slope) = (0.0, 0.0);
        for (row, square) in self.squares.iter_mut().flat_map(|pack| pack.0.iter_mut()).enumerate() {
            let norm = square.sqrt();
            // A slope of length 0 has no direction to be made longer in.
            *square = if row < count && norm > 0.0 {
                2.0 * weight / count as f32 * (norm - 1.0) / norm
            } else {
                0.0
            };
            if row < count {
                value += f64::from(weight) * f64::from(norm - 1.0).powi(2);
                slope += f64::from(norm);
            }
        }
        let n = count.max(1) as f64;
        Penalty { value: value / n, slope: slope / n }
    }

    /// From g to v, after [`Slopes::finish`].
    pub fn turn(&self, slopes: &mut [Pack]) {
        let width = slopes.len() / self.squares.len().max(1);
        for (factor, panel) in self.squares.iter().zip(slopes.chunks_exact_mut(width.max(1))) {
            for entry in panel {
                for lane in 0..LANES {
                    entry.0[lane] *= factor.0[lane];
                }
            }
        }
    }

    /// The factors of each panel, after [`Slopes::finish`].
    pub fn factors(&self) -> &[Pack] {
        &self.squares
    }
}
