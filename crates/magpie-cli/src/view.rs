//! `magpie view`: runs on a local page, or in a file that needs no server.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use magpie_run::operations::may_write;
use magpie_run::write_whole;
use magpie_view::export::{ExportOptions, Gaits, export};
use magpie_view::{Run, serve};

use crate::json;
use crate::output::Output;
use crate::words::count;

#[derive(clap::Args)]
pub struct Args {
    /// Folders of runs, finished or under way, or files of archives or policies.
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Port to listen on; 0 for any free one.
    #[arg(long, default_value_t = 8420)]
    port: u16,
    /// Listen on this address, such as 0.0.0.0, so that other machines reach the page; they need the printed token, and what
    /// is sent can be read on the way. [default: this machine alone]
    #[arg(long, value_name = "ADDRESS")]
    host: Option<String>,
    /// Write one page that needs no server, and stop.
    #[arg(long, value_name = "PAGE.html", conflicts_with_all = ["port", "host"])]
    export: Option<PathBuf>,
    /// With --export: how many gaits the page holds, of elites that differ.
    #[arg(long, value_name = "N", requires = "export", default_value_t = 24)]
    spread: usize,
    /// With --export: the gaits of all elites.
    #[arg(long, requires = "export", conflicts_with = "spread")]
    all: bool,
    /// With --export: the gaits of these cells, such as 12,40.
    #[arg(long, value_name = "I,J", num_args = 1.., requires = "export", conflicts_with_all = ["spread", "all"])]
    cells: Vec<String>,
    /// With --export: frames of a gait in a second.
    #[arg(long, value_name = "N", requires = "export", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000))]
    fps: u32,
    /// With --export: the largest page, in MB.
    #[arg(long, value_name = "MB", requires = "export", default_value_t = 20)]
    max_size: usize,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    let runs = args.runs.iter().map(|place| Run::open(place)).collect::<Result<Vec<_>, _>>()?;
    match &args.export {
        Some(path) => write(args, &runs, path, output),
        None => show(args, runs, output),
    }
}

fn show(args: &Args, runs: Vec<Run>, output: Output) -> anyhow::Result<()> {
    let server = serve(runs, args.host.as_deref(), args.port)?;
    if server.is_open() {
        output.warn(
            "other machines can reach this page; whoever has the address with its token can watch, and the connection is not \
             encrypted",
        );
    }
    let url = server.url.clone();
    let viewed = json::Viewing { runs: args.runs.len(), url: url.clone() };
    output.result(&viewed, |out| {
        writeln!(out, "{} at {url} (Ctrl-C ends it)", count(args.runs.len() as u64, "run"))?;
        out.flush()
    })?;
    Ok(server.run()?)
}

fn write(args: &Args, runs: &[Run], path: &Path, output: Output) -> anyhow::Result<()> {
    may_write(path, &[])?;
    let gaits = match (&args.cells[..], args.all) {
        ([], true) => Gaits::All,
        ([], false) => Gaits::Spread(args.spread),
        (names, _) => {
            ensure!(runs.len() == 1, "--cells are those of a single run; name one");
            Gaits::Cells(names.iter().map(|name| runs[0].cell_named(name)).collect::<Result<_, _>>()?)
        }
    };
    let options = ExportOptions { gaits, rate: args.fps, most: args.max_size.saturating_mul(1_000_000) };
    let page = export(runs, &options, &mut |done, all| {
        if all > 50 && done % 50 == 0 {
            output.say(&format!("{done} of {all} gaits"));
        }
    })?;
    write_whole(path, page.as_bytes())?;
    let (name, size) = (path.display().to_string(), page.len() as f64 / 1e6);
    output.result(&json::Written { path: name.clone() }, |out| writeln!(out, "{name} ({size:.1} MB)"))?;
    Ok(())
}
