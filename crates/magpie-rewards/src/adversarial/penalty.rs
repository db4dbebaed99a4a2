//! The gradient penalty: P = w/n Σ (‖g‖ - 1)², where g is the gradient of the discriminator at an interpolated row.
//!
//! Its gradient with respect to parameters is computed by [`magpie_nn::Tangent`], along v = ∂P/∂g = 2w/n (‖g‖ - 1)
//! g/‖g‖.

use magpie_simd::{LANES, Pack};

/// Squared norms of the gradients of a batch, lane by lane, one pack per panel.
#[derive(Debug, Default)]
pub(crate) struct Slopes {
    squares: Vec<Pack>,
}

/// The value of the penalty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Penalty {
    /// P.
    pub value: f64,
    /// Mean ‖g‖.
    pub slope: f64,
}

impl Slopes {
    /// Clears all norms and makes room for those of `panels` panels.
    pub fn clear(&mut self, panels: usize) {
        self.squares.clear();
        self.squares.resize(panels, Pack::default());
    }

    /// Adds the squares of gradient entries, `[panel][entry]`: all entries, or those of one of several inputs.
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

    /// The penalty over the first `count` rows. Replaces squared norms by factors that turn g into v.
    pub fn finish(&mut self, count: usize, weight: f32) -> Penalty {
        let (mut value, mut slope) = (0.0, 0.0);
        for (row, square) in self.squares.iter_mut().flat_map(|pack| pack.0.iter_mut()).enumerate() {
            let norm = square.sqrt();
            // A gradient of norm 0 has no direction.
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

    /// Turns g into v, after [`Slopes::finish`].
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
