//! Which process has the folder of a run, for machines that do not see each other's file locks.
//!
//! On one machine the lock of a file decides; it ends with the process. Many network file systems keep locks to themselves
//! on each machine, so a process also leaves a file of its own in the folder, `owner-MACHINE-TOKEN`, says in it who it is, and
//! sets the file's time every [`BEAT`]. It claims the folder in two steps: it makes its file, then it looks for others. If
//! there is one, it takes its own away again; of two processes, the one that looks later sees the file of the other,
//! so that never both have the folder.
//!
//! The file of a process that was killed stays. On the same machine the lock shows that it is dead. On another one its file
//! is watched ([`outwait`]): if it shows no sign of life for [`SILENCE`], it is deleted. Clocks of different machines are
//! compared only to watch a file that looks old for less time. A process that was only asleep finds its file gone before it
//! writes anything (`Lease::holds`).

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use magpie_files::open_own;
use serde::{Deserialize, Serialize};

use crate::directory::same_file;
use crate::error::RunError;

/// Time between signs of life.
pub const BEAT: Duration = Duration::from_secs(15);
/// A process on another machine without a sign of life for so long is taken for dead.
pub const SILENCE: Duration = Duration::from_secs(90);
/// The same if its clock and ours say that it has been silent since long before.
const SILENCE_OF_OLD: Duration = Duration::from_secs(35);
const OLD: Duration = Duration::from_secs(900);
const PREFIX: &str = "owner-";
/// Two machines that claim a folder in the same moment both step back, and try again.
const ATTEMPTS: u32 = 4;

/// The process that has the folder of a run, or had it when it died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The name of its machine; empty if it has not written it down yet.
    pub host: String,
    /// Its number there.
    pub process: u32,
    /// Time since its last sign of life, as far as the clocks of both machines agree.
    pub silent: Duration,
    /// Whether it is of this machine, where the lock tells whether it lives.
    pub is_here: bool,
    file: PathBuf,
    beat: SystemTime,
}

impl Owner {
    /// Whether this is the same process as `before`, with the same last sign of life.
    pub fn shows_no_more_life_than(&self, before: &Owner) -> bool {
        self.file == before.file && self.beat == before.beat
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.silent.as_secs();
        match self.host.as_str() {
            "" => write!(f, "another machine (last sign of life {seconds} s ago)"),
            host => write!(f, "process {} on {host} (last sign of life {seconds} s ago)", self.process),
        }
    }
}

/// What the file says.
#[derive(Serialize, Deserialize)]
struct Words {
    host: String,
    process: u32,
}

/// A folder that is this process's, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Lease {
    path: PathBuf,
    file: File,
    heart: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Lease {
    /// Claims a folder. `locked` says whether its lock is held, so that another owner of this machine must be dead.
    pub fn claim(folder: &Path, locked: bool) -> Result<Lease, RunError> {
        let mut attempt = 1;
        loop {
            let lease = Lease::write_down(folder)?;
            let (dead, others): (Vec<Owner>, Vec<Owner>) = owners(folder)
                .map_err(RunError::io(folder, "looking for other processes"))?
                .into_iter()
                .filter(|owner| owner.file != lease.path)
                .partition(|owner| owner.is_here && locked);
            match others.into_iter().next() {
                None => {
                    // One that cannot be deleted is judged again by whoever comes next.
                    dead.iter().for_each(|owner| drop(fs::remove_file(&owner.file)));
                    return lease.beating();
                }
                Some(other) if attempt == ATTEMPTS || other.silent > BEAT => {
                    return Err(RunError::Locked { path: folder.to_owned(), owner: Some(Box::new(other)) });
                }
                Some(_) => drop(lease),
            }
            thread::sleep(Duration::from_millis(20 + u64::from(token() as u8)));
            attempt += 1;
        }
    }

    fn write_down(folder: &Path) -> Result<Lease, RunError> {
        let path = folder.join(format!("{PREFIX}{}-{:08x}", machine(), token()));
        let words = Words { host: host(), process: std::process::id() };
        let text = toml::to_string(&words).unwrap_or_default();
        let file = open_own(&path, OpenOptions::new().write(true).create_new(true))
            .map_err(RunError::io(&path, "creating"))?;
        // From here on the file goes away with the lease.
        let mut lease = Lease { path, file, heart: None };
        lease.file.write_all(text.as_bytes()).map_err(RunError::io(&lease.path, "writing"))?;
        Ok(lease)
    }

    fn beating(mut self) -> Result<Lease, RunError> {
        let io = RunError::io(&self.path, "starting a thread that shows signs of life");
        let (end, ended) = channel::<()>();
        let heart = self.file.try_clone().and_then(|file| {
            thread::Builder::new().name("lease".to_owned()).spawn(move || {
                while ended.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                    // If it fails for long, another process takes over, and the next write here finds that.
                    let _ = file.set_modified(SystemTime::now());
                }
            })
        });
        self.heart = Some((end, heart.map_err(io)?));
        Ok(self)
    }

    /// Whether the folder is still this process's. To open the file asks the server, where there is one.
    pub fn holds(&self) -> io::Result<bool> {
        match File::open(&self.path) {
            Ok(there) => Ok(same_file(&self.file.metadata()?, &there.metadata()?)),
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(reason) => Err(reason),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some((end, heart)) = self.heart.take() {
            drop(end);
            let _ = heart.join();
        }
        // If the folder is gone, so is the file; if it cannot be deleted, it is judged as that of a dead process.
        let _ = fs::remove_file(&self.path);
    }
}

