//! Comparison with PyTorch.

use super::*;
use crate::golden::{Golden, assert_close, panels};

/// Ten times the deviation of PyTorch's own float32 run.
const TOLERANCE: f32 = 1.1e-5;

#[test]
fn golden_difference_of_means() {
    let mut golden = Golden::open("maxent");
    let shape = golden.network("r");
    let parameters = golden.row("r", &shape);
    let (expert, policy) = (golden.array("expert"), golden.array("policy"));
    for isa in Isa::available() {
        let config = MaxentConfig { reward_l2: 0.0, ..MaxentConfig::default() };
        let mut discriminator = MaxentDiscriminator::new(&config, shape.clone(), isa, |_| parameters.clone());
        let rows = Rows {
            count: expert.0[0],
            expert: panels(isa, &expert.1, expert.0[1]),
            policy: panels(isa, &policy.1, policy.0[1]),
            mixed: Vec::new(),
        };
        let mut work = discriminator.work(rows.panels());
        let health = discriminator.loss(&rows, &mut work);
        assert_close("avg_loss", &[health.loss() as f32], &golden.values("avg_loss"), TOLERANCE);
        // The last bias cancels: its gradient is rounding noise around zero.
        let last = work.row.len() - 1;
        assert!(work.row[last].abs() < 1e-6);
        let (row, mut golden_row) = (work.row.clone(), golden.row("avg_grad_r", &shape));
        golden_row[last] = row[last];
        for layer in shape.layers() {
            for range in [layer.weight, layer.bias] {
                assert_close("avg_grad", &row[range.clone()], &golden_row[range], TOLERANCE);
            }
        }
        let mut out = vec![Pack::default(); rows.panels()];
        discriminator.rewards(&rows.policy, &mut discriminator.scratch(rows.panels()), &mut out);
        let got: Vec<f32> = out.iter().flat_map(|pack| pack.0).collect();
        assert_close("r_policy", &got[..rows.count], &golden.values("r_policy"), TOLERANCE);
        discriminator.config.reward = MaxentReward::Softplus;
        discriminator.rewards(&rows.policy, &mut discriminator.scratch(rows.panels()), &mut out);
        let got: Vec<f32> = out.iter().flat_map(|pack| pack.0).collect();
        let softplus = |r: f32| f64::from(r).exp().ln_1p() as f32;
        let want: Vec<f32> = golden.values("r_policy").into_iter().map(softplus).collect();
        assert_close("softplus of r_policy", &got[..rows.count], &want, TOLERANCE);
        assert!(got.iter().all(|&reward| reward > 0.0), "ending an episode pays");

        // Compares the gradient of the L2 term on rewards with finite differences.
        discriminator.config.reward_l2 = 0.7;
        discriminator.loss(&rows, &mut work);
        let gradient = work.row.clone();
        let length = gradient.iter().map(|g| g * g).sum::<f32>();
        let mut at = |step: f32| {
            let moved: Vec<f32> = parameters.iter().zip(&gradient).map(|(p, g)| p + step * g).collect();
            discriminator.network.load(&moved);
            discriminator.loss(&rows, &mut work).loss()
        };
        let step = 1e-2 / length.sqrt();
        let slope = (at(step) - at(-step)) / f64::from(2.0 * step);
        assert!((slope / f64::from(length) - 1.0).abs() < 5e-3, "{slope} {length}");
    }
}
