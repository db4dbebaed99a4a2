//! `magpie check`: whether files are what was written.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use magpie_run::operations::{Finding, check};

use crate::json;
use crate::output::Output;
use crate::words::count;

#[derive(clap::Args)]
pub struct Args {
    /// The folder of a run, a folder with folders of runs, such as that of a sweep, or a file: an archive, a policy,
    /// demonstrations or a checkpoint. Nothing is changed.
    #[arg(required = true, value_name = "RUN|FILE")]
    places: Vec<PathBuf>,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<ExitCode> {
    let (mut files, mut damaged) = (0, 0);
    for place in &args.places {
        let report = check(place)?;
        files += report.files.len();
        damaged += report.damaged().count();
        for file in &report.files {
            let path = file.path.display().to_string();
            let (finding, about) = match &file.finding {
                Finding::Sound => ("sound", None),
                Finding::NoChecksum => ("no checksum", None),
                Finding::Remark(remark) => ("note", Some(remark.clone())),
                // Errors of files begin with their names.
                Finding::Damaged(problem) => (
                    "damaged",
                    Some(problem.strip_prefix(&format!("{path}: ")).unwrap_or(problem).to_owned()),
                ),
            };
            let event =
                json::CheckedFile { path: path.clone(), finding: finding.to_owned(), about: about.clone() };
            output.result(&event, |out| match about {
                Some(about) => writeln!(out, "{finding:11}  {path}: {about}"),
                None => writeln!(out, "{finding:11}  {path}"),
            })?;
        }
    }
    output.result(&json::Checked { files, damaged }, |out| {
        writeln!(out, "{} checked, {damaged} damaged", count(files, "file"))
    })?;
    Ok(if damaged == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
