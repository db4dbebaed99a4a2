//! A table of the report, written as HTML, CSV and LaTeX.

use std::borrow::Cow;

use crate::error::ReportError;
use crate::statistics::bootstrap::Interval;
use crate::statistics::table::csv::quoted;
use crate::statistics::table::{Cell, latex, markdown};
use magpie_plot::escaped;

/// Rows of entries under named columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sheet {
    /// For names of files.
    pub(super) slug: &'static str,
    pub(super) title: &'static str,
    pub(super) columns: Vec<(Cow<'static, str>, Kind)>,
    pub(super) rows: Vec<Vec<Entry>>,
}

/// What a column holds; in CSV a spread or an estimate takes three columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Spread,
    Estimate,
}

/// A field of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Entry {
    Text(String),
    /// A number, shown with this number of decimals.
    Number(f64, usize),
    /// The p-value of a test, in bold letters where it is significant.
    P(f64, bool),
    /// Mean and standard deviation over runs.
    Spread(Cell),
    /// A number and where it would lie with other runs; in per cent of something or in its own unit.
    Estimate(f64, Option<Interval>),
    /// Not known.
    Nothing,
}

impl Entry {
    /// Mean and standard deviation of the numbers that there are.
    pub(super) fn spread(values: impl Iterator<Item = f64>) -> Result<Entry, ReportError> {
        let values: Vec<f64> = values.collect();
        Ok(if values.is_empty() { Entry::Nothing } else { Entry::Spread(Cell::of(&values)?) })
    }
}

