//! Saving beside the search: a thread writes while the next iterations are made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use magpie_qd::Solutions;

use super::index::{Plan, Stored};
use super::{SEGMENT, head, rows, segment_file};
use crate::directory::{RunDirectory, size};
use crate::error::RunError;
use crate::metrics::Metrics;

/// Writes what a run has found so far to a path.
pub(crate) type WriteResults = Box<dyn FnOnce(&Path) -> Result<(), RunError> + Send>;

/// All that a save needs, so that the search can go on meanwhile.
pub(crate) struct Job {
    /// Stays locked until the save has ended, whatever becomes of the run.
    pub directory: Arc<RunDirectory>,
    /// Has all rows that the checkpoint counts on.
    pub metrics: Metrics,
    /// The head of the checkpoint.
    pub head: PathBuf,
    pub iteration: u64,
    /// Everything but the rows.
    pub record: Vec<u8>,
    /// Results, and where they are written, if they are.
    pub results: Option<(PathBuf, WriteResults)>,
}

/// What a save has written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// Bytes of the checkpoint.
    pub checkpoint: u64,
    /// Bytes of the results, and the iteration that they are of.
    pub results: Option<(u64, u64)>,
}

/// Writes checkpoints, one at a time.
pub(crate) struct Writer {
    stored: Stored,
    /// Of the next segment. A number that was tried is not used again: a save that failed may have come as far as its
    /// head.
    next: u32,
    busy: Option<JoinHandle<Ended>>,
}

/// How a save ended.
struct Ended {
    /// What lies on the disk since, if the checkpoint was written.
    stored: Option<Stored>,
    result: Result<Written, RunError>,
}

impl Writer {
    /// Goes on from what lies on the disk.
    pub fn new(stored: Stored) -> Writer {
        Writer { next: stored.next(), stored, busy: None }
    }

    #[cfg(test)]
    pub(super) fn stored(&self) -> &Stored {
        &self.stored
    }

    /// Whether a save is under way.
    pub fn is_busy(&self) -> bool {
        self.busy.as_ref().is_some_and(|busy| !busy.is_finished())
    }

    /// What the last save has written, if it has ended and was not asked for yet.
    pub fn ended(&mut self) -> Option<Result<Written, RunError>> {
        if self.is_busy() { None } else { self.wait() }
    }

    /// What the save under way has written, once it has ended; `None` if there is none.
    pub fn wait(&mut self) -> Option<Result<Written, RunError>> {
        let ended = match self.busy.take()?.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        if let Some(stored) = ended.stored {
            self.stored = stored;
        }
        Some(ended.result)
    }

    /// Begins a save; the one before has to have ended.
    pub fn begin(&mut self, job: Job, rows: Option<&Solutions>) -> Result<(), RunError> {
        let plan = self.stored.plan(rows.unwrap_or(&Solutions::new(0, 0, 0)), self.next);
        self.next += 1;
        let head = job.head.clone();
        let thread = thread::Builder::new().name("saving".to_owned()).spawn(|| job.run(plan));
        self.busy = Some(thread.map_err(RunError::io(&head, "starting a thread that writes"))?);
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(busy) = self.busy.take() {
            // Nobody is left to be told.
            let _ = busy.join();
        }
    }
}

impl Job {
    fn run(self, plan: Plan) -> Ended {
        // Until the very end the folder is locked.
        let Job { directory, metrics, head, iteration, record, results } = self;
        let checkpoint = directory
            .still_here()
            .and_then(|()| metrics.sync())
            .and_then(|()| write(&head, iteration, &record, plan));
        let (stored, checkpoint) = match checkpoint {
            Ok(written) => written,
            Err(reason) => return Ended { stored: None, result: Err(reason) },
        };
        let results = results.map(|(path, write)| {
            directory.still_here()?;
            write(&path)?;
            Ok((size(&path)?, iteration))
        });
        let result = results.transpose().map(|results| Written { checkpoint, results });
        Ended { stored: Some(stored), result }
    }
}

/// Writes a checkpoint: rows, then the head that refers to them. Returns what is stored then, and the bytes that it took.
fn write(path: &Path, iteration: u64, record: &[u8], plan: Plan) -> Result<(Stored, u64), RunError> {
    let Plan { number, rows: written, mut after } = plan;
    let mut bytes = 0;
    if let Some(segment) = after.index.segments.get_mut(&number) {
        let seal = rows::write(&segment_file(path, number), &written)?;
        (segment.sum, bytes) = (seal.sum, seal.bytes);
    }
    bytes += head::write(path, iteration, &after.index, record)?.bytes;
    // Segments without use take room and do no harm: if one cannot be deleted, the next save tries again.
    let _ = delete_others(path, &after);
    Ok((after, bytes))
}

/// Deletes segments that the head at `path` does not refer to.
fn delete_others(path: &Path, stored: &Stored) -> io::Result<()> {
    for entry in fs::read_dir(path.parent().unwrap_or(Path::new(".")))? {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(SEGMENT)?.parse().ok());
        if number.is_some_and(|number: u32| !stored.index.segments.contains_key(&number)) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
