//! Intelligent Trial and Error (Cully et al., "Robots that can adapt like animals", 2015): a few trials find an elite that
//! works in a changed world.
//!
//! A Gaussian process over the measures of the elites, whose prior mean is what the archive promises, predicts what each
//! would return now. The next trial is the elite with the highest `mean + κ · deviation`; trials end when the best that was
//! observed is within a share of the best that is predicted. Predictions are of returns; the deviation of the prior is the
//! spread of the archive's returns.

use magpie_qd::Cells;
use serde::{Deserialize, Serialize};

use super::gp::Prior;
use crate::archive::{About, SavedElite};
use crate::error::RunError;

/// How trials are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialSettings {
    /// ρ of the Matérn kernel, with measures scaled to 0..1: how far a trial reaches.
    pub length_scale: f64,
    /// Variance of the noise of a trial, in squares of the archive's spread of returns.
    pub noise: f64,
    /// κ: how much a deviation is worth.
    pub kappa: f64,
    /// Share of the best predicted return at which trials end.
    pub stop: f64,
}

impl Default for TrialSettings {
    /// Within the values in use for neural policies: ρ of 0.03 to 0.1, noise of 0.01 to 0.03, κ of 0.3; the share is Cully's.
    fn default() -> TrialSettings {
        TrialSettings { length_scale: 0.1, noise: 0.01, kappa: 0.3, stop: 0.9 }
    }
}

impl TrialSettings {
    /// Refuses what cannot be computed with.
    pub fn check(&self) -> Result<(), RunError> {
        let TrialSettings { length_scale, noise, kappa, stop } = *self;
        for (name, value, ok, range) in [
            ("the length scale", length_scale, (1e-3..=100.0).contains(&length_scale), "from 0.001 to 100"),
            ("the noise", noise, (1e-6..=100.0).contains(&noise), "from 0.000001 to 100"),
            ("kappa", kappa, (0.0..=100.0).contains(&kappa), "from 0 to 100"),
            ("the share at which trials stop", stop, (0.0..=1.0).contains(&stop), "from 0 to 1"),
        ] {
            if !ok {
                let problem = format!("{name} is {value}, but must be {range}");
                return Err(RunError::Adaptation { problem });
            }
        }
        Ok(())
    }
}

/// What may be tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Measures, scaled to 0..1.
    pub place: Vec<f64>,
    /// What it returned in the healthy world.
    pub prior: f64,
}

impl Candidate {
    /// The elites of an archive.
    pub fn of(about: &About, elites: &[SavedElite]) -> Vec<Candidate> {
        let scaled = |(value, [low, high]): (&f64, &[f64; 2])| (value - low) / (high - low);
        let place = |elite: &SavedElite| elite.measures.iter().zip(&about.ranges).map(scaled).collect();
        elites.iter().map(|elite| Candidate { place: place(elite), prior: prior_return(elite) }).collect()
    }
}

/// What the archive promises of an elite.
pub fn prior_return(elite: &SavedElite) -> f64 {
    elite.objective
}

/// A trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// Which candidate was tried, by its place in the list.
    pub candidate: usize,
    /// What it returned.
    pub value: f64,
}

/// What a candidate is expected to return.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
}

/// Trials and what they teach.
#[derive(Debug, Clone)]
pub struct TrialSearch {
    settings: TrialSettings,
    candidates: Vec<Candidate>,
    /// Standard deviation of the prior.
    unit: f64,
    trials: Vec<Trial>,
    predictions: Vec<Prediction>,
}

