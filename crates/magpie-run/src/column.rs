//! Columns of `metrics.csv`, each declared once.
//!
//! From a declaration come the head of the table, its rows, what TensorBoard shows and the reference in the documentation:
//! to add a column is to make its number and to declare it.

/// A column: how it is called, what it says, and how it is taken from what an iteration gave.
#[derive(Debug, Clone, Copy)]
pub struct Column<R> {
    name: &'static str,
    /// Empty for a mere number.
    unit: &'static str,
    about: &'static str,
    /// How those who know CleanRL or PPGA know it, with the factor that makes it what is expected there.
    elsewhere: Option<(&'static str, f64)>,
    value: fn(&R) -> f64,
}

impl<R> Column<R> {
    /// A column with its unit, empty for a mere number, and a sentence about it. What there is none of is NaN.
    pub(crate) const fn new(
        name: &'static str,
        unit: &'static str,
        about: &'static str,
        value: fn(&R) -> f64,
    ) -> Column<R> {
        Column { name, unit, about, elsewhere: None, value }
    }

    /// Under another name in TensorBoard, multiplied by `factor`.
    pub(crate) const fn known_as(self, tag: &'static str, factor: f64) -> Column<R> {
        Column {
            name: self.name,
            unit: self.unit,
            about: self.about,
            elsewhere: Some((tag, factor)),
            value: self.value,
        }
    }

    /// How it is called.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Its number.
    pub(crate) fn of(&self, report: &R) -> f64 {
        (self.value)(report)
    }

    /// Tag and number for TensorBoard, from that of the table.
    pub(crate) fn event(&self, number: f64) -> (String, f64) {
        match self.elsewhere {
            Some((tag, factor)) => (tag.to_owned(), factor * number),
            None => (format!("magpie/{}", self.name), number),
        }
    }
}

/// Seconds, to the millisecond.
pub(crate) fn clock(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}

/// A table of columns in Markdown.
fn table<R>(columns: &[Column<R>]) -> String {
    let mut text = "| column | unit | meaning | in TensorBoard |\n|---|---|---|---|\n".to_owned();
    for column in columns {
        let (tag, factor) = column.elsewhere.unwrap_or_default();
        let shown = match (tag, factor) {
            ("", _) => String::new(),
            (tag, 1.0) => format!("`{tag}`"),
            (tag, factor) => format!("`{tag}`, times {factor}"),
        };
        text += &format!("| `{}` | {} | {} | {shown} |\n", column.name, column.unit, column.about);
    }
    text
}

/// The page `docs/reference/metrics.md`: every column of `metrics.csv`.
pub fn metrics_reference() -> String {
    format!(
        "# Columns of metrics.csv\n\n\
         One row an iteration; an empty entry means that there is no such number. The columns that begin with `seconds` are what\n\
         the clock said. All others are the same for any number of threads, stopped and resumed or not; but a processor with AMX\n\
         trains with roundings of its own. TensorBoard shows the same numbers, as `magpie/COLUMN` where the table has no other name.\n\n\
         This page is made from the declarations of the columns; a test keeps it current (`MAGPIE_WRITE_DOCS=1 cargo test -p\n\
         magpie-run --test reference` writes it).\n\n\
         ## Searches: `magpie train`\n\n\
         `k` is the number of dimensions of the measure. Where a search has several PPGA emitters, counts, rows and seconds are\n\
         sums over all of them, and what is said of a copy, of the walk or of the search policy is that of the first. The steps of an iteration are those of [An iteration](../search.md#an-iteration).\n\n\
         {}\n\
         ## Single policies: `magpie ppo`\n\n\
         {}\n\
         ## Cloned policies: `magpie clone`\n\n\
         {}",
        table(crate::train::COLUMNS),
        table(crate::ppo::COLUMNS),
        table(crate::clone::COLUMNS)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_columns_share_a_name_or_a_tag() {
        fn check<R>(columns: &[Column<R>]) {
            let mut names: Vec<&str> = columns.iter().map(Column::name).collect();
            let mut tags: Vec<String> = columns.iter().map(|column| column.event(1.0).0).collect();
            names.sort_unstable();
            tags.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
            assert!(tags.windows(2).all(|pair| pair[0] != pair[1]), "{tags:?}");
            assert!(columns.iter().all(|column| !column.about.is_empty()));
        }
        check(crate::train::COLUMNS);
        check(crate::ppo::COLUMNS);
        check(crate::clone::COLUMNS);
    }

    #[test]
    fn a_column_is_known_elsewhere_by_another_name_and_unit() {
        let share: Column<f64> = Column::new("coverage", "0 to 1", "share of cells", |&r| r / 4.0);
        assert_eq!(share.event(share.of(&2.0)), ("magpie/coverage".to_owned(), 0.5));
        let percent = share.known_as("QD/coverage (%)", 100.0);
        assert_eq!((percent.of(&2.0), percent.event(0.5)), (0.5, ("QD/coverage (%)".to_owned(), 50.0)));
        let row = "| `coverage` | 0 to 1 | share of cells | `QD/coverage (%)`, times 100 |";
        assert!(table(&[percent]).ends_with(&format!("{row}\n")));
    }
}
