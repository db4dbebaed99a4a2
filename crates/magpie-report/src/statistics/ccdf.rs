//! The CCDF of archives over several seeds.
//!
//! The CCDF of an archive at x is the share of its cells that hold an objective of at least x; it starts at the
//! coverage and falls to zero. [`magpie_qd::metrics::ccdf`] computes it for one archive. Over seeds it is averaged at
//! each x.

use magpie_qd::metrics::ccdf;

use super::curves::{MeanStd, Point, evenly};
use super::error::{StatisticsError, check_values};
use super::summary::{DDOF, mean, std};

/// What a CCDF needs of an archive.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchiveScores {
    /// Objectives of the elites, in any order.
    pub objectives: Vec<f64>,
    /// Number of cells, occupied or not.
    pub cells: usize,
}

/// Mean and standard deviation over archives of the share of cells (0 to 1) with an objective of at least each
/// threshold. An empty archive counts as zero everywhere.
pub fn ccdf_over_seeds(
    archives: &[ArchiveScores],
    thresholds: &[f64],
) -> Result<Vec<Point<MeanStd>>, StatisticsError> {
    let mut shares = Vec::new();
    for (i, ArchiveScores { objectives, cells }) in archives.iter().enumerate() {
        if *cells == 0 || objectives.len() > *cells {
            return Err(StatisticsError::Cells { archive: i, elites: objectives.len(), cells: *cells });
        }
        if !objectives.is_empty() {
            check_values(&format!("archive {i}"), objectives)?;
        }
        shares.push(ccdf(objectives.iter().copied(), *cells, thresholds.iter().copied()));
    }
    let point = |(i, &x): (usize, &f64)| {
        let values: Vec<f64> = shares.iter().map(|points| points[i].share_of_cells).collect();
        let value = MeanStd { mean: mean(&values)?, std: std(&values, DDOF) };
        Some(Point { x, runs: values.len(), value })
    };
    thresholds
        .iter()
        .enumerate()
        .map(point)
        .collect::<Option<_>>()
        .ok_or_else(|| StatisticsError::Empty("a CCDF".to_owned()))
}

/// `points` evenly spaced thresholds from the lowest to the highest objective of all archives; none if these are empty.
pub fn thresholds(archives: &[ArchiveScores], points: usize) -> Vec<f64> {
    let objectives = || archives.iter().flat_map(|archive| archive.objectives.iter().copied());
    let (Some(low), Some(high)) = (objectives().reduce(f64::min), objectives().reduce(f64::max)) else {
        return Vec::new();
    };
    evenly(low, high, points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(objectives: &[f64], cells: usize) -> ArchiveScores {
        ArchiveScores { objectives: objectives.to_vec(), cells }
    }

    #[test]
    fn the_ccdf_starts_at_the_coverage_and_falls() {
        let archives = [archive(&[1.0, 2.0, 3.0], 4), archive(&[3.0], 4), archive(&[], 4)];
        let axis = thresholds(&archives, 3);
        assert_eq!(axis, [1.0, 2.0, 3.0]);
        let points = ccdf_over_seeds(&archives, &axis).unwrap();
        let means: Vec<f64> = points.iter().map(|point| 12.0 * point.value.mean).collect();
        assert_eq!((means, points[0].runs), (vec![4.0, 3.0, 2.0], 3));
        // Shares 1/2, 1/4, 0 at x = 2.
        assert_eq!(points[1].value.std, Some(0.25));
        assert_eq!(ccdf_over_seeds(&archives, &[3.5]).unwrap()[0].value.mean, 0.0);
    }

    #[test]
    fn impossible_archives_are_refused() {
        let error = |archives: &[ArchiveScores]| ccdf_over_seeds(archives, &[0.0]).unwrap_err().to_string();
        assert_eq!(error(&[archive(&[1.0, 2.0], 1)]), "archive 0 has 2 elites in 1 cells");
        assert_eq!(error(&[archive(&[], 1), archive(&[], 0)]), "archive 1 has 0 elites in 0 cells");
        assert!(error(&[archive(&[f64::NAN], 2)]).contains("archive 0: value 0 is NaN"));
        assert!(error(&[]).contains("no values"));
        assert_eq!(thresholds(&[archive(&[], 2)], 5), [0.0; 0]);
    }
}
