//! The files that a run refers to, as long as they lie in its folder.

use std::fs;
use std::path::{Path, PathBuf};

use magpie_envs::{Task, TaskRobot};
use magpie_run::{EnvOverrides, RunError};

use crate::error::ViewError;

/// The world of a run in `folder`, if its task and its robot are of magpie's own or lie in the folder.
pub fn world(folder: &Path, world: EnvOverrides) -> Result<EnvOverrides, ViewError> {
    for file in [&world.task, &world.robot].into_iter().flatten() {
        inside(folder, file)?;
    }
    if let (Some(task), None) = (&world.task, &world.robot)
        && let TaskRobot::File(robot) = Task::load(task).map_err(RunError::from)?.robot
    {
        inside(folder, &robot)?;
    }
    Ok(world)
}

/// Follows links: what counts is where a file really lies.
fn inside(folder: &Path, file: &Path) -> Result<(), ViewError> {
    let real = |path: &Path| -> Option<PathBuf> { fs::canonicalize(path).ok() };
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (real(here), real(file)) {
        (Some(folder), Some(file)) if file.starts_with(&folder) => Ok(()),
        // One that is missing is told by who opens it, if it would lie in the folder.
        (Some(_), None) if file.strip_prefix(folder).is_ok_and(plain) => Ok(()),
        _ => Err(ViewError::Outside { run: folder.to_owned(), file: file.to_owned() }),
    }
}

fn plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_in_the_folder_are_opened() {
        let around = tempfile::tempdir().unwrap();
        let folder = around.path().join("run");
        fs::create_dir(&folder).unwrap();
        fs::write(around.path().join("secret.toml"), "secret").unwrap();
        fs::write(folder.join("robot.toml"), "name").unwrap();
        let robot = |file: PathBuf| {
            let changed = EnvOverrides { robot: Some(file), ..EnvOverrides::default() };
            world(&folder, changed).map(drop).map_err(|e| e.to_string())
        };
        assert_eq!(robot(folder.join("robot.toml")), Ok(()));
        assert_eq!(robot(folder.join("missing.toml")), Ok(()));
        for outside in ["../secret.toml", "../../etc/passwd", "/etc/passwd", "../missing"] {
            assert!(robot(folder.join(outside)).unwrap_err().contains("outside"), "{outside}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(around.path().join("secret.toml"), folder.join("link.toml")).unwrap();
            assert!(robot(folder.join("link.toml")).unwrap_err().contains("outside"));
        }
    }
}
