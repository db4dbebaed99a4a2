//! The CCDF of an archive against numpy.

mod common;

use common::{Golden, assert_close};
use magpie_qd::metrics::ccdf;

#[test]
fn golden_ccdf() {
    let mut golden = Golden::open("stats");
    let occupied = golden.flags("ccdf_occupied");
    let objective = golden.f64s("ccdf_objective");
    let elites = objective.iter().zip(&occupied).filter(|(_, occupied)| **occupied).map(|(f, _)| *f);
    let points = ccdf(elites, occupied.len(), golden.f64s("ccdf_thresholds"));
    let (percent, share) = (golden.f64s("ccdf_percent_of_cells"), golden.f64s("ccdf_fraction_of_elites"));
    let count = golden.indices("ccdf_count");
    assert_eq!(points.len(), count.len());
    for (i, point) in points.iter().enumerate() {
        assert_eq!(point.count, count[i], "objective of at least {}", point.threshold);
        assert_close(100.0 * point.share_of_cells, percent[i], "percent of cells");
        assert_close(point.share_of_elites, share[i], "share of elites");
    }
}
