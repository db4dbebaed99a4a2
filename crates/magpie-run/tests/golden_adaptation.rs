//! Trials on an archive agree with Gaussian-process regression by scikit-learn (`tests/golden/adaptation/make.py`).

use magpie_golden::{Npz, assert_close};
use magpie_run::adapt::{Candidate, Prediction, Trial, TrialSearch, TrialSettings, matern52};

/// Not part of the larger sets that `MAGPIE_GOLDEN` may name.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/adaptation/gp.npz");

#[test]
fn golden_kernel() {
    let mut golden = Npz::open(FILE);
    for case in 0..3 {
        let length = golden.numbers(&format!("parameters_{case}"))[0];
        let distances = golden.numbers(&format!("distances_{case}"));
        let ours: Vec<f64> = distances.iter().map(|&distance| matern52(distance, length)).collect();
        assert_close("kernel", &ours, &golden.numbers(&format!("kernel_{case}")), 1e-14);
    }
}

#[test]
fn golden_predictions_and_choices() {
    let mut golden = Npz::open(FILE);
    for case in 0..3 {
        let name = |array: &str| format!("{array}_{case}");
        let parameters = golden.numbers(&name("parameters"));
        let [length_scale, noise, kappa] = parameters[..] else { panic!("{parameters:?}") };
        let (points, prior) = (golden.array(&name("points")), golden.numbers(&name("prior")));
        let (means, variances) = (golden.array(&name("mean")), golden.array(&name("variance")));
        let (tried, next) = (golden.indices(&name("tried")), golden.indices(&name("next")));
        let seen = golden.numbers(&name("seen"));
        let candidate = |(i, &prior): (usize, &f64)| Candidate { place: points.row(i).to_vec(), prior };
        let candidates: Vec<Candidate> = prior.iter().enumerate().map(candidate).collect();
        let settings = TrialSettings { length_scale, noise, kappa, stop: 0.9 };
        let mut search = TrialSearch::scaled(candidates, settings, 1.0).unwrap();
        for known in 0..=tried.len() {
            let what = |kind: &str| format!("{kind} of case {case} after {known} trials");
            let column =
                |of: fn(&Prediction) -> f64| search.predictions().iter().map(of).collect::<Vec<f64>>();
            assert_close(&what("mean"), &column(|p| p.mean), means.row(known), 1e-9);
            assert_close(&what("variance"), &column(|p| p.deviation.powi(2)), variances.row(known), 1e-9);
            assert_eq!(search.next(), next[known], "{}", what("choice"));
            if known < tried.len() {
                search.record(Trial { candidate: tried[known], value: seen[known] });
            }
        }
    }
}
