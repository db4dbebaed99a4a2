//! `magpie settings`: what can be set, and what it does.

use std::io::Write;

use magpie_run::settings::{Reference, Run, find, markdown, reference_of};

use crate::json;
use crate::output::Output;

#[derive(clap::Args)]
pub struct Args {
    /// A setting, such as search.train.gamma, or a group of them, such as search.curiosity. [default: all]
    key: Option<String>,
    /// The command whose settings to explain: train, ppo or clone. [default: train]
    #[arg(long, value_name = "COMMAND")]
    of: Option<Run>,
    /// Include settings that exist only for comparisons with other implementations.
    #[arg(long)]
    all: bool,
    /// Print the page docs/reference/settings.md.
    #[arg(long, conflicts_with_all = ["key", "of", "all", "json"])]
    markdown: bool,
}

pub fn run(args: &Args, output: Output) -> anyhow::Result<()> {
    if args.markdown {
        std::io::stdout().lock().write_all(markdown()?.as_bytes())?;
        return Ok(());
    }
    let all = reference_of(args.of.unwrap_or_default())?;
    let found = if args.all && args.key.is_none() { all } else { find(all, args.key.as_deref())? };
    for (number, setting) in found.iter().enumerate() {
        output.result(&describe(setting), |out| {
            if number > 0 {
                writeln!(out)?;
            }
            show(out, setting)
        })?;
    }
    Ok(())
}

/// A setting for programs.
fn describe(setting: &Reference) -> json::Setting {
    let Reference { key, kind, words, magpie, paper, range, unit, when, sentence, since, parity } =
        setting.clone();
    let word = |(name, meaning): (&str, String)| json::Word { name: name.to_owned(), meaning };
    json::Setting {
        key,
        kind,
        words: words.into_iter().map(word).collect(),
        magpie,
        paper,
        range,
        unit: unit.map(str::to_owned),
        when,
        sentence,
        since: since.to_owned(),
        parity: parity.map(str::to_owned),
    }
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
        writeln!(out, "    only if {}", when.join(" and "))?;
    }
    if let Some(parity) = parity {
        writeln!(out, "    for comparisons: {parity}")?;
    }
    Ok(())
}
