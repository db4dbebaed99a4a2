//! `magpie completions` and `magpie man`: the command line for shells and for `man`, made from its own declaration.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap_complete::Shell;

use crate::json;
use crate::output::Output;
use crate::words::count;

#[derive(clap::Args)]
#[command(
    after_help = "Example: magpie completions bash > ~/.local/share/bash-completion/completions/magpie"
)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum, conflicts_with = "json")]
    shell: Shell,
}

#[derive(clap::Args)]
#[command(after_help = "Example: magpie man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Folder for the pages, one for each command. It is made if it does not exist.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub fn completions(args: &CompletionsArgs, mut command: clap::Command) -> anyhow::Result<()> {
    // The generator panics where its reader has gone.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "magpie", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(())
}

pub fn man(args: &ManArgs, command: clap::Command, output: Output) -> anyhow::Result<()> {
    let folder = &args.folder;
    fs::create_dir_all(folder).with_context(|| format!("{}: making the folder", folder.display()))?;
    let mut written = 0;
    let mut built = command;
    built.build();
    let mut waiting = vec![built];
    while let Some(command) = waiting.pop() {
        let page = clap_mangen::Man::new(command.clone());
        let path = folder.join(page.get_filename());
        let mut text = Vec::new();
        page.render(&mut text)?;
        fs::write(&path, text).with_context(|| format!("{}: writing", path.display()))?;
        output.event(&json::Written { path: path.display().to_string() })?;
        written += 1;
        waiting.extend(
            command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()).cloned(),
        );
    }
    if !output.is_json() {
        writeln!(std::io::stdout(), "{} written to {}", count(written, "page"), folder.display())?;
    }
    Ok(())
}
