//! What an archive is about, and how that is written down.

use magpie_envs::MOST_MEASURES;
use magpie_learn::Actions;
use magpie_nn::Shape;
use magpie_qd::{Cells, Cvt, Grid};
use magpie_search::MOST_CELLS;
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::world::EnvOverrides;

/// What an archive is about, and how its elites act.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The task.
    pub task: String,
    /// How behaviour was measured.
    pub measure: String,
    /// Name of each dimension of the measure.
    pub names: Vec<String>,
    /// Lower and upper end of each dimension of the measure.
    pub ranges: Vec<[f64; 2]>,
    /// The cells.
    pub cells: Cells,
    /// The network that maps observations to mean actions.
    pub actor: Shape,
    /// How elites acted when they were evaluated.
    pub actions: Actions,
    /// The world it was found in; a robot file lies beside the archive.
    pub world: EnvOverrides,
    /// What the offset QD-Score adds for each step.
    pub qd_offset: f64,
    /// Iterations made.
    pub iteration: u64,
}

impl About {
    /// A cell as people name it: by its coordinates in a grid, such as `12,40`, or by its number in a tessellation.
    pub fn cell_name(&self, cell: usize) -> String {
        match &self.cells {
            Cells::Grid(grid) => {
                let coordinates = grid.coordinates(cell).unwrap_or_default();
                coordinates.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
            }
            Cells::Cvt(_) => cell.to_string(),
        }
    }

    /// The error for a cell without an elite, which names the nearest of those that have one.
    pub(super) fn empty_cell(&self, cell: usize, filled: impl Iterator<Item = usize>) -> RunError {
        let centre = |cell: usize| self.cells.centre(cell).unwrap_or_default();
        let here = centre(cell);
        let distance =
            |&cell: &usize| -> f64 { here.iter().zip(centre(cell)).map(|(a, b)| (a - b).powi(2)).sum() };
        let nearest = filled.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let hint = nearest.map(|cell| format!("; the nearest that holds one is {}", self.cell_name(cell)));
        RunError::EmptyCell { cell: self.cell_name(cell), hint: hint.unwrap_or_default() }
    }

    /// The number of the cell that has this name.
    pub fn cell_named(&self, name: &str) -> Result<usize, RunError> {
        let numbers: Option<Vec<usize>> = name.split(',').map(|part| part.trim().parse().ok()).collect();
        let found = match (&self.cells, numbers.as_deref()) {
            (Cells::Grid(grid), Some(coordinates)) => grid.cell_at(coordinates),
            (Cells::Cvt(cvt), Some(&[cell])) => Some(cell).filter(|&cell| cell < cvt.count()),
            _ => None,
        };
        found.ok_or_else(|| {
            let range = match &self.cells {
                Cells::Grid(grid) => {
                    let ends: Vec<String> = grid.dims().iter().map(|d| format!("0 to {}", d - 1)).collect();
                    format!("one coordinate for each measure, with commas: {}", ends.join(", "))
                }
                Cells::Cvt(cvt) => format!("the number of a cell, 0 to {}", cvt.count() - 1),
            };
            RunError::Value { field: "the cell".to_owned(), value: name.to_owned(), range }
        })
    }
}

/// The layout that is written.
const FORMAT: u32 = 2;
/// The layout before it, which is still read.
const FIRST: u32 = 1;

/// The metadata of a file.
#[derive(Debug, Clone)]
pub(super) enum Record {
    Current(Current),
    First(First),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Current {
    format: u32,
    task: String,
    measure: String,
    names: Vec<String>,
    ranges: Vec<[f64; 2]>,
    cells: CellsRecord,
    actor: Shape,
    actions: Actions,
    world: EnvOverrides,
    qd_offset: f64,
    iteration: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CellsRecord {
    Grid(Grid),
    /// A tessellation, whose centroids are a tensor of the file.
    Cvt,
}

/// The first layout: cells were a grid, actors had two layers of 128 units, and actions were drawn.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct First {
    task: String,
    measure: String,
    names: Vec<String>,
    grid: Grid,
    #[serde(default)]
    world: EnvOverrides,
    qd_offset: f64,
    iteration: u64,
}

/// What the tensors of a file say that the metadata have to agree with.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// Numbers in a row of `solution`.
    pub solution: usize,
    /// Numbers in a row of `obs_mean`.
    pub observation: usize,
    /// The numbers of `centroids`, if that was asked for.
    pub centroids: Option<Vec<f64>>,
}

impl Record {
    pub(super) fn to_json(about: &About) -> serde_json::Result<String> {
        let About { task, measure, names, ranges, cells, actor, actions, world, qd_offset, iteration } =
            about.clone();
        let cells = match cells {
            Cells::Grid(grid) => CellsRecord::Grid(grid),
            Cells::Cvt(_) => CellsRecord::Cvt,
        };
        let format = FORMAT;
        serde_json::to_string(&Current {
            format,
            task,
            measure,
            names,
            ranges,
            cells,
            actor,
            actions,
            world,
            qd_offset,
            iteration,
        })
    }

