//! Whether the files of a run, or a file, are what was written.

use std::fs;
use std::path::{Path, PathBuf};

use magpie_demos::Demonstrations;
use magpie_files::tensors;
use magpie_learn::CloningState;

use crate::adapt::{Adaptation, adaptation_files};
use crate::archive::{is_archive, load_archive, load_outline};
use crate::checkpoint;
use crate::clone::Cloner;
use crate::directory::{CONFIG, LOCK, read};
use crate::driver::{Kind, METRICS, Plan, load_saved, names};
use crate::error::RunError;
use crate::finished;
use crate::metrics::Metrics;
use crate::operations::VERIFIED;
use crate::policy_file::{is_policy, load_policy};
use crate::ppo::{POLICY, Training};
use crate::reevaluation::{self, Reevaluation};
use crate::settings::{read_text, resolve};
use crate::tensorboard;
use crate::train::{ARCHIVE, DEMONSTRATIONS, SETTLE, Searching};
use crate::world::EnvOverrides;

/// What was found out about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// It is what was written.
    Sound,
    /// It makes sense, but versions that wrote such files wrote no checksums: a flipped bit would not be noticed.
    NoChecksum,
    /// Nothing is lost, but there is something to know.
    Remark(String),
    /// It is not what was written.
    Damaged(String),
}

/// A file that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedFile {
    /// The file.
    pub path: PathBuf,
    /// What was found out.
    pub finding: Finding,
}

/// All files that were looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// In the order in which they were.
    pub files: Vec<CheckedFile>,
}

impl CheckReport {
    /// Files that are damaged.
    pub fn damaged(&self) -> impl Iterator<Item = &CheckedFile> {
        self.files.iter().filter(|file| matches!(file.finding, Finding::Damaged(_)))
    }

    fn add(&mut self, path: PathBuf, finding: Finding) {
        self.files.push(CheckedFile { path, finding });
    }

    /// With what reading the file gave: whether it has checksums, or why it cannot be read.
    fn add_read(&mut self, path: PathBuf, read: Result<bool, RunError>) {
        self.add(
            path,
            match read {
                Ok(true) => Finding::Sound,
                Ok(false) => Finding::NoChecksum,
                Err(reason) => Finding::Damaged(reason.to_string()),
            },
        );
    }
}

/// Checks the folder of a run, a folder with folders of runs, or a file with checksums. Nothing is changed.
///
/// # Errors
/// If there is nothing to check; what is wrong with files is in the report.
pub fn check(path: &Path) -> Result<CheckReport, RunError> {
    let mut report = CheckReport::default();
    if !path.is_dir() {
        file(path, &mut report)?;
        return Ok(report);
    }
    let runs = runs(path)?;
    for run in &runs {
        // The checkpoint tells kinds apart; if there is none, the result does.
        let of_ppo = [Training::CHECKPOINT, POLICY].iter().any(|name| run.join(name).exists());
        let of_search = [Searching::CHECKPOINT, ARCHIVE].iter().any(|name| run.join(name).exists());
        if run.join(Cloner::CHECKPOINT).exists() {
            of_run::<Cloner>(run, CloningState::epoch, &mut report);
        } else if of_ppo && !of_search {
            of_run::<Training>(run, |record| record.iteration, &mut report);
        } else {
            of_run::<Searching>(run, |record| record.search.iteration, &mut report);
        }
    }
    Ok(report)
}

/// The folder itself if it holds a run, or else the runs in it.
fn runs(path: &Path) -> Result<Vec<PathBuf>, RunError> {
    if path.join(CONFIG).exists() {
        return Ok(vec![path.to_owned()]);
    }
    if path.join(LOCK).exists() {
        return Err(RunError::NotBegun { path: path.to_owned() });
    }
    let entries = fs::read_dir(path).map_err(RunError::io(path, "reading"))?;
    let mut runs: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|folder| folder.join(CONFIG).exists()).collect();
    runs.sort();
    match runs.is_empty() {
        true => Err(RunError::NoRun { path: path.to_owned(), missing: CONFIG }),
        false => Ok(runs),
    }
}

