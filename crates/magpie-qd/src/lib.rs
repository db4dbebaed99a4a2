//! Quality-diversity search, behind ask and tell.
//!
//! A *solution* is a row of numbers that somebody else knows how to run. Running it gives an *objective*, how
//! good it was, and *measures*, how it behaved. Quality diversity wants, for every way of behaving, the best
//! solution that behaves so. Three nouns carry it here:
//!
//! - [`Cells`] cut measure space into numbered pieces, a [`Grid`] or a tessellation ([`Cvt`]).
//! - An [`ArchivePair`] holds one *elite* a cell. The *soft* archive decides what counts as progress: its
//!   thresholds follow the objectives slowly, so that a cell keeps paying for a while. The *result* archive
//!   keeps the best and is what the [`Metrics`] are taken from. A solution is stored once for both.
//! - [`Xnes`] is the distribution that proposes what to try next and is told how much each proposal improved
//!   the archive.
//!
//! The crate computes and nothing else: no robots, no files, no threads, and no random state; where something
//! is drawn, the caller hands in the draws. All state derives serde's traits and comes back bit for bit.
//!
//! ```
//! use magpie_qd::{Acceptance, ArchivePair, Candidate, Grid, Provenance, QdOffset, Xnes};
//!
//! # fn main() -> Result<(), magpie_qd::Error> {
//! let grid = Grid::new(vec![10, 10], vec![-2.0, -2.0], vec![2.0, 2.0])?;
//! let soft = Acceptance::Soft { learning_rate: 0.5, threshold_min: -10.0 };
//! let mut archives = ArchivePair::new(grid, soft, 2, 0)?;
//! let mut xnes = Xnes::new(vec![0.0, 0.0], 0.5)?;
//!
//! // Here a solution behaves as it is, and is best in the middle.
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

pub use archive::elite::{Candidate, Elite, Entry, Provenance};
pub use archive::outcome::{Insertion, Outcome};
pub use archive::pair::ArchivePair;
pub use archive::solutions::{Row, Solutions};
pub use archive::{Acceptance, Archive};
pub use cells::{Cells, Cvt, EPSILON, Grid};
pub use error::{Error, Refusal};
pub use metrics::{Metrics, QdOffset};
pub use xnes::Xnes;
