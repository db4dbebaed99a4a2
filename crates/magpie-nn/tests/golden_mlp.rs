//! Outputs and gradients of networks against PyTorch.

mod common;

use common::{Golden, SPLIT, assert_close, panels, rows, tolerance};
use magpie_nn::{Gradient, Kernel, Network, Trace};
use magpie_simd::Pack;

/// Ten times what PyTorch's own float32 run deviates.
const TOLERANCE: f32 = 9e-6;

#[test]
fn golden_mlp_forward_and_backward() {
    let mut golden = Golden::open("mlp");
    let (x_shape, x) = golden.array("x");
    for net in ["pi", "vf"] {
        let shape = golden.network(net);
        let parameters = golden.row(net, &shape);
        let want_gradient = golden.row(&format!("{net}_grad"), &shape);
        let [g, want_out, want_x] =
            ["g", "out", "grad_x"].map(|name| golden.values(&format!("{net}_{name}")));
        for kernel in Kernel::available() {
            let (isa, tolerance) = (kernel.isa(), tolerance(kernel, TOLERANCE, SPLIT));
            let input = panels(isa, &x, x_shape[1]);
            let mut trace = Trace::new(&shape, x_shape[0].div_ceil(16));
            let mut network = Network::new(&shape, kernel, true);
            network.load(&parameters);
            let out = rows(network.forward(&input, &mut trace), shape.outputs(), x_shape[0]);
            assert_close(&format!("{kernel} {net}_out"), &out, &want_out, tolerance);

            let mut gradient = Gradient::new(&shape);
            let mut d_input = vec![Pack::default(); input.len()];
            let d_output = panels(isa, &g, shape.outputs());
            network.backward(&input, &mut trace, &d_output, Some(&mut gradient), Some(&mut d_input));
            let mut row = vec![0.0; shape.parameters()];
            gradient.write(&mut row);
            for (i, layer) in shape.layers().enumerate() {
                for (part, range) in [("w", layer.weight), ("b", layer.bias)] {
                    let what = format!("{kernel} {net}_grad_{part}{i}");
                    assert_close(&what, &row[range.clone()], &want_gradient[range], tolerance);
                }
            }
            let d_x = rows(&d_input, x_shape[1], x_shape[0]);
            assert_close(&format!("{kernel} {net}_grad_x"), &d_x, &want_x, tolerance);
        }
    }
}
