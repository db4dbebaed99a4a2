//! The page `docs/reference/json.md`, made from the declarations.

use super::{Field, Record, VERSION, events, objects};

/// All that is declared.
fn records() -> impl Iterator<Item = &'static Record> + Clone {
    events::RECORDS.iter().chain(objects::RECORDS)
}

/// A type of ours as people who write JSON say it.
fn in_words(kind: &str) -> String {
    let kind = kind.replace(' ', "");
    let inner = |outer: &str| kind.strip_prefix(outer).and_then(|rest| rest.strip_suffix('>')).map(in_words);
    if let Some(kind) = inner("Option<") {
        return format!("{kind} or null");
    }
    if let Some(kind) = inner("Vec<") {
        return format!("list of {kind}");
    }
    match kind.as_str() {
        "String" => "text".to_owned(),
        "bool" => "true or false".to_owned(),
        "f64" => "number".to_owned(),
        "[f64;2]" => "list of two numbers".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "usize" => "whole number".to_owned(),
        "Columns" => "object of numbers or null".to_owned(),
        object => {
            assert!(records().any(|record| record.kind == object), "{object}");
            format!("[{object}](#{})", object.to_lowercase())
        }
    }
}

fn text(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

fn page() -> String {
    let mut page = format!(
        "# What commands print with --json\n\n\
         With `--json` every command but `completions` prints one JSON object a line to its standard output, and nothing\n\
         else. Each has\n\
         `\"version\": {VERSION}` and `\"event\"`, one of the names below. The version changes when a field disappears or changes\n\
         its meaning; new events and new fields do not change it, so ignore what you do not know. A number that is not\n\
         finite is `null`. Standard error has no progress then, but still the warnings and errors for people. With\n\
         `--quiet` there are no `started`, `preparation`, `iteration` and `note` either.\n\n\
         | exit code | meaning | last line |\n|---|---|---|\n\
         | 0 | done | a result |\n\
         | 1 | failed | `error`; for a sweep in which runs have failed, `finished` |\n\
         | 2 | the command line makes no sense | `error` |\n\
         | 130 | interrupted by Ctrl-C or a request to terminate; saved | `interrupted` |\n\n\
         ```text\n\
         $ magpie train hopper --reward true --json | jq -r 'select(.event == \"iteration\") | .metrics.qd_score'\n\
         ```\n\n\
         This page is made from the declarations of the events; a test keeps it current (`MAGPIE_WRITE_DOCS=1 cargo test` writes\n\
         it).\n"
    );
    let (events, objects): (Vec<_>, Vec<_>) = records().partition(|record| !record.event.is_empty());
    for (title, records) in [("Events", events), ("Objects within events", objects)] {
        page += &format!("\n## {title}\n");
        for Record { kind, event, about, fields } in records {
            let name = event.first().map_or((*kind).to_owned(), |event| format!("`{event}`"));
            page +=
                &format!("\n### {name}\n\n{}\n\n| field | type | meaning |\n|---|---|---|\n", text(about));
            for Field { name, kind, about } in *fields {
                page += &format!("| `{name}` | {} | {} |\n", in_words(kind), text(about));
            }
        }
    }
    page
}

#[test]
fn the_page_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/json.md");
    if std::env::var_os("MAGPIE_WRITE_DOCS").is_some() {
        std::fs::write(path, page()).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap();
    assert!(
        found == page(),
        "docs/reference/json.md is out of date: MAGPIE_WRITE_DOCS=1 cargo test writes it"
    );
}

#[test]
fn names_of_events_are_unique_and_no_field_hides_the_head_of_a_line() {
    let mut names: Vec<&str> = records().flat_map(|record| record.event).copied().collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    let fields = records().flat_map(|record| record.fields);
    assert!(fields.clone().all(|field| !["version", "event"].contains(&field.name)));
}
