//! xNES: a Gaussian search distribution that follows ranks (Glasmachers et al. 2010).
//!
//! The distribution is x = μ + A z with z ~ N(0, I) in d dimensions. The utilities u of n samples depend only on their
//! ranks and sum to zero:
//!
//! ```text
//! w_r = max(0, ln(n/2 + 1) − ln r)  for rank r = 1 (best) … n,     u = w/Σw − 1/n
//! g   = Σ u z                        μ ← μ + η_μ A g,               η_μ = 1
//! G   = Σ u (z zᵀ − I)               A ← A exp(½ η_A G),            η_A = 0.6 (3 + ln d) / (d √d)
//! ```
//!
//! A single rate applies to all of A, as in evotorch; the original separates step size and shape. Samples of equal
//! fitness share the mean of their utilities, so that their order does not matter.
//!
//! The distribution has no random state: the caller passes the draws.

use crate::error::Error;
use crate::linalg;
use magpie_random::Draws;
use serde::{Deserialize, Serialize};

/// The learning rate η_μ of the mean.
pub const MEAN_RATE: f64 = 1.0;

/// The learning rate η_A of the factor A in `dim` dimensions.
pub fn factor_rate(dim: usize) -> f64 {
    let d = dim as f64;
    0.6 * (3.0 + d.ln()) / (d * d.sqrt())
}

/// The utilities of `n` samples, worst first.
pub fn utilities(n: usize) -> Vec<f64> {
    let half = (n as f64 / 2.0 + 1.0).ln();
    let weights: Vec<f64> = (0..n).map(|r| (half - ((n - r) as f64).ln()).max(0.0)).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total - 1.0 / n as f64).collect()
}

/// The search distribution, with its complete state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "XnesRecord")]
pub struct Xnes {
    mean: Vec<f64>,
    /// A, row by row.
    factor: Vec<f64>,
}

#[derive(Deserialize)]
struct XnesRecord {
    mean: Vec<f64>,
    factor: Vec<f64>,
}

impl TryFrom<XnesRecord> for Xnes {
    type Error = Error;
    fn try_from(record: XnesRecord) -> Result<Self, Error> {
        Xnes::with_factor(record.mean, record.factor)
    }
}

impl Xnes {
    /// A distribution with mean μ and A = σ I.
    pub fn new(mean: Vec<f64>, sigma: f64) -> Result<Self, Error> {
        let factor = linalg::diagonal(&vec![sigma; mean.len()]);
        Xnes::with_factor(mean, factor)
    }

    /// A distribution with mean μ and any invertible A, given row by row.
    pub fn with_factor(mean: Vec<f64>, factor: Vec<f64>) -> Result<Self, Error> {
        if mean.is_empty() || factor.len() != mean.len() * mean.len() {
            return Err(Error::Xnes("the mean needs at least one entry and A as many rows and columns"));
        }
        if !mean.iter().chain(&factor).all(|x| x.is_finite()) {
            return Err(Error::Xnes("mean and A must be finite"));
        }
        if linalg::solve(&factor, &mean).is_none() {
            return Err(Error::Xnes("A (or σ) must be invertible"));
        }
        Ok(Xnes { mean, factor })
    }

    /// The initial distribution of a search, also after a restart, over the coefficients of one objective gradient and
    /// k measure gradients: the mean is uniform in [0, 2] × [−2, 2]ᵏ, so that the objective is not descended, and A =
    /// σ₀ I.
    pub fn start(measure_dim: usize, sigma0: f64, draws: &mut Draws) -> Result<Self, Error> {
        let low = |j| if j == 0 { 0.0 } else { -2.0 };
        let mean = (0..=measure_dim).map(|j| f64::from(draws.uniform(low(j), 2.0))).collect();
        Xnes::new(mean, sigma0)
    }

    /// The number of dimensions d.
    pub fn dim(&self) -> usize {
        self.mean.len()
    }

    /// The mean μ.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The factor A of the covariance A Aᵀ, row by row.
    pub fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// Draws `n` samples, in rows of d.
    pub fn ask(&self, n: usize, draws: &mut Draws) -> Vec<f64> {
        let mut samples = Vec::with_capacity(n * self.dim());
        for _ in 0..n {
            let z: Vec<f64> = (0..self.dim()).map(|_| f64::from(draws.normal())).collect();
            samples.extend(linalg::add(&self.mean, &linalg::apply(&self.factor, &z)));
        }
        samples
    }

    /// Updates the distribution with the `fitness` of `samples`, which is maximised; −∞ is the worst, and NaN is an
    /// error. After an error it is unchanged.
    pub fn tell(&mut self, samples: &[f64], fitness: &[f64]) -> Result<(), Error> {
        let (d, n) = (self.dim(), fitness.len());
        if n == 0 || samples.len() != n * d {
            return Err(Error::Xnes("there must be one fitness value per sample, and at least one"));
        }
        if fitness.iter().any(|f| f.is_nan()) || !samples.iter().all(|x| x.is_finite()) {
            return Err(Error::Xnes("fitness must not be NaN and samples must be finite"));
        }

        let mut gradient = vec![0.0; d];
        let mut shape = vec![0.0; d * d];
        for (x, u) in samples.chunks_exact(d).zip(utilities_of(fitness)) {
            let from_mean: Vec<f64> = x.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
            let z = linalg::solve(&self.factor, &from_mean).ok_or(Error::Xnes("A is not invertible"))?;
            for i in 0..d {
                gradient[i] += u * z[i];
                for j in 0..d {
                    shape[i * d + j] += u * (z[i] * z[j] - f64::from(i == j));
                }
            }
        }

        let step = linalg::apply(&self.factor, &gradient);
        let mean = linalg::add(&self.mean, &step.iter().map(|s| MEAN_RATE * s).collect::<Vec<_>>());
        let half_rate = 0.5 * factor_rate(d);
        let growth = linalg::exp_symmetric(&shape.iter().map(|g| half_rate * g).collect::<Vec<_>>(), d);
        *self = Xnes::with_factor(mean, linalg::multiply(&self.factor, &growth, d))?;
        Ok(())
    }
}

