//! Sums of parameter gradients over rows, in the layout that the kernels add to.
//!
//! For each layer, the sum over rows of dz xᵀ is kept as `[b][a]` with a padded to whole packs, where a runs over
//! outputs and b over inputs or vice versa, whichever costs less: padded rows are computed in full, and the operand of
//! a must be transposed. Sums for the bias keep their sixteen lanes apart until the end.

use magpie_simd::{Isa, LANES, Lanes, Number, Pack, Simd, SimdTask};
use rayon::prelude::*;

use crate::kernel::{Amx, Kernel, Scratch, fused, tiled};
use crate::shape::Shape;

/// Sums of parameter gradients over rows of a batch.
#[derive(Debug, Clone)]
pub struct Gradient {
    layers: Vec<Sums>,
    packs: Vec<Pack>,
}

/// The position of one layer's sums.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sums {
    inputs: usize,
    outputs: usize,
    /// Whether a runs over outputs and b over inputs.
    over_outputs: bool,
    /// First pack of the weight's sums; the bias's follow.
    first: usize,
    groups: usize,
}

impl Sums {
    fn b(&self) -> usize {
        if self.over_outputs { self.inputs } else { self.outputs }
    }

    fn weight_packs(&self) -> usize {
        self.b() * self.groups
    }
}

impl Gradient {
    /// A sum over no rows.
    pub fn new(shape: &Shape) -> Gradient {
        let mut first = 0;
        let layers: Vec<Sums> = shape
            .layers()
            .map(|layer| {
                let (inputs, outputs) = (layer.inputs, layer.outputs);
                // Products of the padded matrix, plus half a product per lane for transposing.
                let cost = |a: usize, b: usize| a.next_multiple_of(LANES) * b + 8 * a;
                let over_outputs = cost(outputs, inputs) <= cost(inputs, outputs);
                let groups = if over_outputs { outputs } else { inputs }.div_ceil(LANES);
                let sums = Sums { inputs, outputs, over_outputs, first, groups };
                first += sums.weight_packs() + outputs;
                sums
            })
            .collect();
        Gradient { layers, packs: vec![Pack::default(); first] }
    }

    /// Sets all sums to zero.
    pub fn clear(&mut self) {
        self.packs.fill(Pack::default());
    }

    /// Adds dz xᵀ to layer `index`, and dz to its bias if requested.
    pub(crate) fn add_layer(
        &mut self,
        kernel: Kernel,
        index: usize,
        x: &[Pack],
        dz: &[Pack],
        with_bias: bool,
        scratch: &mut Scratch,
    ) {
        let layer = &self.layers[index];
        let (weight, rest) = self.packs[layer.first..].split_at_mut(layer.weight_packs());
        let bias = if with_bias { Some(&mut rest[..layer.outputs]) } else { None };
        let amx = kernel.tiles_for(layer.inputs, layer.outputs);
        kernel.isa().run(AddLayer { layer, amx, x, dz, weight, bias, scratch });
    }

    /// Writes the sum of `parts`, in order, as a row of parameters.
    ///
    /// All parts must have the shape of `self`, which is overwritten.
    pub fn sum_of(&mut self, isa: Isa, parts: &[Gradient], row: &mut [f32]) {
        const CHUNK: usize = 1024;
        assert!(parts.iter().all(|part| part.layers == self.layers), "gradients of different shapes");
        self.packs.par_chunks_mut(CHUNK).enumerate().for_each(|(i, total)| {
            let range = i * CHUNK..i * CHUNK + total.len();
            isa.run(Add { total, parts, range });
        });
        self.write(row);
    }

    /// Writes the sum as a row of parameters.
    pub fn write(&self, row: &mut [f32]) {
        let mut rest = row;
        for layer in &self.layers {
            let (weight, after) = rest.split_at_mut(layer.inputs * layer.outputs);
            let (bias, after) = after.split_at_mut(layer.outputs);
            rest = after;
            let sums = &self.packs[layer.first..][..layer.weight_packs()];
            let at = |b: usize, a: usize| sums[b * layer.groups + a / LANES].0[a % LANES];
            for (o, weights) in weight.chunks_exact_mut(layer.inputs).enumerate() {
                if layer.over_outputs {
                    weights.iter_mut().enumerate().for_each(|(i, w)| *w = at(i, o));
                } else {
                    weights.iter_mut().enumerate().for_each(|(i, w)| *w = at(o, i));
                }
            }
            let sums = &self.packs[layer.first + layer.weight_packs()..][..layer.outputs];
            for (b, sum) in bias.iter_mut().zip(sums) {
                *b = sum.0.iter().sum();
            }
        }
        assert!(rest.is_empty(), "a row of the wrong length");
    }
}

struct AddLayer<'a> {
    layer: &'a Sums,
    amx: Option<Amx>,
    x: &'a [Pack],
    dz: &'a [Pack],
    weight: &'a mut [Pack],
    bias: Option<&'a mut [Pack]>,
    scratch: &'a mut Scratch,
}

impl SimdTask for AddLayer<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let AddLayer { layer, amx, x, dz, weight, bias, scratch } = self;
        let (v, a, s) = if layer.over_outputs { (dz, layer.outputs, x) } else { (x, layer.inputs, dz) };
        match amx {
            Some(amx) => tiled::outer(token, amx, [v, s], [a, layer.b()], weight, &mut scratch.split),
            None => fused::outer(token, [v, s], [a, layer.b()], weight, &mut scratch.turned),
        }
        if let Some(bias) = bias {
            for panel in dz.chunks_exact(layer.outputs) {
                for (sum, dz) in bias.iter_mut().zip(panel) {
                    (Lanes::load(token, sum) + Lanes::load(token, dz)).store(sum);
                }
            }
        }
    }
}

struct Add<'a> {
    total: &'a mut [Pack],
    parts: &'a [Gradient],
    range: std::ops::Range<usize>,
}

impl SimdTask for Add<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        self.total.fill(Pack::default());
        for part in self.parts {
            for (sum, term) in self.total.iter_mut().zip(&part.packs[self.range.clone()]) {
                (Lanes::load(token, sum) + Lanes::load(token, term)).store(sum);
            }
        }
    }
}
