//! Columns of `metrics.csv`, each declared once.
//!
//! A declaration gives the header of the table, its rows, the values in TensorBoard and the reference in the
//! documentation. To add a column, compute its value and declare it.

/// A column: its name and description, and how its value is taken from the report of an iteration.
#[derive(Debug, Clone, Copy)]
pub struct Column<R> {
    name: &'static str,
    /// Empty for a dimensionless number.
    unit: &'static str,
    about: &'static str,
    /// The tag that CleanRL or PPGA use for it, with the factor that converts the value to their unit.
    elsewhere: Option<(&'static str, f64)>,
    value: fn(&R) -> f64,
}

impl<R> Column<R> {
    /// A column with its unit (empty for a dimensionless number) and a description. A missing value is NaN.
    pub(crate) const fn new(
        name: &'static str,
        unit: &'static str,
        about: &'static str,
        value: fn(&R) -> f64,
    ) -> Column<R> {
        Column { name, unit, about, elsewhere: None, value }
    }

    /// Uses another tag in TensorBoard, with the value multiplied by `factor`.
    pub(crate) const fn known_as(self, tag: &'static str, factor: f64) -> Column<R> {
        Column {
            name: self.name,
            unit: self.unit,
            about: self.about,
            elsewhere: Some((tag, factor)),
            value: self.value,
        }
    }

    /// The name in the header.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The value of an iteration.
    pub(crate) fn of(&self, report: &R) -> f64 {
        (self.value)(report)
    }

    /// Tag and value for TensorBoard, given the value in the table.
    pub(crate) fn event(&self, number: f64) -> (String, f64) {
        match self.elsewhere {
            Some((tag, factor)) => (tag.to_owned(), factor * number),
            None => (format!("magpie/{}", self.name), number),
        }
    }
}

/// Rounds seconds to milliseconds.
pub(crate) fn clock(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}

/// A Markdown table of columns.
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
         One row per iteration; an entry is empty where there is no value. Columns that begin with `seconds` are wall-clock times.\n\
         All others are the same for any number of threads and after a resume, except that processors with AMX round training\n\
         differently. TensorBoard shows the same values, as `magpie/COLUMN` unless the table gives another name.\n\n\
         This page is generated from the declarations of the columns (`MAGPIE_WRITE_DOCS=1 cargo test -p magpie-run --test\n\
         reference`); a test checks that it is current.\n\n\
         ## Searches: `magpie train`\n\n\
         Columns that begin with `gradient_` describe the last rollout of the first copy, and `walk_policy_loss` to `walk_entropy` the\n\
         last rollout of the walk; the latter are empty after a restart. Columns that begin with `reward_` describe the last update of a\n\
         learned reward and are empty with the true reward. If a search has several PPGA emitters, counts, rows and seconds are sums over\n\
         all of them; values of a copy, a walk or a search policy are those of the first. Steps of an iteration are numbered as in\n\
         [An iteration](../search.md#an-iteration).\n\n\
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