/// The process that has the run in `folder`, or had it when it died: the one with the latest sign of life, if there are
/// several.
pub fn owner(folder: &Path) -> Option<Owner> {
    owners(folder).ok()?.into_iter().max_by_key(|owner| owner.beat)
}

fn owners(folder: &Path) -> io::Result<Vec<Owner>> {
    let here = machine();
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(machine) = name.to_str().and_then(machine_in) else { continue };
        let file = entry.path();
        // A file that goes away meanwhile is that of a process which has let go.
        let Ok(beat) = fs::symlink_metadata(&file).and_then(|about| about.modified()) else { continue };
        let text = magpie_files::read(&file).unwrap_or_default();
        let words = toml::from_str(&String::from_utf8_lossy(&text));
        let Words { host, process } = words.unwrap_or(Words { host: String::new(), process: 0 });
        let silent = SystemTime::now().duration_since(beat).unwrap_or_default();
        found.push(Owner { host, process, silent, is_here: machine == here, file, beat });
    }
    Ok(found)
}

/// The machine in the name of an owner's file.
fn machine_in(name: &str) -> Option<&str> {
    let (machine, token) = name.strip_prefix(PREFIX)?.rsplit_once('-')?;
    (token.len() == 8 && token.bytes().all(|b| b.is_ascii_hexdigit())).then_some(machine)
}

/// Waits until no process of another machine has the folder: because it lets go, or because it shows no sign of life for
/// [`SILENCE`] and is taken for dead. Returns the one that lives, as soon as it is seen to. `wait` is asked several times a
/// second whether to go on waiting; if not, that is [`RunError::Stopped`].
pub fn outwait(folder: &Path, wait: &mut dyn FnMut() -> bool) -> Result<Option<Owner>, RunError> {
    outwait_for(folder, [SILENCE, SILENCE_OF_OLD], wait)
}

fn outwait_for(
    folder: &Path,
    [silence, of_old]: [Duration; 2],
    wait: &mut dyn FnMut() -> bool,
) -> Result<Option<Owner>, RunError> {
    let others = || match owners(folder) {
        Ok(owners) => Ok(owners.into_iter().filter(|owner| !owner.is_here).collect::<Vec<_>>()),
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(reason) => Err(RunError::io(folder, "looking for other processes")(reason)),
    };
    let (first, since) = (others()?, Instant::now());
    loop {
        let now = others()?;
        for owner in &now {
            match first.iter().find(|before| before.file == owner.file) {
                Some(before) if owner.shows_no_more_life_than(before) => {}
                _ => return Ok(Some(owner.clone())),
            }
        }
        if now.is_empty() {
            return Ok(None);
        }
        let needed = if now.iter().all(|owner| owner.silent > OLD) { of_old } else { silence };
        if since.elapsed() >= needed {
            for owner in now {
                match fs::remove_file(&owner.file) {
                    Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
                        return Err(RunError::io(&owner.file, "deleting")(reason));
                    }
                    _ => {}
                }
            }
            return Ok(None);
        }
        if !wait() {
            return Err(RunError::Stopped);
        }
        thread::sleep((needed / 100).min(Duration::from_millis(250)));
    }
}

