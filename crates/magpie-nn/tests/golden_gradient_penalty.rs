//! The parameter gradient of a gradient penalty against PyTorch's double backward.

mod common;

use common::{Golden, SPLIT, assert_close, panels, rows, tolerance};
use magpie_nn::{Gradient, Kernel, Network, Tangent, Trace};
use magpie_simd::Pack;

/// Ten times what PyTorch's own float32 run deviates.
///
/// Split numbers have twice the error bound of their products: a second derivative uses every weight twice.
const TOLERANCE: f32 = 7e-6;

/// GP = 10 mean (‖∇D‖ - 1)² at x = α·expert + (1-α)·policy.
#[test]
fn golden_gradient_penalty_of_gail() {
    let mut golden = Golden::open("gail");
    let shape = golden.network("d");
    let parameters = golden.row("d", &shape);
    let (size, expert) = golden.array("expert");
    let (count, width) = (size[0], size[1]);
    let policy = golden.values("policy");
    for mix in ["elem", "row"] {
        let alpha = golden.values(&format!("alpha_{mix}"));
        let alpha_of = |i: usize| alpha[if alpha.len() == expert.len() { i } else { i / width }];
        let x: Vec<f32> =
            (0..expert.len()).map(|i| alpha_of(i) * expert[i] + (1.0 - alpha_of(i)) * policy[i]).collect();
        for kernel in Kernel::available() {
            let (isa, tolerance) = (kernel.isa(), tolerance(kernel, TOLERANCE, 2.0 * SPLIT));
            let input = panels(isa, &x, width);
            let panel_count = count.div_ceil(16);
            let (mut trace, mut tangent) =
                (Trace::new(&shape, panel_count), Tangent::new(&shape, panel_count));
            let mut network = Network::new(&shape, kernel, true);
            network.load(&parameters);
            network.forward(&input, &mut trace);
            let ones = vec![Pack([1.0; 16]); panel_count];
            let mut d_input = vec![Pack::default(); input.len()];
            network.backward(&input, &mut trace, &ones, None, Some(&mut d_input));

            let slopes = rows(&d_input, width, count);
            let norms: Vec<f32> =
                slopes.chunks(width).map(|g| g.iter().map(|v| v * v).sum::<f32>().sqrt()).collect();
            assert_close(
                &format!("{kernel} gradnorm_{mix}"),
                &norms,
                &golden.values(&format!("gradnorm_{mix}")),
                tolerance,
            );
            let penalty = 10.0 * norms.iter().map(|n| (n - 1.0).powi(2)).sum::<f32>() / count as f32;
            assert_close(&format!("gp_{mix}"), &[penalty], &golden.values(&format!("gp_{mix}")), tolerance);

            let direction: Vec<f32> = (0..slopes.len())
                .map(|i| 20.0 * (norms[i / width] - 1.0) / norms[i / width] * slopes[i] / count as f32)
                .collect();
            let direction = panels(isa, &direction, width);
            network.tangent(&trace, &direction, &mut tangent);
            let mut gradient = Gradient::new(&shape);
            let zeros = vec![Pack::default(); panel_count];
            network.backward_tangent(
                &input,
                &mut trace,
                &direction,
                &mut tangent,
                &zeros,
                &ones,
                &mut gradient,
                None,
            );
            let mut row = vec![0.0; shape.parameters()];
            gradient.write(&mut row);
            let want = golden.row(&format!("grad_gp_{mix}_d"), &shape);
            for (i, layer) in shape.layers().enumerate() {
                for (part, range) in [("w", layer.weight), ("b", layer.bias)] {
                    assert_close(
                        &format!("{kernel} {mix} {part}{i}"),
                        &row[range.clone()],
                        &want[range],
                        tolerance,
                    );
                }
            }
        }
    }
}
