//! Quality-diversity optimisation with an ask/tell interface.
//!
//! A *solution* is a vector of numbers that the caller knows how to evaluate. Its evaluation gives an *objective*,
//! which says how good it is, and *measures*, which describe its behaviour. Quality diversity seeks the best solution
//! for each kind of behaviour. There are three main types:
//!
//! - [`Cells`] divide the measure space into numbered cells: a [`Grid`] or a tessellation ([`Cvt`]).
//! - An [`ArchivePair`] holds one *elite* per cell. The *soft* archive decides what counts as an improvement: its
//!   thresholds follow the objectives slowly, so that a cell keeps rewarding improvements for a while. The *result*
//!   archive keeps the best solutions, from which the [`Metrics`] are computed. Both share the stored solutions.
//! - [`Xnes`] is the search distribution: it proposes samples and is told how much each of them improved the archive.
//!
//! The crate only computes: it has no robots, files, threads or random state; the caller passes random draws. All state
//! implements serde's traits and is restored bit for bit.
//!
//! ```
//! use magpie_qd::{Acceptance, ArchivePair, Candidate, Evidence, Grid, Provenance, QdOffset, Xnes};
//!
//! # fn main() -> Result<(), magpie_qd::Error> {
//! let grid = Grid::new(vec![10, 10], vec![-2.0, -2.0], vec![2.0, 2.0])?;
//! let soft = Acceptance::Soft { learning_rate: 0.5, threshold_min: -10.0 };
//! let mut archives = ArchivePair::new(grid, soft, 2, 0)?;
//! let mut xnes = Xnes::new(vec![0.0, 0.0], 0.5)?;
//!
//! // In this example the measures are the solution itself, and the optimum is in the middle.
//! let mut draws = magpie_random::Stream::new(1, "samples").draws(0, 0);
//! let samples = xnes.ask(20, &mut draws);
//! let solutions: Vec<f32> = samples.iter().map(|&x| x as f32).collect();
//! let batch: Vec<Candidate> = samples
//!     .chunks(2)
//!     .zip(solutions.chunks(2))
//!     .enumerate()
//!     .map(|(branch, (measures, solution))| Candidate {
//!         solution,
//!         extra: &[],
//!         objective: -measures[0].powi(2) - measures[1].powi(2),
//!         measures,
//!         length: 1000.0,
//!         evidence: Evidence::ONE,
//!         provenance: Provenance { iteration: 0, branch: Some(branch as u32) },
//!     })
//!     .collect();
//! let insertion = archives.add(&batch)?;
//! xnes.tell(&samples, &insertion.values())?;
//!
//! let metrics = archives.metrics(QdOffset::PerStep(0.0));
//! assert_eq!((metrics.elites, insertion.accepted()), (insertion.new_cells, 20));
//! # Ok(())
//! # }
//! ```

mod archive;
mod cells;
mod error;
mod linalg;
pub mod metrics;
pub mod select;
pub mod xnes;

pub use archive::elite::{Candidate, Elite, Entry, Evidence, Provenance};
pub use archive::outcome::{Insertion, Outcome};
pub use archive::pair::ArchivePair;
pub use archive::result::{Pooled, Ranking, ResultArchive};
pub use archive::solutions::{Row, Solutions};
pub use archive::{Acceptance, Archive, Occupancy};
pub use cells::{Cells, Cvt, EPSILON, Grid};
pub use error::{Error, Refusal};
pub use metrics::{Metrics, QdOffset};
pub use xnes::Xnes;
