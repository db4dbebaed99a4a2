//! Reading golden files and comparing with them.

#![allow(dead_code, reason = "each test uses only part of it")]

use magpie_golden::Npz;
use magpie_nn::rows::gather;
use magpie_nn::{Kernel, Shape};
use magpie_simd::{Isa, LANES, Pack};

/// The arrays of one golden file.
pub struct Golden(Npz);

impl Golden {
    /// Opens `numerics/NAME.npz`.
    pub fn open(name: &str) -> Golden {
        Golden(Npz::open(&format!("numerics/{name}.npz")))
    }

    /// Shape and values of an array.
    pub fn array(&mut self, name: &str) -> (Vec<usize>, Vec<f32>) {
        let array = self.0.array(name);
        let values = array.to_f32();
        (array.shape, values)
    }

    /// Values of an array.
    pub fn values(&mut self, name: &str) -> Vec<f32> {
        self.array(name).1
    }

    /// The tanh network whose layers are `PREFIX_w0`, `PREFIX_b0`, `PREFIX_w1`…
    pub fn network(&mut self, prefix: &str) -> Shape {
        let names = self.0.names();
        let mut sizes = vec![];
        for i in (0..).take_while(|i| names.contains(&format!("{prefix}_w{i}"))) {
            let (shape, _) = self.array(&format!("{prefix}_w{i}"));
            if i == 0 {
                sizes.push(shape[1]);
            }
            sizes.push(shape[0]);
        }
        Shape::tanh(&sizes).unwrap()
    }

    /// The parameters `PREFIX_w0`, `PREFIX_b0`… as one row.
    pub fn row(&mut self, prefix: &str, shape: &Shape) -> Vec<f32> {
        (0..shape.layers().len())
            .flat_map(|i| ["w", "b"].map(|p| format!("{prefix}_{p}{i}")))
            .flat_map(|name| self.values(&name))
            .collect()
    }
}

/// Fails if an entry deviates from the golden one by more than `tolerance` times the largest golden entry.
#[track_caller]
pub fn assert_close(what: &str, got: &[f32], want: &[f32], tolerance: f32) {
    assert_eq!(got.len(), want.len(), "{what}: length");
    let largest = want.iter().fold(0.0_f32, |m, w| m.max(w.abs()));
    let worst =
        got.iter().zip(want).map(|(g, w)| (g - w).abs()).fold(0.0, |m: f32, d| if d <= m { m } else { d });
    assert!(worst <= tolerance * largest, "{what}: off by {worst:e}, largest entry {largest:e}");
}

/// The error bound of a product of split numbers: 3 · 2⁻¹⁶ of the product, in either direction.
pub const SPLIT: f32 = 4.6e-5;

/// The tolerance for kernels that multiply in single precision, or the one for split numbers.
pub fn tolerance(kernel: Kernel, single: f32, split: f32) -> f32 {
    if kernel.is_single_precision() { single } else { split }
}

/// All rows as panels.
pub fn panels(isa: Isa, rows: &[f32], width: usize) -> Vec<Pack> {
    let index: Vec<u32> = (0..(rows.len() / width) as u32).collect();
    let mut packs = vec![Pack::default(); index.len().div_ceil(LANES) * width];
    gather(isa, rows, width, &index, &mut packs);
    packs
}

/// `count` rows out of panels.
pub fn rows(panels: &[Pack], width: usize, count: usize) -> Vec<f32> {
    (0..count * width).map(|i| panels[i / width / LANES * width + i % width].0[i / width % LANES]).collect()
}
