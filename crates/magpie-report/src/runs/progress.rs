//! `metrics.csv` as far as a report shows it.

use std::path::Path;

use magpie_run::settings::read_text;

use crate::error::ReportError;

/// One iteration of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Iterations made.
    pub iteration: f64,
    /// Environment steps made.
    pub env_steps: f64,
    /// Wall clock, in seconds.
    pub seconds: f64,
    /// Sum of the objectives.
    pub qd_score: f64,
    /// Sum of the objectives, each with its offset.
    pub qd_score_offset: f64,
    /// Share of the cells that are filled, 0 to 1.
    pub coverage: f64,
    /// Highest objective; NaN in an empty archive.
    pub best: f64,
    /// Mean objective; NaN in an empty archive.
    pub mean: f64,
}

/// What a run is measured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Sum of the objectives.
    QdScore,
    /// Sum of the objectives, each with its offset.
    QdScoreOffset,
    /// Filled cells in per cent.
    Coverage,
    /// Highest objective.
    Best,
    /// Mean objective.
    Mean,
}

impl Metric {
    /// All of them, in the order of tables.
    pub const ALL: [Metric; 5] =
        [Metric::QdScore, Metric::QdScoreOffset, Metric::Coverage, Metric::Best, Metric::Mean];
    /// Those that the paper has too, and that curves show.
    pub const OF_THE_PAPER: [Metric; 4] = [Metric::QdScore, Metric::Coverage, Metric::Best, Metric::Mean];

    /// Its name, with its unit: returns are sums of rewards, which have none.
    pub fn name(self) -> &'static str {
        use crate::statistics::paper;
        match self {
            Metric::QdScore => paper::QD_SCORE,
            Metric::QdScoreOffset => "QD-Score with offset",
            Metric::Coverage => paper::COVERAGE,
            Metric::Best => paper::BEST,
            Metric::Mean => paper::MEAN,
        }
    }

    /// Its name at the head of a picture.
    pub fn title(self) -> &'static str {
        match self {
            Metric::QdScore => "QD-Score",
            Metric::QdScoreOffset => "QD-Score with offset",
            Metric::Coverage => "Coverage",
            Metric::Best => "Best return",
            Metric::Mean => "Mean return",
        }
    }

    /// What an axis says.
    pub fn label(self) -> &'static str {
        match self {
            Metric::QdScore => "QD-Score (sum of returns)",
            Metric::QdScoreOffset => "QD-Score with offset",
            Metric::Coverage => "coverage (% of cells)",
            Metric::Best => "best return",
            Metric::Mean => "mean return of elites",
        }
    }

    /// As in names of files.
    pub fn slug(self) -> &'static str {
        match self {
            Metric::QdScore => "qd_score",
            Metric::QdScoreOffset => "qd_score_offset",
            Metric::Coverage => "coverage",
            Metric::Best => "best",
            Metric::Mean => "mean",
        }
    }

    /// Its value in a row; NaN if there is none.
    pub fn of(self, row: &Row) -> f64 {
        match self {
            Metric::QdScore => row.qd_score,
            Metric::QdScoreOffset => row.qd_score_offset,
            Metric::Coverage => 100.0 * row.coverage,
            Metric::Best => row.best,
            Metric::Mean => row.mean,
        }
    }

    /// Its value in the metrics of an archive.
    pub fn of_archive(self, metrics: &magpie_qd::Metrics) -> Option<f64> {
        match self {
            Metric::QdScore => Some(metrics.qd_score),
            Metric::QdScoreOffset => Some(metrics.qd_score_offset),
            Metric::Coverage => Some(100.0 * metrics.coverage),
            Metric::Best => metrics.best,
            Metric::Mean => metrics.mean,
        }
    }
}

/// What curves are drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Iterations of the search.
    Iterations,
    /// Steps of all environments together.
    EnvSteps,
    /// Wall clock.
    Hours,
}

impl Axis {
    /// All of them.
    pub const ALL: [Axis; 3] = [Axis::Iterations, Axis::EnvSteps, Axis::Hours];

    /// What an axis says.
    pub fn label(self) -> &'static str {
        match self {
            Axis::Iterations => "iterations",
            Axis::EnvSteps => "environment steps",
            Axis::Hours => "wall clock (hours)",
        }
    }

    /// As in names of files.
    pub fn slug(self) -> &'static str {
        match self {
            Axis::Iterations => "iterations",
            Axis::EnvSteps => "env_steps",
            Axis::Hours => "hours",
        }
    }

    /// Where a row stands.
    pub fn of(self, row: &Row) -> f64 {
        match self {
            Axis::Iterations => row.iteration,
            Axis::EnvSteps => row.env_steps,
            Axis::Hours => row.seconds / 3600.0,
        }
    }
}

