//! Against PyTorch.

use super::*;
use crate::golden::{Golden, assert_close, mixed, panels};

/// Ten times what PyTorch's own float32 run deviates.
const TOLERANCE: f32 = 5e-5;

fn config(steps: usize, form: &str) -> DiffailConfig {
    DiffailConfig {
        timesteps: steps,
        reward_timesteps: steps,
        reward_noise: Noise::Own,
        error: if form == "paper" { Reduction::Sum } else { Reduction::Mean },
        discriminator: if form == "ref" { Output::Logit } else { Output::Probability },
        ..DiffailConfig::default()
    }
}

/// The golden network under this configuration.
fn open(config: &DiffailConfig, isa: Isa) -> (Golden, DiffailDiscriminator) {
    let mut golden = Golden::open("diffail");
    let width = golden.array("expert").0[1];
    let mut parameters = golden.layers("t", 2);
    parameters.extend(golden.layers("m", 3));
    parameters.extend(golden.values("f_w"));
    parameters.extend(golden.values("f_b"));
    let predictor = Predictor::new(config, width, isa).unwrap();
    let discriminator = DiffailDiscriminator::new(config, predictor, isa, 1, parameters);
    (golden, discriminator)
}

#[test]
fn golden_schedule() {
    for (steps, prefix) in [(100, "T100"), (10, "T10")] {
        let (mut golden, discriminator) = open(&config(steps, "paper"), Isa::best());
        for (i, name) in ["sqrt_ab", "sqrt_1mab"].into_iter().enumerate() {
            let got: Vec<f32> = discriminator.predictor.schedule.iter().map(|pair| pair[i]).collect();
            let name = format!("{prefix}_{name}");
            assert_close(&name, &got, &golden.values(&name), 1e-6);
        }
    }
}

#[test]
fn golden_losses_and_gradients_of_three_forms() {
    let mut gradients = 0;
    for isa in Isa::available() {
        for (steps, prefix) in [(100, "T100"), (10, "T10")] {
            for form in ["ref", "prob", "paper"] {
                let (mut golden, discriminator) = open(&config(steps, form), isa);
                let (expert, policy) = (golden.array("expert"), golden.array("policy"));
                let alpha = golden.values("alpha_row");
                let width = expert.0[1];
                let rows = Rows {
                    count: expert.0[0],
                    mixed: panels(isa, &mixed(&expert.1, &policy.1, &alpha), width),
                    expert: panels(isa, &expert.1, width),
                    policy: panels(isa, &policy.1, width),
                };
                let mut work = discriminator.work(rows.panels());
                for (diffused, name) in work.diffused.iter_mut().zip(["expert", "policy", "interp"]) {
                    let timesteps = golden.values(&format!("{prefix}_t_{name}"));
                    diffused.timesteps = timesteps.iter().map(|&t| t as u32).collect();
                    diffused.noise = panels(isa, &golden.values(&format!("{prefix}_noise_{name}")), width);
                }
                let health = discriminator.loss(&rows, &mut work);
                let name = |what: &str| format!("{prefix}_{form}_{what}");
                for (what, got) in [
                    ("expert_loss", health.expert_loss),
                    ("policy_loss", health.policy_loss),
                    ("gp", health.gradient_penalty),
                    ("total", health.loss()),
                ] {
                    assert_close(&name(what), &[got as f32], &golden.values(&name(what)), TOLERANCE);
                }
                if !golden.contains(&name("grad_total_t_w0")) {
                    continue;
                }
                gradients += 1;
                let [time, main] = discriminator.predictor.shapes();
                golden.assert_row(&name("grad_total_t"), time, &work.row, TOLERANCE);
                let row = &work.row[time.parameters()..];
                for (i, layer) in main.layers().enumerate() {
                    for (part, range) in [("w", layer.weight), ("b", layer.bias)] {
                        let name = match i {
                            3 => name(&format!("grad_total_f_{part}")),
                            _ => name(&format!("grad_total_m_{part}{i}")),
                        };
                        assert_close(&name, &row[range], &golden.values(&name), TOLERANCE);
                    }
                }
            }
        }
    }
    assert!(gradients >= 2 * Isa::available().count(), "a sum and a mean of errors at least");
}

#[test]
fn golden_rewards() {
    for isa in Isa::available() {
        for (steps, prefix) in [(100, "T100"), (10, "T10")] {
            for (average, form, name) in [
                (Average::LogOfMeanOverEntries, "ref", "reward_ref"),
                (Average::LogOfMean, "prob", "reward_meandims"),
                (Average::MeanOfLogs, "paper", "reward_paper"),
            ] {
                let config = DiffailConfig { average, ..config(steps, form) };
                let (mut golden, mut discriminator) = open(&config, isa);
                let (shape, x) = golden.array("reward_x");
                let (count, width) = (shape[0], shape[1]);
                assert_eq!(count, LANES, "the golden rows are one panel");
                // [row][t][entry] into [t][panel][entry], of which the first panel is used.
                let noise = golden.values(&format!("{prefix}_reward_noise"));
                let block = discriminator.averager.noise.len() / steps;
                for t in 0..steps {
                    for entry in 0..width {
                        discriminator.averager.noise[t * block + entry] =
                            Pack(std::array::from_fn(|row| noise[(row * steps + t) * width + entry]));
                    }
                }
                let mut out = [Pack::default()];
                discriminator.rewards(&panels(isa, &x, width), &mut discriminator.scratch(1), &mut out);
                let name = format!("{prefix}_{name}");
                assert_close(&name, &out[0].0, &golden.values(&name), TOLERANCE);
            }
        }
    }
}

/// With the same noise for all rows, the short way through the first layer gives what the long one gives.
#[test]
fn shared_noise_changes_the_way_and_not_the_result() {
    let isa = Isa::best();
    let shared = DiffailConfig { reward_timesteps: 7, ..config(100, "paper") };
    let shared = DiffailConfig { reward_noise: Noise::Shared, ..shared };
    let own = DiffailConfig { reward_noise: Noise::Own, ..shared.clone() };
    let ((mut golden, short), (_, mut long)) = (open(&shared, isa), open(&own, isa));
    let width = short.predictor.width();
    let block = long.averager.noise.len() / 7;
    for (at, noise) in long.averager.noise.iter_mut().enumerate() {
        *noise = short.averager.noise[at / block * width + at % width];
    }
    let (shape, x) = golden.array("expert");
    let x = panels(isa, &x, width);
    let [mut a, mut b] = [(); 2].map(|()| vec![Pack::default(); shape[0].div_ceil(LANES)]);
    short.rewards(&x, &mut short.scratch(a.len()), &mut a);
    long.rewards(&x, &mut long.scratch(b.len()), &mut b);
    for (a, b) in a.iter().flat_map(|p| p.0).zip(b.iter().flat_map(|p| p.0)) {
        assert!((a - b).abs() < 1e-5 * b.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn shared_noise_of_neighbouring_timesteps_is_opposite() {
    let config = DiffailConfig { reward_noise: Noise::Shared, ..config(10, "paper") };
    let (_, discriminator) = open(&config, Isa::best());
    let width = discriminator.predictor.width();
    for pair in discriminator.averager.noise.chunks_exact(2 * width) {
        for (a, b) in pair[..width].iter().zip(&pair[width..]) {
            assert!(a.0[0] != 0.0 && a.0.map(|a| -a) == b.0);
        }
    }
}