impl TrialSearch {
    /// No trials yet.
    ///
    /// # Errors
    /// If there is nothing to try, or the settings make no sense.
    pub fn new(candidates: Vec<Candidate>, settings: TrialSettings) -> Result<TrialSearch, RunError> {
        let [low, high] = candidates
            .iter()
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], c| [low.min(c.prior), high.max(c.prior)]);
        if candidates.is_empty() {
            let problem = "there is no elite to try: the archive is empty".to_owned();
            return Err(RunError::Adaptation { problem });
        }
        let unit = if high > low { high - low } else { high.abs().max(1.0) };
        TrialSearch::scaled(candidates, settings, unit)
    }

    /// The same with this standard deviation of the prior.
    pub fn scaled(
        candidates: Vec<Candidate>,
        settings: TrialSettings,
        unit: f64,
    ) -> Result<TrialSearch, RunError> {
        settings.check()?;
        let mut search =
            TrialSearch { settings, candidates, unit, trials: Vec::new(), predictions: Vec::new() };
        search.predict();
        Ok(search)
    }

    fn predict(&mut self) {
        let TrialSettings { length_scale, noise, .. } = self.settings;
        let points = self.trials.iter().map(|trial| self.candidates[trial.candidate].place.clone());
        let residual = |trial: &Trial| (trial.value - self.candidates[trial.candidate].prior) / self.unit;
        let values: Vec<f64> = self.trials.iter().map(residual).collect();
        // With noise as the settings allow it, the matrix has an inverse.
        let Some(posterior) = (Prior { length_scale, noise }).given(points.collect(), &values) else {
            return;
        };
        let prediction = |candidate: &Candidate| {
            let (mean, variance) = posterior.at(&candidate.place);
            Prediction { mean: candidate.prior + self.unit * mean, deviation: self.unit * variance.sqrt() }
        };
        self.predictions = self.candidates.iter().map(prediction).collect();
    }

    /// What each candidate is expected to return.
    pub fn predictions(&self) -> &[Prediction] {
        &self.predictions
    }

    /// The trials, in order.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The candidate to try next: the first of those with the highest upper confidence bound.
    pub fn next(&self) -> usize {
        let bound = |p: &Prediction| p.mean + self.settings.kappa * p.deviation;
        best_of(self.predictions.iter().map(bound)).unwrap_or_default()
    }

    /// Learns from a trial. The value must be finite.
    pub fn record(&mut self, trial: Trial) {
        self.trials.push(trial);
        self.predict();
    }

    /// The best candidate as far as is known: of those that were tried, the one with the highest prediction, which weighs
    /// what was observed against the noise. Before the first trial, the one that the archive promises most of.
    pub fn best(&self) -> usize {
        let tried = |at: usize| self.trials.iter().any(|trial| trial.candidate == at);
        let value = |(at, p): (usize, &Prediction)| match self.trials.is_empty() || tried(at) {
            true => p.mean,
            false => f64::NEG_INFINITY,
        };
        best_of(self.predictions.iter().enumerate().map(value)).unwrap_or_default()
    }

    /// Whether the best observed return is at least the share of the best that is predicted.
    pub fn is_finished(&self) -> bool {
        let observed = self.trials.iter().map(|trial| trial.value).fold(f64::NEG_INFINITY, f64::max);
        let predicted = self.predictions.iter().map(|p| p.mean).fold(f64::NEG_INFINITY, f64::max);
        // Of a negative return, 90 % is more than all of it: the tenth is taken off.
        observed >= predicted - (1.0 - self.settings.stop) * predicted.abs()
    }
}

/// Where the greatest number is; the first of equal ones.
pub(super) fn best_of(values: impl Iterator<Item = f64>) -> Option<usize> {
    values.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(at, _)| at)
}

/// Whether elites of two archives can be tried side by side.
pub fn comparable(a: &About, b: &About) -> bool {
    let kind = |cells: &Cells| matches!(cells, Cells::Grid(_));
    (&a.task, &a.measure, &a.ranges, kind(&a.cells)) == (&b.task, &b.measure, &b.ranges, kind(&b.cells))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(priors: &[f64]) -> Vec<Candidate> {
        let place = |i: usize| vec![i as f64 / priors.len() as f64];
        priors.iter().enumerate().map(|(i, &prior)| Candidate { place: place(i), prior }).collect()
    }

    #[test]
    fn the_first_trial_is_what_the_archive_promises_most_of_and_failures_lead_elsewhere() {
        let settings = TrialSettings { length_scale: 0.3, ..TrialSettings::default() };
        let mut search = TrialSearch::new(line(&[10.0, 50.0, 100.0, 99.0, 60.0, 20.0]), settings).unwrap();
        assert_eq!((search.next(), search.best(), search.is_finished()), (2, 2, false));
        search.record(Trial { candidate: 2, value: -50.0 });
        let (next, neighbour) = (search.next(), search.predictions()[3].mean);
        assert!(neighbour < 60.0 && next != 2 && next != 3, "{next} {neighbour}");
        assert!(!search.is_finished());
        // It is what was promised: there is nothing better to find.
        let mut happy = TrialSearch::new(line(&[10.0, 50.0, 100.0]), settings).unwrap();
        happy.record(Trial { candidate: 2, value: 99.0 });
        assert!(happy.is_finished());
    }

    #[test]
    fn negative_returns_stop_as_well() {
        let mut search = TrialSearch::new(line(&[-500.0, -100.0]), TrialSettings::default()).unwrap();
        search.record(Trial { candidate: 1, value: -105.0 });
        assert!(search.is_finished());
        let mut search = TrialSearch::new(line(&[-500.0, -100.0, -150.0]), TrialSettings::default()).unwrap();
        search.record(Trial { candidate: 1, value: -300.0 });
        assert!(!search.is_finished());
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(
            TrialSearch::new(vec![], TrialSettings::default()).unwrap_err().to_string().contains("empty")
        );
        for settings in [
            TrialSettings { length_scale: 0.0, ..TrialSettings::default() },
            TrialSettings { noise: f64::NAN, ..TrialSettings::default() },
            TrialSettings { kappa: -1.0, ..TrialSettings::default() },
            TrialSettings { stop: 2.0, ..TrialSettings::default() },
        ] {
            let error = TrialSearch::new(line(&[1.0]), settings).unwrap_err().to_string();
            assert!(error.contains("but must be from"), "{error}");
        }
    }
}
