//! Second derivatives: the parameter gradient of a function of input gradients.
//!
//! A gradient penalty is a loss L(g) of g = ∇ₓ D, the input gradient of a network's (weighted) output D = c · y. Let v
//! = ∂L/∂g, a constant for one step. Then dL/dθ = ∂/∂θ (v · ∇ₓ D), and v · ∇ₓ D = c · ẏ, where ẏ = J v is the change of
//! the output when the input moves along v. So the direction v is sent forwards beside the values
//! ([`Network::tangent`]), and a backward pass goes through both ([`Network::backward_tangent`]):
//!
//! ```text
//! forwards    żₗ = Wₗ ḣₗ₋₁,  ḣₗ = f'(zₗ) ⊙ żₗ,  ḣ₀ = v
//! backwards   αₗ = f'(zₗ) ⊙ pₗ                          pₗ = Wₗ₊₁ᵀ αₗ₊₁ (last: c),       the adjoint of żₗ
//!             βₗ = f'(zₗ) ⊙ qₗ + f''(zₗ) ⊙ żₗ ⊙ pₗ      qₗ = Wₗ₊₁ᵀ βₗ₊₁ (last: d_output), the adjoint of zₗ
//!             dWₗ = Σ αₗ ḣₗ₋₁ᵀ + βₗ hₗ₋₁ᵀ,  dbₗ = Σ βₗ,  dx = W₁ᵀ β₁
//! ```
//!
//! If c is itself a function of y, its contribution goes into `d_output`: (∂c/∂y)ᵀ ẏ.

use magpie_simd::{Isa, Lanes, Number, Pack, Simd, SimdTask};

use crate::gradient::Gradient;
use crate::kernel::{Scratch, product};
use crate::network::{Backwards, LoadedLayer, Network, Trace};
use crate::shape::{Activation, Layer, Shape};

/// The intermediate results of a direction's forward pass, beside the [`Trace`] of the values.
#[derive(Debug, Clone)]
pub struct Tangent {
    panels: usize,
    outputs: usize,
    layers: Vec<LayerTangent>,
    scratch: Scratch,
    /// p, later α, of the current layer and of the one before.
    alpha: [Vec<Pack>; 2],
}

#[derive(Debug, Clone)]
struct LayerTangent {
    /// ż.
    sums: Vec<Pack>,
    /// ḣ.
    values: Vec<Pack>,
}

impl Tangent {
    /// Memory for blocks of at most `panels` panels through a network of this shape.
    pub fn new(shape: &Shape, panels: usize) -> Tangent {
        let room = |width: usize| vec![Pack::default(); panels * width];
        let layers =
            shape.layers().map(|l| LayerTangent { sums: room(l.outputs), values: room(l.outputs) }).collect();
        let alpha = [room(shape.widest()), room(shape.widest())];
        Tangent { panels: 0, outputs: shape.outputs(), scratch: Scratch::default(), layers, alpha }
    }

    /// ẏ = J v of the last block: `[panel][output]`.
    pub fn output(&self) -> &[Pack] {
        self.layers.last().map_or(&[], |layer| &layer.values[..self.panels * self.outputs])
    }
}

