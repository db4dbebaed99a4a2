//! `magpie settings`: what can be set, and what it does.

use std::io::Write;

use magpie_run::settings::{Reference, find, markdown, reference};

#[derive(clap::Args)]
pub struct Args {
    /// A setting, such as search.train.gamma, or a table of them, such as search.curiosity; all if not given.
    key: Option<String>,
    /// Also those that are there only to agree with other implementations.
    #[arg(long)]
    all: bool,
    /// As JSON.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// As the reference in docs/reference/settings.md.
    #[arg(long, conflicts_with_all = ["key", "all"])]
    markdown: bool,
}

pub fn run(args: &Args) -> anyhow::Result<()> {
    let mut out = crate::screen::stdout().lock();
    if args.markdown {
        out.write_all(markdown()?.as_bytes())?;
        return Ok(());
    }
    let all = reference()?;
    let found = if args.all && args.key.is_none() { all } else { find(all, args.key.as_deref())? };
    if args.json {
        serde_json::to_writer_pretty(&mut out, &found)?;
        writeln!(out)?;
        return Ok(());
    }
    for (number, setting) in found.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        show(&mut out, setting)?;
    }
    Ok(())
}

fn show(out: &mut impl Write, setting: &Reference) -> std::io::Result<()> {
    let Reference { key, kind, words, magpie, paper, range, unit, when, sentence, parity, .. } = setting;
    match magpie == paper {
        true => writeln!(out, "{key} = {magpie}")?,
        false => writeln!(out, "{key} = {magpie}    paper: {paper}")?,
    }
    writeln!(out, "    {sentence}")?;
    for (word, meaning) in words {
        writeln!(out, "    {word}: {meaning}")?;
    }
    let allowed = range.as_ref().map_or(String::new(), |range| format!(", {range}"));
    let unit = unit.map_or(String::new(), |unit| format!(", in {unit}"));
    if words.is_empty() {
        writeln!(out, "    {kind}{allowed}{unit}")?;
    }
    if !when.is_empty() {
        writeln!(out, "    only with {}", when.join(" and "))?;
    }
    if let Some(parity) = parity {
        writeln!(out, "    for comparisons: {parity}")?;
    }
    Ok(())
}
