//! Running normalisers compared with the reference's and the textbook's rules.

mod common;

use common::{Golden, assert_close, panels, rows};
use magpie_nn::normaliser::{Moments, RunningMeanStd};
use magpie_simd::{Isa, Pack};

/// Ten times what PyTorch's own float32 run deviates.
const TOLERANCE: f32 = 2e-5;

/// `ref` starts with the weight of one row of mean 1 and variance 1 and uses the variance with n - 1; `std` starts with
/// (almost) no weight and uses the variance with n.
fn start(tag: &str, width: usize) -> RunningMeanStd {
    if tag == "ref" { RunningMeanStd::with_prior(width, 1.0, 1.0, 1.0) } else { RunningMeanStd::new(width) }
}

fn merge(tag: &str, running: &mut RunningMeanStd, batch: &Moments) {
    if tag == "ref" {
        let n = batch.count();
        let variance: Vec<f64> = batch.squares().iter().map(|s| s / (n - 1.0)).collect();
        running.merge(batch.mean(), &variance, n);
    } else {
        running.update(batch);
    }
}

fn narrow(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&v| v as f32).collect()
}

#[test]
fn golden_running_norm_of_observations() {
    let mut golden = Golden::open("running_norm");
    let (shape, observations) = golden.array("obs");
    let (batches, count, width) = (shape[0], shape[1], shape[2]);
    for tag in ["ref", "std"] {
        let [mean, var, counts, norm] =
            ["mean", "var", "count", "norm"].map(|n| golden.values(&format!("{tag}_{n}")));
        let mut running = start(tag, width);
        for b in 0..batches {
            let batch_rows = &observations[b * count * width..][..count * width];
            let raw = panels(Isa::best(), batch_rows, width);
            let mut batch = Moments::new(width);
            if b % 2 == 0 {
                batch.add_rows(batch_rows);
            } else {
                batch.add_panels(Isa::best(), &raw, 16);
            }
            merge(tag, &mut running, &batch);
            let at = b * width..(b + 1) * width;
            assert_close("mean", &narrow(running.mean()), &mean[at.clone()], TOLERANCE);
            assert_close("var", &narrow(running.variance()), &var[at], TOLERANCE);
            assert_close("count", &[running.count() as f32], &counts[b..=b], TOLERANCE);
            let mut out = vec![Pack::default(); raw.len()];
            running.freeze(f32::INFINITY).panels(Isa::best(), &raw, &mut out);
            let want = &norm[b * count * width..][..count * width];
            assert_close("norm", &rows(&out, width, count), want, TOLERANCE);
        }
        // The reference's evaluation adds the epsilon outside the root, which makes no visible difference here.
        let frozen = running.freeze(f32::INFINITY);
        let got: Vec<f32> = observations[..count * width]
            .iter()
            .enumerate()
            .map(|(i, &x)| frozen.value(i % width, x))
            .collect();
        assert_close("probe_obs_eval", &got, &golden.values(&format!("{tag}_probe_obs_eval")), TOLERANCE);
    }
}

#[test]
fn golden_running_norm_of_returns() {
    let mut golden = Golden::open("running_norm");
    let (shape, returns) = golden.array("returns");
    let probe = golden.values("probe");
    for tag in ["ref", "std"] {
        let [mean, var, counts, norm] =
            ["mean", "var", "count", "norm"].map(|n| golden.values(&format!("{tag}_ret_{n}")));
        let mut running = start(tag, 1);
        for (t, step) in returns.chunks(shape[1]).enumerate() {
            let mut batch = Moments::new(1);
            batch.add_rows(step);
            merge(tag, &mut running, &batch);
            assert_close("ret_mean", &narrow(running.mean()), &mean[t..=t], TOLERANCE);
            assert_close("ret_var", &narrow(running.variance()), &var[t..=t], TOLERANCE);
            assert_close("ret_count", &[running.count() as f32], &counts[t..=t], TOLERANCE);
            let frozen = running.freeze(5.0);
            let got: Vec<f32> = step.iter().map(|&r| frozen.value(0, r)).collect();
            assert_close("ret_norm", &got, &norm[t * shape[1]..][..shape[1]], TOLERANCE);
        }
        let frozen = running.freeze(5.0);
        let raw: Vec<f32> = probe.iter().map(|&p| frozen.raw(0, p)).collect();
        assert_close("probe_denorm", &raw, &golden.values(&format!("{tag}_probe_denorm")), TOLERANCE);
    }
}
