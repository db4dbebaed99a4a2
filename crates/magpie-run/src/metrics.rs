//! `metrics.csv`: one row an iteration, appended as the run goes.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use magpie_files::open_own;

use crate::directory::{read, write_whole};
use crate::error::RunError;

/// A table whose first column is the iteration.
#[derive(Debug, Clone)]
pub struct Metrics {
    path: PathBuf,
    missing: Option<String>,
}

impl Metrics {
    /// A new table with these columns.
    pub fn create(path: &Path, columns: &[&str]) -> Result<Metrics, RunError> {
        write_whole(path, format!("{}\n", columns.join(",")).as_bytes())?;
        Ok(Metrics { path: path.to_owned(), missing: None })
    }

    /// An old table, cut back to the rows up to `iteration`: rows after the last checkpoint will be written again.
    pub fn resume(path: &Path, columns: &[&str], iteration: u64) -> Result<Metrics, RunError> {
        let text = table(path, columns)?;
        let missing = missing(&text, columns.len(), iteration);
        let kept: String = text
            .split_inclusive('\n')
            .enumerate()
            .filter(|(i, line)| {
                let first = line.split(',').next().and_then(|cell| cell.parse::<u64>().ok());
                *i == 0 || (line.ends_with('\n') && first.is_some_and(|n| n <= iteration))
            })
            .map(|(_, line)| line)
            .collect();
        write_whole(path, kept.as_bytes())?;
        Ok(Metrics { path: path.to_owned(), missing })
    }

    /// Looks through a table without changing it; what is missing up to `iteration`, in words.
    pub(crate) fn check(path: &Path, columns: &[&str], iteration: u64) -> Result<Option<String>, RunError> {
        Ok(missing(&table(path, columns)?, columns.len(), iteration))
    }

    /// Rows that were missing when the table was opened, in words.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Makes sure that all rows are on the disk, before a checkpoint that counts on them.
    pub fn sync(&self) -> Result<(), RunError> {
        open_own(&self.path, OpenOptions::new().append(true))
            .and_then(|file| file.sync_data())
            .map_err(RunError::io(&self.path, "writing"))
    }

    /// Writes numbers into columns of the last row; NaN empties them.
    pub(crate) fn fill_last(&self, columns: &[&str], numbers: &[f64]) -> Result<(), RunError> {
        let text = String::from_utf8_lossy(&read(&self.path)?).into_owned();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let [head, .., last] = &mut lines[..] else { return Ok(()) };
        let mut cells: Vec<String> = last.split(',').map(str::to_owned).collect();
        for (column, number) in columns.iter().zip(numbers) {
            let place = head.split(',').position(|name| name == *column);
            if let Some(cell) = place.and_then(|place| cells.get_mut(place)) {
                *cell = written(*number);
            }
        }
        *last = cells.join(",");
        write_whole(&self.path, (lines.join("\n") + "\n").as_bytes())
    }

    /// Appends a row; numbers are written so that reading gives the same number.
    pub fn append(&mut self, row: &[f64]) -> Result<(), RunError> {
        let cells: Vec<String> = row.iter().copied().map(written).collect();
        open_own(&self.path, OpenOptions::new().append(true))
            .and_then(|mut file| writeln!(file, "{}", cells.join(",")))
            .map_err(RunError::io(&self.path, "appending a row"))
    }
}

fn written(number: f64) -> String {
    if number.is_nan() { String::new() } else { number.to_string() }
}

/// The text of a table with these columns.
fn table(path: &Path, columns: &[&str]) -> Result<String, RunError> {
    let text = String::from_utf8_lossy(&read(path)?).into_owned();
    match text.lines().next() == Some(&columns.join(",")) {
        true => Ok(text),
        false => {
            let problem = format!("its first line should be \"{}\"", columns.join(","));
            Err(RunError::Damaged { path: path.to_owned(), problem })
        }
    }
}

