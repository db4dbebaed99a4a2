//! `magpie report`: runs compared.

use std::io::Write;
use std::path::PathBuf;

use magpie_report::report;

use crate::json;
use crate::output::Output;
use crate::words::count;

#[derive(clap::Args)]
pub struct Args {
    /// Folders of runs, or folders that contain such folders, such as that of a sweep.
    #[arg(required = true, value_name = "RUN|SWEEP")]
    places: Vec<PathBuf>,
    /// Folder for the page, the figures and the tables. [default: `report` in the folder named, or in the current one if
    /// several are named]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    let report = report(&args.places)?;
    let out = args.out.clone().unwrap_or_else(|| match &args.places[..] {
        [place] => place.join("report"),
        _ => "report".into(),
    });
    let page = report.write(&out)?;
    for note in report.notes() {
        output.note(&format!("{}: {}", note.place, note.problem));
    }
    for file in report.files(&out) {
        output.event(&json::Written { path: file.display().to_string() })?;
    }
    let (runs, page) = (report.runs(), page.display().to_string());
    output.result(&json::Report { runs, page: page.clone() }, |to| {
        writeln!(to, "{} compared in {page}", count(runs, "run"))
    })?;
    Ok(())
}
