//! The studentised range and Tukey's test against scipy and statsmodels.

use magpie_golden::{Npz, assert_close};
use magpie_report::statistics::studentised_range::StudentisedRange;
use magpie_report::statistics::tukey::{Comparison, Group, tukey_hsd};

/// Both libraries agree to this.
const TOLERANCE: f64 = 1e-9;

#[test]
fn golden_studentised_range() {
    let mut golden = Npz::open("numerics/stats.npz");
    let (q, k, df) = (golden.numbers("sr_q"), golden.indices("sr_k"), golden.numbers("sr_df"));
    let (cdf, sf) = (golden.array("sr_cdf"), golden.array("sr_sf"));
    for (j, &k) in k.iter().enumerate() {
        for (l, &df) in df.iter().enumerate() {
            let distribution = StudentisedRange::new(k as u32, df).unwrap();
            for (i, &q) in q.iter().enumerate() {
                let place = format!("q {q}, {k} groups, df {df}");
                assert_close(&place, &[distribution.cdf(q)], &[cdf.row2(i, j)[l]], TOLERANCE);
                assert_close(&place, &[distribution.sf(q)], &[sf.row2(i, j)[l]], TOLERANCE);
            }
        }
    }
}

#[test]
fn golden_studentised_range_quantile() {
    let mut golden = Npz::open("numerics/stats.npz");
    let (k, df, ppf) = (golden.indices("sr_k"), golden.numbers("sr_ppf_df"), golden.array("sr_ppf95"));
    for (i, &k) in k.iter().enumerate() {
        let quantile = |&df: &f64| StudentisedRange::new(k as u32, df).unwrap().quantile(0.95).unwrap();
        let got: Vec<f64> = df.iter().map(quantile).collect();
        // Relative: at one degree of freedom quantiles go up to 60.
        let ratio: Vec<f64> = got.iter().zip(ppf.row(i)).map(|(got, want)| got / want).collect();
        assert_close(&format!("{k} groups"), &ratio, &vec![1.0; df.len()], TOLERANCE);
    }
}

#[test]
fn golden_tukey_hsd() {
    let mut golden = Npz::open("numerics/tukey.npz");
    for case in golden.cases("_values") {
        let mut array = |name: &str| golden.array(&format!("{case}_{name}"));
        let (values, label) = (array("values").data, array("label").data);
        let k = array("scipy_p").shape[0];
        let group = |i: usize| {
            let values = values.iter().zip(&label).filter(|(_, label)| **label == i as f64);
            Group { name: format!("{i}"), values: values.map(|(value, _)| *value).collect() }
        };
        let groups: Vec<Group> = (0..k).map(group).collect();
        let result = tukey_hsd(&groups, 0.95).unwrap();
        // Differences and intervals are in the unit of the values, which for QD-Scores is millions.
        let unit = result.mse.sqrt();
        let check = |what: &str, got: Vec<f64>, want: Vec<f64>, tolerance: f64| {
            assert_close(&format!("{case} {what}"), &got, &want, tolerance);
        };
        check("mse", vec![result.mse / unit.powi(2)], vec![array("mse").data[0] / unit.powi(2)], TOLERANCE);
        check("df", vec![result.df as f64], array("df").data, 0.0);
        check("critical", vec![result.critical], array("qcrit95").data, TOLERANCE);
        let all = |f: &dyn Fn(&Comparison) -> f64| -> Vec<f64> { result.comparisons.iter().map(f).collect() };
        check("first", all(&|pair| pair.first as f64), array("sm_pair_i").data, 0.0);
        check("second", all(&|pair| pair.second as f64), array("sm_pair_j").data, 0.0);
        check("p", all(&|pair| pair.p), array("sm_p").data, TOLERANCE);
        check("difference", all(&|pair| pair.difference), array("sm_meandiff").data, TOLERANCE * unit);
        check(
            "significant",
            all(&|pair| f64::from(u8::from(pair.significant))),
            array("sm_reject").data,
            0.0,
        );
        let ends = result.comparisons.iter().flat_map(|pair| [pair.low, pair.high]).collect();
        check("interval", ends, array("sm_conf").data, TOLERANCE * unit);
        // scipy's matrices: row i, column j is mean_i − mean_j.
        let (p, low, high) = (array("scipy_p"), array("scipy_ci_low"), array("scipy_ci_high"));
        for pair in &result.comparisons {
            let (i, j) = (pair.first, pair.second);
            check("scipy p", vec![pair.p], vec![p.row(i)[j]], TOLERANCE);
            check(
                "scipy interval",
                vec![pair.low, pair.high],
                vec![low.row(j)[i], high.row(j)[i]],
                TOLERANCE * unit,
            );
        }
    }
}
