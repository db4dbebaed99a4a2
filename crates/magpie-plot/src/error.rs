//! Data that makes no picture.

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlotError {
    /// An archive without dimensions, or with more cells than can be counted.
    #[error("an archive of {dimensions} dimensions and {cells} cells cannot be drawn")]
    Shape {
        /// Number of dimensions.
        dimensions: usize,
        /// Cells of each.
        cells: String,
    },
    /// A range that is none.
    #[error("{what} goes from {low} to {high}; both must be finite, and the first the smaller")]
    Range {
        /// Which range.
        what: String,
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// A cell that the archive does not have.
    #[error("there is no cell {index} in an archive of {cells} cells")]
    Cell {
        /// The cell.
        index: usize,
        /// How many there are.
        cells: usize,
    },
    /// An objective that is not finite.
    #[error("the objective of cell {index} is {objective}; only finite ones can be drawn")]
    Objective {
        /// The cell.
        index: usize,
        /// Its objective.
        objective: f64,
    },
    /// A point with another number of coordinates than the archive has dimensions.
    #[error("point {index} has {found} coordinates, but the archive has {expected} dimensions")]
    Point {
        /// Which point.
        index: usize,
        /// Number of its coordinates.
        found: usize,
        /// Number of dimensions.
        expected: usize,
    },
    /// Columns of a series that do not fit together.
    #[error("series \"{name}\": {column} has {found} numbers, but x has {expected}")]
    Series {
        /// The series.
        name: String,
        /// The column.
        column: &'static str,
        /// Its length.
        found: usize,
        /// The length of x.
        expected: usize,
    },
    /// Nothing that could be drawn.
    #[error("no series has a point with finite numbers")]
    Empty,
    /// Drawing into pixels failed.
    #[error("the picture cannot be drawn into pixels: {0}")]
    Pixels(String),
}
