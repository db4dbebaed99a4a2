//! What is known of the episodes of an agent while it is paid for them.

/// Sums of measures and numbers of steps of the episodes under way, carried from rollout to rollout, and the mean
/// measures of those that were judged in the last one.
#[derive(Debug, Clone)]
pub struct EpisodeAccumulator {
    pub(super) sums: Vec<f64>,
    pub(super) steps: Vec<u32>,
    pub(super) judged: Vec<f64>,
    dims: usize,
}

impl EpisodeAccumulator {
    /// For environments that have just been reset.
    pub fn new(environments: usize, measures: usize) -> EpisodeAccumulator {
        EpisodeAccumulator::from_parts(vec![0.0; environments * measures], vec![0; environments])
    }

    /// For environments in mid-episode: sums of measures, one row an environment, and numbers of steps.
    pub fn from_parts(sums: Vec<f64>, steps: Vec<u32>) -> EpisodeAccumulator {
        let dims = sums.len() / steps.len().max(1);
        EpisodeAccumulator { sums, steps, judged: Vec::new(), dims }
    }

    /// Sums of measures and numbers of steps.
    pub fn parts(&self) -> (&[f64], &[u32]) {
        (&self.sums, &self.steps)
    }

    /// Number of measures.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// Mean measures of the episodes that were judged in the last rollout.
    pub fn judged(&self) -> impl Iterator<Item = &[f64]> {
        self.judged.chunks_exact(self.dims.max(1))
    }
}
