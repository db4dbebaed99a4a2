//! Every derivative of a network compared with differences of an independent forward pass in `f64`.
//!
//! The forward pass is implemented again here, so that a mistake in the network's own would show as well. Differences
//! in `f64` are accurate to 1e-8 or better; the tolerance of 1e-5 of the largest entry accounts for `f32` sums of this
//! length. Kernels with fewer digits have their own tolerance.

mod common;

use common::{SPLIT, assert_close, panels, rows, tolerance};
use magpie_nn::{Activation, Gradient, Kernel, Network, Shape, Tangent, Trace, init};
use magpie_random::Stream;
use magpie_simd::{Isa, Pack};

const TOLERANCE: f32 = 1e-5;

/// Odd sizes, layers wide enough for tiles, a network without hidden layers, and outputs with an activation.
fn shapes() -> Vec<Shape> {
    use Activation::{Identity, Mish, Tanh};
    [
        (&[5, 7, 3][..], Tanh, Identity),
        (&[3, 2], Tanh, Mish),
        (&[18, 17, 13, 1], Tanh, Identity),
        (&[6, 20, 9, 4], Mish, Identity),
        (&[4, 33, 5], Mish, Tanh),
        (&[1, 1, 1], Identity, Identity),
        (&[21, 40, 35, 17], Tanh, Identity),
        (&[33, 18, 20], Mish, Tanh),
    ]
    .into_iter()
    .map(|(sizes, hidden, output)| Shape::new(sizes, hidden, output).unwrap())
    .collect()
}

fn forward(shape: &Shape, parameters: &[f64], x: &[f64]) -> Vec<f64> {
    let mut h = x.to_vec();
    for layer in shape.layers() {
        let (w, b) = (&parameters[layer.weight.clone()], &parameters[layer.bias.clone()]);
        h = (0..layer.outputs)
            .map(|o| b[o] + (0..layer.inputs).map(|i| w[o * layer.inputs + i] * h[i]).sum::<f64>())
            .map(|z| match layer.activation {
                Activation::Identity => z,
                Activation::Tanh => z.tanh(),
                Activation::Mish => z * z.exp().ln_1p().tanh(),
            })
            .collect();
    }
    h
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| v.into()).collect()
}

/// Central differences of `f` with respect to each entry of `at`.
fn differences(at: &[f64], h: f64, f: impl Fn(&[f64]) -> f64) -> Vec<f32> {
    let mut point = at.to_vec();
    (0..at.len())
        .map(|i| {
            point[i] = at[i] + h;
            let up = f(&point);
            point[i] = at[i] - h;
            let down = f(&point);
            point[i] = at[i];
            ((up - down) / (2.0 * h)) as f32
        })
        .collect()
}

/// A network with random parameters, rows and derivatives; the last panel is not full.
struct Case {
    shape: Shape,
    count: usize,
    parameters: Vec<f32>,
    x: Vec<f32>,
    direction: Vec<f32>,
    d_output: Vec<f32>,
    d_tangent: Vec<f32>,
}

impl Case {
    fn new(shape: Shape) -> Case {
        let count = 21;
        let mut draws = Stream::new(7, "derivatives").draws(0, 0);
        let parameters = init::torch_default(&shape, &mut draws).iter().map(|p| 1.5 * p).collect();
        let mut normals = |width: usize| (0..count * width).map(|_| draws.normal()).collect::<Vec<f32>>();
        let (x, direction) = (normals(shape.inputs()), normals(shape.inputs()));
        let (d_output, d_tangent) = (normals(shape.outputs()), normals(shape.outputs()));
        Case { shape, count, parameters, x, direction, d_output, d_tangent }
    }

    /// Σ d_output · y.
    fn first_order(&self, parameters: &[f64], x: &[f64]) -> f64 {
        x.chunks(self.shape.inputs())
            .flat_map(|row| forward(&self.shape, parameters, row))
            .zip(&self.d_output)
            .map(|(y, &d)| y * f64::from(d))
            .sum()
    }

    /// Σ d_tangent · J v, the slope along the direction.
    fn second_order(&self, parameters: &[f64], x: &[f64]) -> f64 {
        let h = 1e-4;
        let moved = |h: f64| {
            let x: Vec<f64> = x.iter().zip(&self.direction).map(|(x, &v)| x + h * f64::from(v)).collect();
            x.chunks(self.shape.inputs())
                .flat_map(|row| forward(&self.shape, parameters, row))
                .zip(&self.d_tangent)
                .map(|(y, &d)| y * f64::from(d))
                .sum::<f64>()
        };
        (moved(h) - moved(-h)) / (2.0 * h)
    }

    fn panels(&self, isa: Isa, values: &[f32]) -> Vec<Pack> {
        panels(isa, values, values.len() / self.count)
    }
}

