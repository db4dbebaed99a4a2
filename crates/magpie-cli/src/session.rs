//! What all long commands share: threads and a clean stop.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use magpie_nn::Kernel;
use magpie_run::RunError;
use magpie_run::cores::{remarks, usual_threads};
use magpie_run::lease::{self, SILENCE, owner};

use crate::output::Output;

/// What shells expect of a program that Ctrl-C has stopped.
pub const INTERRUPTED: u8 = 130;

/// Sets the number of threads; one for each core that the process may use, if not given.
pub fn threads(number: Option<u16>, output: Output) -> anyhow::Result<()> {
    let variable = |name: &str| std::env::var(name).ok();
    let number = number.map_or_else(|| usual_threads(variable), usize::from);
    remarks(number, variable).iter().for_each(|remark| output.note(remark));
    rayon::ThreadPoolBuilder::new()
        .num_threads(number)
        .build_global()
        .with_context(|| format!("starting {number} threads"))
}

/// Waits for the end of a process of another machine that may still have the folder of a run. If it is alive, opening the run
/// says so.
pub fn outwait(folder: &Path, stop: &Stop, output: Output) -> anyhow::Result<()> {
    let Some(owner) = owner(folder).filter(|owner| !owner.is_here) else { return Ok(()) };
    output.note(&format!(
        "{} was in use by {owner}; waiting up to {} s for another one, to go on with the run if there is none",
        folder.display(),
        SILENCE.as_secs()
    ));
    match lease::outwait(folder, &mut || !stop.requested()) {
        Err(RunError::Stopped) => anyhow::bail!("interrupted; the run is as it was"),
        waited => {
            waited?;
            Ok(())
        }
    }
}

/// Set by Ctrl-C or a request to terminate, so that the current iteration can be finished and saved.
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The same for what asks whether to go on.
    pub fn go_on(&self) -> ControlFlow<()> {
        if self.requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Listens for Ctrl-C and for requests to terminate, as far as the program may: what was ignored when it was started, as
/// `nohup` has it with hang-ups, stays ignored.
pub fn stop_on_ctrl_c() -> anyhow::Result<Stop> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let heard = move || {
        if flag.swap(true, Ordering::Relaxed) {
            // The last checkpoint stays.
            std::process::exit(INTERRUPTED.into());
        }
        let _ = writeln!(
            crate::screen::stderr(),
            "\nFinishing this iteration and saving. Press Ctrl-C again to stop now and lose it."
        );
    };
    let ignored = signals::ignored();
    ctrlc::set_handler(heard).context("listening for Ctrl-C")?;
    signals::ignore(&ignored);
    Ok(Stop(stop))
}

/// What a program inherits from whoever starts it.
#[cfg(unix)]
mod signals {
    use std::mem::MaybeUninit;

    /// Those that `ctrlc` listens for and that are ignored now.
    pub fn ignored() -> Vec<i32> {
        [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].into_iter().filter(|&signal| is_ignored(signal)).collect()
    }

    fn is_ignored(signal: i32) -> bool {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: without a new action this only writes the present one, into memory of its type; all of its fields may be
        // zero, so that it can be read whatever the call wrote.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
                && action.assume_init().sa_sigaction == libc::SIG_IGN
        }
    }

    /// Ignores them again.
    pub fn ignore(signals: &[i32]) {
        for &signal in signals {
            // SAFETY: to ignore a signal runs no code of ours when it comes.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
    }
}

#[cfg(not(unix))]
mod signals {
    pub fn ignored() -> Vec<i32> {
        Vec::new()
    }

    pub fn ignore(_: &[i32]) {}
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

/// Warns that rows of the table are lost.
pub fn mention_missing_rows(missing: Option<&str>, output: Output) {
    let Some(missing) = missing else { return };
    output.warn(&format!(
        "metrics.csv: {missing}; the run resumes from its checkpoint all the same, but its curves have a gap: restore the file \
         from a copy if you have one"
    ));
}