    /// What an entry of the metadata says; what is wrong if it is not that of an archive.
    pub(super) fn parse(json: &str) -> Result<Record, String> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let foreign =
            |e: serde_json::Error| format!("it is not an archive: its metadata are of another kind ({e})");
        match serde_json::from_str(json).map_err(foreign)? {
            Version { format: FORMAT } => Ok(Record::Current(serde_json::from_str(json).map_err(foreign)?)),
            Version { format: FIRST } => Ok(Record::First(serde_json::from_str(json).map_err(foreign)?)),
            Version { format } => {
                Err(format!("its format is {format}, and {FIRST} to {FORMAT} are read; use a newer magpie"))
            }
        }
    }

    pub(super) fn iteration(&self) -> u64 {
        match self {
            Record::Current(record) => record.iteration,
            Record::First(record) => record.iteration,
        }
    }

    /// Dimensions of the measure; what is wrong if there are none or too many.
    pub(super) fn measures(&self) -> Result<usize, String> {
        let (names, cells) = match self {
            Record::Current(Current { names, cells: CellsRecord::Grid(grid), .. })
            | Record::First(First { names, grid, .. }) => (names.len(), grid.measure_dim()),
            Record::Current(Current { names, .. }) => (names.len(), names.len()),
        };
        if !(1..=MOST_MEASURES).contains(&cells) {
            return Err(format!("it has {cells} measures; expected 1 to {MOST_MEASURES}"));
        }
        if names != cells {
            return Err(format!("it names {names} measures, but its cells have {cells} dimensions"));
        }
        Ok(cells)
    }

    /// Whether the cells are those of a tensor of centroids.
    pub(super) fn has_centroids(&self) -> bool {
        matches!(self, Record::Current(Current { cells: CellsRecord::Cvt, .. }))
    }

    /// What the archive is about; what does not fit together otherwise.
    pub(super) fn about(self, facts: Facts) -> Result<About, String> {
        let measures = self.measures()?;
        let about = match self {
            Record::Current(record) => {
                let cells = match record.cells {
                    CellsRecord::Grid(grid) => Cells::from(grid),
                    CellsRecord::Cvt => {
                        let centroids = facts.centroids.unwrap_or_default();
                        Cells::from(Cvt::new(centroids, measures).map_err(|e| e.to_string())?)
                    }
                };
                let Current {
                    task, measure, names, ranges, actor, actions, world, qd_offset, iteration, ..
                } = record;
                About { task, measure, names, ranges, cells, actor, actions, world, qd_offset, iteration }
            }
            Record::First(First { task, measure, names, grid, world, qd_offset, iteration }) => {
                let actor = first_actor(facts.solution, facts.observation)?;
                let ends = grid.lower().iter().zip(grid.upper());
                let ranges = ends.map(|(&low, &high)| [low, high]).collect();
                let (cells, actions) = (Cells::from(grid), Actions::Sampled);
                About { task, measure, names, ranges, cells, actor, actions, world, qd_offset, iteration }
            }
        };
        let cells = about.cells.count();
        if cells > MOST_CELLS {
            return Err(format!("it claims {cells} cells; a search has at most {MOST_CELLS}"));
        }
        if about.ranges.len() != measures || !about.ranges.iter().all(|[low, high]| low < high) {
            return Err(format!(
                "it should have {measures} ranges of measures, each with its lower end first"
            ));
        }
        let (actor, expected) = (&about.actor, [facts.observation, facts.solution]);
        if [actor.inputs(), actor.parameters() + actor.outputs()] != expected {
            let [observation, solution] = expected;
            return Err(format!(
                "an actor of the sizes {:?} does not fit observations of {observation} entries and solutions of {solution}",
                actor.sizes()
            ));
        }
        Ok(about)
    }
}

/// The actor of solutions of so many parameters, log σ included, in a file of the first layout.
fn first_actor(solution: usize, observation: usize) -> Result<Shape, String> {
    const HIDDEN: usize = 128;
    let shape = |action: usize| Shape::tanh(&[observation, HIDDEN, HIDDEN, action]).ok();
    let parameters = |shape: &Shape| shape.parameters() + shape.outputs();
    // Each action adds a row of weights, a bias and a log σ.
    let one = shape(1).map(|shape| parameters(&shape));
    let more = one.and_then(|one| solution.checked_sub(one)).map(|more| more / (HIDDEN + 2));
    let found = more.and_then(|more| shape(more + 1)).filter(|shape| parameters(shape) == solution);
    found.ok_or_else(|| {
        format!("solutions of {solution} parameters are not actors of two layers of {HIDDEN} units on {observation} entries")
    })
}
