//! The CCDF over seeds against numpy, whose numbers are of one archive.

use magpie_golden::{Npz, assert_close};
use magpie_report::statistics::ccdf::{ArchiveScores, ccdf_over_seeds};

#[test]
fn golden_ccdf_over_seeds() {
    let mut golden = Npz::open("numerics/stats.npz");
    let occupied = golden.flags("ccdf_occupied");
    let objective = golden.numbers("ccdf_objective");
    let elites = objective.iter().zip(&occupied).filter(|(_, occupied)| **occupied).map(|(f, _)| *f);
    let archive = ArchiveScores { objectives: elites.collect(), cells: occupied.len() };
    let empty = ArchiveScores { objectives: Vec::new(), cells: 10 };
    let points = ccdf_over_seeds(&[archive, empty], &golden.numbers("ccdf_thresholds")).unwrap();
    // The mean with an empty archive is half of it; the deviation of (x, 0) is x/√2.
    let percent = golden.numbers("ccdf_percent_of_cells");
    let means: Vec<f64> = points.iter().map(|point| 200.0 * point.value.mean).collect();
    assert_close("mean", &means, &percent, 1e-9);
    let deviations: Vec<f64> =
        points.iter().map(|point| 100.0 * 2f64.sqrt() * point.value.std.unwrap()).collect();
    assert_close("std", &deviations, &percent, 1e-9);
}
