//! The candidates and elites of an archive.

use serde::{Deserialize, Serialize};

/// The origin of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The iteration.
    pub iteration: u64,
    /// The number of the policy among those proposed in that iteration: branches first, then the others. `None` is the
    /// search policy itself.
    pub branch: Option<u32>,
}

/// How well objective and measures of a solution are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence<'a> {
    /// The number of evaluated episodes.
    pub episodes: u32,
    /// Sums of squared deviations from the mean over these episodes: of the return, then of each measure. Empty if they
    /// are not known, which counts as no deviation.
    pub squares: &'a [f64],
}

impl Evidence<'_> {
    /// A single episode.
    pub const ONE: Evidence<'static> = Evidence { episodes: 1, squares: &[] };
}

/// An evaluated solution offered to the archives.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The parameters.
    pub solution: &'a [f32],
    /// Whatever else is needed to run the solution again, such as its observation normaliser.
    pub extra: &'a [f64],
    /// The objective, which is maximised.
    pub objective: f64,
    /// The measures.
    pub measures: &'a [f64],
    /// Mean number of steps in the evaluated episodes.
    pub length: f64,
    /// How well objective and measures are known.
    pub evidence: Evidence<'a>,
    /// The origin.
    pub provenance: Provenance,
}

/// An archive's record of the solution in a cell, without the parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The objective.
    pub objective: f64,
    /// The measures.
    pub measures: Vec<f64>,
    /// Mean number of steps in the evaluated episodes.
    pub length: f64,
    /// The number of evaluated episodes, over all evaluations.
    pub episodes: u32,
    /// Sums of squared deviations from the mean over these episodes: of the return, then of each measure.
    pub squares: Vec<f64>,
    /// The origin.
    pub provenance: Provenance,
}

impl Entry {
    /// Adds another evaluation of the same solution, as if all episodes had been one evaluation (Chan, Golub & LeVeque
    /// 1983): with δ the difference of the means, M₂ ← M₂ + M₂′ + δ² n n′ / (n + n′).
    pub fn pool(&mut self, other: &Entry) {
        let [ours, theirs] = [self.episodes, other.episodes].map(|episodes| f64::from(episodes.max(1)));
        let share = theirs / (ours + theirs);
        let means = std::iter::once(&mut self.objective).chain(&mut self.measures);
        let others = std::iter::once(&other.objective).chain(&other.measures);
        for (((mean, square), other), squares) in means.zip(&mut self.squares).zip(others).zip(&other.squares)
        {
            let apart = other - *mean;
            *mean += apart * share;
            *square += squares + apart * apart * ours * share;
        }
        self.length += (other.length - self.length) * share;
        self.episodes = self.episodes.saturating_add(other.episodes);
    }

    /// Sample variance over episodes of the return; `None` with fewer than two.
    pub fn objective_variance(&self) -> Option<f64> {
        self.variances()?.next()
    }

    /// Sample variances over episodes of the measures; `None` with fewer than two.
    pub fn measure_variances(&self) -> Option<Vec<f64>> {
        Some(self.variances()?.skip(1).collect())
    }

    fn variances(&self) -> Option<impl Iterator<Item = f64>> {
        let others = self.episodes.checked_sub(1).filter(|&n| n > 0)?;
        Some(self.squares.iter().map(move |square| square / f64::from(others)))
    }

    /// Standard errors of the mean return and of the mean measures; 0 if they are not known.
    pub fn standard_errors(&self) -> Vec<f64> {
        let episodes = f64::from(self.episodes);
        match self.variances() {
            Some(variances) => variances.map(|variance| (variance / episodes).sqrt()).collect(),
            None => vec![0.0; self.squares.len()],
        }
    }

    /// The entry as a candidate whose parameters nobody asks for.
    pub fn as_candidate(&self) -> Candidate<'_> {
        Candidate {
            solution: &[],
            extra: &[],
            objective: self.objective,
            measures: &self.measures,
            length: self.length,
            evidence: Evidence { episodes: self.episodes, squares: &self.squares },
            provenance: self.provenance,
        }
    }

    /// Whether all numbers are finite, and the lists as long as they should be.
    pub(super) fn is_sound(&self, measure_dim: usize) -> bool {
        let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite());
        (self.measures.len(), self.squares.len()) == (measure_dim, measure_dim + 1)
            && finite(&[self.objective, self.length])
            && finite(&self.measures)
            && finite(&self.squares)
            && self.squares.iter().all(|&square| square >= 0.0)
    }
}

impl From<&Candidate<'_>> for Entry {
    fn from(candidate: &Candidate<'_>) -> Self {
        Entry {
            objective: candidate.objective,
            measures: candidate.measures.to_vec(),
            length: candidate.length,
            episodes: candidate.evidence.episodes.max(1),
            squares: match candidate.evidence.squares {
                [] => vec![0.0; candidate.measures.len() + 1],
                squares => squares.to_vec(),
            },
            provenance: candidate.provenance,
        }
    }
}

/// A stored solution, with everything needed to run it again: the elite of a cell or a runner-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elite<'a> {
    /// The cell.
    pub cell: usize,
    /// The slot of its parameters, which no other solution has as long as it is stored.
    pub slot: usize,
    /// Objective, measures and origin.
    pub entry: &'a Entry,
    /// The parameters.
    pub solution: &'a [f32],
    /// The extra fields.
    pub extra: &'a [f64],
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_random::Stream;

    /// The entry of episodes given as return and measure.
    fn entry(episodes: &[[f64; 2]]) -> Entry {
        let n = episodes.len() as f64;
        let mean = [0, 1].map(|j| episodes.iter().map(|e| e[j]).sum::<f64>() / n);
        let squares = [0, 1].map(|j| episodes.iter().map(|e| (e[j] - mean[j]).powi(2)).sum::<f64>());
        Entry {
            objective: mean[0],
            measures: vec![mean[1]],
            length: mean[0] / 2.0,
            episodes: episodes.len() as u32,
            squares: squares.to_vec(),
            provenance: Provenance { iteration: 0, branch: None },
        }
    }

    #[test]
    fn pooled_evaluations_are_those_of_all_episodes() {
        let mut draws = Stream::new(1, "episodes").draws(0, 0);
        let episodes: Vec<[f64; 2]> =
            (0..41).map(|_| [1000.0 + f64::from(draws.normal()), f64::from(draws.unit())]).collect();
        for cuts in [[10, 26], [1, 2], [1, 40], [20, 21]] {
            let mut pooled = entry(&episodes[..cuts[0]]);
            pooled.pool(&entry(&episodes[cuts[0]..cuts[1]]));
            pooled.pool(&entry(&episodes[cuts[1]..]));
            let whole = entry(&episodes);
            assert_eq!(pooled.episodes, 41);
            let numbers = |e: &Entry| [&[e.objective, e.length], &e.measures[..], &e.squares].concat();
            for (found, expected) in numbers(&pooled).into_iter().zip(numbers(&whole)) {
                assert!((found / expected - 1.0).abs() < 1e-11, "{found} and {expected}");
            }
        }
    }

    #[test]
    fn one_episode_says_nothing_of_the_spread() {
        let mut entry = entry(&[[3.0, 0.5]]);
        assert_eq!((entry.objective_variance(), entry.standard_errors()), (None, vec![0.0; 2]));
        entry.pool(&entry.clone());
        entry.squares = vec![8.0, 2.0];
        assert_eq!((entry.objective_variance(), entry.measure_variances()), (Some(8.0), Some(vec![2.0])));
        assert_eq!(entry.standard_errors(), [2.0, 1.0]);
    }
}
