//! What people at the command line have to type for the remedy that an error of the library names.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use magpie_run::{Difference, RunError};

use crate::words::quoted;

/// The option that does what an error advises, if there is one.
pub fn hint(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| match cause.downcast_ref::<DifferentRun>() {
        Some(_) => Some("--out DIR chooses another folder".to_owned()),
        None => of(cause.downcast_ref::<RunError>()?),
    })
}

/// The folder for a new run holds another run: resuming that one is not what was asked for.
#[derive(Debug)]
pub struct DifferentRun {
    folder: String,
    difference: Difference,
}

impl DifferentRun {
    /// `reason` itself if it is not about a folder that holds a run, or if that run is the same one.
    pub fn or(
        reason: RunError,
        compare: impl FnOnce(&Path) -> Result<Option<Difference>, RunError>,
    ) -> anyhow::Error {
        let RunError::Exists { path } = &reason else { return reason.into() };
        match compare(path) {
            Ok(Some(difference)) => DifferentRun { folder: path.display().to_string(), difference }.into(),
            // What cannot be compared cannot be resumed either, and resuming says why.
            Ok(None) | Err(_) => reason.into(),
        }
    }
}

impl fmt::Display for DifferentRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DifferentRun { folder, difference: Difference { key, saved, wanted } } = self;
        write!(f, "{folder} already holds a different run: its {key} is {saved}, and {wanted} was asked for")
    }
}

impl std::error::Error for DifferentRun {}

/// The same for an error of the library.
pub fn of(error: &RunError) -> Option<String> {
    match error {
        RunError::Exists { path } => {
            Some(format!("--resume {} continues it; --out DIR chooses another folder", quoted(path)))
        }
        RunError::Io { path, reason, .. }
            if matches!(
                reason.kind(),
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
            ) =>
        {
            let remedy = "free some space";
            Some(match resume(path) {
                Some(command) => format!("{remedy}; `{command}` then continues from the last checkpoint"),
                None => remedy.to_owned(),
            })
        }
        RunError::NotBegun { .. } => Some("the command that started it, without --resume, starts it again".to_owned()),
        RunError::OtherRun { .. } => Some("--out DIR chooses another folder".to_owned()),
        RunError::Search { .. } => {
            Some("--set KEY=VALUE changes a setting, --out DIR chooses another folder".to_owned())
        }
        RunError::NoDemonstrations { .. } => Some(
            "--demos FILE, or `demos` in a sweep file, names demonstrations (`magpie demos make` and `magpie demos import` write \
             them); --reward true takes the task's own reward"
                .to_owned(),
        ),
        RunError::OtherMeasures { .. } => Some("--measure names it".to_owned()),
        RunError::OtherSizes { .. } => Some("--robot FILE names the robot".to_owned()),
        RunError::FewElites { limited: true, .. } => {
            Some("-n asks for fewer, --top raises how many are among the best".to_owned())
        }
        RunError::FewGoodElites(few) => {
            let fewer = if few.good > 0 { format!("-n {} asks for fewer, ", few.good) } else { String::new() };
            let more = if few.limited { "--top raises how many are among the best, " } else { "" };
            Some(format!("{fewer}{more}--min-return and --max-cells accept a larger difference"))
        }
        RunError::NoPicture { .. } => {
            Some("`magpie demos import` writes a file that says its task and measure".to_owned())
        }
        RunError::OfSweep { reason, .. } => of(reason),
        _ => None,
    }
}

/// The command that resumes the run to which a file belongs, if it has a checkpoint.
fn resume(file: &Path) -> Option<String> {
    let folder = file.ancestors().skip(1).take(3).find(|folder| folder.join("config.toml").is_file())?;
    let made_by = |(_, checkpoint): &(&str, &str)| folder.join("checkpoint").join(checkpoint).is_file();
    let (command, _) =
        [("train", "search"), ("ppo", "trainer"), ("clone", "cloning")].into_iter().find(made_by)?;
    Some(format!("magpie {command} --resume {}", quoted(folder)))
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_remedy_has_its_option_however_deep_the_error_lies() {
        let missing = || RunError::NoDemonstrations { task: "pogo".to_owned(), learner: "gail".to_owned() };
        let run = "pogo-gail-1".to_owned();
        let of_sweep = RunError::OfSweep { path: "a.toml".into(), run, reason: Box::new(missing()) };
        for error in [missing(), of_sweep] {
            let error = Err::<(), _>(error).context("reading").unwrap_err();
            assert!(!format!("{error:#}").contains("--"), "{error:#}");
            let hint = hint(&error).unwrap();
            assert!(hint.contains("--demos") && hint.contains("--reward true"), "{hint}");
        }
        let exists = anyhow::Error::from(RunError::Exists { path: "runs/a".into() });
        assert!(hint(&exists).unwrap().contains("--resume runs/a"));
        #[cfg(unix)]
        {
            let exists = anyhow::Error::from(RunError::Exists { path: "my runs/a".into() });
            assert!(hint(&exists).unwrap().contains("--resume 'my runs/a'"));
        }
        assert_eq!(hint(&anyhow::anyhow!("something else")), None);
    }
}
