//! A sweep, shown as it goes on.

use std::io::Write;
use std::time::Duration;

use magpie_run::RunError;
use magpie_run::lease::SILENCE;
use magpie_run::sweep::{End, News, Run, Shard, Watch};
use magpie_run::train::TrainRun;

use crate::drive::{Display, Preparation, SettlingDisplay, mention_surprises, result, started};
use crate::hint;
use crate::json;
use crate::output::Output;
use crate::screen::stderr;
use crate::session::Stop;

/// Without a terminal, time between lines: a sweep has thousands of iterations.
const LINE_EVERY: Duration = Duration::from_secs(10);

pub struct Shown<'a> {
    pub stop: &'a Stop,
    pub output: Output,
    /// Folder of the sweep.
    pub folder: String,
    pub runs: usize,
    pub shard: Option<Shard>,
    pub preparation: Option<Preparation<'a>>,
    pub display: Option<Display>,
    pub settling: Option<SettlingDisplay<'a>>,
}

impl Watch for Shown<'_> {
    fn wants_stop(&self) -> bool {
        self.stop.requested()
    }

    fn tell(&mut self, news: News<'_>) {
        let output = self.output;
        match news {
            News::Started { steps } => output.progress(&json::SweepStarted {
                folder: self.folder.clone(),
                runs: self.runs,
                shard: self.shard.map(|shard| shard.to_string()),
                steps,
            }),
            News::Watching { run, owner } => {
                let seconds = SILENCE.as_secs();
                output.say(&format!(
                    "{} was in use by {owner}; waiting up to {seconds} s for another one, to take the run over if there is none",
                    run.name
                ));
                let (run, host, process) = (run.name.clone(), owner.host.clone(), owner.process);
                output.progress(&json::Watching { run, host, process, seconds });
            }
            News::Preparing { run, progress } => {
                let model = run.config.reward.model;
                let shown =
                    self.preparation.get_or_insert_with(|| Preparation::new(model, self.stop, output));
                let _ = shown.show(progress);
            }
            News::Begun { run, number, search } => {
                mention_surprises(search, output);
                output.progress(&started(search, "sweep", Some(&run.name), None));
                let of_all = format!("{number} of {}", self.runs);
                self.display = Some(Display::new(search, output).one_of_many(&of_all, &run.name, LINE_EVERY));
            }
            News::Iteration { search, progress, seconds_left } => {
                if let Some(display) = &mut self.display {
                    display.show(search, progress, seconds_left);
                }
            }
            News::Settling { progress } => {
                if let Some(display) = &self.display {
                    display.close();
                }
                let shown = self.settling.get_or_insert_with(|| SettlingDisplay::new(self.stop, output));
                let _ = shown.show(progress);
            }
            News::Warning { warning } => match &self.display {
                Some(display) => display.warn(warning),
                None => output.warn(warning),
            },
            News::Ended { run, end, search } => {
                (self.preparation, self.settling) = (None, None);
                if let Some(display) = self.display.take() {
                    display.close();
                }
                self.ended(run, end, search);
            }
        }
    }
}

impl Shown<'_> {
    /// A reader of the events that is gone is no reason to stop.
    fn ended(&self, run: &Run, end: &End, search: Option<&TrainRun>) {
        let output = self.output;
        let name = run.name.clone();
        let skipped = |reason: &str| json::Skipped { run: run.name.clone(), reason: reason.to_owned() };
        let folder = |search: &TrainRun| search.directory().path().display().to_string();
        match (end, search) {
            (End::WasDone, _) => output.progress(&skipped("done")),
            (End::InUse(owner), _) => {
                let who = owner.as_ref().map_or("another process".to_owned(), ToString::to_string);
                output.say(&format!("{name} skipped: {who} is running it"));
                output.progress(&skipped("in use by another process"));
            }
            (End::Failed(reason), _) => {
                let (message, hint) = (reason.in_full(), hint::of(reason));
                let _ = writeln!(stderr(), "error: {name} failed: {message}");
                if let Some(hint) = &hint {
                    let _ = writeln!(stderr(), "hint: {hint}");
                }
                let _ = output.event(&json::Failed { run: name, message, hint });
            }
            (End::Done, Some(search)) => {
                let (run, folder, search) = (Some(name), folder(search), Some(result(search)));
                let _ = output.event(&json::Finished { run, folder, search, policy: None, sweep: None });
            }
            (End::Stopped, Some(search)) => {
                let (run, folder, search) = (Some(name), folder(search), Some(result(search)));
                let _ = output.event(&json::Interrupted { run, folder, resume: None, search, sweep: None });
            }
            (End::Done | End::Stopped, None) => {}
        }
    }
}

/// Why the runs that failed did, each with all causes.
pub fn reasons(failed: &[(String, RunError)]) -> impl Iterator<Item = (&str, String)> {
    failed.iter().map(|(run, reason)| (run.as_str(), reason.in_full()))
}
