//! Metrics of an archive: QD score, coverage, best, mean and the CCDF.

use serde::{Deserialize, Serialize};

/// The amount added to objectives in the offset QD score, so that filling a cell never lowers the score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum QdOffset {
    /// An amount for each step of the elite's episodes, as in PPGA: Σ (f + offset · length).
    PerStep(f64),
    /// A fixed amount for each elite, as in QDax (and pyribs, with the opposite sign): Σ (f + offset).
    PerElite(f64),
}

/// The metrics of one archive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The number of occupied cells.
    pub elites: usize,
    /// Sum of the objectives, without offset.
    pub qd_score: f64,
    /// Sum of the objectives, each increased by its [`QdOffset`].
    pub qd_score_offset: f64,
    /// Share of cells that are occupied, 0 to 1.
    pub coverage: f64,
    /// Highest objective; `None` in an empty archive.
    pub best: Option<f64>,
    /// Mean objective over the occupied cells; `None` in an empty archive.
    pub mean: Option<f64>,
}

impl Metrics {
    /// The metrics of elites given as (objective, episode length), in an archive of `cells` cells.
    pub fn of(elites: impl IntoIterator<Item = (f64, f64)>, cells: usize, offset: QdOffset) -> Self {
        let (mut count, mut qd_score, mut raised, mut best) = (0, 0.0, 0.0, None);
        for (objective, length) in elites {
            count += 1;
            qd_score += objective;
            raised += match offset {
                QdOffset::PerStep(offset) => offset * length,
                QdOffset::PerElite(offset) => offset,
            };
            best = Some(best.map_or(objective, |best: f64| best.max(objective)));
        }
        Metrics {
            elites: count,
            qd_score,
            qd_score_offset: qd_score + raised,
            coverage: if cells == 0 { 0.0 } else { count as f64 / cells as f64 },
            best,
            mean: best.map(|_| qd_score / count as f64),
        }
    }
}

/// One point of the complementary cumulative distribution of objectives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CcdfPoint {
    /// The objective x.
    pub threshold: f64,
    /// The number of elites with an objective of at least x.
    pub count: usize,
    /// Their share of all cells, 0 to 1: the CCDF of the paper.
    pub share_of_cells: f64,
    /// Their share of all elites, 0 to 1; NaN in an empty archive.
    pub share_of_elites: f64,
}

/// The CCDF of the `objectives` of an archive of `cells` cells, at each of the `thresholds`.
pub fn ccdf(
    objectives: impl IntoIterator<Item = f64>,
    cells: usize,
    thresholds: impl IntoIterator<Item = f64>,
) -> Vec<CcdfPoint> {
    let mut ascending: Vec<f64> = objectives.into_iter().collect();
    ascending.sort_by(f64::total_cmp);
    let point = |threshold| {
        let count = ascending.len() - ascending.partition_point(|&objective| objective < threshold);
        CcdfPoint {
            threshold,
            count,
            share_of_cells: count as f64 / cells as f64,
            share_of_elites: count as f64 / ascending.len() as f64,
        }
    };
    thresholds.into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_steps_or_elites() {
        let elites = [(10.0, 100.0), (-4.0, 50.0)];
        let per_step = Metrics::of(elites, 8, QdOffset::PerStep(0.1));
        assert_eq!((per_step.qd_score, per_step.qd_score_offset), (6.0, 21.0));
        assert_eq!(Metrics::of(elites, 8, QdOffset::PerElite(5.0)).qd_score_offset, 16.0);
        assert_eq!((per_step.coverage, per_step.best, per_step.mean), (0.25, Some(10.0), Some(3.0)));
    }

    #[test]
    fn an_empty_archive_has_no_best() {
        let empty = Metrics::of([], 8, QdOffset::PerStep(1.0));
        assert_eq!((empty.qd_score, empty.coverage, empty.best, empty.mean), (0.0, 0.0, None, None));
    }
}
