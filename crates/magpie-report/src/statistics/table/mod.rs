//! Results as plain data: method by task by metric, each a mean and a standard deviation over n runs.
//!
//! Methods, tasks and metrics keep the order in which they first appear. The writers are
//! [`markdown`](ResultsTable::markdown) and [`latex`](ResultsTable::latex), laid out as the paper does it (a row a
//! method, columns grouped by task), and [`csv`](ResultsTable::csv), a row a cell with all digits.

pub(crate) mod csv;
pub(crate) mod latex;
pub(crate) mod markdown;
mod number;

use super::error::{StatisticsError, check_values};
use super::summary::{DDOF, mean, std};

/// Mean and spread of one metric of one method on one task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Mean over the runs.
    pub mean: f64,
    /// Standard deviation over the runs, with the divisor n − 1 if we computed it; `None` of a single run.
    pub std: Option<f64>,
    /// How many runs.
    pub n: usize,
}

impl Cell {
    /// The cell of these runs.
    pub fn of(values: &[f64]) -> Result<Cell, StatisticsError> {
        check_values("a cell", values)?;
        let mean = mean(values).filter(|mean| mean.is_finite()).ok_or(StatisticsError::Overflow)?;
        let std = std(values, DDOF);
        match std {
            Some(std) if !std.is_finite() => Err(StatisticsError::Overflow),
            _ => Ok(Cell { mean, std, n: values.len() }),
        }
    }
}

/// A table of results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultsTable {
    methods: Vec<String>,
    tasks: Vec<String>,
    metrics: Vec<String>,
    /// (method, task, metric) as indices, in the order of insertion.
    cells: Vec<([usize; 3], Cell)>,
}

impl ResultsTable {
    /// Sets a cell, replacing what was there.
    pub fn set(&mut self, method: &str, task: &str, metric: &str, cell: Cell) {
        let key = [
            index_of(&mut self.methods, method),
            index_of(&mut self.tasks, task),
            index_of(&mut self.metrics, metric),
        ];
        match self.cells.iter_mut().find(|(at, _)| *at == key) {
            Some((_, old)) => *old = cell,
            None => self.cells.push((key, cell)),
        }
    }

    /// What is known of a method on a task.
    pub fn get(&self, method: &str, task: &str, metric: &str) -> Option<Cell> {
        let find = |names: &[String], name: &str| names.iter().position(|known| known == name);
        self.at([find(&self.methods, method)?, find(&self.tasks, task)?, find(&self.metrics, metric)?])
    }

    /// Names of the methods.
    pub fn methods(&self) -> &[String] {
        &self.methods
    }

    /// Names of the tasks.
    pub fn tasks(&self) -> &[String] {
        &self.tasks
    }

    /// Names of the metrics.
    pub fn metrics(&self) -> &[String] {
        &self.metrics
    }

    fn at(&self, key: [usize; 3]) -> Option<Cell> {
        self.cells.iter().find(|(at, _)| *at == key).map(|(_, cell)| *cell)
    }

    /// For each task, the metrics that any method has on it: the columns of a printed table.
    fn columns(&self) -> Vec<(usize, Vec<usize>)> {
        let metrics_of = |task| {
            let known = |metric: &usize| self.cells.iter().any(|(key, _)| key[1..] == [task, *metric]);
            (task, (0..self.metrics.len()).filter(known).collect())
        };
        (0..self.tasks.len()).map(metrics_of).collect()
    }

    /// The cells of a method in the order of the columns.
    fn row(&self, method: usize) -> impl Iterator<Item = Option<Cell>> {
        self.columns().into_iter().flat_map(move |(task, metrics)| {
            metrics.into_iter().map(move |metric| self.at([method, task, metric]))
        })
    }
}

/// Where a name stands, at the end if it is new.
fn index_of(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Two methods, two tasks; names full of what the formats treat specially; a cell is missing.
    pub fn awkward() -> ResultsTable {
        let mut table = ResultsTable::default();
        let cell = |mean, std, n| Cell { mean, std, n };
        table.set("GAIL_1", "half|cheetah", "QD, score", cell(2_640_000.0, Some(92_100.0), 3));
        table.set("GAIL_1", "half|cheetah", "coverage (%)", cell(98.13, Some(1.69), 3));
        table.set("a\"b\\&{c}", "half|cheetah", "QD, score", cell(-0.5, None, 1));
        table.set("GAIL_1", "ant", "coverage (%)", cell(100.0, Some(0.0), 2));
        table
    }

    #[test]
    fn cells_are_set_replaced_and_found() {
        let mut table = awkward();
        assert_eq!(table.get("GAIL_1", "ant", "coverage (%)").unwrap().n, 2);
        assert_eq!(table.get("GAIL_1", "ant", "QD, score"), None);
        assert_eq!(table.get("unknown", "ant", "QD, score"), None);
        table.set("GAIL_1", "ant", "coverage (%)", Cell { mean: 1.0, std: None, n: 1 });
        assert_eq!((table.get("GAIL_1", "ant", "coverage (%)").unwrap().mean, table.cells.len()), (1.0, 4));
        assert_eq!(table.tasks(), ["half|cheetah", "ant"]);
        assert_eq!(table.columns(), [(0, vec![0, 1]), (1, vec![1])]);
    }

    #[test]
    fn a_cell_is_mean_and_sample_deviation() {
        assert_eq!(Cell::of(&[1.0, 2.0, 3.0]), Ok(Cell { mean: 2.0, std: Some(1.0), n: 3 }));
        assert_eq!(Cell::of(&[1.0]), Ok(Cell { mean: 1.0, std: None, n: 1 }));
        assert!(Cell::of(&[]).is_err());
        assert!(Cell::of(&[f64::INFINITY]).is_err());
        assert_eq!(Cell::of(&[f64::MAX, f64::MIN]), Err(StatisticsError::Overflow));
    }
}