fn of_run<K: Kind>(folder: &Path, iteration: impl Fn(&K::Record) -> u64, report: &mut CheckReport) {
    let at = |name: &str| folder.join(name);
    let saved = load_saved::<K>(folder).map(|checkpoint| checkpoint.record);
    let (known, made) = match saved {
        Ok(saved) => {
            let made = iteration(&saved.state);
            report.add(at(K::CHECKPOINT), Finding::Sound);
            (Some((saved.config, saved.kept)), Some(made))
        }
        Err(reason) => {
            report.add(at(K::CHECKPOINT), Finding::Damaged(reason.to_string()));
            (None, None)
        }
    };
    let config = config_of::<K>(&at(CONFIG), known.as_ref().map(|(config, _)| config));
    report.add(at(CONFIG), config.map_or_else(|e| Finding::Damaged(e.to_string()), |()| Finding::Sound));
    let rows = Metrics::check(&at(METRICS), &names::<K>(), made.unwrap_or(0));
    report.add(
        at(METRICS),
        match rows {
            Ok(None) => Finding::Sound,
            Ok(Some(missing)) => Finding::Damaged(missing),
            Err(reason) => Finding::Damaged(reason.to_string()),
        },
    );
    if K::CHECKPOINT == Searching::CHECKPOINT {
        let archive = load_archive(&at(ARCHIVE)).map(|archive| archive.about.iteration);
        let finding = match (archive, made) {
            (Ok(iteration), Some(made)) if iteration != made => Finding::Remark(format!(
                "it is of iteration {iteration}; the elites of iteration {made} are in the checkpoint, where magpie finds them"
            )),
            (Ok(_), _) => with_sums(&at(ARCHIVE)),
            (Err(reason), _) => Finding::Damaged(reason.to_string()),
        };
        report.add(at(ARCHIVE), finding);
    } else {
        report.add_read(at(POLICY), load_policy(&at(POLICY)).and_then(|_| has_sums(&at(POLICY))));
    }
    let kept = known.map(|(_, kept)| kept).unwrap_or_default();
    let demonstrations = at(DEMONSTRATIONS);
    if kept.demonstrations.is_some() || demonstrations.exists() {
        let unchanged = |bytes: Vec<u8>| match kept.demonstrations {
            Some(sum) if crc32fast::hash(&bytes) != sum => Err(RunError::changed(&demonstrations)),
            Some(_) => Ok(true),
            None => Demonstrations::load(&demonstrations)
                .map_err(RunError::from)
                .and_then(|_| has_sums(&demonstrations)),
        };
        report.add_read(demonstrations.clone(), read(&demonstrations).and_then(unchanged));
    }
    if let Err(reason) = EnvOverrides::unchanged(folder, &kept.world)
        && made.is_some()
    {
        report.add(at(crate::world::ROBOT), Finding::Damaged(reason.to_string()));
    }
    beside_results(folder, report);
}

/// Whether the configuration says what the checkpoint says, but for how long to run.
fn config_of<K: Kind>(file: &Path, saved: Option<&K::Config>) -> Result<(), RunError> {
    let text = read_text(file)?;
    let Some(saved) = saved else {
        let parsed: Result<toml::Table, _> = text.parse();
        let problem = |e: toml::de::Error| RunError::Config { path: file.to_owned(), problem: e.to_string() };
        return parsed.map(drop).map_err(problem);
    };
    let config = resolve(saved.clone(), Some((file, &text)), &[])?;
    let mut before = saved.clone();
    before.set_length(config.length());
    if config == before { Ok(()) } else { Err(RunError::changed(file)) }
}

/// What a run can do without: pictures, events, a reevaluation, adaptations, and what killed processes left behind.
fn beside_results(folder: &Path, report: &mut CheckReport) {
    let mark = folder.join(finished::FILE);
    if mark.exists() {
        let finding = match finished::iterations(folder) {
            Some(_) => Finding::Sound,
            None => Finding::Damaged("results have changed since the run was finished".to_owned()),
        };
        report.add(mark, finding);
    }
    let events = folder.join(tensorboard::FILE);
    if events.exists() {
        let finding = match tensorboard::unreadable(&events) {
            Ok(0) => Finding::Sound,
            Ok(bytes) => Finding::Remark(format!(
                "the last {bytes} bytes are no whole record; they are cut off when the run is resumed"
            )),
            Err(reason) => Finding::Damaged(reason.to_string()),
        };
        report.add(events, finding);
    }
    let settling = folder.join(SETTLE);
    if settling.exists() {
        report.add_read(settling.clone(), checkpoint::verify(&settling).map(|()| true));
    }
    let verified = folder.join(VERIFIED);
    if verified.exists() {
        report.add_read(verified.clone(), load_archive(&verified).and_then(|_| has_sums(&verified)));
    }
    let result = folder.join(reevaluation::FILE);
    if result.exists() {
        let finding = match (Reevaluation::load(folder), load_outline(&folder.join(ARCHIVE))) {
            (Err(reason), _) => Finding::Damaged(reason.to_string()),
            (Ok(Some(result)), Ok(archive)) if !result.is_of(&archive) => {
                Finding::Remark("it is about an earlier archive of this run".to_owned())
            }
            _ => Finding::NoChecksum,
        };
        report.add(result, finding);
    }
    for file in adaptation_files(folder) {
        report.add_read(file.clone(), Adaptation::load(&file).map(|_| true));
    }
    for place in [folder.to_owned(), folder.join("checkpoint"), folder.join("plots")] {
        let mut left: Vec<PathBuf> = fs::read_dir(&place)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "part"))
            .collect();
        left.sort();
        for path in left {
            report.add(
                path,
                Finding::Remark("left by a process that was killed, unless one is writing it now".to_owned()),
            );
        }
    }
}

