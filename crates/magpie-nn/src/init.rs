//! Initial parameters.
//!
//! Orthogonal: the Q factor of a matrix of standard normals, times a gain. Each column has the sign of R's diagonal,
//! which makes Q uniform over orthogonal matrices. Xavier: uniform in ±√(6/(inputs + outputs)).

use magpie_random::Draws;

use crate::shape::Shape;

/// Orthogonal weights and zero biases. `gain` is for all layers but the last, `last_gain` for the last.
///
/// Paper: gain √2; last layer 0.01 for actors and 1 for critics.
pub fn orthogonal(shape: &Shape, gain: f32, last_gain: f32, draws: &mut Draws) -> Vec<f32> {
    let mut row = vec![0.0; shape.parameters()];
    let last = shape.layers().len() - 1;
    for (i, layer) in shape.layers().enumerate() {
        let gain = if i == last { last_gain } else { gain };
        orthogonal_matrix(&mut row[layer.weight.clone()], layer.outputs, layer.inputs, gain, draws);
    }
    row
}

/// Xavier-uniform weights and biases uniform in ±1/√inputs, for discriminators.
pub fn xavier(shape: &Shape, draws: &mut Draws) -> Vec<f32> {
    uniform(shape, draws, |inputs, outputs| (6.0 / (inputs + outputs)).sqrt())
}

/// Weights and biases uniform in ±1/√inputs, PyTorch's default for linear layers.
pub fn torch_default(shape: &Shape, draws: &mut Draws) -> Vec<f32> {
    uniform(shape, draws, |inputs, _| 1.0 / inputs.sqrt())
}

fn uniform(shape: &Shape, draws: &mut Draws, weight_bound: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    let mut row = vec![0.0; shape.parameters()];
    for layer in shape.layers() {
        let (inputs, outputs) = (layer.inputs as f32, layer.outputs as f32);
        for (range, bound) in
            [(layer.weight, weight_bound(inputs, outputs)), (layer.bias, 1.0 / inputs.sqrt())]
        {
            row[range].fill_with(|| draws.uniform(-bound, bound));
        }
    }
    row
}

/// Modified Gram–Schmidt, applied twice to each column, in `f64`: Q with a positive diagonal of R, which is the sign
/// rule. The columns are the vectors of the longer side.
fn orthogonal_matrix(weight: &mut [f32], outputs: usize, inputs: usize, gain: f32, draws: &mut Draws) {
    let (long, short) = (outputs.max(inputs), outputs.min(inputs));
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(short);
    while columns.len() < short {
        let mut column: Vec<f64> = (0..long).map(|_| f64::from(draws.normal())).collect();
        for _ in 0..2 {
            for done in &columns {
                let along: f64 = done.iter().zip(&column).map(|(a, b)| a * b).sum();
                column.iter_mut().zip(done).for_each(|(c, d)| *c -= along * d);
            }
        }
        let norm = column.iter().map(|c| c * c).sum::<f64>().sqrt();
        // Independent normals are linearly dependent with probability zero; a column of rounding noise is drawn again.
        if norm > 1e-6 {
            column.iter_mut().for_each(|c| *c /= norm);
            columns.push(column);
        }
    }
    for o in 0..outputs {
        for i in 0..inputs {
            let value = if outputs >= inputs { columns[i][o] } else { columns[o][i] };
            weight[o * inputs + i] = (value * f64::from(gain)) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_random::Stream;

    #[test]
    fn orthogonal_layers_are_orthogonal_with_their_gain() {
        let shape = Shape::tanh(&[18, 40, 7, 3]).unwrap();
        let row = orthogonal(&shape, 2_f32.sqrt(), 0.01, &mut Stream::new(1, "init").draws(0, 0));
        for (i, layer) in shape.layers().enumerate() {
            let w = &row[layer.weight.clone()];
            let gain = if i == 2 { 0.01 } else { 2_f32.sqrt() };
            let entry = |o: usize, i: usize| f64::from(w[o * layer.inputs + i]);
            let (short, long) = (layer.inputs.min(layer.outputs), layer.inputs.max(layer.outputs));
            for a in 0..short {
                for b in 0..short {
                    let dot: f64 = (0..long)
                        .map(|l| match layer.outputs >= layer.inputs {
                            true => entry(l, a) * entry(l, b),
                            false => entry(a, l) * entry(b, l),
                        })
                        .sum();
                    let want = if a == b { f64::from(gain * gain) } else { 0.0 };
                    assert!((dot - want).abs() < 1e-6 * f64::from(gain * gain), "layer {i}: {dot} {want}");
                }
            }
            assert!(row[layer.bias].iter().all(|&b| b == 0.0));
        }
    }

    #[test]
    fn uniform_layers_fill_their_bounds() {
        let shape = Shape::tanh(&[24, 100, 1]).unwrap();
        for (row, bound) in [
            (xavier(&shape, &mut Stream::new(1, "init").draws(0, 0)), (6.0_f32 / 124.0).sqrt()),
            (torch_default(&shape, &mut Stream::new(1, "init").draws(0, 0)), 1.0 / 24_f32.sqrt()),
        ] {
            let layer = shape.layers().next().unwrap();
            let (weight, bias) = (&row[layer.weight], &row[layer.bias]);
            let largest = |values: &[f32]| values.iter().fold(0.0_f32, |m, v| m.max(v.abs()));
            assert!(largest(weight) <= bound && largest(weight) > 0.99 * bound);
            assert!(largest(bias) <= 1.0 / 24_f32.sqrt() && largest(bias) > 0.9 / 24_f32.sqrt());
            let mean = weight.iter().sum::<f32>() / weight.len() as f32;
            assert!(mean.abs() < 0.03 * bound);
        }
    }
}
