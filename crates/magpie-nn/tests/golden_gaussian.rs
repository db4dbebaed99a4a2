//! The diagonal Gaussian against PyTorch.

mod common;

use common::{Golden, assert_close, panels, rows};
use magpie_nn::gaussian::Gaussian;
use magpie_simd::{Isa, Lanes, Number, Pack, Simd, SimdTask};

/// Ten times what PyTorch's own float32 run deviates.
const TOLERANCE: f32 = 1.5e-6;

struct Run<'a> {
    gaussian: &'a Gaussian,
    mean: &'a [Pack],
    action: &'a [Pack],
    weight: &'a [Pack],
    log_prob: &'a mut [Pack],
    d_mean: &'a mut [Pack],
    d_log_std: &'a mut [Pack],
}

impl SimdTask for Run<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, token: S) {
        let width = self.gaussian.dimensions();
        for p in 0..self.weight.len() {
            let range = p * width..(p + 1) * width;
            let (mean, action) = (&self.mean[range.clone()], &self.action[range.clone()]);
            self.gaussian.log_prob::<Lanes<S>>(token, mean, action).store(&mut self.log_prob[p]);
            let weight = Lanes::load(token, &self.weight[p]);
            self.gaussian.backward(mean, action, weight, &mut self.d_mean[range], self.d_log_std);
        }
    }
}

#[test]
fn golden_gaussian_log_prob_entropy_and_gradients() {
    let mut golden = Golden::open("gaussian");
    let (shape, mean) = golden.array("mean");
    let [log_std, action, g] = ["logstd", "action", "g"].map(|name| golden.values(name));
    let (count, width) = (shape[0], shape[1]);
    let gaussian = Gaussian::new(&log_std);
    for isa in Isa::available() {
        let (mean, action, weight) =
            (panels(isa, &mean, width), panels(isa, &action, width), panels(isa, &g, 1));
        let mut log_prob = vec![Pack::default(); weight.len()];
        let mut d_mean = vec![Pack::default(); mean.len()];
        let mut d_log_std = vec![Pack::default(); width];
        isa.run(Run {
            gaussian: &gaussian,
            mean: &mean,
            action: &action,
            weight: &weight,
            log_prob: &mut log_prob,
            d_mean: &mut d_mean,
            d_log_std: &mut d_log_std,
        });
        assert_close("logp", &rows(&log_prob, 1, count), &golden.values("logp"), TOLERANCE);
        let d_mean = rows(&d_mean, width, count);
        assert_close("grad_mean", &d_mean, &golden.values("grad_mean"), TOLERANCE);
        let d_action: Vec<f32> = d_mean.iter().map(|d| -d).collect();
        assert_close("grad_action", &d_action, &golden.values("grad_action"), TOLERANCE);
        let d_log_std: Vec<f32> = d_log_std.iter().map(|pack| pack.0.iter().sum()).collect();
        assert_close("grad_logstd", &d_log_std, &golden.values("grad_logstd"), TOLERANCE);
    }
    let entropy = gaussian.entropy() as f32;
    assert_close("entropy_sum", &vec![entropy; count], &golden.values("entropy_sum"), TOLERANCE);
    let mean_entropy = entropy / width as f32;
    assert_close("entropy_elem_mean", &[mean_entropy], &golden.values("entropy_elem_mean"), TOLERANCE);
    assert_close("grad_entropy_logstd", &vec![1.0; width], &golden.values("grad_entropy_logstd"), TOLERANCE);
}
