//! Emitters: they propose policies and learn from the results.
//!
//! To add one, add a file beside [`iso_line`](self) and its entries here: [`EmitterName`], [`EmitterConfig`] if it has
//! settings, [`candidates`] and [`build`].

mod iso_line;
pub mod ppga;
mod turn;

use magpie_learn::Policy;
use magpie_qd::Insertion;
use magpie_settings::{When, settings, words};

use crate::config::SearchConfig;
use crate::error::SearchError;
use crate::evaluator::EvaluatedPolicy;
use iso_line::IsoLine;
pub use iso_line::IsoLineConfig;
use ppga::{Policies, Ppga, PpgaReport};
pub use turn::{Part, Setup, Turn};

/// Proposes policies and learns from the results.
///
/// In each iteration the scheduler asks every emitter for policies, evaluates and inserts them, and tells the emitters
/// the results; it repeats this until no emitter proposes anything. All state that an emitter keeps between iterations
/// is in its record, from which it continues after a resume or after an iteration that failed.
pub trait Emitter: Send {
    /// The name in configurations and messages.
    fn name(&self) -> &'static str;

    /// Prepares the emitter before the first iteration of a search.
    fn start(&mut self, turn: &mut Turn<'_>) -> Result<(), SearchError> {
        let _ = turn;
        Ok(())
    }

    /// Returns batches to be evaluated and inserted, each at once; none if the emitter has finished its part of the
    /// iteration.
    fn ask(&mut self, turn: &mut Turn<'_>) -> Result<Vec<Batch>, SearchError>;

    /// Receives the results of the batches from the last `ask`.
    fn tell(&mut self, turn: &mut Turn<'_>, told: &[Told]) -> Result<(), SearchError> {
        let _ = (turn, told);
        Ok(())
    }

    /// Ends the iteration, after all emitters have been told.
    fn end(&mut self, turn: &mut Turn<'_>) -> Result<(), SearchError> {
        let _ = turn;
        Ok(())
    }

    /// The report of the iteration, if this is a PPGA emitter.
    fn ppga(&self) -> Option<PpgaReport> {
        None
    }

    /// Saves all state that is kept between iterations.
    fn save(&self) -> Result<Vec<u8>, SearchError>;

    /// Restores what [`save`](Emitter::save) returned.
    fn restore(&mut self, setup: &Setup, record: &[u8]) -> Result<(), SearchError>;
}

/// Policies that are inserted at once.
pub enum Batch {
    /// Policies to be evaluated. They are numbered from 0 in the order in which the emitter proposes them in an
    /// iteration.
    New(Vec<Policy>),
    /// The search policy, already evaluated by [`Turn::evaluate`]; it has no number.
    Evaluated(Vec<EvaluatedPolicy>),
}

/// The results of a batch.
pub struct Told {
    /// The policies, in the order in which they were proposed.
    pub policies: Vec<EvaluatedPolicy>,
    /// The result of inserting each policy.
    pub insertion: Insertion,
}

words! {
    /// The built-in emitters.
    pub enum EmitterName {
        /// PPGA: gradients of the objective and of the measures, branched by xNES, as in the paper.
        Ppga = "ppga",
        /// Iso-line variation: children of two elites.
        IsoLine = "iso_line",
    }
}

settings! {
    /// Settings of the emitters, one table each. PPGA's settings are those of the search itself.
    #[derive(Copy)]
    pub struct EmitterConfig {
        /// Iso-line variation.
        iso_line: IsoLineConfig, when When::Has("search.emitters", "iso_line");
    }
}

/// The number of policies that an emitter proposes per iteration, for this many `measures`.
pub(crate) fn candidates(name: EmitterName, config: &SearchConfig, measures: usize) -> u64 {
    match name {
        EmitterName::Ppga => ppga::candidates(config, measures),
        EmitterName::IsoLine => config.emitter.iso_line.children.into(),
    }
}

/// Builds an emitter by name, with its own `seed`.
pub(crate) fn build(name: EmitterName, setup: &Setup, seed: u64) -> Result<Box<dyn Emitter>, SearchError> {
    Ok(match name {
        EmitterName::Ppga if setup.config.policies > 1 || setup.config.climbers > 0 => {
            Box::new(Policies::new(setup, seed)?)
        }
        EmitterName::Ppga => Box::new(Ppga::new(setup, seed)?),
        EmitterName::IsoLine => Box::new(IsoLine::new(setup.config.emitter.iso_line)),
    })
}