/// The utility of each sample; samples of equal fitness share the mean utility of their ranks.
fn utilities_of(fitness: &[f64]) -> Vec<f64> {
    let by_rank = utilities(fitness.len());
    // Rounding leaves a mean of about 1e-18; evotorch removes it before use.
    let rest = by_rank.iter().sum::<f64>() / by_rank.len() as f64;
    let mut order: Vec<usize> = (0..fitness.len()).collect();
    order.sort_by(|&a, &b| (fitness[a] + 0.0).total_cmp(&(fitness[b] + 0.0)));
    let mut utilities = vec![0.0; fitness.len()];
    let mut rank = 0;
    for tied in order.chunk_by(|&a, &b| fitness[a] == fitness[b]) {
        let share = by_rank[rank..rank + tied.len()].iter().sum::<f64>() / tied.len() as f64 - rest;
        tied.iter().for_each(|&sample| utilities[sample] = share);
        rank += tied.len();
    }
    utilities
}

#[cfg(test)]
mod tests {
    use super::*;
    use magpie_random::Stream;

    fn draws() -> Draws {
        Stream::new(0, "test").draws(0, 0)
    }

    #[test]
    fn equal_fitness_changes_nothing() {
        let mut xnes = Xnes::new(vec![1.0, -1.0], 0.5).unwrap();
        let before = xnes.clone();
        xnes.tell(&xnes.ask(3, &mut draws()), &[f64::NEG_INFINITY; 3]).unwrap();
        let numbers = |xnes: &Xnes| [xnes.mean(), xnes.factor()].concat();
        for (now, then) in numbers(&xnes).iter().zip(numbers(&before)) {
            assert!((now - then).abs() < 1e-15);
        }
    }

    #[test]
    fn telling_in_another_order_gives_the_same_distribution() {
        let start = Xnes::new(vec![0.0, 0.0], 1.0).unwrap();
        let samples = start.ask(4, &mut draws());
        let (mut forwards, mut backwards) = (start.clone(), start);
        forwards.tell(&samples, &[1.0, 3.0, 3.0, 2.0]).unwrap();
        let reversed: Vec<f64> = samples.chunks(2).rev().flatten().copied().collect();
        backwards.tell(&reversed, &[2.0, 3.0, 3.0, 1.0]).unwrap();
        for (a, b) in forwards.factor().iter().zip(backwards.factor()) {
            assert!((a - b).abs() < 1e-14);
        }
    }

    #[test]
    fn samples_have_the_covariance_of_the_factor() {
        let xnes = Xnes::with_factor(vec![3.0, -1.0], vec![2.0, 0.0, 1.0, 0.5]).unwrap();
        let n = 20_000;
        let samples = xnes.ask(n, &mut draws());
        let moment = |i: usize, j: usize| {
            let product = |x: &[f64]| (x[i] - xnes.mean()[i]) * (x[j] - xnes.mean()[j]);
            samples.chunks(2).map(product).sum::<f64>() / n as f64
        };
        // A Aᵀ = [[4, 2], [2, 1.25]]
        for (got, want) in [(moment(0, 0), 4.0), (moment(0, 1), 2.0), (moment(1, 1), 1.25)] {
            assert!((got - want).abs() < 0.1, "{got} instead of {want}");
        }
    }

    #[test]
    fn climbs_a_sphere() {
        let mut xnes = Xnes::new(vec![3.0, -2.0], 1.0).unwrap();
        let mut draws = draws();
        for _ in 0..60 {
            let samples = xnes.ask(30, &mut draws);
            let fitness: Vec<f64> = samples.chunks(2).map(|x| -x[0] * x[0] - x[1] * x[1]).collect();
            xnes.tell(&samples, &fitness).unwrap();
        }
        assert!(xnes.mean().iter().all(|m| m.abs() < 1e-2), "{xnes:?}");
    }

    #[test]
    fn starts_where_the_paper_says() {
        let mut draws = draws();
        for _ in 0..100 {
            let xnes = Xnes::start(2, 0.5, &mut draws).unwrap();
            assert!((0.0..2.0).contains(&xnes.mean()[0]));
            assert!(xnes.mean()[1..].iter().all(|m| (-2.0..2.0).contains(m)));
            assert_eq!(xnes.factor(), [0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5]);
        }
    }

    #[test]
    fn bad_numbers_are_errors_and_change_nothing() {
        let mut xnes = Xnes::new(vec![1.0, 1.0], 1.0).unwrap();
        let before = xnes.clone();
        assert!(xnes.tell(&[0.0; 4], &[1.0, f64::NAN]).is_err());
        assert!(xnes.tell(&[0.0; 4], &[1.0]).is_err());
        assert!(xnes.tell(&[1e300, 0.0, 0.0, 0.0], &[1.0, 0.0]).is_err());
        assert!(xnes.tell(&[], &[]).is_err());
        assert_eq!(xnes, before);
        assert!(Xnes::new(vec![0.0], 0.0).is_err());
        assert!(Xnes::new(vec![], 1.0).is_err());
        assert!(Xnes::with_factor(vec![0.0; 2], vec![1.0; 4]).is_err());
    }
}
