//! Comparison with PyTorch.

use super::*;
use crate::golden::{Golden, assert_close, panels};
use magpie_random::Stream;

/// Ten times the deviation of PyTorch's own float32 run.
const TOLERANCE: f32 = 7e-5;
const GAMMA: f32 = 0.99;

fn triple(golden: &mut Golden, isa: Isa, side: &str, config: &AirlConfig) -> Triple {
    let mut values = |name: &str| golden.array(&format!("{side}_{name}"));
    let ((_, s), (_, a), (_, s2)) = (values("s"), values("a"), values("s2"));
    let (_, done) = values("done");
    let (_, log_probs) = values("logpi");
    let count = done.len();
    let (observation, action) = (s.len() / count, a.len() / count);
    let rows: Vec<f32> = (0..count)
        .flat_map(|i| [&s[i * observation..][..observation], &a[i * action..][..action]].concat())
        .collect();
    let discount: Vec<f32> =
        done.iter().map(|&done| if config.mask_terminal { GAMMA * (1.0 - done) } else { GAMMA }).collect();
    Triple {
        count,
        pair: panels(isa, &rows, observation + action),
        before: panels(isa, &s, observation),
        after: panels(isa, &s2, observation),
        discount: panels(isa, &discount, 1),
        opponent: panels(isa, &log_probs, 1),
    }
}

#[test]
fn golden_losses_gradients_and_rewards() {
    for isa in Isa::available() {
        for (form, mask_terminal) in [("plain", false), ("masked", true)] {
            let mut golden = Golden::open("airl");
            let (g, h) = (golden.network("g"), golden.network("h"));
            let sizes = Sizes { observation: h.inputs(), action: g.inputs() - h.inputs() };
            let hidden = vec![64, 64];
            let config = AirlConfig { mask_terminal, hidden, ..AirlConfig::default() };
            let mut draws = Stream::new(1, "test").draws(0, 0);
            let mut model = Airl::from_config(&config, sizes, GAMMA, isa, &mut draws).unwrap();
            let mut row = golden.row("g", &g);
            row.extend(golden.row("h", &h));
            model.networks.load(&row);

            let mut pass = Pass::new(&model.networks, 4);
            pass.expert = triple(&mut golden, isa, "expert", &config);
            pass.policy = triple(&mut golden, isa, "policy", &config);
            let mut shares = golden.values("alpha_row").into_iter();
            pass.mix(|| shares.next().unwrap());
            let health = pass.loss(&model.networks, &config, GAMMA);
            for (name, got) in [
                ("expert_loss", health.expert_loss),
                ("policy_loss", health.policy_loss),
                ("gp", health.gradient_penalty),
            ] {
                let name = format!("{form}_{name}");
                assert_close(&name, &[got as f32], &golden.values(&name), TOLERANCE);
            }
            let (g_row, h_row) = pass.row.split_at(g.parameters());
            golden.assert_row(&format!("{form}_grad_total_g"), &g, g_row, TOLERANCE);
            // The last bias of h is a difference of nearly equal sums, so compare it with the size of the other
            // gradients.
            let bias = h.parameters() - 1;
            let want = golden.value(&format!("{form}_grad_total_h_b2"));
            assert!((h_row[bias] - want).abs() < 1e-6, "{} {want}", h_row[bias]);
            let mut h_row = h_row.to_vec();
            h_row[bias] = want;
            golden.assert_row(&format!("{form}_grad_total_h"), &h, &h_row, TOLERANCE);

            for (reward, name) in [
                (AirlReward::LogOdds, "reward_policy"),
                (AirlReward::Advantage, "reward_f_policy"),
                (AirlReward::Reward, "reward_g_policy"),
            ] {
                model.config.reward = reward;
                let mut out = Vec::new();
                model.rewards(&pass.policy, &mut model.scratch().traces, &mut out);
                let got: Vec<f32> = out.iter().flat_map(|p| p.0).take(pass.policy.count).collect();
                let name = format!("{form}_{name}");
                assert_close(&name, &got, &golden.values(&name), TOLERANCE);
            }

            // The same with PyTorch's f and log π.
            let log_probs = golden.values("policy_logpi");
            let mut got = golden.values(&format!("{form}_reward_f_policy"));
            let typical = log_probs.iter().sum::<f32>() / log_probs.len() as f32;
            let want: Vec<f32> = got.iter().map(|f| (f - typical).exp().ln_1p()).collect();
            softplus_above(&log_probs, &mut got);
            assert_close("softplus", &got, &want, TOLERANCE);
            // Health says what is paid.
            let config = AirlConfig { reward: AirlReward::Softplus, ..config.clone() };
            let paid = pass.loss(&model.networks, &config, GAMMA).policy_reward as f32;
            let mean = want.iter().sum::<f32>() / want.len() as f32;
            assert_close("mean reward", &[paid], &[mean], TOLERANCE);
        }
    }
}
