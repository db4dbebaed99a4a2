//! Curiosity: a bonus for episodes whose behaviour is missing from the archive.
//!
//! The paper pays if the cell itself is empty. With [`Novelty::Density`] the bonus rises as empty cells come nearer: it
//! is the share of empty cells around the cell.

use magpie_learn::RolloutBuffer;
use magpie_qd::{ArchivePair, Cells};

use super::payment::pay_episodes;
use super::{Bonus, EpisodeAccumulator, Novelty, empty_share};
use crate::config::Curiosity;
use crate::error::TrainingError;

/// Pays by how empty the archive was around an episode's cell when the phase began.
pub(super) struct CuriosityBonus {
    config: Curiosity,
    cells: Cells,
    /// Novelty of each cell.
    novelty: Vec<f32>,
}

impl CuriosityBonus {
    pub fn new(config: Curiosity, cells: &Cells) -> CuriosityBonus {
        CuriosityBonus { config, cells: cells.clone(), novelty: vec![1.0; cells.count()] }
    }

    /// Novelty of mean measures. If they are not finite, they lie in no cell, so the novelty is 0.
    fn novelty(&self, mean: &[f64]) -> f64 {
        self.cells.index_of(mean).map_or(0.0, |cell| self.novelty[cell].into())
    }
}

impl Bonus for CuriosityBonus {
    fn begin_phase(&mut self, archives: &ArchivePair) {
        let archive = self.config.reference_archive.archive(archives);
        self.novelty = match self.config.pays_for() {
            Novelty::Density => empty_share(&self.cells, self.config.width, archive),
            _ => {
                let is_empty = |cell| f32::from(u8::from(archive.entry(cell).is_none()));
                (0..self.cells.count()).map(is_empty).collect()
            }
        };
    }

    fn pay(
        &self,
        rollout: &mut RolloutBuffer,
        episodes: &mut EpisodeAccumulator,
    ) -> Result<f64, TrainingError> {
        Ok(pay_episodes(&self.config, rollout, episodes, |mean| self.novelty(mean)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReferenceArchive;
    use magpie_qd::{Acceptance, Candidate, Cvt, Evidence, Grid, Provenance};

    /// An archive with one occupied cell.
    fn archives(dims: &[usize], filled: &[f64]) -> ArchivePair {
        let grid = Grid::new(dims.to_vec(), vec![0.0; dims.len()], vec![1.0; dims.len()]).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        fill(ArchivePair::new(grid, rule, 1, 1).unwrap(), filled)
    }

    /// Inserts one solution with a return of 1.
    fn fill(mut archives: ArchivePair, filled: &[f64]) -> ArchivePair {
        let provenance = Provenance { iteration: 1, branch: None };
        let candidate = Candidate {
            solution: &[0.0],
            extra: &[0.0],
            objective: 1.0,
            measures: filled,
            length: 1.0,
            evidence: Evidence::ONE,
            provenance,
        };
        archives.add(&[candidate]).unwrap();
        archives
    }

    fn bonus(config: Curiosity, archives: &ArchivePair) -> CuriosityBonus {
        let mut bonus = CuriosityBonus::new(config, archives.cells());
        bonus.begin_phase(archives);
        bonus
    }

    fn curiosity(novelty: Novelty) -> Curiosity {
        Curiosity { weight: 2.0, novelty, width: 1.0, ..Curiosity::default() }
    }

    #[test]
    fn the_paper_asks_whether_the_cell_is_empty() {
        let bonus = bonus(curiosity(Novelty::Empty), &archives(&[5, 3], &[0.1, 0.1]));
        assert_eq!([[0.15, 0.2], [0.9, 0.2], [f64::NAN, 0.0]].map(|m| bonus.novelty(&m)), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn what_is_too_poor_for_the_soft_archive_is_known_to_the_result_archive() {
        let grid = Grid::new(vec![5], vec![0.0], vec![1.0]).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 200.0 };
        let archives = fill(ArchivePair::new(grid, rule, 1, 1).unwrap(), &[0.1]);
        let new = |archive| {
            let config = Curiosity { reference_archive: archive, ..curiosity(Novelty::Empty) };
            bonus(config, &archives).novelty(&[0.1])
        };
        assert_eq!((new(ReferenceArchive::Soft), new(ReferenceArchive::Result)), (1.0, 0.0));
    }

    #[test]
    fn density_is_a_share_of_the_neighbourhood() {
        let bonus = bonus(curiosity(Novelty::Density), &archives(&[5, 3], &[0.1, 0.1]));
        let near = |d: f64| (-0.5 * d * d).exp();
        // From the corner: distances 0 to 3 along one dimension, 0 to 2 along the other.
        let all = (0..4).map(|d| near(d.into())).sum::<f64>() * (0..3).map(|d| near(d.into())).sum::<f64>();
        assert!((bonus.novelty(&[0.1, 0.1]) - (1.0 - 1.0 / all)).abs() < 1e-6);
        // Novelty grows with the distance and is 1 beyond three widths.
        let along: Vec<f64> = [0.1, 0.3, 0.5, 0.7, 0.9].iter().map(|&m| bonus.novelty(&[m, 0.5])).collect();
        assert!(along.windows(2).all(|pair| pair[0] < pair[1]), "{along:?}");
        assert!((along[4] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn density_knows_any_number_of_dimensions() {
        // The neighbours along all dimensions have the same novelty; a dimension with one cell changes nothing.
        let density = bonus(curiosity(Novelty::Density), &archives(&[3, 3, 1, 3], &[0.5; 4]));
        let mut beside = [0, 1, 3].map(|dimension| {
            let mut mean = [0.5; 4];
            mean[dimension] = 0.1;
            density.novelty(&mean)
        });
        beside.sort_by(f64::total_cmp);
        assert!(beside[2] - beside[0] < 1e-6 && beside[2] < 1.0, "{beside:?}");
        assert!(density.novelty(&[0.5; 4]) < beside[0]);
        let one = bonus(curiosity(Novelty::Density), &archives(&[1], &[0.5]));
        assert_eq!(one.novelty(&[0.2]), 0.0);
    }

    #[test]
    fn density_of_centroids_in_rows_and_columns_is_that_of_the_grid() {
        let centres: Vec<f64> = (0..12)
            .flat_map(|i| [0.125 + 0.25 * f64::from(i / 3), 0.125 + 0.25 * f64::from(i % 3)])
            .collect();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        let cvt = fill(ArchivePair::new(Cvt::new(centres, 2).unwrap(), rule, 1, 1).unwrap(), &[0.1, 0.1]);
        let grid = Grid::new(vec![4, 3], vec![0.0; 2], vec![1.0, 0.75]).unwrap();
        let grid = fill(ArchivePair::new(grid, rule, 1, 1).unwrap(), &[0.1, 0.1]);
        let [cvt, grid] = [cvt, grid].map(|archives| bonus(curiosity(Novelty::Density), &archives));
        for m in [[0.1, 0.1], [0.4, 0.1], [0.4, 0.4], [0.9, 0.7]] {
            // A square neighbourhood extends further at its corners than a round one.
            assert!((cvt.novelty(&m) - grid.novelty(&m)).abs() < 0.02, "{m:?}");
        }
    }
}
