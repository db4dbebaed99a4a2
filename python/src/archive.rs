//! Archives, and what one does with them.

use std::path::PathBuf;
use std::sync::Arc;

use magpie_envs::Environment;
use magpie_learn::Networks;
use magpie_nn::Shape;
use magpie_qd::{Cells, Metrics};
use magpie_run::operations::{
    ArchivePicture, EvaluateOptions, ExportFormat, ExportOptions, OpenArchive, Selection, draw_archive,
    evaluate_archive, evaluate_archive_in, export_archive,
};
use magpie_run::{SavedElite, WorldChanges};
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{rows, table};
use crate::environment::World;
use crate::errors::{failed, invalid};
use crate::plug::{Fault, Own};
use crate::threads;

/// An archive as read from a run or a file.
#[pyclass(frozen, module = "magpie_qd._magpie")]
pub struct Archive {
    open: OpenArchive,
    networks: Networks,
}

/// Metrics as Python names them.
fn metrics<'py>(py: Python<'py>, metrics: &Metrics) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("elites", metrics.elites)?;
    dict.set_item("qd_score", metrics.qd_score)?;
    dict.set_item("qd_score_offset", metrics.qd_score_offset)?;
    dict.set_item("coverage", metrics.coverage)?;
    dict.set_item("best", metrics.best)?;
    dict.set_item("mean", metrics.mean)?;
    Ok(dict)
}