impl Network {
    /// Sends a direction for every row of the last block forwards; returns ẏ.
    pub fn tangent<'t>(&self, trace: &Trace, direction: &[Pack], tangent: &'t mut Tangent) -> &'t [Pack] {
        let panels = trace.panels;
        assert!(direction.len() == panels * self.shape.inputs(), "direction of the wrong length");
        tangent.panels = panels;
        for (i, loaded) in self.layers.iter().enumerate() {
            let (before, rest) = tangent.layers.split_at_mut(i);
            let x = before.last().map_or(direction, |t| &t.values[..panels * loaded.layer.inputs]);
            let kept = trace.layers[i].kept(loaded.layer.activation);
            let size = panels * loaded.layer.outputs;
            let LayerTangent { sums, values } = &mut rest[0];
            let (sums, values) = (&mut sums[..size], &mut values[..size]);
            let scratch = &mut tangent.scratch;
            self.kernel.isa().run(Along { loaded, kept, x, sums, values, scratch });
        }
        tangent.output()
    }

    /// Adds the parameter gradient of Σ c · ẏ + `d_output` · y, over the rows of the last block and its directions, to
    /// `gradient`; writes its derivative with respect to the input to `d_input`.
    ///
    /// `d_tangent` is c, in the shape of the output. Missing rows must have zeros in both.
    #[expect(clippy::too_many_arguments, reason = "two passes with an input and an output each")]
    pub fn backward_tangent(
        &self,
        input: &[Pack],
        trace: &mut Trace,
        direction: &[Pack],
        tangent: &mut Tangent,
        d_output: &[Pack],
        d_tangent: &[Pack],
        gradient: &mut Gradient,
        d_input: Option<&mut [Pack]>,
    ) {
        let panels = trace.panels;
        assert!(tangent.panels == panels, "values and direction of different blocks");
        for given in [d_output, d_tangent] {
            assert!(given.len() == panels * self.shape.outputs(), "derivative of the wrong length");
        }
        let Trace { layers, delta: [beta, beta_before], scratch, .. } = trace;
        let Tangent { layers: tangents, alpha: [alpha, alpha_before], .. } = tangent;

        beta[..d_output.len()].copy_from_slice(d_output);
        alpha[..d_tangent.len()].copy_from_slice(d_tangent);
        for (i, loaded) in self.layers.iter().enumerate().rev() {
            let Layer { inputs, outputs, activation, .. } = loaded.layer;
            let size = panels * outputs;
            let (a, b) = (&mut alpha[..size], &mut beta[..size]);
            bend(self.kernel.isa(), activation, layers[i].kept(activation), &tangents[i].sums, a, b);
            let (h, h_dot) = match i {
                0 => (input, direction),
                _ => {
                    let size = panels * inputs;
                    (&layers[i - 1].values[..size], &tangents[i - 1].values[..size])
                }
            };
            gradient.add_layer(self.kernel, i, h_dot, a, false, scratch);
            gradient.add_layer(self.kernel, i, h, b, true, scratch);
            if i > 0 {
                let size = panels * inputs;
                for (dz, out) in [(&*a, &mut *alpha_before), (&*b, &mut *beta_before)] {
                    let (matrix, out) = (&loaded.back, &mut out[..size]);
                    self.kernel.isa().run(Backwards { matrix, dz, slope: None, out, scratch: &mut *scratch });
                }
                std::mem::swap(alpha, alpha_before);
                std::mem::swap(beta, beta_before);
            }
        }
        if let Some(d_input) = d_input {
            self.to_input(&beta[..panels * self.layers[0].layer.outputs], d_input, scratch);
        }
    }
}

/// From p and q to α and β.
fn bend(isa: Isa, activation: Activation, kept: &[Pack], sums: &[Pack], p: &mut [Pack], q: &mut [Pack]) {
    if activation != Activation::Identity {
        isa.run(Bend { activation, kept, sums, p, q });
    }
}

struct Along<'a> {
    loaded: &'a LoadedLayer,
    kept: &'a [Pack],
    x: &'a [Pack],
    sums: &'a mut [Pack],
    values: &'a mut [Pack],
    scratch: &'a mut Scratch,
}

impl SimdTask for Along<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let Along { loaded, kept, x, sums, values, scratch } = self;
        let activation = loaded.layer.activation;
        product(
            token,
            x,
            &loaded.weight,
            None,
            sums,
            scratch,
            #[inline(always)]
            |at, sums| {
                for (i, sum) in sums.iter().enumerate() {
                    let slope = activation.slope(Lanes::load(token, &kept[at + i]));
                    (slope * Lanes::load(token, sum)).store(&mut values[at + i]);
                }
            },
        );
    }
}

struct Bend<'a> {
    activation: Activation,
    kept: &'a [Pack],
    sums: &'a [Pack],
    p: &'a mut [Pack],
    q: &'a mut [Pack],
}

impl SimdTask for Bend<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let load = |pack: &Pack| Lanes::load(token, pack);
        let both = self.p.iter_mut().zip(self.q.iter_mut());
        for ((p, q), (kept, sum)) in both.zip(self.kept.iter().zip(self.sums)) {
            let jet = self.activation.jet(load(kept));
            let (alpha, beta) =
                (jet.first * load(p), (jet.second * load(sum)).mul_add(load(p), jet.first * load(q)));
            alpha.store(p);
            beta.store(q);
        }
    }
}
