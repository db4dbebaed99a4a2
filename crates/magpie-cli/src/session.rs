//! What all long commands share: threads and a clean stop.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use magpie_nn::Kernel;

use crate::output::Output;

/// What shells expect of a program that Ctrl-C has stopped.
pub const INTERRUPTED: u8 = 130;

/// Sets the number of threads; all cores if not given.
pub fn threads(number: Option<u16>) -> anyhow::Result<()> {
    let Some(number) = number else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(number.into())
        .build_global()
        .with_context(|| format!("starting {number} threads"))
}

/// Set by Ctrl-C or a request to terminate, so that the current iteration can be finished and saved.
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Listens for Ctrl-C.
pub fn stop_on_ctrl_c() -> anyhow::Result<Stop> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let heard = move || {
        if flag.swap(true, Ordering::Relaxed) {
            // The last checkpoint stays.
            std::process::exit(INTERRUPTED.into());
        }
        let _ = writeln!(
            std::io::stderr(),
            "\nFinishing this iteration and saving. Press Ctrl-C again to stop now and lose it."
        );
    };
    ctrlc::set_handler(heard).context("listening for Ctrl-C")?;
    Ok(Stop(stop))
}

/// A whole number, also written as 30e6.
pub fn count(text: &str) -> Result<u64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number; write it like 30000000 or 30e6".to_owned())?;
    if (1.0..=1e15).contains(&value) && value.fract() == 0.0 {
        Ok(value as u64)
    } else {
        Err("must be a whole number from 1 to 1e15".to_owned())
    }
}

/// Warns that a run which was started with another kernel will not end in the same bytes here.
pub fn mention_kernel(before: Option<&str>, output: Output) {
    let Some(before) = before else { return };
    output.note(&format!(
        "this run was started with the {before} kernel and continues with {}, the fastest one of this machine; its results \
         will differ slightly from those of a run that stays on one machine",
        Kernel::best()
    ));
}
