//! The table as CSV (RFC 4180, lines ended by a plain newline).

use super::ResultsTable;

impl ResultsTable {
    /// The table as CSV with the columns method, task, metric, mean, std, n: a row a cell, in the order of insertion.
    /// Numbers are written so that reading gives the same number; an unknown std is empty.
    pub fn csv(&self) -> String {
        let mut text = "method,task,metric,mean,std,n\n".to_owned();
        for ([method, task, metric], cell) in &self.cells {
            let names = [&self.methods[*method], &self.tasks[*task], &self.metrics[*metric]];
            let names: Vec<String> = names.into_iter().map(|name| quoted(name)).collect();
            let std = cell.std.map(|std| std.to_string()).unwrap_or_default();
            text += &format!("{},{},{std},{}\n", names.join(","), cell.mean, cell.n);
        }
        text
    }
}

/// A field, in quotes if it needs them.
pub(crate) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) || field.trim() != field {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::awkward;
    use super::*;

    #[test]
    fn csv_has_a_row_a_cell() {
        let expected = "\
method,task,metric,mean,std,n
GAIL_1,half|cheetah,\"QD, score\",2640000,92100,3
GAIL_1,half|cheetah,coverage (%),98.13,1.69,3
\"a\"\"b\\&{c}\",half|cheetah,\"QD, score\",-0.5,,1
GAIL_1,ant,coverage (%),100,0,2
";
        assert_eq!(awkward().csv(), expected);
        assert_eq!(
            (quoted("a\nb"), quoted(" a"), quoted("")),
            ("\"a\nb\"".into(), "\" a\"".into(), "".into())
        );
    }
}
