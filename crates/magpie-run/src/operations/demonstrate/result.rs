//! What demonstrators gave.

use magpie_demos::Demonstrations;
use magpie_learn::Actions;

use crate::operations::typical::FreshEpisodes;

/// Demonstrations, and who made them.
#[derive(Debug, Clone, PartialEq)]
pub struct Demonstrated {
    /// The demonstrations.
    pub demonstrations: Demonstrations,
    /// How their demonstrators acted.
    pub actions: Actions,
    /// One for each demonstration, in order.
    pub recorded: Vec<Recorded>,
    /// Elites that were turned down, in the order in which they were tried.
    pub skipped: Vec<Skipped>,
    /// What is likely to be a mistake, in sentences.
    pub warnings: Vec<String>,
}

/// A demonstration, and what is typical of its demonstrator.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The elite; `None` for a single policy.
    pub elite: Option<StoredElite>,
    /// What the demonstrator's fresh episodes gave.
    pub fresh: FreshEpisodes,
    /// Return of the recorded episode.
    pub true_return: f64,
    /// Its measures.
    pub measures: Vec<f64>,
    /// Its steps.
    pub length: usize,
    /// Whether it terminated, as with a fall.
    pub terminated: bool,
}

/// What an archive says of an elite.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredElite {
    /// Its cell, as people name it.
    pub cell: String,
    /// Its return.
    pub objective: f64,
    /// Its measures.
    pub measures: Vec<f64>,
}

/// An elite that does not do what the archive says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Skipped {
    /// What the archive says.
    pub elite: StoredElite,
    /// What its fresh episodes gave.
    pub fresh: FreshEpisodes,
    /// Why it does not demonstrate.
    pub reason: Mismatch,
}

/// What fresh episodes do not reproduce.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mismatch {
    /// The return.
    Return,
    /// The measures: they lie this many cells away.
    Measures(f64),
    /// Anything: the simulation met numbers that are not finite.
    NotFinite,
}
