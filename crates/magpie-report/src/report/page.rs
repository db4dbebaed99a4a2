//! The page: HTML with everything in it, so that it can be mailed as one file.
//!
//! Without scripts all of it is visible. The script adds three conveniences: one axis at a time, the numbers under the
//! pointer, tables sorted by a column.

use std::fmt::Write;

use crate::runs::{Axis, Metric};
use crate::statistics::bootstrap::FEWEST_RUNS;
use magpie_plot::{NARROW, escaped};
use magpie_run::count;

use super::sheet::Sheet;
use super::{Chapter, Picture, Report};

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// How the title begins and what the heading is: by them a page is known to be one of ours.
const TITLE: &str = "<title>magpie: ";
const HEADING: &str = "<h1>Comparison of runs</h1>";
const EARLIER_HEADING: &str = "<h1>What the runs say</h1>";

/// The names of places on every page.
pub(super) const PLACES: [&str; 8] =
    ["results", "notes", "adaptation", "certainty", "runs", "methods", "files", "hint"];

/// Notes that are shown at once; the others can be opened.
const NOTES_AT_ONCE: usize = 8;

pub(super) fn html(report: &Report) -> String {
    let tasks: Vec<&str> = report.chapters.iter().map(|chapter| chapter.title.as_str()).collect();
    let runs = count(report.runs, "run");
    let mut body = String::new();
    push(&mut body, format_args!("<header>{HEADING}\n<p>{runs} of <code>magpie train</code> on "));
    push(&mut body, format_args!("{}.</p>\n{}</header>\n", escaped(&tasks.join("; ")), contents(report)));
    notes(&mut body, report);
    results(&mut body, report);
    for chapter in &report.chapters {
        self::chapter(&mut body, chapter, &report.demonstrations.part(&chapter.title));
    }
    adaptation(&mut body, report);
    certainty(&mut body, report);
    section(&mut body, "runs", "Runs", &runs_of(report));
    section(&mut body, "methods", "How this is computed", METHODS);
    section(&mut body, "files", "Files", &files(report));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         {TITLE}{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         {body}</main>\n<div id=\"hint\" role=\"status\" hidden></div>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(&tasks.join("; "))
    )
}

/// Whether a page was made here.
pub(super) fn is_ours(page: &str) -> bool {
    page.contains(TITLE) && [HEADING, EARLIER_HEADING].iter().any(|heading| page.contains(heading))
}

/// Writing into a string cannot fail.
fn push(body: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = body.write_fmt(text);
}

fn section(body: &mut String, id: &str, title: &str, content: &str) {
    push(
        body,
        format_args!("<section id=\"{}\">\n<h2>{}</h2>\n{content}</section>\n", escaped(id), escaped(title)),
    );
}

fn paragraph(text: &str) -> String {
    // Commands stand between backquotes.
    let parts: String = text
        .split('`')
        .enumerate()
        .map(|(i, part)| if i % 2 == 1 { format!("<code>{}</code>", escaped(part)) } else { escaped(part) })
        .collect();
    format!("<p>{parts}</p>\n")
}

fn contents(report: &Report) -> String {
    let mut links = vec![("results".to_owned(), "Results".to_owned())];
    links.extend(report.chapters.iter().map(|chapter| (chapter.slug.clone(), chapter.title.clone())));
    if !report.adaptation.rows.is_empty() {
        links.push(("adaptation".to_owned(), report.adaptation.title.to_owned()));
    }
    links.push(("certainty".to_owned(), "How sure".to_owned()));
    links.push(("runs".to_owned(), "Runs".to_owned()));
    let links: String =
        links.iter().map(|(id, title)| format!("<a href=\"#{id}\">{}</a>\n", escaped(title))).collect();
    format!("<nav>\n{links}</nav>\n")
}

