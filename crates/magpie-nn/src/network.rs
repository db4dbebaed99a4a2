//! A network ready to compute: forward passes, and backward passes for the gradients of parameters and inputs.
//!
//! ```text
//! forwards    zₗ = Wₗ hₗ₋₁ + bₗ,  hₗ = f(zₗ)
//! backwards   δₗ = f'(zₗ) ⊙ Wₗ₊₁ᵀ δₗ₊₁,  dWₗ = Σ δₗ hₗ₋₁ᵀ,  dbₗ = Σ δₗ,  dx = W₁ᵀ δ₁
//! ```
//!
//! Bias and activation are applied while a few outputs of a panel are still in the first-level cache, and so is f' in
//! the backward pass. A [`Trace`] is created once for a number of panels and holds everything that a block needs, so
//! that nothing is allocated after the first block. Blocks of a dozen panels fit into the second-level cache.

use magpie_simd::{Lanes, Number, Pack, Simd, SimdTask};

use crate::gradient::Gradient;
use crate::kernel::{Kernel, Matrix, Scratch, product};
use crate::shape::{Activation, Layer, Shape};

/// The parameters of one network, in the order of its kernel.
#[derive(Debug, Clone)]
pub struct Network {
    pub(crate) shape: Shape,
    pub(crate) kernel: Kernel,
    pub(crate) layers: Vec<LoadedLayer>,
    input_gradient: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct LoadedLayer {
    pub layer: Layer,
    pub weight: Matrix,
    /// The transposed weight; empty for the first layer unless input gradients are wanted.
    pub back: Matrix,
    pub bias: Vec<f32>,
}

/// The intermediate results of a block's forward pass, and scratch memory for its backward pass.
#[derive(Debug, Clone)]
pub struct Trace {
    pub(crate) panels: usize,
    capacity: usize,
    pub(crate) layers: Vec<LayerTrace>,
    /// δ of the current layer and of the one before.
    pub(crate) delta: [Vec<Pack>; 2],
    pub(crate) scratch: Scratch,
}

#[derive(Debug, Clone)]
pub(crate) struct LayerTrace {
    pub values: Vec<Pack>,
    /// z, for activations whose derivatives are computed from it.
    pub sums: Vec<Pack>,
}

impl LayerTrace {
    /// The values from which the derivatives of `activation` are computed.
    pub fn kept(&self, activation: Activation) -> &[Pack] {
        if activation.keeps_sums() { &self.sums } else { &self.values }
    }
}

impl Trace {
    /// Memory for blocks of at most `panels` panels (of sixteen rows) through a network of this shape.
    pub fn new(shape: &Shape, panels: usize) -> Trace {
        let room = |width: usize| vec![Pack::default(); panels * width];
        let layers = shape
            .layers()
            .map(|layer| LayerTrace {
                values: room(layer.outputs),
                sums: room(if layer.activation.keeps_sums() { layer.outputs } else { 0 }),
            })
            .collect();
        let delta = [room(shape.widest()), room(shape.widest())];
        Trace { panels: 0, capacity: panels, layers, delta, scratch: Scratch::default() }
    }

    /// The outputs of the last block: `[panel][output]`.
    pub fn output(&self) -> &[Pack] {
        let values = self.layers.last().map_or(&[][..], |layer| &layer.values);
        &values[..values.len() / self.capacity.max(1) * self.panels]
    }
}

impl Network {
    /// A network of this shape with all parameters zero. With `input_gradient` it can compute derivatives with respect
    /// to its inputs, for which it keeps an additional matrix.
    pub fn new(shape: &Shape, kernel: impl Into<Kernel>, input_gradient: bool) -> Network {
        let kernel = kernel.into();
        let layers = shape
            .layers()
            .enumerate()
            .map(|(i, layer)| {
                let back = if i > 0 || input_gradient { layer.outputs } else { 0 };
                LoadedLayer {
                    weight: Matrix::new(kernel, layer.outputs, layer.inputs),
                    back: Matrix::new(kernel, layer.inputs, back),
                    bias: vec![0.0; layer.outputs],
                    layer,
                }
            })
            .collect();
        Network { shape: shape.clone(), kernel, layers, input_gradient }
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Loads a row of parameters, in the layout of the shape.
    pub fn load(&mut self, parameters: &[f32]) {
        assert!(parameters.len() == self.shape.parameters(), "a row of the wrong length");
        let isa = self.kernel.isa();
        for (i, loaded) in self.layers.iter_mut().enumerate() {
            let weight = &parameters[loaded.layer.weight.clone()];
            loaded.weight.load(isa, weight);
            if i > 0 || self.input_gradient {
                loaded.back.load_transposed(isa, weight);
            }
            loaded.bias.copy_from_slice(&parameters[loaded.layer.bias.clone()]);
        }
    }

    /// Runs a forward pass of a block of panels, `[panel][input]`; the outputs are in the trace.
    ///
    /// Panels hold sixteen rows, one pack per feature, as the simulator writes observations.
    pub fn forward<'t>(&self, input: &[Pack], trace: &'t mut Trace) -> &'t [Pack] {
        let panels = input.len() / self.shape.inputs();
        assert!(panels <= trace.capacity, "more panels than the trace has room for");
        trace.panels = panels;
        for (i, loaded) in self.layers.iter().enumerate() {
            let (before, rest) = trace.layers.split_at_mut(i);
            let x = before.last().map_or(input, |t| &t.values[..panels * loaded.layer.inputs]);
            let out = &mut rest[0].values[..panels * loaded.layer.outputs];
            let (sums, scratch) = (&mut rest[0].sums, &mut trace.scratch);
            self.kernel.isa().run(Forwards { loaded, x, out, sums, scratch });
        }
        trace.output()
    }

