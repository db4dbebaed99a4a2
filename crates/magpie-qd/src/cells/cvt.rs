//! Voronoi cells: measures belong to the cell of the nearest centroid (CVT-MAP-Elites, Vassiliades et al. 2018).
//!
//! The outermost cells are unbounded, so that no measures are outside.

use super::kdtree::KdTree;
use super::kmeans;
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// A centroidal Voronoi tessellation of measure space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "CvtRecord")]
pub struct Cvt {
    dim: usize,
    centroids: Vec<f64>,
    /// Derived from the centroids, and therefore not stored.
    #[serde(skip)]
    tree: KdTree,
}

#[derive(Deserialize)]
struct CvtRecord {
    dim: usize,
    centroids: Vec<f64>,
}

impl TryFrom<CvtRecord> for Cvt {
    type Error = Error;
    fn try_from(record: CvtRecord) -> Result<Self, Error> {
        Cvt::new(record.centroids, record.dim)
    }
}

impl Cvt {
    /// A tessellation with the given `centroids`, rows of `dim` measures.
    pub fn new(centroids: Vec<f64>, dim: usize) -> Result<Self, Error> {
        if dim == 0 || centroids.is_empty() || !centroids.len().is_multiple_of(dim) {
            return Err(Error::Centroids("there must be at least one, each with all its measures"));
        }
        if !centroids.iter().all(|c| c.is_finite()) {
            return Err(Error::Centroids("they must be finite"));
        }
        if centroids.len() / dim > u32::MAX as usize {
            return Err(Error::Centroids("too many cells"));
        }
        let tree = KdTree::new(&centroids, dim);
        Ok(Cvt { dim, centroids, tree })
    }

    /// `cells` centroids of the given `samples` (rows of `dim` measures), computed by k-means. Equal arguments give
    /// equal centroids on every machine and with any number of threads.
    pub fn from_samples(samples: &[f64], dim: usize, cells: usize, seed: u64) -> Result<Self, Error> {
        if dim == 0 || !samples.len().is_multiple_of(dim) || cells == 0 || samples.len() / dim < cells {
            return Err(Error::Centroids(
                "k-means needs at least one cell and as many whole samples as cells",
            ));
        }
        if samples.len() / dim > u32::MAX as usize {
            return Err(Error::Centroids("too many samples"));
        }
        if !samples.iter().all(|s| s.is_finite()) {
            return Err(Error::Centroids("k-means needs finite samples"));
        }
        Cvt::new(kmeans::centroids(samples, dim, cells, seed), dim)
    }

    /// `cells` centroids for measures that are uniform in a box, from `samples` points drawn in it. pyribs draws
    /// 100,000; 40 or more per cell keep the cells similar in size.
    pub fn uniform(
        lower: &[f64],
        upper: &[f64],
        cells: usize,
        samples: usize,
        seed: u64,
    ) -> Result<Self, Error> {
        if lower.len() != upper.len() {
            return Err(Error::Centroids("there must be as many lower as upper bounds"));
        }
        Cvt::from_samples(&kmeans::uniform_samples(lower, upper, samples, seed), lower.len(), cells, seed)
    }

    /// The number of cells.
    pub fn count(&self) -> usize {
        self.centroids.len() / self.dim
    }

    /// The number of measures.
    pub fn measure_dim(&self) -> usize {
        self.dim
    }

    /// All centroids, rows of [`Cvt::measure_dim`] measures.
    pub fn centroids(&self) -> &[f64] {
        &self.centroids
    }

    /// The centroid of `cell`, or `None` beyond the last cell.
    pub fn centroid(&self, cell: usize) -> Option<&[f64]> {
        self.centroids.chunks_exact(self.dim).nth(cell)
    }

    /// The cell whose centroid is nearest to the given (finite) measures; the lowest on a tie.
    pub(super) fn nearest(&self, measures: &[f64]) -> usize {
        self.tree.nearest(measures).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_centroids_are_refused() {
        assert!(Cvt::new(vec![], 2).is_err());
        assert!(Cvt::new(vec![0.0; 3], 2).is_err());
        assert!(Cvt::new(vec![f64::NAN], 1).is_err());
        assert!(Cvt::from_samples(&[0.0, 1.0], 1, 3, 0).is_err());
        assert!(Cvt::uniform(&[0.0], &[1.0, 1.0], 3, 100, 0).is_err());
        assert!(Cvt::uniform(&[], &[], 3, 100, 0).is_err());
        assert!(Cvt::uniform(&[0.0], &[f64::INFINITY], 3, 100, 0).is_err());
    }
}
