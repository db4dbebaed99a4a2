//! `magpie demos info`: what a file of demonstrations holds.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use magpie_demos::{Given, import};
use magpie_run::operations::{draw_demonstrations, may_write};

use super::table;

#[derive(clap::Args)]
pub struct Args {
    /// The file, of any format that can be imported.
    file: PathBuf,
    /// PNG file for a picture of where the demonstrations lie in the space of measures.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    if let Some(plot) = &args.plot {
        may_write(plot, &[&args.file])?;
    }
    let source = args.file.display().to_string();
    let demonstrations = import(&args.file, &Given { source: source.clone(), ..Given::default() })?;
    table::write(&mut crate::screen::stdout().lock(), &demonstrations)?;
    let Some(plot) = &args.plot else { return Ok(()) };
    let figure = draw_demonstrations(&demonstrations).context(source)?;
    magpie_run::write_whole(plot, &figure.png()?)?;
    writeln!(crate::screen::stdout(), "\nwritten to {}", plot.display())?;
    Ok(())
}