    /// Runs a backward pass of the last block: the derivatives of Σ `d_output` · output over its rows with respect to
    /// parameters, added to `gradient`, and with respect to inputs, written to `d_input`.
    ///
    /// `input` is the input of the forward pass. In a last panel that is not full, missing rows must have finite inputs
    /// and a `d_output` of zero.
    pub fn backward(
        &self,
        input: &[Pack],
        trace: &mut Trace,
        d_output: &[Pack],
        mut gradient: Option<&mut Gradient>,
        d_input: Option<&mut [Pack]>,
    ) {
        let panels = trace.panels;
        assert!(input.len() == panels * self.shape.inputs(), "another input than went through");
        assert!(d_output.len() == panels * self.shape.outputs(), "d_output of the wrong length");
        let Trace { layers, delta: [here, before], scratch, .. } = trace;

        self.seed(layers, d_output, here);
        for (i, loaded) in self.layers.iter().enumerate().rev() {
            let Layer { inputs, outputs, .. } = loaded.layer;
            let dz = &here[..panels * outputs];
            let x = if i == 0 { input } else { &layers[i - 1].values[..panels * inputs] };
            if let Some(gradient) = gradient.as_deref_mut() {
                gradient.add_layer(self.kernel, i, x, dz, true, scratch);
            }
            if i > 0 {
                let activation = self.layers[i - 1].layer.activation;
                let slope = Some((activation, layers[i - 1].kept(activation)));
                let (matrix, out) = (&loaded.back, &mut before[..panels * inputs]);
                self.kernel.isa().run(Backwards { matrix, dz, slope, out, scratch: &mut *scratch });
                std::mem::swap(here, before);
            }
        }
        if let Some(d_input) = d_input {
            self.to_input(&here[..panels * self.layers[0].layer.outputs], d_input, scratch);
        }
    }

    /// δ of the last layer.
    pub(crate) fn seed(&self, layers: &[LayerTrace], d_output: &[Pack], delta: &mut [Pack]) {
        let last = self.layers.len() - 1;
        let activation = self.layers[last].layer.activation;
        let delta = &mut delta[..d_output.len()];
        delta.copy_from_slice(d_output);
        if activation != Activation::Identity {
            self.kernel.isa().run(Slope { activation, kept: layers[last].kept(activation), values: delta });
        }
    }

    /// W₁ᵀ δ₁.
    pub(crate) fn to_input(&self, dz: &[Pack], d_input: &mut [Pack], scratch: &mut Scratch) {
        assert!(self.input_gradient, "the network was made without input gradients");
        let matrix = &self.layers[0].back;
        self.kernel.isa().run(Backwards { matrix, dz, slope: None, out: d_input, scratch });
    }
}

struct Forwards<'a> {
    loaded: &'a LoadedLayer,
    x: &'a [Pack],
    out: &'a mut [Pack],
    sums: &'a mut [Pack],
    scratch: &'a mut Scratch,
}

impl SimdTask for Forwards<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let Forwards { loaded, x, out, sums, scratch } = self;
        let activation = loaded.layer.activation;
        product(
            token,
            x,
            &loaded.weight,
            Some(&loaded.bias),
            out,
            scratch,
            #[inline(always)]
            |at, values| {
                if activation.keeps_sums() {
                    sums[at..at + values.len()].copy_from_slice(values);
                }
                activate(token, activation, values);
            },
        );
    }
}

/// The match is outside the loop, so that it is not repeated for every pack.
#[inline(always)]
fn activate<S: Simd>(token: S, activation: Activation, values: &mut [Pack]) {
    match activation {
        Activation::Identity => {}
        Activation::Tanh => activate_all(token, Activation::Tanh, values),
        Activation::Mish => activate_all(token, Activation::Mish, values),
    }
}

#[inline(always)]
fn activate_all<S: Simd>(token: S, activation: Activation, values: &mut [Pack]) {
    for value in values {
        activation.value(Lanes::load(token, value)).store(value);
    }
}

/// `values ⊙ f'`.
#[inline(always)]
fn multiply_slope<S: Simd>(token: S, activation: Activation, kept: &[Pack], values: &mut [Pack]) {
    for (value, kept) in values.iter_mut().zip(kept) {
        (Lanes::load(token, value) * activation.slope(Lanes::load(token, kept))).store(value);
    }
}

pub(crate) struct Backwards<'a> {
    pub matrix: &'a Matrix,
    pub dz: &'a [Pack],
    pub slope: Option<(Activation, &'a [Pack])>,
    pub out: &'a mut [Pack],
    pub scratch: &'a mut Scratch,
}

impl SimdTask for Backwards<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let Backwards { matrix, dz, slope, out, scratch } = self;
        product(
            token,
            dz,
            matrix,
            None,
            out,
            scratch,
            #[inline(always)]
            |at, values| {
                if let Some((activation, kept)) = slope {
                    let kept = &kept[at..at + values.len()];
                    match activation {
                        Activation::Identity => {}
                        Activation::Tanh => multiply_slope(token, Activation::Tanh, kept, values),
                        Activation::Mish => multiply_slope(token, Activation::Mish, kept, values),
                    }
                }
            },
        );
    }
}

struct Slope<'a> {
    activation: Activation,
    kept: &'a [Pack],
    values: &'a mut [Pack],
}

impl SimdTask for Slope<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        multiply_slope(token, self.activation, self.kept, self.values);
    }
}
