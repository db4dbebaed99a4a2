//! The threads that work runs on.
//!
//! A process that was forked has none of its parent's threads, so that a pool belongs to the process that built it: a
//! child builds its own when it first needs one.

use std::process;
use std::sync::{Arc, Mutex, RwLock};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::failed;

/// A pool, the process that it belongs to, and how many threads were asked for.
static POOL: RwLock<Option<(u32, Arc<ThreadPool>)>> = RwLock::new(None);
static THREADS: RwLock<usize> = RwLock::new(0);

/// Sets the number of threads for all work that starts from now on; 0 means one per core.
#[pyfunction]
#[pyo3(signature = (threads))]
pub fn set_threads(threads: u16) {
    *THREADS.write().unwrap_or_else(|e| e.into_inner()) = threads.into();
    *POOL.write().unwrap_or_else(|e| e.into_inner()) = None;
}

fn pool() -> PyResult<Arc<ThreadPool>> {
    let this = process::id();
    if let Some((process, pool)) = &*POOL.read().unwrap_or_else(|e| e.into_inner())
        && *process == this
    {
        return Ok(Arc::clone(pool));
    }
    let threads = *THREADS.read().unwrap_or_else(|e| e.into_inner());
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("magpie {i}")).build();
    let pool = Arc::new(pool.map_err(|e| failed(format_args!("starting threads: {e}")))?);
    let before = POOL.write().unwrap_or_else(|e| e.into_inner()).replace((this, Arc::clone(&pool)));
    // A parent's threads cannot be joined here: its pool must not be dropped.
    if let Some(before) = before.filter(|(process, _)| *process != this) {
        std::mem::forget(before);
    }
    Ok(pool)
}

/// Does `work` on what `state` guards, on the pool and without the interpreter's lock.
///
/// The calling thread holds the guard: a thread of the pool that waits for its share of the work may begin other work,
/// and must not wait there for a guard that it holds itself.
pub fn run_on<S: Send, T: Send>(
    py: Python<'_>,
    state: &Mutex<S>,
    work: impl Send + FnOnce(&mut S) -> T,
) -> PyResult<T> {
    py.detach(|| {
        let mut guard =
            state.lock().map_err(|_| failed("an earlier call failed half-way; make a new object"))?;
        let state = &mut *guard;
        Ok(pool()?.install(|| work(state)))
    })
}

/// Does `work` on the pool, without the interpreter's lock.
pub fn run<T: Send>(py: Python<'_>, work: impl Send + FnOnce() -> T) -> PyResult<T> {
    py.detach(|| Ok(pool()?.install(work)))
}
