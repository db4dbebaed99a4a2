//! The shape of a network: the widths of its layers, its activations, and the layout of its parameters.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The activation of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// None: f(z) = z.
    Identity,
    /// f(z) = tanh z.
    Tanh,
    /// f(z) = z tanh(ln(1 + eᶻ)).
    Mish,
}

/// The shape of a multi-layer perceptron.
///
/// Its parameters are one flat row of `f32`: for each layer the weight, `[outputs, inputs]` row by row, followed by the
/// bias. PyTorch lists a `Sequential` of `Linear` layers in the same order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ShapeRecord")]
pub struct Shape {
    sizes: Vec<usize>,
    hidden: Activation,
    output: Activation,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShapeRecord {
    sizes: Vec<usize>,
    hidden: Activation,
    output: Activation,
}

impl TryFrom<ShapeRecord> for Shape {
    type Error = ShapeError;
    fn try_from(ShapeRecord { sizes, hidden, output }: ShapeRecord) -> Result<Shape, ShapeError> {
        Shape::new(&sizes, hidden, output)
    }
}

/// One layer of a shape: y = f(W x + b).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Length of x.
    pub inputs: usize,
    /// Length of y.
    pub outputs: usize,
    /// The position of W in the row of parameters.
    pub weight: Range<usize>,
    /// The position of b in the row of parameters.
    pub bias: Range<usize>,
    /// f.
    pub activation: Activation,
}

/// The largest number of parameters: a larger one is a mistake or a damaged file.
const MOST_PARAMETERS: usize = u32::MAX as usize;

/// Sizes that do not form a network.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "a network needs at least an input and an output size, all above zero, and at most {MOST_PARAMETERS} parameters; got {sizes:?}"
)]
pub struct ShapeError {
    sizes: Vec<usize>,
}

impl Shape {
    /// A network with layers of the given sizes, the input first: `[18, 128, 128, 6]` has three layers.
    pub fn new(sizes: &[usize], hidden: Activation, output: Activation) -> Result<Shape, ShapeError> {
        let parameters = sizes.windows(2).try_fold(0usize, |sum, w| {
            let layer = w[0].checked_add(1)?.checked_mul(w[1])?;
            sum.checked_add(layer).filter(|&sum| sum <= MOST_PARAMETERS)
        });
        if sizes.len() < 2 || sizes.contains(&0) || parameters.is_none() {
            return Err(ShapeError { sizes: sizes.to_vec() });
        }
        Ok(Shape { sizes: sizes.to_vec(), hidden, output })
    }

    /// Tanh after every hidden layer and no activation at the end: for actors, critics and most discriminators.
    pub fn tanh(sizes: &[usize]) -> Result<Shape, ShapeError> {
        Shape::new(sizes, Activation::Tanh, Activation::Identity)
    }

    /// Widths of input, hidden layers and output.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Length of an input row.
    pub fn inputs(&self) -> usize {
        self.sizes[0]
    }

    /// Length of an output row.
    pub fn outputs(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    /// The widest row anywhere in the network.
    pub fn widest(&self) -> usize {
        self.sizes.iter().copied().max().unwrap_or(0)
    }

    /// Length of the row of parameters.
    pub fn parameters(&self) -> usize {
        self.sizes.windows(2).map(|w| (w[0] + 1) * w[1]).sum()
    }

    /// Multiplications in the forward pass of one row.
    pub fn products(&self) -> usize {
        self.sizes.windows(2).map(|w| w[0] * w[1]).sum()
    }

    /// The layers in order.
    pub fn layers(&self) -> impl DoubleEndedIterator<Item = Layer> + ExactSizeIterator + '_ {
        let mut at = 0;
        let layers: Vec<Layer> = self
            .sizes
            .windows(2)
            .enumerate()
            .map(|(i, w)| {
                let (inputs, outputs) = (w[0], w[1]);
                let weight = at..at + inputs * outputs;
                let bias = weight.end..weight.end + outputs;
                at = bias.end;
                let last = i + 2 == self.sizes.len();
                let activation = if last { self.output } else { self.hidden };
                Layer { inputs, outputs, weight, bias, activation }
            })
            .collect();
        layers.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_lie_layer_after_layer() {
        let shape = Shape::tanh(&[3, 5, 2]).unwrap();
        let layers: Vec<_> = shape.layers().collect();
        assert_eq!((layers[0].weight.clone(), layers[0].bias.clone()), (0..15, 15..20));
        assert_eq!((layers[1].weight.clone(), layers[1].bias.clone()), (20..30, 30..32));
        assert_eq!(shape.parameters(), 32);
        assert_eq!([layers[0].activation, layers[1].activation], [Activation::Tanh, Activation::Identity]);
    }

    #[test]
    fn sizes_that_make_no_network_are_refused() {
        for sizes in [&[][..], &[4], &[4, 0, 1], &[4, usize::MAX, 1], &[1 << 20, 1 << 20]] {
            assert!(Shape::tanh(sizes).unwrap_err().to_string().contains(&format!("{sizes:?}")));
        }
    }
}
