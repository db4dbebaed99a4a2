//! The log of trials on a real robot: a line of JSON a trial, on the disk before the next trial is named.
//!
//! The first line says of which archives and with which settings. A log is continued by opening it again; a last line that a
//! killed process left half written is dropped.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::trials::{Trial, TrialSettings};
use crate::error::RunError;
use crate::settings::read_text;

/// What the trials are of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogHead {
    /// Version of the format.
    pub trials: u32,
    /// Fingerprints of the archives.
    pub archives: Vec<u32>,
    /// How trials are chosen.
    pub settings: TrialSettings,
}

/// How every log begins.
const BEGINNING: &str = "{\"trials\":";

/// A trial in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    trial: usize,
    archive: usize,
    cell: String,
    candidate: usize,
    value: f64,
}

/// An open log.
#[derive(Debug)]
pub struct TrialLog {
    path: PathBuf,
    file: File,
    trials: Vec<Trial>,
}

impl TrialLog {
    /// Opens the log at `path`, or begins it. `candidates` is how many there are to choose from.
    ///
    /// # Errors
    /// If it is of other archives, or something else than a log.
    pub fn open(path: &Path, head: &LogHead, candidates: usize) -> Result<TrialLog, RunError> {
        let text = if path.exists() { read_text(path)? } else { String::new() };
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let foreign = |problem: String| RunError::Foreign { path: path.to_owned(), problem };
        let mut lines = whole.lines();
        let mut trials = Vec::new();
        let begun = match lines.next() {
            // Nothing yet, or killed while the first line was written.
            None if BEGINNING.starts_with(&*text) || text.starts_with(BEGINNING) => false,
            first => {
                let found: LogHead = first
                    .and_then(|line| serde_json::from_str(line).ok())
                    .ok_or_else(|| foreign("this is no log of trials; name another file".to_owned()))?;
                if found.archives != head.archives || found.trials != head.trials {
                    let problem = "it holds trials on other archives, or on an earlier state of these; name another \
                                   file, or move this one away";
                    return Err(foreign(problem.to_owned()));
                }
                true
            }
        };
        for (number, line) in lines.enumerate() {
            let wrong = |why: &str| {
                foreign(format!(
                    "line {}: {why}; correct the line, or remove it and all after it",
                    number + 2
                ))
            };
            let Line { trial, candidate, value, .. } =
                serde_json::from_str(line).map_err(|e| wrong(&e.to_string()))?;
            if trial != number + 1 || candidate >= candidates || !value.is_finite() {
                return Err(wrong("it does not follow from the lines before it"));
            }
            trials.push(Trial { candidate, value });
        }
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path);
        let mut file = file.map_err(RunError::io(path, "opening the log"))?;
        let written = |result: std::io::Result<()>| result.map_err(RunError::io(path, "writing"));
        let kept = if begun { whole.len() as u64 } else { 0 };
        written(file.set_len(kept))?;
        written(file.seek(SeekFrom::End(0)).map(|_| ()))?;
        let mut log = TrialLog { path: path.to_owned(), file, trials };
        if !begun {
            log.write(head)?;
        }
        Ok(log)
    }

    /// The trials so far.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Writes a trial down.
    pub fn append(&mut self, trial: Trial, archive: usize, cell: String) -> Result<(), RunError> {
        self.trials.push(trial);
        let Trial { candidate, value } = trial;
        self.write(&Line { trial: self.trials.len(), archive, cell, candidate, value })
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), RunError> {
        let text =
            serde_json::to_string(line).map_err(|e| RunError::Adaptation { problem: e.to_string() })?;
        let written =
            self.file.write_all(format!("{text}\n").as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(RunError::io(&self.path, "writing"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> LogHead {
        LogHead { trials: 1, archives: vec![7], settings: TrialSettings::default() }
    }

    #[test]
    fn a_log_goes_on_after_a_kill_at_any_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.jsonl");
        let trials = [Trial { candidate: 3, value: 1.5 }, Trial { candidate: 0, value: -1e-9 }];
        let mut log = TrialLog::open(&path, &head(), 4).unwrap();
        trials.iter().for_each(|&trial| log.append(trial, 0, "1,2".to_owned()).unwrap());
        drop(log);
        let whole = std::fs::read(&path).unwrap();
        let ends: Vec<usize> =
            whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i).collect();
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let mut log = TrialLog::open(&path, &head(), 4).unwrap();
            let kept = ends.iter().filter(|&&end| end < length).count().saturating_sub(1);
            assert_eq!(log.trials(), &trials[..kept], "{length} bytes");
            trials[kept..].iter().for_each(|&trial| log.append(trial, 0, "1,2".to_owned()).unwrap());
            drop(log);
            assert_eq!(std::fs::read(&path).unwrap(), whole, "{length} bytes");
        }
    }

    #[test]
    fn other_logs_and_other_files_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.jsonl");
        drop(TrialLog::open(&path, &head(), 4).unwrap());
        let other = LogHead { archives: vec![8], ..head() };
        let error = TrialLog::open(&path, &other, 4).unwrap_err().to_string();
        assert!(error.contains("other archives"), "{error}");
        let begun = std::fs::read_to_string(&path).unwrap();
        let line = |text: &str| begun.clone() + text + "\n";
        for (text, part) in [
            ("my notes\n".to_owned(), "no log of trials"),
            ("my notes".to_owned(), "no log of trials"),
            (line("x"), "line 2"),
            (line(r#"{"trial":2,"archive":0,"cell":"","candidate":0,"value":1.0}"#), "line 2"),
            (line(r#"{"trial":1,"archive":0,"cell":"","candidate":9,"value":1.0}"#), "line 2"),
        ] {
            std::fs::write(&path, &text).unwrap();
            let error = TrialLog::open(&path, &head(), 4).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("trials.jsonl"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
