//! Reading golden files and comparing with them.

use magpie_golden::Npz;
use magpie_nn::rows::gather;
use magpie_nn::{Activation, Shape};
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

    /// Whether the array exists: the subset in the repository has gradients of fewer cases.
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Values of an array.
    pub fn values(&mut self, name: &str) -> Vec<f32> {
        self.array(name).1
    }

    /// The first value of an array.
    pub fn value(&mut self, name: &str) -> f32 {
        self.values(name)[0]
    }

    /// The shape of the tanh network with layers `PREFIX_w0`, `PREFIX_b0`, `PREFIX_w1`…
    pub fn network(&mut self, prefix: &str) -> Shape {
        Shape::new(&self.sizes(prefix), Activation::Tanh, Activation::Identity).unwrap()
    }

    /// Widths of the layers of a network.
    pub fn sizes(&mut self, prefix: &str) -> Vec<usize> {
        let names = self.0.names();
        let mut sizes = vec![];
        for i in (0..).take_while(|i| names.contains(&format!("{prefix}_w{i}"))) {
            let (shape, _) = self.array(&format!("{prefix}_w{i}"));
            if i == 0 {
                sizes.push(shape[1]);
            }
            sizes.push(shape[0]);
        }
        sizes
    }

    /// The parameters `PREFIX_w0`, `PREFIX_b0`… as one row.
    pub fn row(&mut self, prefix: &str, shape: &Shape) -> Vec<f32> {
        self.layers(prefix, shape.layers().len())
    }

    /// The parameters of the first layers of a network as one row.
    pub fn layers(&mut self, prefix: &str, count: usize) -> Vec<f32> {
        (0..count)
            .flat_map(|i| ["w", "b"].map(|p| format!("{prefix}_{p}{i}")))
            .flat_map(|name| self.values(&name))
            .collect()
    }

    /// Compares a row of parameters, or of their gradients, array by array.
    #[track_caller]
    pub fn assert_row(&mut self, prefix: &str, shape: &Shape, row: &[f32], tolerance: f32) {
        for (i, layer) in shape.layers().enumerate() {
            for (part, range) in [("w", layer.weight), ("b", layer.bias)] {
                let name = format!("{prefix}_{part}{i}");
                assert_close(&name, &row[range], &self.values(&name), tolerance);
            }
        }
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

/// All rows as panels.
pub fn panels(isa: Isa, rows: &[f32], width: usize) -> Vec<Pack> {
    let index: Vec<u32> = (0..(rows.len() / width) as u32).collect();
    let mut packs = vec![Pack::default(); index.len().div_ceil(LANES) * width];
    gather(isa, rows, width, &index, &mut packs);
    packs
}

/// α expert + (1 - α) policy with one α per entry or per row.
pub fn mixed(expert: &[f32], policy: &[f32], alpha: &[f32]) -> Vec<f32> {
    let run = expert.len() / alpha.len();
    let rows = expert.iter().zip(policy).enumerate();
    rows.map(|(i, (e, p))| alpha[i / run] * e + (1.0 - alpha[i / run]) * p).collect()
}
