//! Advantage estimation against numbers computed with explicit sums.

use magpie_golden::{Npz, assert_close};
use magpie_learn::gae::{Step, advantages};
use magpie_nn::normaliser::RunningMeanStd;

/// Ten times the difference between single and double precision that the data's README lists.
const TOLERANCE: f64 = 4e-6;

/// Which of the published variants, and the value used after a finished episode.
fn check(variant: &str, units: impl Fn(f64) -> f64, truncation_is_an_end: bool) {
    let mut golden = Npz::open("numerics/gae.npz");
    let [rewards, values, dones, truncated, last, finals] =
        ["rewards", "values", "dones", "trunc", "last_values", "final_values"].map(|name| golden.array(name));
    let [gamma, lambda] = ["gamma", "lam"].map(|name| golden.array(name).data[0] as f32);
    let want_advantages = golden.array(&format!("adv_{variant}"));
    let want_returns = golden.array(&format!("ret_{variant}"));
    let (steps, environments) = (rewards.shape[0], rewards.shape[1]);
    assert!(steps > 0 && environments > 0);
    let (mut got_advantages, mut got_returns) =
        (vec![0.0; steps * environments], vec![0.0; steps * environments]);
    for e in 0..environments {
        let at = |t: usize| t * environments + e;
        let row: Vec<Step> = (0..steps)
            .map(|t| {
                let done = dones.data[at(t)] != 0.0;
                let cut_off = truncated.data[at(t)] != 0.0 && !truncation_is_an_end;
                let bootstrap = match (done, cut_off) {
                    (true, false) => 0.0,
                    (true, true) => finals.data[at(t)],
                    (false, _) => units(last.data[e]),
                };
                Step {
                    reward: rewards.data[at(t)] as f32,
                    value: units(values.data[at(t)]) as f32,
                    done,
                    bootstrap: bootstrap as f32,
                }
            })
            .collect();
        advantages(row.into_iter(), gamma, lambda, |t, advantage, value| {
            got_advantages[at(t)] = f64::from(advantage);
            got_returns[at(t)] = f64::from(value);
        });
    }
    let scale = want_returns.data.iter().fold(1.0_f64, |worst, v| worst.max(v.abs()));
    assert_close(&want_advantages.name, &got_advantages, &want_advantages.data, TOLERANCE * scale);
    assert_close(&want_returns.name, &got_returns, &want_returns.data, TOLERANCE * scale);
}

#[test]
fn golden_gae_with_truncation_as_termination() {
    check("plain", |v| v, true);
}

#[test]
fn golden_gae_with_the_value_of_the_final_observation() {
    check("trueboot", |v| v, false);
}

#[test]
fn golden_gae_in_the_units_of_returns() {
    let mut golden = Npz::open("numerics/gae.npz");
    let [mean, variance] = ["rms_mean", "rms_var"].map(|name| golden.array(name).data[0]);
    let units = RunningMeanStd::with_prior(1, mean, variance, 1.0).freeze(5.0);
    check("denorm", |v| f64::from(units.raw(0, v as f32)), true);
}
