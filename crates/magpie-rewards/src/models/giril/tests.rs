//! Against PyTorch.

use super::*;
use crate::golden::{Golden, assert_close, panels};
use magpie_random::Stream;

/// Ten times what PyTorch's own float32 run deviates.
const TOLERANCE: f32 = 4e-6;

fn open(config: &GirilConfig, isa: Isa) -> (Golden, Giril) {
    let mut golden = Golden::open("giril");
    let sizes = Sizes { observation: golden.array("s").0[1], action: golden.array("a").0[1] };
    let mut draws = Stream::new(1, "test").draws(0, 0);
    let mut model = Giril::from_config(config, sizes, 0.99, isa, &mut draws).unwrap();
    let mut row = golden.layers("enc", 2);
    // The two heads are one layer: weights above each other, then biases.
    for name in ["mu_w", "lv_w", "mu_b", "lv_b"] {
        row.extend(golden.values(name));
    }
    row.extend(golden.layers("dec", 3));
    model.networks.load(&row);
    (golden, model)
}

#[test]
fn golden_losses_and_gradients_of_both_forms() {
    for isa in Isa::available() {
        for (form, name) in [(GirilLoss::Public, "ref"), (GirilLoss::Row, "row")] {
            let (mut golden, model) = open(&GirilConfig::default(), isa);
            let sizes = model.sizes;
            let Sizes { observation, action } = sizes;
            let (s, s2) = (golden.values("s"), golden.values("s2"));
            let count = s.len() / observation;
            let both: Vec<f32> = (0..count)
                .flat_map(|i| {
                    [&s[i * observation..][..observation], &s2[i * observation..][..observation]].concat()
                })
                .collect();
            let mut pass = Pass::new(&model.networks, sizes, count.div_ceil(LANES));
            pass.count = count;
            pass.both = panels(isa, &both, 2 * observation);
            pass.actions = panels(isa, &golden.values("a"), action);
            pass.noise = panels(isa, &golden.values("noise"), action);
            let loss = pass.loss(&model.networks, form);
            for (what, got) in [
                ("recon", loss.reconstruction),
                ("kld", loss.kl),
                ("action", loss.action),
                ("total", loss.total()),
            ] {
                let name = format!("{name}_{what}");
                assert_close(&name, &[got as f32], &golden.values(&name), TOLERANCE);
            }
            let encoder = model.networks.encoder.shape();
            let layers: Vec<_> = encoder.layers().collect();
            for (i, layer) in layers.iter().enumerate().take(2) {
                for (part, range) in [("w", &layer.weight), ("b", &layer.bias)] {
                    let name = format!("{name}_grad_enc_{part}{i}");
                    assert_close(&name, &pass.row[range.clone()], &golden.values(&name), TOLERANCE);
                }
            }
            for (part, range) in [("w", &layers[2].weight), ("b", &layers[2].bias)] {
                let (mu, lv) = pass.row[range.clone()].split_at(range.len() / 2);
                for (head, got) in [("mu", mu), ("lv", lv)] {
                    let name = format!("{name}_grad_{head}_{part}");
                    assert_close(&name, got, &golden.values(&name), TOLERANCE);
                }
            }
            let decoder = model.networks.decoder.shape();
            let row = &pass.row[encoder.parameters()..];
            golden.assert_row(&format!("{name}_grad_dec"), decoder, row, TOLERANCE);
        }
    }
}

#[test]
fn golden_rewards() {
    for isa in Isa::available() {
        for (reward, name) in [
            (GirilReward::Norm, "reward_sqnorm"),
            (GirilReward::Mean, "reward_mean"),
            (GirilReward::Squashed, "reward_ref"),
        ] {
            let config = GirilConfig { reward, ..GirilConfig::default() };
            let (mut golden, model) = open(&config, isa);
            let (s, a, s2) = (golden.values("s"), golden.values("a"), golden.values("s2"));
            let transitions = Transitions {
                observations: &s,
                actions: &a,
                next_observations: &s2,
                ..Transitions::default()
            };
            let mut scratch = model.scratch();
            scratch.index = (0..golden.array("s").0[0] as u32).collect();
            // A normaliser that has seen nothing has mean 0 and variance 1.
            model.rewards(&transitions, &mut scratch);
            let got: Vec<f32> = scratch.rewards.iter().flat_map(|p| p.0).collect();
            assert_close(name, &got[..scratch.index.len()], &golden.values(name), TOLERANCE);
        }
    }
}