fn notes(body: &mut String, report: &Report) {
    if report.notes.is_empty() {
        return;
    }
    let line = |note: &crate::runs::Note| {
        let problem = paragraph(&note.problem).replace("<p>", "").replace("</p>\n", "");
        format!("<li><b>{}</b>: {problem}</li>\n", escaped(&note.place))
    };
    let (first, rest) = report.notes.split_at(report.notes.len().min(NOTES_AT_ONCE));
    let mut content = format!("<ul>\n{}</ul>\n", first.iter().map(line).collect::<String>());
    if !rest.is_empty() {
        let rest_lines: String = rest.iter().map(line).collect();
        content += &format!(
            "<details><summary>and {} more</summary>\n<ul>\n{rest_lines}</ul>\n</details>\n",
            rest.len()
        );
    }
    push(
        body,
        format_args!(
            "<section id=\"notes\" class=\"notes\">\n<h2>Before you read on</h2>\n{content}</section>\n"
        ),
    );
}

fn results(body: &mut String, report: &Report) {
    let mut content = paragraph(
        "Mean ± standard deviation over seeds, each run as far as it has come. “As stored” is what the archive holds: the \
         best of many noisy evaluations, which flatters. “Run again” is what its elites reach in fresh episodes. “Episodes” is \
         how many an elite was judged by. “Paper” is Wan et al. (ICML 2025), with 3000 environments and 2000 iterations; its \
         numbers stand beside a method only if the experiment is the same.",
    );
    for chapter in &report.chapters {
        push(&mut content, format_args!("<h3>{}</h3>\n", escaped(&chapter.title)));
        content += &report.results.part(&chapter.title).html();
        chapter.left_out.iter().for_each(|why| content += &paragraph(why));
    }
    content += &report.to_run_again.as_deref().map(paragraph).unwrap_or_default();
    section(body, "results", report.results.title, &content);
}

fn chapter(body: &mut String, chapter: &Chapter, demonstrations: &Sheet) {
    let mut content = String::from("<h3>Learning curves</h3>\n");
    if chapter.negative {
        content += &paragraph(
            "Returns can be negative here: an elite in a new cell may then lower the plain QD-Score, which falls while the \
             search improves. The QD-Score with offset, which adds a constant for each step so that filling a cell never \
             costs anything, is the one to watch and comes first.",
        );
    }
    content += "<div class=\"axes\">\n";
    for (axis, pictures) in &chapter.learning {
        let title = match axis {
            Axis::Iterations => "Against iterations",
            Axis::EnvSteps => "Against environment steps",
            Axis::Hours => "Against hours",
        };
        push(
            &mut content,
            format_args!("<div class=\"axis\" data-axis=\"{}\">\n<h4>{title}</h4>\n", axis.slug()),
        );
        content += &grid(pictures);
        content += "</div>\n";
    }
    content += "</div>\n";
    if !chapter.maps.is_empty() {
        content += "<h3>Archives</h3>\n";
        content += &paragraph(
            "For each method, the run with the median QD-Score. All maps share one colour scale; grey cells are empty.",
        );
        content += &grid(&chapter.maps);
    }
    if !demonstrations.rows.is_empty() {
        content += "<h3>Demonstrations</h3>\n";
        content += &paragraph(
            "The demonstrations that rewards were learned from, as in the paper’s appendix. Standard deviations are over the \
             episodes (divisor n). Pictures show the elites of an archive, the best of them, and the demonstrations.",
        );
        content += &demonstrations.html();
        content += &grid(&chapter.demonstrations);
    }
    if !chapter.summaries.is_empty() {
        content += "<h3>Summaries</h3>\n";
        content += &grid(&chapter.summaries);
    }
    let score = chapter.score.name();
    push(&mut content, format_args!("<h3>Which methods differ: Tukey’s HSD on the {score}</h3>\n"));
    if chapter.score != Metric::QdScore {
        content += &paragraph("On the score with offset, as the plain one is negative.");
    }
    content += &table_or_reason(
        &chapter.tukey.part(&chapter.title).part(score),
        chapter.untested.as_deref().into_iter(),
    );
    section(body, &chapter.slug, &chapter.title, &content);
}