#[test]
fn first_derivatives_agree_with_differences() {
    for shape in shapes() {
        let case = Case::new(shape);
        let (parameters, x) = (wide(&case.parameters), wide(&case.x));
        let want_parameters = differences(&parameters, 1e-5, |p| case.first_order(p, &x));
        let want_x = differences(&x, 1e-5, |x| case.first_order(&parameters, x));
        let want_y: Vec<f32> = x
            .chunks(case.shape.inputs())
            .flat_map(|row| forward(&case.shape, &parameters, row))
            .map(|y| y as f32)
            .collect();
        for kernel in Kernel::available() {
            let (isa, tolerance) = (kernel.isa(), tolerance(kernel, TOLERANCE, SPLIT));
            let input = case.panels(isa, &case.x);
            let mut network = Network::new(&case.shape, kernel, true);
            network.load(&case.parameters);
            let mut trace = Trace::new(&case.shape, 4);
            let y = rows(network.forward(&input, &mut trace), case.shape.outputs(), case.count);
            assert_close(&format!("{kernel} {:?} y", case.shape), &y, &want_y, tolerance);

            let mut gradient = Gradient::new(&case.shape);
            let mut d_input = vec![Pack::default(); input.len()];
            let d_output = case.panels(isa, &case.d_output);
            network.backward(&input, &mut trace, &d_output, Some(&mut gradient), Some(&mut d_input));
            let mut row = vec![0.0; case.shape.parameters()];
            gradient.write(&mut row);
            assert_close(&format!("{kernel} {:?} parameters", case.shape), &row, &want_parameters, tolerance);
            let d_x = rows(&d_input, case.shape.inputs(), case.count);
            assert_close(&format!("{kernel} {:?} inputs", case.shape), &d_x, &want_x, tolerance);
        }
    }
}

#[test]
fn second_derivatives_agree_with_differences() {
    for shape in shapes() {
        let case = Case::new(shape);
        let (parameters, x) = (wide(&case.parameters), wide(&case.x));
        let both = |p: &[f64], x: &[f64]| case.first_order(p, x) + case.second_order(p, x);
        let want_parameters = differences(&parameters, 1e-4, |p| both(p, &x));
        let want_x = differences(&x, 1e-4, |x| both(&parameters, x));
        for kernel in Kernel::available() {
            let (isa, tolerance) = (kernel.isa(), tolerance(kernel, TOLERANCE, SPLIT));
            let [input, direction, d_output, d_tangent] =
                [&case.x, &case.direction, &case.d_output, &case.d_tangent].map(|v| case.panels(isa, v));
            let mut network = Network::new(&case.shape, kernel, true);
            network.load(&case.parameters);
            let (mut trace, mut tangent) = (Trace::new(&case.shape, 4), Tangent::new(&case.shape, 4));
            network.forward(&input, &mut trace);
            let slope: f64 =
                rows(network.tangent(&trace, &direction, &mut tangent), case.shape.outputs(), case.count)
                    .iter()
                    .zip(&case.d_tangent)
                    .map(|(&s, &d)| f64::from(s) * f64::from(d))
                    .sum();
            let want_slope = case.second_order(&parameters, &x);
            assert!(
                (slope - want_slope).abs() < f64::from(tolerance) * (1.0 + want_slope.abs()),
                "{slope} {want_slope}"
            );

            let mut gradient = Gradient::new(&case.shape);
            let mut d_input = vec![Pack::default(); input.len()];
            network.backward_tangent(
                &input,
                &mut trace,
                &direction,
                &mut tangent,
                &d_output,
                &d_tangent,
                &mut gradient,
                Some(&mut d_input),
            );
            let mut row = vec![0.0; case.shape.parameters()];
            gradient.write(&mut row);
            assert_close(&format!("{kernel} {:?} parameters", case.shape), &row, &want_parameters, tolerance);
            let d_x = rows(&d_input, case.shape.inputs(), case.count);
            assert_close(&format!("{kernel} {:?} inputs", case.shape), &d_x, &want_x, tolerance);
        }
    }
}

#[test]
fn without_a_direction_the_second_order_pass_is_the_first_order_one() {
    for (shape, kernel) in shapes().into_iter().flat_map(|s| Kernel::available().map(move |k| (s.clone(), k)))
    {
        let isa = kernel.isa();
        let case = Case::new(shape);
        let (input, d_output) = (case.panels(isa, &case.x), case.panels(isa, &case.d_output));
        let mut network = Network::new(&case.shape, kernel, true);
        network.load(&case.parameters);
        let (mut trace, mut tangent) = (Trace::new(&case.shape, 4), Tangent::new(&case.shape, 4));
        network.forward(&input, &mut trace);
        let (mut first, mut second) = (Gradient::new(&case.shape), Gradient::new(&case.shape));
        network.backward(&input, &mut trace, &d_output, Some(&mut first), None);
        let still = vec![Pack::default(); input.len()];
        let zeros = vec![Pack::default(); d_output.len()];
        network.tangent(&trace, &still, &mut tangent);
        network.backward_tangent(
            &input,
            &mut trace,
            &still,
            &mut tangent,
            &d_output,
            &zeros,
            &mut second,
            None,
        );
        let (mut a, mut b) = (vec![0.0; case.shape.parameters()], vec![0.0; case.shape.parameters()]);
        first.write(&mut a);
        second.write(&mut b);
        assert_close("gradient", &b, &a, 1e-6);
    }
}
