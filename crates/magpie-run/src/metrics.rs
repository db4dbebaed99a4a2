//! `metrics.csv`: one row an iteration, appended as the run goes.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::directory::{read, write_whole};
use crate::error::RunError;

/// A table whose first column is the iteration.
#[derive(Debug, Clone)]
pub struct Metrics {
    path: PathBuf,
}

impl Metrics {
    /// A new table with these columns.
    pub fn create(path: &Path, columns: &[&str]) -> Result<Metrics, RunError> {
        write_whole(path, format!("{}\n", columns.join(",")).as_bytes())?;
        Ok(Metrics { path: path.to_owned() })
    }

    /// An old table, cut back to the rows up to `iteration`: rows after the last checkpoint will be written again.
    pub fn resume(path: &Path, columns: &[&str], iteration: u64) -> Result<Metrics, RunError> {
        let bytes = read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        if text.lines().next() != Some(&columns.join(",")) {
            let problem = format!("its first line should be \"{}\"", columns.join(","));
            return Err(RunError::Damaged { path: path.to_owned(), problem });
        }
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
        Ok(Metrics { path: path.to_owned() })
    }

    /// Makes sure that all rows are on the disk, before a checkpoint that counts on them.
    pub fn sync(&self) -> Result<(), RunError> {
        OpenOptions::new()
            .append(true)
            .open(&self.path)
            .and_then(|file| file.sync_data())
            .map_err(RunError::io(&self.path, "writing"))
    }

    /// Appends a row; numbers are written so that reading gives the same number.
    pub fn append(&mut self, row: &[f64]) -> Result<(), RunError> {
        let cells: Vec<String> =
            row.iter().map(|v| if v.is_nan() { String::new() } else { v.to_string() }).collect();
        OpenOptions::new()
            .append(true)
            .open(&self.path)
            .and_then(|mut file| writeln!(file, "{}", cells.join(",")))
            .map_err(RunError::io(&self.path, "appending a row"))
    }
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
}
