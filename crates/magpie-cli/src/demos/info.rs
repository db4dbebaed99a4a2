//! `magpie demos info`: what a file of demonstrations holds.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use magpie_demos::{Given, import};
use magpie_run::operations::{draw_demonstrations, may_write};

use super::table;
use crate::json;
use crate::output::Output;

#[derive(clap::Args)]
pub struct Args {
    /// The file, in any format that `magpie demos import` reads.
    file: PathBuf,
    /// Write a PNG picture of the demonstrations in measure space.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    if let Some(plot) = &args.plot {
        may_write(plot, &[&args.file])?;
    }
    let source = args.file.display().to_string();
    let demonstrations = import(&args.file, &Given { source: source.clone(), ..Given::default() })?;
    output.result(&table::describe(&demonstrations), |out| table::write(out, &demonstrations))?;
    let Some(plot) = &args.plot else { return Ok(()) };
    let figure = draw_demonstrations(&demonstrations).context(source)?;
    std::fs::write(plot, figure.png()?).with_context(|| format!("writing {}", plot.display()))?;
    let path = plot.display().to_string();
    output.result(&json::Written { path: path.clone() }, |out| writeln!(out, "\nwritten to {path}"))?;
    Ok(())
}
