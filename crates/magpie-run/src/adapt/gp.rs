//! Gaussian-process regression with a Matérn 5/2 kernel (Rasmussen & Williams 2006, eq. 2.25, 2.26 and 4.17).
//!
//! ```text
//! k(d)   = (1 + √5 d/ρ + 5 d²/(3 ρ²)) exp(−√5 d/ρ)
//! mean   = kᵀ (K + s I)⁻¹ y              y: observations less their prior means
//! var    = k(0) − kᵀ (K + s I)⁻¹ k       s: variance of the noise
//! ```
//!
//! All is in units of the prior's standard deviation. The factorisation is nalgebra's: the matrices are small (a row a
//! trial), for which faer's threads and blocks would bring nothing but longer builds.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// The kernel and the noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// ρ: how far an observation reaches.
    pub length_scale: f64,
    /// s: variance of the noise of an observation.
    pub noise: f64,
}

/// What observations say about any other point.
#[derive(Debug, Clone)]
pub struct Posterior {
    prior: Prior,
    points: Vec<Vec<f64>>,
    factor: Option<Cholesky<f64, Dyn>>,
    weights: DVector<f64>,
}

/// Correlation of two points at this distance.
pub fn matern52(distance: f64, length_scale: f64) -> f64 {
    let d = 5f64.sqrt() * distance / length_scale;
    (1.0 + d + d * d / 3.0) * (-d).exp()
}

impl Prior {
    fn covariance(&self, a: &[f64], b: &[f64]) -> f64 {
        let squared: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
        matern52(squared.sqrt(), self.length_scale)
    }

    /// What remains to be known after these observations, each less its prior mean. `None` if they cannot be told from
    /// each other without noise, so that the matrix has no inverse.
    pub fn given(self, points: Vec<Vec<f64>>, values: &[f64]) -> Option<Posterior> {
        let number = points.len();
        if number == 0 {
            return Some(Posterior { prior: self, points, factor: None, weights: DVector::zeros(0) });
        }
        let matrix = DMatrix::from_fn(number, number, |i, j| {
            self.covariance(&points[i], &points[j]) + if i == j { self.noise } else { 0.0 }
        });
        let factor = Cholesky::new(matrix)?;
        let weights = factor.solve(&DVector::from_column_slice(values));
        Some(Posterior { prior: self, points, factor: Some(factor), weights })
    }
}

impl Posterior {
    /// Mean, less its prior mean, and variance at a point.
    pub fn at(&self, point: &[f64]) -> (f64, f64) {
        let Some(factor) = &self.factor else { return (0.0, 1.0) };
        let covariances = self.points.iter().map(|seen| self.prior.covariance(seen, point));
        let k = DVector::from_iterator(self.points.len(), covariances);
        let solved = factor.solve(&k);
        // Rounding may leave a tiny negative number.
        (k.dot(&self.weights), (1.0 - k.dot(&solved)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_observations_the_prior_stays() {
        let prior = Prior { length_scale: 0.1, noise: 0.01 };
        assert_eq!(prior.given(vec![], &[]).unwrap().at(&[0.3]), (0.0, 1.0));
    }

    #[test]
    fn an_observation_is_believed_where_it_was_made_and_forgotten_far_away() {
        let prior = Prior { length_scale: 0.1, noise: 1e-6 };
        let posterior = prior.given(vec![vec![0.2, 0.2]], &[-3.0]).unwrap();
        let (mean, variance) = posterior.at(&[0.2, 0.2]);
        assert!((mean + 3.0).abs() < 1e-4 && variance < 1e-5, "{mean} {variance}");
        let (mean, variance) = posterior.at(&[5.0, 5.0]);
        assert!(mean.abs() < 1e-9 && (variance - 1.0).abs() < 1e-9, "{mean} {variance}");
    }

    #[test]
    fn the_same_point_twice_needs_noise() {
        let twice = vec![vec![0.5], vec![0.5]];
        assert!(Prior { length_scale: 1.0, noise: 0.0 }.given(twice.clone(), &[1.0, 1.0]).is_none());
        let (mean, _) = Prior { length_scale: 1.0, noise: 0.5 }.given(twice, &[1.0, 2.0]).unwrap().at(&[0.5]);
        // Two observations of variance 0.5 and a prior of variance 1: (1/0.5 + 2/0.5) / (1 + 2/0.5).
        assert!((mean - 6.0 / 5.0).abs() < 1e-12, "{mean}");
    }
}