/// Checks one file of any kind that has checksums.
fn file(path: &Path, report: &mut CheckReport) -> Result<(), RunError> {
    let bytes = read(path)?;
    let read = if checkpoint::is_part(&bytes) {
        checkpoint::verify(path).map(|()| true)
    } else if is_policy(&bytes) {
        load_policy(path).and_then(|_| has_sums(path))
    } else if is_archive(path)? {
        load_archive(path).and_then(|_| has_sums(path))
    } else if is_ours(&bytes) {
        // The errors of demonstrations say what else it might be.
        Demonstrations::load(path).map_err(RunError::from).and_then(|_| has_sums(path))
    } else {
        let problem = "it is neither an archive, a policy, demonstrations nor a checkpoint of magpie's, or its head is damaged";
        return Err(RunError::Foreign { path: path.to_owned(), problem: problem.to_owned() });
    };
    report.add_read(path.to_owned(), read);
    Ok(())
}

/// Whether it is a safetensors file with an entry of ours, intact or not.
fn is_ours(bytes: &[u8]) -> bool {
    const MOST: usize = 1 << 16;
    let key = format!("\"{}\":", tensors::ENTRY);
    let head = &bytes[..bytes.len().min(MOST)];
    head.windows(key.len()).any(|part| part == key.as_bytes())
}

fn has_sums(path: &Path) -> Result<bool, RunError> {
    tensors::check(&read(path)?).map_err(|problem| RunError::Damaged { path: path.to_owned(), problem })
}

fn with_sums(path: &Path) -> Finding {
    match has_sums(path) {
        Ok(true) => Finding::Sound,
        Ok(false) => Finding::NoChecksum,
        Err(reason) => Finding::Damaged(reason.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ppo::{Config, PpoRun};

    /// A PPO run of three iterations.
    fn run() -> (tempfile::TempDir, PathBuf) {
        let mut config = Config::new("hopper", 3, 3 * 16 * 8).unwrap();
        (config.environments, config.train.rollout_length, config.train.minibatches) = (16, 8, 2);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let mut run = PpoRun::start(config, &path).unwrap();
        while !run.is_finished() {
            run.iterate().unwrap();
        }
        (folder, path)
    }

    fn damaged(path: &Path) -> Vec<PathBuf> {
        check(path).unwrap().damaged().map(|file| file.path.clone()).collect()
    }

    #[test]
    fn a_run_is_sound_until_a_bit_flips_or_a_row_is_lost() {
        let (folder, path) = run();
        let report = check(&path).unwrap();
        assert!(report.files.iter().all(|file| file.finding == Finding::Sound), "{report:?}");
        assert_eq!(check(folder.path()).unwrap(), report, "a folder of runs");
        for name in ["checkpoint/trainer", POLICY] {
            let file = path.join(name);
            let whole = fs::read(&file).unwrap();
            let mut flipped = whole.clone();
            flipped[whole.len() / 2] ^= 4;
            fs::write(&file, flipped).unwrap();
            assert_eq!(damaged(&path), std::slice::from_ref(&file));
            assert_eq!(damaged(&file), std::slice::from_ref(&file));
            fs::write(&file, whole).unwrap();
            assert_eq!(damaged(&file), [] as [PathBuf; 0]);
        }
        let metrics = path.join(METRICS);
        let text = fs::read_to_string(&metrics).unwrap();
        let gap: Vec<&str> =
            text.lines().enumerate().filter(|(i, _)| *i != 2).map(|(_, line)| line).collect();
        fs::write(&metrics, gap.join("\n") + "\n").unwrap();
        assert_eq!(damaged(&path), std::slice::from_ref(&metrics));
        // The run goes on all the same, and knows.
        let resumed = PpoRun::resume(&path, None).unwrap();
        assert!(resumed.missing_rows().unwrap().contains("iterations 2"));
        drop(resumed);
        let config = path.join(CONFIG);
        fs::write(&config, fs::read_to_string(&config).unwrap().replace("seed = 3", "seed = 5")).unwrap();
        assert_eq!(damaged(&path), [config, metrics]);
    }

    #[test]
    fn what_is_nothing_of_ours_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "text").unwrap();
        for path in [folder.path(), &file] {
            assert!(check(path).is_err());
        }
    }

    #[test]
    fn leftovers_and_torn_events_are_remarks() {
        let (_folder, path) = run();
        fs::write(path.join("checkpoint/trainer.a1b2c3.part"), "").unwrap();
        let events = path.join(tensorboard::FILE);
        fs::write(&events, [&fs::read(&events).unwrap()[..], b"torn"].concat()).unwrap();
        let report = check(&path).unwrap();
        let remarks: Vec<&PathBuf> = report
            .files
            .iter()
            .filter(|f| matches!(f.finding, Finding::Remark(_)))
            .map(|f| &f.path)
            .collect();
        assert_eq!(remarks, [&events, &path.join("checkpoint/trainer.a1b2c3.part")]);
    }
}
