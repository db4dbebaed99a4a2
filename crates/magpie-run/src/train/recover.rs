//! What a search has found, from its checkpoint.
//!
//! `archive.safetensors` is written seldom while a search runs, so that the checkpoint of a run that is under way, or was
//! killed, may be ahead of it. Both hold the same elites, and those who ask for the archive of a run get the newer ones.

use std::path::Path;

use magpie_learn::Policy;
use magpie_nn::normaliser::RunningMeanStd;
use magpie_qd::{ArchivePair, Elite};

use super::config::Config;
use super::run::{ARCHIVE, CHECKPOINT, Record};
use crate::archive::{About, ArchiveOutline, SavedArchive, SavedElite, iteration_of, save_archive};
use crate::checkpoint::{self, Checkpoint, CheckpointRows};
use crate::driver::Saved;
use crate::error::RunError;

type SavedSearch = Saved<Config, Record<'static>>;

/// Writes the archive that the checkpoint of the run in `folder` holds, with the bytes that the run itself would have
/// written. Returns the iteration that it is of.
pub fn rebuild_archive(folder: &Path, to: &Path) -> Result<u64, RunError> {
    let (about, archives) = of_checkpoint(folder)?;
    save_archive(to, &archives, &about)?;
    Ok(about.iteration)
}

/// The archive in the checkpoint of the run in `folder`, if that is newer than the archive's file.
pub(crate) fn newer_archive(folder: &Path) -> Result<Option<SavedArchive>, RunError> {
    if !checkpoint_is_newer(folder) {
        return Ok(None);
    }
    let (about, archives) = of_checkpoint(folder)?;
    let elites = archives.elites().map(|elite| saved(&archives, &elite)).collect();
    Ok(Some(SavedArchive { about, elites }))
}

/// The same without policies, which are not read.
pub(crate) fn newer_outline(folder: &Path) -> Result<Option<ArchiveOutline>, RunError> {
    if !checkpoint_is_newer(folder) {
        return Ok(None);
    }
    Ok(Some(outlined(checkpoint::load_head(&folder.join(CHECKPOINT))?)))
}

/// The same, with the rows of all policies and the slot of each elite among them, in the order of the outline.
pub(crate) fn newer_rows(
    folder: &Path,
) -> Result<Option<(ArchiveOutline, CheckpointRows, Vec<usize>)>, RunError> {
    if !checkpoint_is_newer(folder) {
        return Ok(None);
    }
    let (saved, rows) = CheckpointRows::open::<SavedSearch>(&folder.join(CHECKPOINT))?;
    let elites = saved.state.search.result().places().filter(|&(_, rank, _)| rank == 0);
    let slots = elites.map(|(_, _, slot)| slot).collect();
    Ok(Some((outlined(saved), rows, slots)))
}

fn outlined(saved: SavedSearch) -> ArchiveOutline {
    let Record { about, search } = saved.state;
    ArchiveOutline::of(about, search.result())
}

fn checkpoint_is_newer(folder: &Path) -> bool {
    let [archive, checkpoint] =
        [iteration_of(&folder.join(ARCHIVE)), checkpoint::iteration_of(&folder.join(CHECKPOINT))];
    checkpoint > archive
}

fn of_checkpoint(folder: &Path) -> Result<(About, ArchivePair), RunError> {
    let path = folder.join(CHECKPOINT);
    let Checkpoint { record, rows, .. } = checkpoint::load::<SavedSearch>(&path)?;
    let Record { about, search } = record.state;
    match search.with(rows) {
        Ok(state) => Ok((about, state.archives)),
        Err(e) => Err(RunError::Damaged { path, problem: e.to_string() }),
    }
}

/// An elite as the archive's file gives it.
fn saved(archives: &ArchivePair, elite: &Elite<'_>) -> SavedElite {
    let Elite { cell, entry, solution, extra, .. } = *elite;
    let observation = extra.len() / 2;
    let (mean, rest) = extra.split_at(observation);
    let (variance, count) = rest.split_at(observation);
    let count = count.first().copied().unwrap_or_default();
    SavedElite {
        cell,
        objective: entry.objective,
        measures: entry.measures.clone(),
        length: entry.length,
        evidence: Some(entry.into()),
        threshold: archives.soft().threshold(cell),
        iteration: entry.provenance.iteration,
        branch: entry.provenance.branch,
        policy: Policy {
            parameters: solution.to_vec(),
            normaliser: RunningMeanStd::from_parts(mean.to_vec(), variance.to_vec(), count),
        },
    }
}
