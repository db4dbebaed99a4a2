//! `finished`: the last file that a search writes, by which a sweep knows that nothing is missing.
//!
//! It names the files that a run leaves to others, with their lengths and checksums. A run that was killed before its last
//! picture, or that lost a part of its archive since, has none that fits, and is resumed, which takes no iteration.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::directory::{CONFIG, RunDirectory};
use crate::driver::METRICS;
use crate::error::RunError;
use crate::settings::read_text;
use crate::train::{ARCHIVE, PICTURE};

pub(crate) const FILE: &str = "finished";
const FILES: [&str; 4] = [ARCHIVE, CONFIG, METRICS, PICTURE];

/// What the file says.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Marker {
    iteration: u64,
    files: BTreeMap<String, Sum>,
}

/// What a file was.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sum {
    bytes: u64,
    crc32: u32,
}

/// Marks a run whose files are all there as finished after so many iterations.
pub(crate) fn mark(directory: &RunDirectory, iteration: u64) -> Result<(), RunError> {
    let sum = |name: &str| {
        let path = directory.file(name);
        Ok((name.to_owned(), sum(&path).map_err(RunError::io(&path, "reading"))?))
    };
    let marker = Marker { iteration, files: FILES.into_iter().map(sum).collect::<Result<_, RunError>>()? };
    let text = toml::to_string(&marker)
        .map_err(|e| RunError::Output { path: directory.file(FILE), problem: e.to_string() })?;
    directory.write(FILE, text.as_bytes())
}

/// Takes the mark away: the run goes on.
pub(crate) fn forget(directory: &RunDirectory) -> Result<(), RunError> {
    let path = directory.file(FILE);
    match std::fs::remove_file(&path) {
        Err(reason) if reason.kind() != io::ErrorKind::NotFound => {
            Err(RunError::io(&path, "deleting")(reason))
        }
        _ => Ok(()),
    }
}

/// After how many iterations the run in `folder` was finished, if it was and its files are still what they were.
pub(crate) fn iterations(folder: &Path) -> Option<u64> {
    matching(folder, |path, kept| sum(path).is_ok_and(|found| found == *kept))
}

/// The same by the lengths of the files alone, which takes no time.
pub(crate) fn iterations_at_a_glance(folder: &Path) -> Option<u64> {
    matching(folder, |path, kept| std::fs::metadata(path).is_ok_and(|found| found.len() == kept.bytes))
}

fn matching(folder: &Path, fits: impl Fn(&Path, &Sum) -> bool) -> Option<u64> {
    let marker: Marker = toml::from_str(&read_text(&folder.join(FILE)).ok()?).ok()?;
    let all =
        FILES.iter().all(|name| marker.files.get(*name).is_some_and(|kept| fits(&folder.join(name), kept)));
    all.then_some(marker.iteration)
}

fn sum(path: &Path) -> io::Result<Sum> {
    let mut file = magpie_files::open(path)?;
    let (mut sum, mut bytes) = (crc32fast::Hasher::new(), 0);
    let mut piece = vec![0; 1 << 18];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(Sum { bytes, crc32: sum.finalize() }),
            n => {
                sum.update(&piece[..n]);
                bytes += n as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_of_a_file_takes_the_mark_away() {
        let folder = tempfile::tempdir().unwrap();
        let directory = RunDirectory::create(folder.path()).unwrap();
        std::fs::create_dir(directory.file("plots")).unwrap();
        for name in FILES {
            directory.write(name, name.as_bytes()).unwrap();
        }
        assert_eq!(iterations(folder.path()), None);
        mark(&directory, 40).unwrap();
        assert_eq!(iterations(folder.path()), Some(40));
        for name in FILES {
            let whole = name.as_bytes();
            let mut flipped = whole.to_vec();
            flipped[3] ^= 1;
            for other in [&whole[1..], &flipped] {
                std::fs::write(directory.file(name), other).unwrap();
                assert_eq!(iterations(folder.path()), None, "{name}");
                let glance = (other.len() == whole.len()).then_some(40);
                assert_eq!(iterations_at_a_glance(folder.path()), glance, "{name}");
            }
            std::fs::remove_file(directory.file(name)).unwrap();
            assert_eq!(iterations(folder.path()), None, "{name}");
            directory.write(name, whole).unwrap();
            assert_eq!(iterations(folder.path()), Some(40), "{name}");
        }
        forget(&directory).unwrap();
        forget(&directory).unwrap();
        assert_eq!(iterations(folder.path()), None);
    }
}