/// Which of the rows of the iterations 1 to `last` are not there, or not whole.
fn missing(text: &str, columns: usize, last: u64) -> Option<String> {
    if last == 0 {
        return None;
    }
    let whole = |line: &str| line.ends_with('\n') && line.split(',').count() == columns;
    let found: BTreeSet<u64> = text
        .split_inclusive('\n')
        .skip(1)
        .filter(|line| whole(line))
        .filter_map(|line| line.split(',').next()?.trim_end().parse().ok())
        .collect();
    let mut next = 1;
    let mut gaps: Vec<RangeInclusive<u64>> = Vec::new();
    for row in found.range(1..=last).copied().chain([last.saturating_add(1)]) {
        if row > next {
            gaps.push(next..=row - 1);
        }
        next = row.saturating_add(1);
    }
    /// More would fill a screen.
    const MOST_NAMED: usize = 5;
    let rows: u64 = gaps.iter().map(|gap| gap.end() - gap.start() + 1).sum();
    let mut named: Vec<String> = gaps
        .iter()
        .take(MOST_NAMED)
        .map(|gap| match gap.start() == gap.end() {
            true => gap.start().to_string(),
            false => format!("{} to {}", gap.start(), gap.end()),
        })
        .collect();
    if gaps.len() > MOST_NAMED {
        named.push("…".to_owned());
    }
    (rows > 0).then(|| {
        format!("{rows} of the {last} rows are missing or cut: those of iterations {}", named.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resuming_drops_later_and_torn_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        let mut metrics = Metrics::create(&path, &["iteration", "return"]).unwrap();
        for i in 1..=4 {
            metrics.append(&[f64::from(i), f64::NAN]).unwrap();
        }
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}5,1.")).unwrap();
        Metrics::resume(&path, &["iteration", "return"], 3).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "iteration,return\n1,\n2,\n3,\n");
        std::fs::write(&path, "junk").unwrap();
        let error = Metrics::resume(&path, &["iteration", "return"], 3).unwrap_err().to_string();
        assert!(error.contains("first line"), "{error}");
    }

    #[test]
    fn gaps_below_the_checkpoint_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        let columns = ["iteration", "return"];
        let missing = |text: &str, iteration: u64| {
            std::fs::write(&path, format!("iteration,return\n{text}")).unwrap();
            let found = Metrics::check(&path, &columns, iteration).unwrap();
            assert_eq!(Metrics::resume(&path, &columns, iteration).unwrap().missing(), found.as_deref());
            found.unwrap_or_default()
        };
        assert_eq!(missing("1,\n2,\n3,\n", 3), "");
        assert_eq!(missing("1,\n2,\n3,\n4,", 3), "", "what comes later will be written again");
        assert_eq!(missing("", 0), "");
        assert!(
            missing("1,\n4,\n6,\n", 6)
                .contains("3 of the 6 rows are missing or cut: those of iterations 2 to 3, 5")
        );
        assert!(missing("1,\n2\n3,\n", 3).contains("iterations 2"), "a row with too few numbers");
        assert!(missing("1,\n2,\n", 4).contains("iterations 3 to 4"));
    }

    #[test]
    fn the_last_row_is_filled_and_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        let mut metrics = Metrics::create(&path, &["iteration", "score", "verified"]).unwrap();
        metrics.fill_last(&["verified"], &[1.0]).unwrap();
        metrics.append(&[1.0, 7.0, f64::NAN]).unwrap();
        metrics.append(&[2.0, 8.0, f64::NAN]).unwrap();
        let before = std::fs::read_to_string(&path).unwrap();
        metrics.fill_last(&["verified"], &[0.5]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "iteration,score,verified\n1,7,\n2,8,0.5\n");
        metrics.fill_last(&["verified"], &[f64::NAN]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, precious) = (folder.path().join("metrics.csv"), folder.path().join("precious"));
        std::fs::write(&precious, "precious").unwrap();
        let mut metrics = Metrics::create(&path, &["iteration"]).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        assert!(metrics.append(&[1.0]).unwrap_err().to_string().contains("symbolic link"));
        assert!(metrics.sync().is_err());
        assert_eq!(std::fs::read(&precious).unwrap(), b"precious");
    }
}
