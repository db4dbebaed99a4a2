//! Emitters: they propose policies and learn from what became of them.
//!
//! To add one: a file beside [`iso_line`](self), and its place in the lists here: [`EmitterName`],
//! [`EmitterConfig`] if it has settings, [`candidates`] and [`build`].

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
use ppga::{Ppga, PpgaReport};
pub use turn::{Part, Setup, Turn};

/// Proposes policies, and learns from what became of them.
///
/// In each iteration the scheduler asks every emitter, evaluates what they propose, inserts it, and tells them; then it
/// asks again, until none has anything more. Everything that an emitter carries from one iteration to the next is in its
/// record: it goes on from there after a resume, or after an iteration that failed while emitters were asked.
pub trait Emitter: Send {
    /// What configurations and messages call it.
    fn name(&self) -> &'static str;

    /// What it does before the first iteration of a search.
    fn start(&mut self, turn: &mut Turn<'_>) -> Result<(), SearchError> {
        let _ = turn;
        Ok(())
    }

    /// Batches to be evaluated and inserted, each at once; none if this emitter has done its part of the iteration.
    fn ask(&mut self, turn: &mut Turn<'_>) -> Result<Vec<Batch>, SearchError>;

    /// What became of the batches that it was asked for last.
    fn tell(&mut self, turn: &mut Turn<'_>, told: &[Told]) -> Result<(), SearchError> {
        let _ = (turn, told);
        Ok(())
    }

    /// The iteration ends: all emitters have been told.
    fn end(&mut self, turn: &mut Turn<'_>) -> Result<(), SearchError> {
        let _ = turn;
        Ok(())
    }

    /// What PPGA has to say of the iteration, if this is one.
    fn ppga(&self) -> Option<PpgaReport> {
        None
    }

    /// Everything that it carries from one iteration to the next.
    fn save(&self) -> Result<Vec<u8>, SearchError>;

    /// Goes on from what [`save`](Emitter::save) gave.
    fn restore(&mut self, setup: &Setup, record: &[u8]) -> Result<(), SearchError>;
}

/// Policies that are inserted at once.
pub enum Batch {
    /// Still to be evaluated. They are numbered, from 0, in the order in which an emitter proposes them in an iteration.
    New(Vec<Policy>),
    /// The search policy, already evaluated by [`Turn::evaluate`]; it has no number.
    Evaluated(Vec<EvaluatedPolicy>),
}

/// What became of a batch.
pub struct Told {
    /// The policies, in the order in which they were proposed.
    pub policies: Vec<EvaluatedPolicy>,
    /// What the archives said to each.
    pub insertion: Insertion,
}

words! {
    /// The emitters that a configuration can name.
    pub enum EmitterName {
        /// Gradients of the objective and of the measures, branched by xNES: the paper's.
        Ppga = "ppga",
        /// Children of two elites.
        IsoLine = "iso_line",
    }
}

settings! {
    /// Settings of emitters, a table for each. PPGA's are those of the search itself.
    #[derive(Copy)]
    pub struct EmitterConfig {
        /// How elites have children.
        iso_line: IsoLineConfig, when When::Has("search.emitters", "iso_line");
    }
}

/// Policies that an emitter proposes in an iteration, with this many `measures`.
pub(crate) fn candidates(name: EmitterName, config: &SearchConfig, measures: usize) -> u64 {
    match name {
        EmitterName::Ppga => ppga::candidates(config, measures),
        EmitterName::IsoLine => config.emitter.iso_line.children.into(),
    }
}

/// An emitter that the configuration names; `seed` is its own.
pub(crate) fn build(name: EmitterName, setup: &Setup, seed: u64) -> Result<Box<dyn Emitter>, SearchError> {
    Ok(match name {
        EmitterName::Ppga => Box::new(Ppga::new(setup, seed)?),
        EmitterName::IsoLine => Box::new(IsoLine::new(setup.config.emitter.iso_line)),
    })
}
