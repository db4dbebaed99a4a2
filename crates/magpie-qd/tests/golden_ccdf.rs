//! The CCDF of an archive against numpy.

mod common;

use common::assert_close;
use magpie_golden::Npz;
use magpie_qd::metrics::ccdf;

#[test]
fn golden_ccdf() {
    let mut golden = Npz::open("numerics/stats.npz");
    let occupied = golden.flags("ccdf_occupied");
    let objective = golden.numbers("ccdf_objective");
    let elites = objective.iter().zip(&occupied).filter(|(_, occupied)| **occupied).map(|(f, _)| *f);
    let points = ccdf(elites, occupied.len(), golden.numbers("ccdf_thresholds"));
    let (percent, share) =
        (golden.numbers("ccdf_percent_of_cells"), golden.numbers("ccdf_fraction_of_elites"));
    let count = golden.indices("ccdf_count");
    assert_eq!(points.len(), count.len());
    for (i, point) in points.iter().enumerate() {
        assert_eq!(point.count, count[i], "objective of at least {}", point.threshold);
        assert_close(100.0 * point.share_of_cells, percent[i], "percent of cells");
        assert_close(point.share_of_elites, share[i], "share of elites");
    }
}
