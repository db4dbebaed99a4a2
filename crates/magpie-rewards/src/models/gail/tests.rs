//! Against PyTorch.

use super::*;
use crate::adversarial::RewardForm;
use crate::golden::{Golden, assert_close, mixed, panels};
use magpie_random::Stream;
use magpie_simd::LANES;

/// Ten times what PyTorch's own float32 run deviates.
const TOLERANCE: f32 = 7e-6;

fn discriminator(golden: &mut Golden, config: &GailConfig, isa: Isa) -> GailDiscriminator {
    let shape = golden.network("d");
    let parameters = golden.row("d", &shape);
    GailDiscriminator::new(config, shape, isa, |_| parameters)
}

#[test]
fn golden_losses_gradients_and_steps() {
    let mut golden = Golden::open("gail");
    for isa in Isa::available() {
        for mix in ["elem", "row"] {
            let (expert, policy) = (golden.array("expert"), golden.array("policy"));
            let alpha = golden.values(&format!("alpha_{mix}"));
            let rows = Rows {
                count: expert.0[0],
                mixed: panels(isa, &mixed(&expert.1, &policy.1, &alpha), expert.0[1]),
                expert: panels(isa, &expert.1, expert.0[1]),
                policy: panels(isa, &policy.1, policy.0[1]),
            };
            let mut discriminator = discriminator(&mut golden, &GailConfig::default(), isa);
            let mut work = discriminator.work(rows.panels());
            let health = discriminator.loss(&rows, &mut work);
            for (name, got) in [
                ("expert_loss".to_owned(), health.expert_loss),
                ("policy_loss".to_owned(), health.policy_loss),
                (format!("gp_{mix}"), health.gradient_penalty),
                (format!("total_{mix}"), health.loss()),
            ] {
                assert_close(&name, &[got as f32], &golden.values(&name), TOLERANCE);
            }
            let shape = discriminator.network.shape().clone();
            golden.assert_row(&format!("grad_total_{mix}_d"), &shape, &work.row, TOLERANCE);

            if mix == "elem" {
                let mut draws = Stream::new(1, "test").draws(0, 0);
                let losses: Vec<f32> = (0..3)
                    .map(|_| discriminator.learn(&rows, &mut work, &mut draws).unwrap().loss() as f32)
                    .collect();
                assert_close("step3_loss", &losses, &golden.values("step3_loss"), TOLERANCE);
                golden.assert_row("step3_d", &shape, &discriminator.state.parameters, TOLERANCE);
            }
        }
    }
}

#[test]
fn golden_rewards() {
    let mut golden = Golden::open("gail");
    let (shape, x) = golden.array("reward_x");
    for isa in Isa::available() {
        for (form, name) in [
            (RewardForm::Softplus, "reward_softplus"),
            (RewardForm::LogOdds, "reward_airl"),
            (RewardForm::LogD, "reward_logd"),
        ] {
            let config = GailConfig { reward: form, ..GailConfig::default() };
            let discriminator = discriminator(&mut golden, &config, isa);
            let mut out = vec![Pack::default(); shape[0].div_ceil(LANES)];
            discriminator.rewards(
                &panels(isa, &x, shape[1]),
                &mut discriminator.scratch(out.len()),
                &mut out,
            );
            let got: Vec<f32> = out.iter().flat_map(|pack| pack.0).take(shape[0]).collect();
            assert_close(name, &got, &golden.values(name), TOLERANCE);
        }
    }
}
