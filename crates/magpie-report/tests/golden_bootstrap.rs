//! Summaries, the inter-quartile mean and its bootstrap interval against numpy, scipy and rliable.

use magpie_golden::{Array, Npz, assert_close};
use magpie_report::statistics::bootstrap::{Bootstrap, median_of_means, percentile_interval};
use magpie_report::statistics::summary::{iqm, mean, percentile, standard_error, std};

const TOLERANCE: f64 = 1e-12;

/// Column j of a matrix of runs by tasks.
fn task(scores: &Array, j: usize) -> Vec<f64> {
    (0..scores.shape[0]).map(|i| scores.row(i)[j]).collect()
}

#[test]
fn golden_summary() {
    let mut golden = Npz::open("numerics/stats.npz");
    let values = golden.numbers("basic_values");
    for (name, got) in [
        ("basic_mean", mean(&values)),
        ("basic_std0", std(&values, 0)),
        ("basic_std1", std(&values, 1)),
        ("basic_sem", standard_error(&values)),
    ] {
        assert_close(name, &[got.unwrap() / golden.number(name)], &[1.0], TOLERANCE);
    }
    for case in golden.cases("_value").into_iter().filter(|case| case.starts_with("iqm1d_")) {
        let got = iqm(&golden.numbers(&case)).unwrap();
        assert_close(&case, &[got], &[golden.number(&format!("{case}_value"))], TOLERANCE);
    }
}

#[test]
fn golden_iqm_of_given_draws() {
    let mut golden = Npz::open("numerics/stats.npz");
    for case in golden.cases("_scores") {
        let scores = golden.array(&format!("{case}_scores"));
        let tasks: Vec<Vec<f64>> = (0..scores.shape[1]).map(|j| task(&scores, j)).collect();
        let indices = golden.array(&format!("{case}_indices"));
        let replicate = |r: usize| {
            let drawn: Vec<f64> = (0..scores.shape[0])
                .flat_map(|i| indices.row2(r, i).iter().enumerate())
                .map(|(j, &run)| tasks[j][run as usize])
                .collect();
            iqm(&drawn).unwrap()
        };
        let replicates: Vec<f64> = (0..indices.shape[0]).map(replicate).collect();
        assert_close(&case, &replicates, &golden.numbers(&format!("{case}_boot")), TOLERANCE);
        let interval = percentile_interval(&replicates).unwrap();
        let ends = [interval.low, interval.high];
        assert_close(&case, &ends, &golden.numbers(&format!("{case}_ci")), TOLERANCE);
    }
}

#[test]
fn golden_bootstrap_of_our_own_draws() {
    let mut golden = Npz::open("numerics/stats.npz");
    for case in golden.cases("_scores") {
        let scores = golden.array(&format!("{case}_scores"));
        let tasks: Vec<Vec<f64>> = (0..scores.shape[1]).map(|j| task(&scores, j)).collect();
        let mut number = |name: &str| golden.number(&format!("{case}_{name}"));
        let bootstrap = Bootstrap { replicates: 20_000, seed: 0 };
        let estimate = bootstrap.iqm(&tasks).unwrap();
        assert_close(&case, &[estimate.value], &[number("value")], TOLERANCE);
        assert_close(&case, &[mean(&tasks.concat()).unwrap()], &[number("mean")], TOLERANCE);
        assert_close(&case, &[median_of_means(&tasks).unwrap()], &[number("median")], TOLERANCE);
        // Other draws. Among 20,000 of either the share below an end of the interval is 2.5 % to within 0.16 % (one
        // standard deviation); the ends themselves may jump if there are only few different replicates.
        let want = golden.numbers(&format!("{case}_ci_20000"));
        let replicates = bootstrap.replicates(&tasks, |tasks| iqm(&tasks.concat())).unwrap();
        let mut sorted: Vec<f64> = replicates.into_iter().map(Option::unwrap).collect();
        sorted.sort_by(f64::total_cmp);
        for (want, percent) in [(want[0], 2.5), (want[1], 97.5)] {
            let between = [percent - 0.6, percent + 0.6].map(|percent| percentile(&sorted, percent).unwrap());
            assert!(
                between[0] - TOLERANCE <= want && want <= between[1] + TOLERANCE,
                "{case}: {want} not in {between:?}"
            );
        }
    }
}