fn adaptation(body: &mut String, report: &Report) {
    if report.adaptation.rows.is_empty() {
        return;
    }
    let mut content = paragraph(&format!(
        "All elites of each archive in changed worlds, without training: the return of the best of them (adapted), of the one \
         that was best in the healthy world (no adaptation), and of the best over many more episodes (oracle), each over \
         episodes by which nothing was chosen. Inter-quartile means over archives, with 95 % intervals of the stratified \
         bootstrap where there are at least {FEWEST_RUNS}. A ring marks the healthy world."
    ));
    content += &grid(&report.adaptations);
    content += &report.adaptation.html();
    section(body, "adaptation", report.adaptation.title, &content);
}

fn certainty(body: &mut String, report: &Report) {
    let mut content = String::from("<h3>The effect of curiosity</h3>\n");
    let why = report.uncertain.iter().map(String::as_str);
    let none =
        report.curiosity.rows.is_empty().then_some("No method was run both with and without curiosity.");
    content += &table_or_reason(&report.curiosity, why.chain(none));
    if !report.cells.rows.is_empty() {
        push(&mut content, format_args!("<h3>{}</h3>\n", report.cells.title));
        content += &paragraph(
            "A QD-Score is a sum over cells. Archives with and without curiosity are compared cell by cell, for the seeds \
             that both have, which need not be all of those above. Two seeds of one method differ in this way too.",
        );
        content += &report.cells.html();
    }
    if !report.tukey_pairs.rows.is_empty() {
        push(&mut content, format_args!("<h3>{}</h3>\n", report.tukey_pairs.title));
        content += &paragraph(
            "The sign of the effect of curiosity and its p-value among all pairs of methods of the task; bold is significant \
             (p < 0.05).",
        );
        content += &report.tukey_pairs.html();
    }
    content += "<h3>Inter-quartile means</h3>\n";
    if report.few_seeds {
        content += &paragraph(&format!(
            "No bootstrap interval where a method has fewer than {FEWEST_RUNS} seeds: it draws from the seeds that there are, \
             and one or two say next to nothing about others."
        ));
    }
    content += &report.iqm.html();
    section(body, "certainty", "How sure", &content);
}

fn runs_of(report: &Report) -> String {
    let mut content = report.every_run.html();
    if !report.methods.rows.is_empty() {
        push(&mut content, format_args!("<h3>{}</h3>\n", report.methods.title));
        content += &report.methods.html();
    }
    content
}

fn table_or_reason<'a>(sheet: &Sheet, reasons: impl Iterator<Item = &'a str>) -> String {
    let table = if sheet.rows.is_empty() { String::new() } else { sheet.html() };
    reasons.fold(table, |text, reason| text + &paragraph(reason))
}

fn grid(pictures: &[Picture]) -> String {
    let figures: String = pictures
        .iter()
        .map(|picture| {
            let class = if picture.figure.width() > NARROW { " class=\"wide\"" } else { "" };
            let svg = picture.figure.svg().replacen(
                "<svg ",
                &format!("<svg role=\"img\" aria-label=\"{}\" ", escaped(&picture.alt)),
                1,
            );
            let caption =
                picture.caption.as_deref().map(|text| format!("<figcaption>{}</figcaption>", escaped(text)));
            let caption = caption.unwrap_or_default();
            format!("<figure{class} id=\"{}\">\n{svg}{caption}</figure>\n", escaped(&picture.name))
        })
        .collect();
    format!("<div class=\"grid\">\n{figures}</div>\n")
}

fn files(report: &Report) -> String {
    let mut text = paragraph(
        "This page is complete in itself. Beside it lie the pictures as SVG and PNG in `figures`, and:",
    );
    text += "<ul class=\"files\">\n";
    for (name, _) in &report.files {
        push(&mut text, format_args!("<li><a href=\"{0}\">{0}</a></li>\n", escaped(name)));
    }
    text + "</ul>\n"
}

const METHODS: &str = include_str!("page/methods.html");
