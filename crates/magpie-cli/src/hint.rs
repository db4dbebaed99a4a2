//! What people at the command line have to type for the remedy that an error of the library names.

use magpie_run::RunError;

/// The option that does what an error advises, if there is one.
pub fn hint(error: &anyhow::Error) -> Option<String> {
    of(error.chain().find_map(|cause| cause.downcast_ref::<RunError>())?)
}

fn of(error: &RunError) -> Option<String> {
    match error {
        RunError::Exists { path } => {
            Some(format!("--resume {} resumes it; --out DIR chooses another folder", path.display()))
        }
        RunError::OtherRun { .. } => Some("--out DIR chooses another folder".to_owned()),
        RunError::Search { .. } => {
            Some("--set KEY=VALUE changes a setting, --out DIR chooses another folder".to_owned())
        }
        RunError::NoDemonstrations { .. } => Some(
            "--demos FILE, or `demos` in a sweep file, names demonstrations (`magpie demos make` and `magpie demos import` write \
             them); --reward true takes the task's own reward"
                .to_owned(),
        ),
        RunError::OtherMeasures { .. } => Some("--measure says what they are".to_owned()),
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
        assert_eq!(hint(&anyhow::anyhow!("something else")), None);
    }
}
