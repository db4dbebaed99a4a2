//! The table as Markdown (GitHub's pipes).

use super::number::Digits;
use super::{Cell, ResultsTable};

impl ResultsTable {
    /// The table as Markdown: a row a method, a column for each metric of each task; a dash where nothing is known.
    pub fn markdown(&self) -> String {
        let mut header = vec![String::new()];
        for (task, metrics) in self.columns() {
            let title = |metric| escape(&format!("{} {}", self.tasks[task], self.metrics[metric]));
            header.extend(metrics.into_iter().map(title));
        }
        let rule: Vec<String> =
            (0..header.len()).map(|i| if i == 0 { "---" } else { "---:" }.to_owned()).collect();
        let body = self.methods.iter().enumerate().map(|(i, method)| {
            let cells = self.row(i).map(|cell| cell.map_or_else(|| "–".to_owned(), written));
            std::iter::once(escape(method)).chain(cells).collect()
        });
        [header, rule].into_iter().chain(body).map(|row| format!("| {} |\n", row.join(" | "))).collect()
    }
}

/// Mean and deviation as plain text.
pub(crate) fn written(cell: Cell) -> String {
    let Digits { mean, std, exponent } = Digits::of(cell);
    let spread = std.map(|std| format!(" ± {std}")).unwrap_or_default();
    match (exponent, spread.is_empty()) {
        (0, _) => format!("{mean}{spread}"),
        (_, true) => format!("{mean}×10{}", superscript(exponent)),
        (_, false) => format!("({mean}{spread})×10{}", superscript(exponent)),
    }
}

/// A power of ten's exponent as raised digits.
pub(crate) fn superscript(exponent: i32) -> String {
    let raise = |c: char| {
        c.to_digit(10)
            .map_or('⁻', |digit| ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize])
    };
    exponent.to_string().chars().map(raise).collect()
}

/// A name as it is, whatever its characters mean in Markdown.
fn escape(name: &str) -> String {
    let escaped = |c: char| match c {
        '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '#' | '&' | '!' => vec!['\\', c],
        c if c.is_control() => vec![' '],
        c => vec![c],
    };
    name.chars().flat_map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::awkward;
    use super::*;

    #[test]
    fn markdown_has_a_column_for_each_metric_of_each_task() {
        let expected = "\
|  | half\\|cheetah QD, score | half\\|cheetah coverage (%) | ant coverage (%) |
| --- | ---: | ---: | ---: |
| GAIL\\_1 | (2.640 ± 0.092)×10⁶ | 98.1 ± 1.7 | 100.0 ± 0.0 |
| a\"b\\\\\\&{c} | -0.5000 | – | – |
";
        assert_eq!(awkward().markdown(), expected);
    }

    #[test]
    fn powers_are_raised_and_lines_stay_lines() {
        assert_eq!(written(Cell { mean: 1.5e-12, std: None, n: 1 }), "1.500×10⁻¹²");
        assert_eq!(escape("a\nb\r|"), "a b \\|");
    }
}
