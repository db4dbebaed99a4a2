//! Where results may not be written.

use std::path::Path;

use crate::directory::{CONFIG, LOCK};
use crate::driver::METRICS;
use crate::error::RunError;

/// What runs leave in their folders.
const FILES_OF_A_RUN: [&str; 11] = [
    crate::train::ARCHIVE,
    CONFIG,
    crate::train::DEMONSTRATIONS,
    crate::finished::FILE,
    crate::tensorboard::FILE,
    LOCK,
    METRICS,
    crate::ppo::POLICY,
    crate::reevaluation::FILE,
    crate::world::ROBOT,
    crate::world::TASK,
];

/// Refuses to write a result over a file of a run, or over one of the files that it is made from.
pub fn may_write(out: &Path, read: &[&Path]) -> Result<(), RunError> {
    // What a link points to is what would be written over.
    let target = out.canonicalize();
    if target.as_deref().is_ok_and(is_of_a_run) || is_of_a_run(out) {
        let problem = "this is the name of a file that a run needs; choose another";
        return Err(RunError::Output { path: out.to_owned(), problem: problem.to_owned() });
    }
    if out.is_dir() {
        let problem = "is a directory; name a file, such as one in it";
        return Err(RunError::Output { path: out.to_owned(), problem: problem.to_owned() });
    }
    if out.exists() && !out.is_file() {
        let problem = "exists and is not an ordinary file; choose another name";
        return Err(RunError::Output { path: out.to_owned(), problem: problem.to_owned() });
    }
    let same =
        |read: &&Path| read.canonicalize().is_ok_and(|read| target.as_ref().is_ok_and(|out| *out == read));
    if read.iter().any(same) {
        let problem = "this is the file to read; choose another to write";
        return Err(RunError::Output { path: out.to_owned(), problem: problem.to_owned() });
    }
    Ok(())
}

/// Whether this is the name of a file in the folder of a run that the run needs.
fn is_of_a_run(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(Path::new(""));
    let in_run = |folder: &Path| folder.join(CONFIG).is_file();
    let named = path.file_name().is_some_and(|name| FILES_OF_A_RUN.iter().any(|&file| name == file));
    let in_checkpoint = folder.ends_with("checkpoint") && folder.parent().is_some_and(in_run);
    named && in_run(folder) || in_checkpoint
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_needed_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(may_write(&at("metrics.csv"), &[]).is_ok(), "this is not the folder of a run yet");
        std::fs::create_dir(at("checkpoint")).unwrap();
        for file in [CONFIG, "own.txt"] {
            std::fs::write(at(file), "").unwrap();
        }
        assert!(may_write(&at("own.txt"), &[]).is_ok());
        for (file, read, problem) in [
            ("metrics.csv", "own.txt", "a file that a run needs"),
            ("checkpoint/search", "own.txt", "a file that a run needs"),
            ("own.txt", "checkpoint/../own.txt", "this is the file to read"),
            ("checkpoint", "own.txt", "is a directory"),
        ] {
            let error = may_write(&at(file), &[&at(read)]).unwrap_err().to_string();
            assert!(error.contains(problem), "{file}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_to_files_of_a_run_are_files_of_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("run")).unwrap();
        for file in ["run/config.toml", "run/archive.safetensors"] {
            std::fs::write(at(file), "").unwrap();
        }
        std::os::unix::fs::symlink(at("run/archive.safetensors"), at("link.npz")).unwrap();
        let error = may_write(&at("link.npz"), &[]).unwrap_err().to_string();
        assert!(error.contains("a file that a run needs"), "{error}");
    }
}