/// Columns whose names are known beforehand.
pub(super) fn columns(named: &[(&'static str, Kind)]) -> Vec<(Cow<'static, str>, Kind)> {
    named.iter().map(|&(name, kind)| (Cow::Borrowed(name), kind)).collect()
}

impl Sheet {
    /// The rows that have this in their first column, without that column.
    pub(super) fn part(&self, first: &str) -> Sheet {
        let chosen = self.rows.iter().filter(|row| row.first() == Some(&Entry::Text(first.to_owned())));
        let rows = chosen.map(|row| row[1..].to_vec()).collect();
        Sheet { columns: self.columns[1..].to_vec(), rows, ..*self }
    }

    pub(super) fn html(&self) -> String {
        let head: String = self
            .columns
            .iter()
            .map(|(name, kind)| {
                let class = if *kind == Kind::Text { "" } else { r#" class="n""# };
                format!(r#"<th scope="col"{class}>{}</th>"#, escaped(name))
            })
            .collect();
        let body: String = self
            .rows
            .iter()
            .map(|row| {
                let fields: String =
                    row.iter().zip(&self.columns).map(|(entry, (_, kind))| field(entry, *kind)).collect();
                format!("<tr>{fields}</tr>\n")
            })
            .collect();
        format!(
            "<div class=\"scroll\"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
        )
    }

    pub(super) fn csv(&self) -> String {
        let mut text = String::new();
        let parts: Vec<String> = self
            .columns
            .iter()
            .flat_map(|(name, kind)| {
                let with = |ends: [&str; 3]| ends.map(|end| quoted(&format!("{name}{end}"))).to_vec();
                match kind {
                    Kind::Text | Kind::Number => vec![quoted(name)],
                    Kind::Spread => with([" mean", " std", " n"]),
                    Kind::Estimate => with(["", " low", " high"]),
                }
            })
            .collect();
        text += &(parts.join(",") + "\n");
        for row in &self.rows {
            let fields: Vec<String> =
                row.iter().zip(&self.columns).flat_map(|(entry, (_, kind))| exact(entry, *kind)).collect();
            text += &(fields.join(",") + "\n");
        }
        text
    }

    /// A `tabular`, which needs `\usepackage{booktabs}`.
    pub(super) fn latex(&self) -> String {
        let align: String =
            self.columns.iter().map(|(_, kind)| if *kind == Kind::Text { 'l' } else { 'r' }).collect();
        let line = |fields: Vec<String>| fields.join(" & ") + " \\\\\n";
        let head = line(self.columns.iter().map(|(name, _)| latex::escape(name)).collect());
        let body: String = self.rows.iter().map(|row| line(row.iter().map(typeset).collect())).collect();
        format!(
            "\\begin{{tabular}}{{{align}}}\n\\toprule\n{head}\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n"
        )
    }
}

/// Letters from which on a field is broken into lines.
const LONG: usize = 60;

/// A field of HTML, with the number that it is sorted by.
fn field(entry: &Entry, kind: Kind) -> String {
    let value = match entry {
        Entry::Number(value, _) | Entry::Estimate(value, _) | Entry::P(value, _) => Some(*value),
        Entry::Spread(cell) => Some(cell.mean),
        Entry::Text(_) | Entry::Nothing => None,
    };
    let value = value.map(|value| format!(r#" data-v="{value}""#)).unwrap_or_default();
    let text = plain(entry);
    let class = match kind {
        Kind::Text if text.chars().count() > LONG => r#" class="long""#,
        Kind::Text => "",
        Kind::Number | Kind::Spread | Kind::Estimate => r#" class="n""#,
    };
    match entry {
        Entry::P(_, true) => format!("<td{class}{value}><b>{}</b></td>", escaped(&text)),
        _ => format!("<td{class}{value}>{}</td>", escaped(&text)),
    }
}

/// For people.
fn plain(entry: &Entry) -> String {
    match entry {
        Entry::Text(text) => text.clone(),
        Entry::Number(value, decimals) => number(*value, *decimals).replace('-', "\u{2212}"),
        Entry::P(value, _) => number(*value, P_DECIMALS),
        Entry::Spread(cell) => markdown::written(*cell).replace('-', "\u{2212}"),
        Entry::Estimate(value, interval) => {
            let (numbers, exponent) = rounded(*value, *interval);
            let power = if exponent == 0 {
                String::new()
            } else {
                format!("×10{}", markdown::superscript(exponent))
            };
            (bracketed(&numbers) + &power).replace('-', "\u{2212}")
        }
        Entry::Nothing => "–".to_owned(),
    }
}

/// As the paper has them.
const P_DECIMALS: usize = 4;

/// With this number of decimals; what is too small for them is said to be, and not shown as nothing.
fn number(value: f64, decimals: usize) -> String {
    let least = 10f64.powi(-(decimals as i32));
    if value > 0.0 && value < 0.5 * least {
        format!("< {least:.decimals$}")
    } else {
        format!("{value:.decimals$}")
    }
}

/// For LaTeX.
fn typeset(entry: &Entry) -> String {
    match entry {
        Entry::Text(text) => latex::escape(text),
        Entry::Number(value, decimals) => format!("${}$", number(*value, *decimals)),
        Entry::P(value, true) => format!("$\\mathbf{{{}}}$", number(*value, P_DECIMALS)),
        Entry::P(value, false) => format!("${}$", number(*value, P_DECIMALS)),
        Entry::Spread(cell) => latex::written(*cell),
        Entry::Estimate(value, interval) => {
            let (numbers, exponent) = rounded(*value, *interval);
            let power = if exponent == 0 { String::new() } else { format!(" \\times 10^{{{exponent}}}") };
            format!("${}{power}$", bracketed(&numbers).replace(' ', "\\ "))
        }
        Entry::Nothing => "--".to_owned(),
    }
}

/// All digits.
fn exact(entry: &Entry, kind: Kind) -> Vec<String> {
    let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
    match entry {
        Entry::Text(text) => vec![quoted(text)],
        Entry::Number(value, _) | Entry::P(value, _) => vec![value.to_string()],
        Entry::Spread(cell) => vec![cell.mean.to_string(), number(cell.std), cell.n.to_string()],
        Entry::Estimate(value, interval) => {
            vec![value.to_string(), number(interval.map(|i| i.low)), number(interval.map(|i| i.high))]
        }
        Entry::Nothing => {
            let columns = if matches!(kind, Kind::Spread | Kind::Estimate) { 3 } else { 1 };
            vec![String::new(); columns]
        }
    }
}

fn bracketed(numbers: &[String]) -> String {
    match numbers {
        [value, low, high] => format!("{value} [{low}, {high}]"),
        other => other.concat(),
    }
}

/// A value and the ends of its interval with the same digits, in units of a power of ten.
fn rounded(value: f64, interval: Option<Interval>) -> (Vec<String>, i32) {
    let numbers: Vec<f64> =
        std::iter::once(value).chain(interval.into_iter().flat_map(|i| [i.low, i.high])).collect();
    let largest = numbers.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let power = if largest > 0.0 { largest.log10().floor() as i32 } else { 0 };
    let exponent = if (-3..5).contains(&power) { 0 } else { power };
    let decimals = (3 - (power - exponent)).clamp(0, 6) as usize;
    let unit = 10f64.powi(exponent);
    (numbers.into_iter().map(|v| format!("{:.decimals$}", v / unit)).collect(), exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let interval = Some(Interval { low: 2.9e6, high: -3.5e6 });
        Sheet {
            slug: "s",
            title: "S",
            columns: columns(&[
                ("a, b", Kind::Text),
                ("n", Kind::Number),
                ("spread", Kind::Spread),
                ("iqm", Kind::Estimate),
            ]),
            rows: vec![
                vec![
                    Entry::Text("x_<y>".to_owned()),
                    Entry::Number(-0.25, 1),
                    Entry::Spread(Cell { mean: 94.68, std: Some(1.11), n: 3 }),
                    Entry::Estimate(3.21e6, interval),
                ],
                vec![
                    Entry::Text(String::new()),
                    Entry::Nothing,
                    Entry::Nothing,
                    Entry::Estimate(12.3456, None),
                ],
            ],
        }
    }

    #[test]
    fn html_escapes_and_carries_what_to_sort_by() {
        let html = sheet().html();
        assert!(html.contains("<td>x_&lt;y&gt;</td>"), "{html}");
        assert!(html.contains(r#"<td class="n" data-v="94.68">94.7 ± 1.1</td>"#), "{html}");
        assert!(html.contains(r#"data-v="3210000">3.210 [2.900, −3.500]×10⁶<"#), "{html}");
        assert!(html.contains(r#"data-v="12.3456">12.35<"#), "{html}");
    }

    #[test]
    fn a_small_p_is_not_nothing() {
        assert_eq!([number(2e-9, 4), number(0.0, 4), number(0.01234, 4)], ["< 0.0001", "0.0000", "0.0123"]);
    }

    #[test]
    fn a_significant_p_is_bold() {
        let shown = |significant| {
            let entry = Entry::P(0.0236, significant);
            (field(&entry, Kind::Number), typeset(&entry), exact(&entry, Kind::Number))
        };
        let (html, latex, csv) = shown(true);
        assert_eq!(html, r#"<td class="n" data-v="0.0236"><b>0.0236</b></td>"#);
        assert_eq!((latex.as_str(), csv), ("$\\mathbf{0.0236}$", vec!["0.0236".to_owned()]));
        assert_eq!(shown(false).1, "$0.0236$");
    }

    #[test]
    fn a_part_has_the_rows_of_one_name_without_it() {
        let part = sheet().part("x_<y>");
        assert_eq!((part.rows.len(), part.columns.len(), part.rows[0].len()), (1, 3, 3));
        assert_eq!(part.rows[0][0], Entry::Number(-0.25, 1));
    }

    #[test]
    fn csv_has_all_digits_and_as_many_fields_in_every_row() {
        let expected = "\"a, b\",n,spread mean,spread std,spread n,iqm,iqm low,iqm high\n\
                        x_<y>,-0.25,94.68,1.11,3,3210000,2900000,-3500000\n,,,,,12.3456,,\n";
        assert_eq!(sheet().csv(), expected);
    }

    #[test]
    fn latex_is_escaped_and_aligned() {
        let latex = sheet().latex();
        assert!(
            latex.starts_with("\\begin{tabular}{lrrr}\n\\toprule\na, b & n & spread & iqm \\\\\n"),
            "{latex}"
        );
        assert!(latex.contains("x\\_\\textless{}y\\textgreater{} & $-0.2$ & $94.7 \\pm 1.1$"), "{latex}");
        assert!(latex.contains(" & -- & -- & $12.35$ \\\\"), "{latex}");
    }
}
