//! Against PyTorch.

use super::*;
use crate::golden::{Golden, assert_close, mixed, panels};
use magpie_simd::LANES;

/// Ten times what PyTorch's own float32 run deviates.
const TOLERANCE: f32 = 2e-5;

fn open(isa: Isa, config: &VailConfig) -> (Golden, VailDiscriminator, Rows) {
    let mut golden = Golden::open("vail");
    let (expert, policy) = (golden.array("expert"), golden.array("policy"));
    let alpha = golden.values("alpha_elem");
    let width = expert.0[1];
    let rows = Rows {
        count: expert.0[0],
        mixed: panels(isa, &mixed(&expert.1, &policy.1, &alpha), width),
        expert: panels(isa, &expert.1, width),
        policy: panels(isa, &policy.1, width),
    };
    let parameters = parameters(&mut golden, "");
    let discriminator = VailDiscriminator::new(config, width, isa, |_| parameters).unwrap();
    (golden, discriminator, rows)
}

fn parameters(golden: &mut Golden, prefix: &str) -> Vec<f32> {
    let mut row = golden.layers(&format!("{prefix}enc"), 2);
    row.extend(golden.values(&format!("{prefix}out_w")));
    row.extend(golden.values(&format!("{prefix}out_b")));
    row
}

fn fill_noise(golden: &mut Golden, isa: Isa, work: &mut VailWork) {
    for (noise, name) in work.noise.iter_mut().zip(["expert", "policy", "interp"]) {
        let (shape, values) = golden.array(&format!("z_noise_{name}"));
        *noise = panels(isa, &values, shape[1]);
    }
}

#[track_caller]
fn assert_parameters(golden: &mut Golden, prefix: &str, shape: &Shape, row: &[f32]) {
    golden.assert_row(&format!("{prefix}_enc"), shape, row, TOLERANCE);
    let head = &row[shape.parameters()..];
    let (w, b) = head.split_at(head.len() - 1);
    assert_close(&format!("{prefix}_out_w"), w, &golden.values(&format!("{prefix}_out_w")), TOLERANCE);
    assert_close(&format!("{prefix}_out_b"), b, &golden.values(&format!("{prefix}_out_b")), TOLERANCE);
}

#[test]
fn golden_losses_and_gradients_with_mean_and_sampled_codes() {
    let config = VailConfig { beta: 1.0, ..VailConfig::default() };
    for isa in Isa::available() {
        for mode in ["mean", "sample"] {
            let (mut golden, discriminator, rows) = open(isa, &config);
            let mut work = discriminator.work(rows.panels());
            if mode == "sample" {
                fill_noise(&mut golden, isa, &mut work);
            }
            let health = discriminator.loss(&rows, &mut work);
            let kl = health.bottleneck.unwrap().kl;
            for (name, got) in [
                ("expert_loss", health.expert_loss),
                ("policy_loss", health.policy_loss),
                ("kl_mean", kl),
                ("gp", health.gradient_penalty),
                ("total_beta1", health.loss() + kl - config.information),
            ] {
                let name = format!("{mode}_{name}");
                assert_close(&name, &[got as f32], &golden.values(&name), TOLERANCE);
            }
            assert_parameters(
                &mut golden,
                &format!("{mode}_grad_total"),
                discriminator.encoder.shape(),
                &work.row,
            );
        }
    }
}

#[test]
fn golden_dual_ascent() {
    let isa = Isa::best();
    for (start, beta) in [("dual0", 0.0), ("dual1", 1.0)] {
        let mut golden = Golden::open("vail");
        let beta_step = f64::from(golden.value("dual_step"));
        let config = VailConfig { beta, beta_step, ..VailConfig::default() };
        let (mut golden, mut discriminator, rows) = open(isa, &config);
        let mut work = discriminator.work(rows.panels());
        fill_noise(&mut golden, isa, &mut work);
        let (mut betas, mut kls, mut losses) = (vec![beta as f32], vec![], vec![]);
        for _ in 0..10 {
            let beta = discriminator.state.beta;
            let health = discriminator.step(&rows, &mut work).unwrap();
            let kl = health.bottleneck.unwrap().kl;
            losses.push((health.loss() + beta * (kl - config.information)) as f32);
            kls.push(kl as f32);
            betas.push(discriminator.state.beta as f32);
        }
        for (name, got) in [("beta", betas), ("kl", kls), ("loss", losses)] {
            let name = format!("{start}_{name}");
            assert_close(&name, &got, &golden.values(&name), TOLERANCE);
        }
        let row = &discriminator.state.trained.parameters;
        if start == "dual0" && !golden.contains("dual0_end_enc_w0") {
            continue;
        }
        assert_parameters(&mut golden, &format!("{start}_end"), discriminator.encoder.shape(), row);
    }
}

#[test]
fn golden_dual_recursion() {
    let mut golden = Golden::open("vail");
    let beta = f64::from(golden.value("dual_seq_beta0"));
    let beta_step = f64::from(golden.value("dual_seq_step"));
    let config = VailConfig { beta, beta_step, ..VailConfig::default() };
    let (_, mut discriminator, _) = open(Isa::best(), &config);
    let mut got = vec![];
    for kl in golden.values("dual_kl_in") {
        discriminator.state.beta = discriminator.next_beta(kl.into());
        got.push(discriminator.state.beta as f32);
    }
    assert_close("dual_seq_beta", &got, &golden.values("dual_seq_beta"), TOLERANCE);
}

#[test]
fn golden_rewards() {
    for isa in Isa::available() {
        let (mut golden, discriminator, _) = open(isa, &VailConfig::default());
        let (shape, x) = golden.array("reward_x");
        let mut out = vec![Pack::default(); shape[0].div_ceil(LANES)];
        discriminator.rewards(&panels(isa, &x, shape[1]), &mut discriminator.scratch(out.len()), &mut out);
        let got: Vec<f32> = out.iter().flat_map(|pack| pack.0).take(shape[0]).collect();
        assert_close("reward_softplus", &got, &golden.values("reward_softplus"), TOLERANCE);
    }
}
