//! The unfinished episodes of an agent, as far as a bonus needs to know them.

/// Sums of measures and step counts of unfinished episodes, carried from rollout to rollout, and the mean measures of
/// the episodes scored in the last rollout.
#[derive(Debug, Clone)]
pub struct EpisodeAccumulator {
    pub(super) sums: Vec<f64>,
    pub(super) steps: Vec<u32>,
    pub(super) scored: Vec<f64>,
    dims: usize,
}

impl EpisodeAccumulator {
    /// For environments that have just been reset.
    pub fn new(environments: usize, measures: usize) -> EpisodeAccumulator {
        EpisodeAccumulator::from_parts(vec![0.0; environments * measures], vec![0; environments])
    }

    /// For environments in mid-episode: sums of measures (one row per environment) and step counts.
    pub fn from_parts(sums: Vec<f64>, steps: Vec<u32>) -> EpisodeAccumulator {
        let dims = sums.len() / steps.len().max(1);
        EpisodeAccumulator { sums, steps, scored: Vec::new(), dims }
    }

    /// Sums of measures and step counts.
    pub fn parts(&self) -> (&[f64], &[u32]) {
        (&self.sums, &self.steps)
    }

    /// The number of measures.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Mean measures of the episodes scored in the last rollout.
    pub fn scored(&self) -> impl Iterator<Item = &[f64]> {
        self.scored.chunks_exact(self.dims.max(1))
    }
}
