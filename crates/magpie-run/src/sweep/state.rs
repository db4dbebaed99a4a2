//! How far a run of a sweep is, and whether its folder holds what the sweep file describes.

use std::ops::ControlFlow;
use std::path::Path;

use magpie_demos::Demonstrations;
use magpie_rewards::Progress as Preparation;
use toml::{Table, Value};

use super::Run;
use crate::archive::{iteration_of, load_archive};
use crate::checkpoint;
use crate::directory::CONFIG;
use crate::error::RunError;
use crate::finished;
use crate::settings::{bring_up_to_date, read_text};
use crate::train::{ARCHIVE, CHECKPOINT, DEMONSTRATIONS, PICTURE, TrainRun};
use crate::world::{EnvOverrides, ROBOT, TASK};

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing has been kept yet.
    ToDo,
    /// This many iterations have been kept. Where that is all of them, a picture or another file is still to be written.
    HalfDone(u64),
    /// All iterations have been made, and all files are there.
    Done,
}

impl Run {
    /// Looks into the folder of the run. How long to run may change, as with `magpie train --resume`; if the folder holds
    /// a run that differs in anything else, it is refused.
    pub fn state(&self, folder: &Path) -> Result<State, RunError> {
        let file = folder.join(CONFIG);
        if !file.exists() {
            return Ok(State::ToDo);
        }
        let unreadable = |e: &dyn ToString| RunError::Config { path: file.clone(), problem: e.to_string() };
        let other = |(key, saved, wanted): (String, String, String)| RunError::OtherRun {
            path: folder.to_owned(),
            key,
            saved,
            wanted,
        };
        let table = |text: &str| text.parse::<Table>().map_err(|e| unreadable(&e));
        let mut saved = table(&read_text(&file)?)?;
        bring_up_to_date(&mut saved);
        // Written and read again, so that both have been rounded alike.
        let wanted = toml::to_string_pretty(&self.config.moved_in()).map_err(|e| unreadable(&e))?;
        let mut wanted = table(&wanted)?;
        saved.remove("iterations");
        wanted.remove("iterations");
        if let Some(found) = difference("", &Value::Table(saved), &Value::Table(wanted)) {
            return Err(other(found));
        }
        if let Some(name) = self.other_file(folder)? {
            return Err(other((format!("another {name}"), "in it".to_owned(), "otherwise".to_owned())));
        }
        let (made, finished) = made(folder);
        match made > self.config.iterations {
            true => {
                let wanted = self.config.iterations.to_string();
                Err(other(("iterations".to_owned(), made.to_string(), wanted)))
            }
            false if finished && made == self.config.iterations => Ok(State::Done),
            false => Ok(State::HalfDone(made)),
        }
    }

    /// The copy in the folder of a file that is another one by now.
    fn other_file(&self, folder: &Path) -> Result<Option<&'static str>, RunError> {
        let EnvOverrides { task, robot, .. } = &self.config.world;
        for (original, copy) in [(task, TASK), (robot, ROBOT)] {
            if let Some(original) = original
                && read_text(original)? != read_text(&folder.join(copy))?
            {
                return Ok(Some(copy));
            }
        }
        let Some(wanted) = self.config.validated()?.found else { return Ok(None) };
        let copy = Demonstrations::load(&folder.join(DEMONSTRATIONS))?;
        Ok((copy.anonymous() != wanted.anonymous()).then_some(DEMONSTRATIONS))
    }

    /// Starts the run in its folder, or goes on with it. A reward model that has to learn from the demonstrations first
    /// tells `progress` how far it is, and is stopped by it.
    pub fn open(
        &self,
        folder: &Path,
        progress: &mut dyn FnMut(Preparation) -> ControlFlow<()>,
    ) -> Result<TrainRun, RunError> {
        if self.state(folder)? == State::ToDo {
            match TrainRun::start(self.config.clone(), folder, progress) {
                // Another process has started it a moment ago.
                Err(RunError::Exists { .. }) => drop(self.state(folder)?),
                started => return started,
            }
        }
        TrainRun::resume(folder, Some(self.config.iterations))
    }
}

/// How many iterations the run in a folder has made, and whether all that it writes after the last one is there.
fn made(folder: &Path) -> (u64, bool) {
    let archive = folder.join(ARCHIVE);
    if let Some(made) = finished::iterations(folder).filter(|&made| iteration_of(&archive) == Some(made)) {
        return (made, true);
    }
    if let Some(made) = checkpoint::iteration_of(&folder.join(CHECKPOINT)) {
        return (made, false);
    }
    // Runs of earlier versions, which marked nothing.
    let made = iteration_of(&archive).unwrap_or(0);
    (made, folder.join(PICTURE).is_file() && load_archive(&archive).is_ok())
}

/// The first setting that differs, with both values.
fn difference(path: &str, saved: &Value, wanted: &Value) -> Option<(String, String, String)> {
    let (Value::Table(old), Value::Table(new)) = (saved, wanted) else {
        return (saved != wanted).then(|| (path.to_owned(), saved.to_string(), wanted.to_string()));
    };
    let keys = new.keys().chain(old.keys().filter(|key| !new.contains_key(*key)));
    keys.into_iter().find_map(|key| {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let said = |value: &Value| value.to_string();
        match (old.get(key), new.get(key)) {
            (Some(old), Some(new)) => difference(&path, old, new),
            (old, new) => {
                let nothing = || "not set".to_owned();
                Some((path, old.map_or_else(nothing, said), new.map_or_else(nothing, said)))
            }
        }
    })
}
