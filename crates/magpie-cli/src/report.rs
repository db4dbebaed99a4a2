//! `magpie report`: what many runs say together.

use std::io::Write;
use std::path::PathBuf;

use magpie_report::report;

#[derive(clap::Args)]
pub struct Args {
    /// Folders of runs, or folders with such folders in them, such as that of a sweep.
    #[arg(required = true, value_name = "RUN|SWEEP")]
    places: Vec<PathBuf>,
    /// Folder for the page, the pictures and the tables; `report` in the folder that was named, or here if there are
    /// several.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let report = report(&args.places)?;
    let out = args.out.clone().unwrap_or_else(|| match &args.places[..] {
        [place] => place.join("report"),
        _ => "report".into(),
    });
    let page = report.write(&out)?;
    let mut to = crate::screen::stdout().lock();
    for note in report.notes() {
        writeln!(to, "{}: {}", note.place, note.problem)?;
    }
    let runs = if report.runs() == 1 { "1 run".to_owned() } else { format!("{} runs", report.runs()) };
    writeln!(to, "{runs} compared in {}", page.display())?;
    Ok(())
}