/// Tells kernels apart, since those who share one share its locks: containers of one machine do, and pods with the same
/// name on two machines do not.
fn machine() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let name = if boot.trim().is_empty() { host() } else { boot.trim().to_owned() };
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn host() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}

/// Different in every call. No result depends on it.
fn token() -> u32 {
    RandomState::new().build_hasher().finish() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file of a process on another machine, with a sign of life so long ago.
    fn other(folder: &Path, ago: Duration) -> PathBuf {
        let path = folder.join("owner-elsewhere-0123abcd");
        fs::write(&path, "host = \"node7\"\nprocess = 42\n").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(SystemTime::now() - ago).unwrap();
        path
    }

    const SHORT: [Duration; 2] = [Duration::from_millis(600), Duration::from_millis(200)];

    #[test]
    fn of_two_machines_one_has_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let ours = Lease::claim(folder.path(), true).unwrap();
        assert!(ours.holds().unwrap());
        let here = owner(folder.path()).unwrap();
        assert!(here.is_here && here.process == std::process::id() && !here.host.is_empty(), "{here:?}");
        drop(ours);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");

        let theirs = other(folder.path(), Duration::from_secs(40));
        let error = Lease::claim(folder.path(), true).unwrap_err().to_string();
        assert!(error.contains("process 42 on node7 (last sign of life 40 s ago)"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a claim that failed is taken back");
        assert!(theirs.exists());
    }

    /// Without locks, as on file systems that have none, even a process of this machine is judged by its signs of life.
    #[test]
    fn the_lock_shows_that_a_process_of_this_machine_is_dead() {
        let folder = tempfile::tempdir().unwrap();
        let killed = Lease::claim(folder.path(), true).unwrap();
        let error = Lease::claim(folder.path(), false).unwrap_err();
        assert!(matches!(error, RunError::Locked { owner: Some(_), .. }), "{error}");
        let next = Lease::claim(folder.path(), true).unwrap();
        assert!(next.holds().unwrap() && !killed.holds().unwrap());
    }

    #[test]
    fn a_silent_machine_loses_its_run_and_one_that_shows_a_sign_of_life_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut calls = 0;
        let outwait = |wait: &mut dyn FnMut() -> bool| outwait_for(folder.path(), SHORT, wait);
        assert!(outwait(&mut || unreachable!()).unwrap().is_none(), "nobody is waited for");

        let theirs = other(folder.path(), Duration::from_secs(20));
        let beat = || {
            calls += 1;
            if calls == 5 {
                File::options().write(true).open(&theirs).unwrap().set_modified(SystemTime::now()).unwrap();
            }
            true
        };
        let alive = outwait(&mut { beat }).unwrap().unwrap();
        assert_eq!((alive.host.as_str(), alive.process), ("node7", 42));
        assert!(matches!(outwait(&mut || false), Err(RunError::Stopped)));
        assert!(theirs.exists());

        for (ago, at_least) in [(Duration::from_secs(20), SHORT[0]), (2 * OLD, SHORT[1])] {
            other(folder.path(), ago);
            let begun = Instant::now();
            assert!(outwait(&mut || true).unwrap().is_none());
            assert!(begun.elapsed() >= at_least && !theirs.exists(), "{ago:?}");
        }
        Lease::claim(folder.path(), true).unwrap();
    }

    /// As after a power cut: the name of the file was kept, and nothing in it.
    #[test]
    fn an_empty_file_is_an_owner_and_any_other_name_is_not() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["owner-0123abcd", "owner-me-12", "owner-notes", "my-owner-me-0123abcd"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        drop(Lease::claim(folder.path(), true).unwrap());
        fs::write(folder.path().join(format!("owner-{}-0123abcd", machine())), "").unwrap();
        drop(Lease::claim(folder.path(), true).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "the dead one of this machine is gone");
        fs::write(folder.path().join("owner-elsewhere-0123abcd"), "").unwrap();
        let error = Lease::claim(folder.path(), true).unwrap_err().to_string();
        assert!(error.contains("another machine (last sign of life 0 s ago)"), "{error}");
    }
}
