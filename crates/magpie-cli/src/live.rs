//! Live lines on a terminal.

use console::Term;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::Output;

/// Two lines that are written over and over: a bar with columns after it, and more columns below. Nothing where there is no
/// terminal, or nobody wants to see progress.
pub struct Live(Option<ProgressBar>);

/// Width of the bar between its brackets.
const BAR: usize = 24;

impl Live {
    /// At `done` of `total`, counted in `unit` where that is not plain.
    pub fn new(total: u64, done: u64, unit: &str, output: Output) -> Live {
        if !output.shows_progress() || !Term::stderr().is_term() {
            return Live(None);
        }
        let bar = ProgressBar::new(total).with_position(done);
        let style = format!("{{human_pos}}/{{human_len}}{unit} [{{bar:{BAR}}}] {{prefix}}\n{{msg}}");
        bar.set_style(ProgressStyle::with_template(&style).unwrap_or_else(|_| ProgressStyle::default_bar()));
        Live(Some(bar))
    }

    /// Whether there is a terminal to show something on.
    pub fn is_shown(&self) -> bool {
        self.0.is_some()
    }

    /// Shows how much is done, with the columns that find room.
    pub fn show(&self, done: u64, first: &[String], second: &[String]) {
        let Some(bar) = &self.0 else { return };
        let width = Term::stderr().size_checked().map_or(80, |(_, columns)| usize::from(columns));
        // Numbers have at most a comma for every three digits.
        let digits = |number: u64| number.to_string().len() * 4 / 3;
        let total = bar.length().unwrap_or(0);
        let before = digits(done.min(total)) + digits(total) + " steps [".len() + BAR + "/] ".len();
        bar.set_position(done.min(total));
        bar.set_prefix(fit(first, width.saturating_sub(before)));
        bar.set_message(fit(second, width));
    }

    /// Writes other lines above.
    pub fn above(&self, write: impl FnOnce()) {
        match &self.0 {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Leaves the lines as they are.
    pub fn close(&self) {
        if let Some(bar) = &self.0 {
            bar.abandon();
        }
    }
}

/// As many whole columns as find room: a number that is cut looks like another number.
fn fit(columns: &[String], width: usize) -> String {
    let mut line = String::new();
    for column in columns {
        let gap = if line.is_empty() { "" } else { "  " };
        if console::measure_text_width(&line) + gap.len() + console::measure_text_width(column) > width {
            break;
        }
        line += gap;
        line += column;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_shows_fewer_columns_and_no_part_of_one() {
        let columns = ["QD-Score    123456", "coverage 12.50 %", "mean 1234.5"].map(str::to_owned);
        let whole = columns.join("  ");
        assert_eq!(fit(&columns, whole.len()), whole);
        for width in 0..whole.len() {
            let line = fit(&columns, width);
            assert!(line.len() <= width && whole.starts_with(&line), "{width}: {line}");
            assert!(
                line.is_empty() || columns.iter().any(|column| line.ends_with(column.as_str())),
                "{width}: {line}"
            );
        }
    }
}
