//! Visit counts: what chance alone reaches again and again is soon paid no more.

use magpie_learn::RolloutBuffer;
use magpie_qd::{ArchivePair, Cells};

use super::payment::pay_episodes;
use super::{Bonus, EpisodeAccumulator};
use crate::config::Curiosity;
use crate::error::{SearchError, TrainingError};
use crate::record::{decode, encode};

/// Pays 1/√(1 + n), when n episodes were judged to lie in the cell before this phase.
pub(super) struct VisitCount {
    config: Curiosity,
    cells: Cells,
    visits: Vec<u32>,
    /// Cells of this phase's episodes; they count from the next phase on.
    pending: Vec<usize>,
}

impl VisitCount {
    pub fn new(config: Curiosity, cells: &Cells) -> VisitCount {
        VisitCount { config, cells: cells.clone(), visits: vec![0; cells.count()], pending: Vec::new() }
    }

    fn novelty(&self, mean: &[f64]) -> f64 {
        self.cells.index_of(mean).map_or(0.0, |cell| 1.0 / (1.0 + f64::from(self.visits[cell])).sqrt())
    }

    fn counted(&self) -> Vec<u32> {
        let mut visits = self.visits.clone();
        self.pending.iter().for_each(|&cell| visits[cell] = visits[cell].saturating_add(1));
        visits
    }
}

impl Bonus for VisitCount {
    fn begin_phase(&mut self, _archives: &ArchivePair) {
        self.visits = self.counted();
        self.pending.clear();
    }

    fn pay(
        &self,
        rollout: &mut RolloutBuffer,
        episodes: &mut EpisodeAccumulator,
    ) -> Result<f64, TrainingError> {
        Ok(pay_episodes(&self.config, rollout, episodes, |mean| self.novelty(mean)))
    }

    fn learn(
        &mut self,
        _rollout: &RolloutBuffer,
        episodes: &EpisodeAccumulator,
    ) -> Result<(), TrainingError> {
        let cells = &self.cells;
        self.pending.extend(episodes.judged().filter_map(|mean| cells.index_of(mean).ok()));
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>, SearchError> {
        encode("the visit counts", &self.counted())
    }

    fn restore(&mut self, record: &[u8]) -> Result<(), SearchError> {
        let visits: Vec<u32> = decode("the visit counts", record)?;
        if visits.len() != self.cells.count() {
            return Err(SearchError::Foreign("number of cells with visits"));
        }
        (self.visits, self.pending) = (visits, Vec::new());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bonus::Novelty;
    use magpie_qd::{Acceptance, Grid};

    #[test]
    fn visits_wear_off_from_phase_to_phase_and_are_kept() {
        let grid = Grid::new(vec![5, 3], vec![0.0; 2], vec![1.0; 2]).unwrap();
        let rule = Acceptance::Soft { learning_rate: 0.5, threshold_min: 0.0 };
        let archives = ArchivePair::new(grid, rule, 1, 1).unwrap();
        let config = Curiosity { weight: 1.0, novelty: Novelty::Visits, ..Curiosity::default() };
        let mut count = VisitCount::new(config, archives.cells());
        let mut rollout = RolloutBuffer::new(3, 2, 1, 1, 2);
        rollout.measures.fill(0.9);
        let mut episodes = EpisodeAccumulator::new(3, 2);
        assert_eq!(count.pay(&mut rollout, &mut episodes).unwrap(), 1.0);
        count.learn(&rollout, &episodes).unwrap();
        // Not before the next phase.
        assert_eq!(count.novelty(&[0.9, 0.9]), 1.0);
        let record = count.save().unwrap();
        count.begin_phase(&archives);
        assert_eq!([[0.1, 0.1], [0.9, 0.9]].map(|m| count.novelty(&m)), [1.0, 0.5]);
        let mut other = VisitCount::new(config, archives.cells());
        other.restore(&record).unwrap();
        assert_eq!(other.novelty(&[0.9, 0.9]), 0.5);
        assert!(
            VisitCount::new(config, &Grid::new(vec![2], vec![0.0], vec![1.0]).unwrap().into())
                .restore(&record)
                .is_err()
        );
    }
}