#[pymethods]
impl Archive {
    /// Reads the archive of a run's folder, or of a file.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Archive> {
        let open = py.detach(|| OpenArchive::open(&path)).map_err(failed)?;
        let actor = open.archive.about.actor.clone();
        let critic = Shape::tanh(&[actor.inputs(), 1]).map_err(failed)?;
        Ok(Archive { open, networks: Networks { actor, critic } })
    }

    fn __len__(&self) -> usize {
        self.open.archive.elites.len()
    }

    /// The file.
    #[getter]
    fn path(&self) -> PathBuf {
        self.open.path.clone()
    }

    /// What the archive is about.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let about = &self.open.archive.about;
        let dict = PyDict::new(py);
        dict.set_item("task", &about.task)?;
        dict.set_item("measure", &about.measure)?;
        dict.set_item("names", &about.names)?;
        dict.set_item("ranges", &about.ranges)?;
        dict.set_item("cells", about.cells.count())?;
        let (mut dims, mut lower, mut upper, mut centroids) = (None, None, None, None);
        match &about.cells {
            Cells::Grid(grid) => {
                (dims, lower, upper) =
                    (Some(grid.dims().to_vec()), Some(grid.lower().to_vec()), Some(grid.upper().to_vec()));
            }
            Cells::Cvt(cvt) => centroids = Some(rows(py, cvt.centroids().to_vec(), cvt.measure_dim())?),
        }
        dict.set_item("dims", dims)?;
        dict.set_item("lower", lower)?;
        dict.set_item("upper", upper)?;
        dict.set_item("centroids", centroids)?;
        dict.set_item("sizes", about.actor.sizes())?;
        // Where the parameters of each layer lie in a solution, and which activation follows.
        let layers: Vec<_> = about.actor.layers().collect();
        let layers: Vec<_> = layers
            .iter()
            .map(|layer| {
                let (weights, bias) = (layer.weight.clone(), layer.bias.clone());
                let activation = format!("{:?}", layer.activation).to_lowercase();
                (
                    (weights.start, weights.end),
                    (bias.start, bias.end),
                    layer.inputs,
                    layer.outputs,
                    activation,
                )
            })
            .collect();
        dict.set_item("layers", layers)?;
        dict.set_item("actions", about.actions.to_string())?;
        dict.set_item("world", about.world.in_words())?;
        dict.set_item("qd_offset", about.qd_offset)?;
        dict.set_item("iteration", about.iteration)?;
        Ok(dict)
    }

    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        metrics(py, &self.open.archive.metrics())
    }

    /// All elites as arrays, a row each.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (elites, about) = (&self.open.archive.elites, &self.open.archive.about);
        let dict = PyDict::new(py);
        let parameters = about.actor.parameters() + about.actor.outputs();
        let mut solutions = Vec::with_capacity(elites.len() * parameters);
        elites.iter().for_each(|elite| solutions.extend_from_slice(&elite.policy.parameters));
        dict.set_item("solution", rows(py, solutions, parameters)?)?;
        let numbers = |of: fn(&SavedElite) -> f64| PyArray1::from_iter(py, elites.iter().map(of));
        let whole = |of: fn(&SavedElite) -> i64| PyArray1::from_iter(py, elites.iter().map(of));
        dict.set_item("objective", numbers(|elite| elite.objective))?;
        dict.set_item("length", numbers(|elite| elite.length))?;
        dict.set_item("threshold", numbers(|elite| elite.threshold))?;
        dict.set_item("obs_count", numbers(|elite| elite.policy.normaliser.count()))?;
        dict.set_item("index", whole(|elite| elite.cell as i64))?;
        dict.set_item("iteration", whole(|elite| elite.iteration as i64))?;
        dict.set_item("branch", whole(|elite| elite.branch.map_or(-1, i64::from)))?;
        type Numbers = fn(&SavedElite) -> &[f64];
        let tables: [(&str, usize, Numbers); 3] = [
            ("measures", about.names.len(), |elite| &elite.measures),
            ("obs_mean", about.actor.inputs(), |elite| elite.policy.normaliser.mean()),
            ("obs_var", about.actor.inputs(), |elite| elite.policy.normaliser.variance()),
        ];
        for (name, width, of) in tables {
            dict.set_item(name, rows(py, elites.iter().flat_map(of).copied().collect(), width)?)?;
        }
        Ok(dict)
    }

    /// The number of the cell of this name, such as "12,40".
    fn cell_named(&self, name: &str) -> PyResult<usize> {
        self.open.archive.about.cell_named(name).map_err(failed)
    }

    fn cell_name(&self, cell: usize) -> PyResult<String> {
        match cell < self.open.archive.about.cells.count() {
            true => Ok(self.open.archive.about.cell_name(cell)),
            false => Err(invalid(format_args!(
                "cell is {cell}, but must be below {}",
                self.open.archive.about.cells.count()
            ))),
        }
    }

    /// The row of the elite in a cell.
    fn row(&self, cell: usize) -> PyResult<usize> {
        self.cell_name(cell)?;
        let elite = self.open.archive.elite(cell).map_err(failed)?;
        let place = self.open.archive.elites.iter().position(|other| other.cell == elite.cell);
        place.ok_or_else(|| invalid("the cell is empty"))
    }

    /// Mean actions of the elite in a row, before they are clipped.
    fn mean_actions<'py>(
        &self,
        py: Python<'py>,
        row: usize,
        observations: PyReadonlyArray2<'py, f32>,
    ) -> PyResult<Bound<'py, numpy::PyArray2<f32>>> {
        let elite = self.open.archive.elites.get(row).ok_or_else(|| invalid("no such elite"))?;
        let observations = table("observations", &observations, self.networks.actor.inputs())?;
        let actions = py.detach(|| elite.policy.mean_actions(&self.networks, &observations));
        rows(py, actions, self.networks.actor.outputs())
    }

    /// A picture: as SVG, or the bytes of a PNG.
    fn picture<'py>(&self, py: Python<'py>, png: bool) -> PyResult<Bound<'py, PyAny>> {
        let about = &self.open.archive.about;
        let filled: Vec<(usize, f64)> =
            self.open.archive.elites.iter().map(|elite| (elite.cell, elite.objective)).collect();
        let title = format!("{}, iteration {}", about.task, about.iteration);
        let drawn = py.detach(|| {
            let figure = draw_archive(&ArchivePicture {
                title: &title,
                names: &about.names,
                ranges: &about.ranges,
                cells: &about.cells,
                filled: &filled,
                objective: "return",
                scale: None,
                demonstrations: &[],
                width: magpie_plot::NARROW,
            })?;
            Ok::<_, magpie_run::RunError>(match png {
                true => (None, figure.png()?),
                false => (Some(figure.svg().to_owned()), Vec::new()),
            })
        });
        match drawn.map_err(failed)? {
            (Some(svg), _) => Ok(svg.into_pyobject(py)?.into_any()),
            (None, png) => Ok(PyBytes::new(py, &png).into_any()),
        }
    }

    /// Runs elites again on fresh seeds: all, or the one of `cell`.
    #[allow(clippy::too_many_arguments)]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        cell: Option<usize>,
        episodes: u32,
        actions: Option<String>,
        seed: u64,
        world: Option<World>,
        own: Own,
    ) -> PyResult<Bound<'py, PyDict>> {
        if episodes == 0 {
            return Err(invalid("episodes must be at least 1"));
        }
        if let Some(cell) = cell {
            self.cell_name(cell)?;
        }
        let fault = Fault::default();
        let env: Option<Arc<Environment>> = own.world(py, &fault)?;
        let changes = world.map(World::changes).transpose()?;
        let world = changes
            .filter(|changes| *changes != WorldChanges::default())
            .map(|changes| changes.apply(self.open.world()));
        let actions = actions.map(|name| name.parse().map_err(invalid)).transpose()?;
        let options = EvaluateOptions { episodes, actions, seed, world };
        let selection = cell.map_or(Selection::All, Selection::Cell);
        let evaluation = crate::search::guarded(py, &fault, || match env {
            None => evaluate_archive(&self.open, selection, &options),
            Some(env) => evaluate_archive_in(env, &self.open, selection, &options),
        })?;
        let dict = PyDict::new(py);
        let (count, dims) = (evaluation.elites.len(), self.open.archive.about.names.len());
        let runs = evaluation.elites.iter().map(|(_, runs)| runs);
        let episodes = episodes as usize;
        dict.set_item(
            "index",
            PyArray1::from_iter(py, evaluation.elites.iter().map(|(elite, _)| elite.cell as i64)),
        )?;
        dict.set_item(
            "returns",
            rows(py, runs.clone().flat_map(|r| r.returns.clone()).collect(), episodes)?,
        )?;
        let lengths = runs.clone().flat_map(|r| r.lengths.iter().map(|&length| i64::from(length))).collect();
        dict.set_item("lengths", rows(py, lengths, episodes)?)?;
        let measures: Vec<f64> = runs.flat_map(|r| r.measures.concat()).collect();
        use numpy::PyArrayMethods;
        dict.set_item("measures", PyArray1::from_vec(py, measures).reshape([count, episodes, dims])?)?;
        dict.set_item("actions", evaluation.actions.to_string())?;
        dict.set_item("moved", evaluation.moved)?;
        dict.set_item("verified", evaluation.verified.as_ref().map(|m| metrics(py, m)).transpose()?)?;
        Ok(dict)
    }

    /// Writes the archive for other programs: csv, npz or qdax.
    fn export(&self, py: Python<'_>, path: PathBuf, format: &str, policies: bool) -> PyResult<()> {
        let format = match format {
            "csv" => ExportFormat::Csv,
            "npz" => ExportFormat::Npz,
            "qdax" => ExportFormat::Qdax,
            other => return Err(invalid(format_args!("format is {other:?}, but must be csv, npz or qdax"))),
        };
        let options = ExportOptions { format, policies };
        threads::run(py, || export_archive(&self.open.archive, options, &path))?.map_err(failed)
    }
}

/// Compares runs: writes a page with its figures and tables, and returns its file, the number of runs, and notes.
#[pyfunction]
pub fn report(py: Python<'_>, places: Vec<PathBuf>, out: PathBuf) -> PyResult<(PathBuf, usize, Vec<String>)> {
    threads::run(py, || {
        let report = magpie_report::report(&places).map_err(failed)?;
        let page = report.write(&out).map_err(failed)?;
        let notes = report.notes().iter().map(|note| format!("{}: {}", note.place, note.problem)).collect();
        Ok((page, report.runs(), notes))
    })?
}
