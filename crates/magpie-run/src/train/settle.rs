//! Settling a run: its archive becomes one that can be trusted, and is verified ([`magpie_search::Settling`]).
//!
//! `archive.safetensors` is then the settled archive, `reevaluation.csv` and the last row of `metrics.csv` say what it is worth
//! in fresh episodes. The checkpoint stays the search's, so that a run goes on as if it had never been settled. What has been
//! evaluated so far is kept in `checkpoint/settle`: settling that was interrupted continues there, and ends in the same bytes.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use magpie_search::{Effort, Settling, SettlingProgress, SettlingRecord, Verified};

use super::run::{ARCHIVE, TrainRun};
use crate::archive::{ArchiveOutline, load_outline, save_archive};
use crate::checkpoint::{load_sealed, save_sealed};
use crate::error::RunError;
use crate::finished;
use crate::metrics::Metrics;
use crate::reevaluation::Reevaluation;

/// What has been evaluated so far.
pub(crate) const FILE: &str = "checkpoint/settle";
/// Columns of `metrics.csv` that are filled in the last row when an archive has been verified.
pub(super) const COLUMNS: [&str; 2] = ["verified_qd_score", "verified_coverage"];

/// At most this much work is lost when settling is killed.
const SAVE_EVERY: Duration = Duration::from_secs(30);

/// The share of a run's environment steps for a run whose settings name none.
const USUAL_SHARE: f64 = 0.1;

/// Hears how far settling is, and may interrupt it.
pub type SettlingListener<'a> = dyn FnMut(SettlingProgress) -> ControlFlow<()> + 'a;

/// An archive and what it is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct SettledArchive {
    /// The archive as stored.
    pub stored: ArchiveOutline,
    /// What its elites reach in fresh episodes.
    pub verified: Reevaluation,
}

impl TrainRun {
    /// How much a run is settled if nobody says otherwise: a share of the steps that its search has taken.
    pub fn usual_effort(&self) -> Effort {
        let share = Some(self.config().search.settle).filter(|share| *share > 0.0).unwrap_or(USUAL_SHARE);
        Effort::Steps((share * self.search().state().env_steps as f64) as u64)
    }

    /// Settles the archive as it is after the last iteration, and verifies it. Returns whether it came to its end.
    pub fn settle(
        &mut self,
        effort: Effort,
        listener: &mut SettlingListener<'_>,
    ) -> Result<ControlFlow<()>, RunError> {
        self.save_if_changed()?;
        let iteration = self.search().state().iteration;
        let failed = |reason| RunError::Search { iteration, reason };
        let file = self.directory().file(FILE);
        let mut settling = self.search().settling(effort);
        // A record of other work, or one that cannot be read, is replaced.
        if let Some(record) = load_sealed::<SettlingRecord<'static>>(&file) {
            let _ = settling.restore(record);
        }
        let mut saved = Instant::now();
        while !settling.is_done() {
            settling.step().map_err(failed)?;
            let interrupted = listener(settling.progress()).is_break() && !settling.is_done();
            if interrupted || settling.is_done() || saved.elapsed() > SAVE_EVERY {
                self.directory().still_here()?;
                save_sealed(&file, &settling.record())?;
                saved = Instant::now();
            }
            if interrupted {
                return Ok(ControlFlow::Break(()));
            }
        }
        if let Some(verified) = settling.verified().map_err(failed)? {
            self.write_settled(&settling, verified)?;
        }
        Ok(ControlFlow::Continue(()))
    }

    fn write_settled(&mut self, settling: &Settling, verified: Verified) -> Result<(), RunError> {
        let (about, archives) = (self.about()?, settling.archives());
        let Verified { metrics, episodes, seed } = verified;
        let stored = ArchiveOutline::of(about, archives.result());
        let (archive, iteration) = (stored.fingerprint(), stored.about.iteration);
        self.directory().still_here()?;
        save_archive(&self.directory().file(ARCHIVE), archives, &stored.about)?;
        Reevaluation { archive, iteration, episodes, seed, metrics }.save(self.directory().path())?;
        self.metrics.fill_last(&COLUMNS, &[metrics.qd_score, metrics.coverage])?;
        self.draw_archive_of(archives)?;
        self.mark_if_finished()
    }

    /// The run's archive, if it has been settled and verified.
    pub fn settled(&self) -> Option<SettledArchive> {
        let folder = self.directory().path();
        let stored = load_outline(&folder.join(ARCHIVE)).ok()?;
        let verified = Reevaluation::load(folder).ok().flatten()?;
        let record = load_sealed::<SettlingRecord<'static>>(&folder.join(FILE))?;
        let is_current = verified.is_of(&stored) && record.iteration == self.search().state().iteration;
        is_current.then_some(SettledArchive { stored, verified })
    }

    /// Whether all that the run is to leave is in its folder.
    pub(super) fn is_marked(&self) -> bool {
        let made = self.search().state().iteration;
        self.is_finished() && finished::iterations(self.directory().path()) == Some(made)
    }

    pub(super) fn mark_if_finished(&self) -> Result<(), RunError> {
        match self.is_finished() {
            true => finished::mark(self.directory(), self.search().state().iteration),
            false => Ok(()),
        }
    }
}

/// Takes back what settling has written into the table, because the search goes on. The record says of which iteration it is.
pub(super) fn forget(metrics: &Metrics) -> Result<(), RunError> {
    metrics.fill_last(&COLUMNS, &[f64::NAN; 2])
}
