//! Centroids by k-means: k-means++ seeding (Arthur & Vassilvitskii 2007), then Lloyd's iterations.
//!
//! The result depends only on the arguments: draws come from the seed, and sums run in the order of the samples.

use super::kdtree::KdTree;
use magpie_random::Stream;

/// Lloyd's iterations stop when one of them reduces the mean squared distance by less than this share. Cells whose
/// sizes differ by a few per cent serve an archive equally well.
const TOLERANCE: f64 = 1e-3;
/// The largest number of iterations, for samples that keep improving slowly.
const MAX_ITERATIONS: usize = 100;

/// `count` points, uniform in the box `lower..upper`, in rows.
pub(super) fn uniform_samples(lower: &[f64], upper: &[f64], count: usize, seed: u64) -> Vec<f64> {
    let mut draws = Stream::new(seed, "cvt samples").draws(0, 0);
    let bounds = || lower.iter().zip(upper);
    (0..count)
        .flat_map(|_| bounds())
        .map(|(lower, upper)| lower + (upper - lower) * f64::from(draws.unit()))
        .collect()
}

/// `k` centroids of `samples`, rows of `dim`; the caller must ensure that there are at least `k`.
pub(super) fn centroids(samples: &[f64], dim: usize, k: usize, seed: u64) -> Vec<f64> {
    let mut centroids = seed_centroids(samples, dim, k, seed);
    let mut last_error = f64::INFINITY;
    for _ in 0..MAX_ITERATIONS {
        let tree = KdTree::new(&centroids, dim);
        let mut error = 0.0;
        let mut sums = vec![0.0; k * dim];
        let mut sizes = vec![0u32; k];
        for sample in samples.chunks_exact(dim) {
            let (nearest, squared_distance) = tree.nearest(sample);
            error += squared_distance;
            sizes[nearest] += 1;
            for (sum, s) in sums[nearest * dim..].iter_mut().zip(sample) {
                *sum += s;
            }
        }
        if error >= last_error * (1.0 - TOLERANCE) {
            break;
        }
        last_error = error;
        // A centroid without samples keeps its position.
        for (cell, &size) in sizes.iter().enumerate().filter(|(_, size)| **size > 0) {
            for j in cell * dim..(cell + 1) * dim {
                centroids[j] = sums[j] / f64::from(size);
            }
        }
    }
    centroids
}

/// Each following centroid is a sample drawn with probability proportional to its squared distance from those chosen
/// before.
fn seed_centroids(samples: &[f64], dim: usize, k: usize, seed: u64) -> Vec<f64> {
    let n = samples.len() / dim;
    let row = |i: usize| &samples[i * dim..(i + 1) * dim];
    let mut draws = Stream::new(seed, "cvt seeding").draws(0, 0);
    let mut chosen = draws.below(n as u32) as usize;
    let mut distance = vec![f64::INFINITY; n];
    let mut centroids = Vec::with_capacity(k * dim);
    centroids.extend_from_slice(row(chosen));
    for pick in 1..k {
        let mut total = 0.0;
        for (d, sample) in distance.iter_mut().zip(samples.chunks_exact(dim)) {
            let to_last: f64 = sample.iter().zip(row(chosen)).map(|(a, b)| (a - b) * (a - b)).sum();
            *d = d.min(to_last);
            total += *d;
        }
        let mut left = f64::from(draws.unit()) * total;
        // Rounding can leave a remainder after the last sample; then the last sample not yet chosen is taken.
        let mut drawn = None;
        for (i, &d) in distance.iter().enumerate().filter(|(_, d)| **d > 0.0) {
            drawn = Some(i);
            left -= d;
            if left < 0.0 {
                break;
            }
        }
        // All samples coincide with centroids, so any of them will do.
        chosen = drawn.unwrap_or(pick);
        centroids.extend_from_slice(row(chosen));
    }
    centroids
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean squared distance to the nearest of k centroids on the unit square is about 0.16/k for the
    /// best (hexagonal) tessellation and 1/6k for a square one; random samples as centroids give about
    /// 0.32/k.
    #[test]
    fn centroids_tessellate_the_square() {
        let samples = uniform_samples(&[0.0, 0.0], &[1.0, 1.0], 10_000, 3);
        let k = 100;
        let centroids = centroids(&samples, 2, k, 3);
        let tree = KdTree::new(&centroids, 2);
        let error: f64 = samples
            .chunks_exact(2)
            .map(|s| {
                let c = &centroids[tree.nearest(s).0 * 2..];
                (s[0] - c[0]).powi(2) + (s[1] - c[1]).powi(2)
            })
            .sum::<f64>()
            / 10_000.0;
        assert!(error * (k as f64) < 0.175, "mean squared distance × k = {}", error * k as f64);
    }

    #[test]
    fn equal_seeds_give_equal_centroids() {
        let samples = uniform_samples(&[-1.0, 0.0], &[1.0, 5.0], 2_000, 9);
        assert_eq!(centroids(&samples, 2, 30, 1), centroids(&samples, 2, 30, 1));
        assert_ne!(centroids(&samples, 2, 30, 1), centroids(&samples, 2, 30, 2));
    }

    #[test]
    fn repeated_samples_are_no_trap() {
        let samples = vec![0.25; 10];
        assert_eq!(centroids(&samples, 1, 4, 0), vec![0.25; 4]);
    }
}