/// The rows of a table, and what is wrong with what comes after them.
pub(super) fn read(path: &Path) -> Result<(Vec<Row>, Option<String>), ReportError> {
    let text = read_text(path)?;
    let wrong = |problem: String| ReportError::Metrics { path: path.to_owned(), problem };
    let mut lines = text.split_inclusive('\n');
    let header: Vec<&str> = lines.next().unwrap_or_default().trim_end().split(',').collect();
    let find = |name: &str| {
        header
            .iter()
            .position(|&column| column == name)
            .ok_or_else(|| wrong(format!("there is no column `{name}`")))
    };
    let columns = [
        find("iteration")?,
        find("env_steps")?,
        find("seconds")?,
        find("qd_score")?,
        find("qd_score_offset")?,
        find("coverage")?,
        find("best")?,
        find("mean")?,
    ];
    let mut rows: Vec<Row> = Vec::new();
    for (i, line) in lines.enumerate() {
        // The row that is being written, or that was when the machine went down.
        if !line.ends_with('\n') {
            break;
        }
        let after = |row: &Row| rows.last().is_none_or(|last| row.follows(last));
        match parsed(line.trim_end(), header.len(), columns).filter(after) {
            Some(row) => rows.push(row),
            None => {
                let problem =
                    format!("{}: line {} is damaged; the rows before it are shown", path.display(), i + 2);
                return Ok((rows, Some(problem)));
            }
        }
    }
    Ok((rows, None))
}

impl Row {
    fn follows(&self, before: &Row) -> bool {
        self.iteration > before.iteration
            && self.env_steps >= before.env_steps
            && self.seconds >= before.seconds
    }
}

fn parsed(line: &str, width: usize, columns: [usize; 8]) -> Option<Row> {
    let fields: Vec<&str> = line.split(',').collect();
    if fields.len() != width {
        return None;
    }
    // What is larger was never measured, and its square is no number any more.
    let number = |field: &str| field.parse::<f64>().ok().filter(|v| v.abs() < 1e100);
    let [iteration, env_steps, seconds, qd_score, qd_score_offset, coverage, best, mean] =
        columns.map(|i| fields[i]);
    let optional = |field: &str| if field.is_empty() { Some(f64::NAN) } else { number(field) };
    Some(Row {
        iteration: number(iteration)?,
        env_steps: number(env_steps)?,
        seconds: number(seconds)?,
        qd_score: number(qd_score)?,
        qd_score_offset: number(qd_score_offset)?,
        coverage: number(coverage)?,
        best: optional(best)?,
        mean: optional(mean)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "iteration,extra,qd_score,qd_score_offset,coverage,best,mean,env_steps,seconds\n";

    fn written(text: &str) -> Result<(Vec<Row>, Option<String>), ReportError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.csv");
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    #[test]
    fn columns_are_found_by_name_and_an_empty_archive_has_no_best() {
        let (rows, problem) =
            written(&format!("{HEADER}1,9,0,0,0,,,100,3600\n2,9,7,8,0.5,4,3.5,200,7200\n")).unwrap();
        assert_eq!((rows.len(), problem), (2, None));
        assert!(rows[0].best.is_nan() && Metric::Mean.of(&rows[0]).is_nan());
        assert_eq!(Metric::ALL.map(|m| m.of(&rows[1])), [7.0, 8.0, 50.0, 4.0, 3.5]);
        assert_eq!(Axis::ALL.map(|a| a.of(&rows[1])), [2.0, 200.0, 2.0]);
    }

    #[test]
    fn a_torn_row_is_left_out_and_a_damaged_one_is_named() {
        let good = format!("{HEADER}1,9,7,8,0.5,4,3.5,200,7200\n");
        let (rows, problem) = written(&format!("{good}2,9,7,8")).unwrap();
        assert_eq!((rows.len(), problem), (1, None));
        for bad in [
            "2,9,7,8",
            "2,9,NaN,8,0.5,4,3.5,300,7300",
            "2,9,1e200,8,0.5,4,3.5,300,7300",
            "1,9,7,8,0.5,4,3.5,300,7300",
            "2,9,7,8,0.5,4,3.5,1,7300",
        ] {
            let (rows, problem) = written(&format!("{good}{bad}\n3,9,7,8,0.5,4,3.5,900,9900\n")).unwrap();
            assert_eq!(rows.len(), 1, "{bad}");
            assert!(problem.unwrap().contains("line 3"), "{bad}");
        }
        let error = written("iteration,best\n1,2\n").unwrap_err().to_string();
        assert!(error.contains("env_steps"), "{error}");
    }
}
