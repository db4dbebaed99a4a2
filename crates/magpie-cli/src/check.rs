//! `magpie check`: whether files are what was written.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use magpie_run::operations::{Finding, check};

#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run, a folder with folders of runs, such as that of a sweep, or a file: an archive, a policy,
    /// demonstrations or a checkpoint. Nothing is changed.
    #[arg(required = true, value_name = "RUN|FILE")]
    places: Vec<PathBuf>,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = crate::screen::stdout().lock();
    let (mut files, mut damaged) = (0, 0);
    for place in &args.places {
        let report = check(place)?;
        files += report.files.len();
        damaged += report.damaged().count();
        for file in &report.files {
            let path = file.path.display();
            match &file.finding {
                Finding::Sound => writeln!(out, "sound        {path}")?,
                Finding::NoChecksum => writeln!(out, "no checksum  {path}")?,
                Finding::Remark(remark) => writeln!(out, "note         {path}: {remark}")?,
                Finding::Damaged(problem) => {
                    // Errors of files begin with their names.
                    let problem = problem.strip_prefix(&format!("{path}: ")).unwrap_or(problem);
                    writeln!(out, "DAMAGED      {path}: {problem}")?;
                }
            }
        }
    }
    writeln!(out, "{files} files checked, {damaged} damaged")?;
    Ok(if damaged == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
