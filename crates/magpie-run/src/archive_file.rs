//! `archive.safetensors`: the elites of a search, with all that is needed to run them again.
//!
//! | tensor | shape | type | |
//! |---|---|---|---|
//! | `solution` | elites × parameters | f32 | the actor's parameters, then log σ |
//! | `objective`, `length` | elites | f64 | mean return and episode length |
//! | `measures` | elites × measures | f64 | |
//! | `threshold` | elites | f64 | what a newcomer must surpass in the soft archive |
//! | `index` | elites | i64 | number of the cell, ascending |
//! | `iteration`, `branch` | elites | i64 | where it came from: iterations count from 1, branches from 0, waypoints go on from λ, those of the walk last; branch -1 is the search policy itself |
//! | `obs_mean`, `obs_var` | elites × observation | f64 | the elite's normaliser |
//! | `obs_count` | elites | f64 | |
//!
//! The metadata hold one entry, `magpie`, a JSON record of what the archive is about ([`About`]). Solutions are the bulk
//! of the file and are single precision as in training; the rest is exact to the last bit, so that an elite that is run
//! again is the one that was found.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use magpie_envs::Measure;
use magpie_learn::Policy;
use magpie_nn::normaliser::Running;
use magpie_qd::{ArchivePair, Elite, Grid, Metrics, QdOffset};
use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::directory::{read, write_with};
use crate::error::RunError;
use crate::world::World;

/// The layout that is written and read.
pub(crate) const FORMAT: u32 = 1;
/// No archive has a longer head: it grows with nothing.
pub(crate) const LONGEST_HEAD: u64 = 1 << 20;

/// What an archive is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of the file's layout.
    pub format: u32,
    /// The task.
    pub task: String,
    /// How behaviour was measured.
    pub measure: Measure,
    /// Name of each dimension of the measure.
    pub names: Vec<String>,
    /// The cells.
    pub grid: Grid,
    /// The world it was found in; a robot file lies beside the archive.
    #[serde(default)]
    pub world: World,
    /// What the offset QD-Score adds for each step.
    pub qd_offset: f64,
    /// Iterations made.
    pub iteration: u64,
}

/// An elite of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedElite {
    /// Number of its cell.
    pub cell: usize,
    /// Mean return.
    pub objective: f64,
    /// Mean measures.
    pub measures: Vec<f64>,
    /// Mean length of its episodes.
    pub length: f64,
    /// What a newcomer must surpass in the soft archive.
    pub threshold: f64,
    /// Iteration it was found in.
    pub iteration: u64,
    /// Branch it was; `None` is the search policy itself.
    pub branch: Option<u32>,
    /// The policy.
    pub policy: Policy,
}

/// An archive as read from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedArchive {
    /// What it is about.
    pub about: About,
    /// In ascending order of cells.
    pub elites: Vec<SavedElite>,
}

impl SavedArchive {
    /// Of these elites.
    pub fn metrics(&self) -> Metrics {
        let scores = self.elites.iter().map(|e| (e.objective, e.length));
        Metrics::of(scores, self.about.grid.count(), QdOffset::PerStep(self.about.qd_offset))
    }

    /// The world it was found in, when the archive lies in `folder`.
    pub fn world(&self, folder: &Path) -> World {
        let mut world = self.about.world.clone();
        world.robot = world.robot.map(|robot| folder.join(robot));
        world
    }

    /// The elite with the highest objective.
    pub fn best(&self) -> Option<&SavedElite> {
        self.elites.iter().reduce(|best, next| if next.objective > best.objective { next } else { best })
    }

    /// The elite of a cell.
    pub fn elite(&self, cell: usize) -> Option<&SavedElite> {
        let found = self.elites.binary_search_by_key(&cell, |e| e.cell).ok()?;
        Some(&self.elites[found])
    }
}

/// Appends an elite's entries to a row.
type Append<'a> = Box<dyn Fn(&Elite<'_>, &mut Vec<u8>) + 'a>;

/// One tensor: a row for each elite.
struct Column<'a> {
    name: &'static str,
    dtype: Dtype,
    /// Entries of a row; `None` is a single number and not a list of one.
    width: Option<usize>,
    append: Append<'a>,
}

fn columns(archives: &ArchivePair) -> Vec<Column<'_>> {
    type Row = Vec<u8>;
    let single = |row: &mut Row, values: &[f32]| row.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    let double = |row: &mut Row, values: &[f64]| row.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    let whole = |row: &mut Row, value: i64| row.extend(value.to_le_bytes());
    let solutions = archives.solutions();
    let observation = (solutions.extra_len() - 1) / 2;
    let measures = archives.cells().measure_dim();
    fn column<'a>(
        name: &'static str,
        dtype: Dtype,
        width: Option<usize>,
        append: impl Fn(&Elite<'_>, &mut Row) + 'a,
    ) -> Column<'a> {
        Column { name, dtype, width, append: Box::new(append) }
    }
    vec![
        column("solution", Dtype::F32, Some(solutions.solution_len()), move |e, row| single(row, e.solution)),
        column("objective", Dtype::F64, None, move |e, row| double(row, &[e.entry.objective])),
        column("measures", Dtype::F64, Some(measures), move |e, row| double(row, &e.entry.measures)),
        column("length", Dtype::F64, None, move |e, row| double(row, &[e.entry.length])),
        column("threshold", Dtype::F64, None, move |e, row| {
            double(row, &[archives.soft().threshold(e.cell)]);
        }),
        column("index", Dtype::I64, None, move |e, row| whole(row, e.cell as i64)),
        column("iteration", Dtype::I64, None, move |e, row| whole(row, e.entry.provenance.iteration as i64)),
        column("branch", Dtype::I64, None, move |e, row| {
            whole(row, e.entry.provenance.branch.map_or(-1, i64::from));
        }),
        column("obs_mean", Dtype::F64, Some(observation), move |e, row| double(row, &e.extra[..observation])),
        column("obs_var", Dtype::F64, Some(observation), move |e, row| {
            double(row, &e.extra[observation..2 * observation]);
        }),
        column("obs_count", Dtype::F64, None, move |e, row| double(row, &e.extra[2 * observation..])),
    ]
}

/// Writes the elites of the result archive row by row, so that what is on its way to the disk is never held twice.
pub fn save_archive(path: &Path, archives: &ArchivePair, about: &About) -> Result<(), RunError> {
    let columns = columns(archives);
    let elites = archives.result().len();
    let head = head(&columns, elites, about).map_err(|e| damaged(path, format!("cannot be written: {e}")))?;
    write_with(path, |file| {
        file.write_all(&(head.len() as u64).to_le_bytes())?;
        file.write_all(&head)?;
        let mut row = Vec::new();
        for column in &columns {
            for elite in archives.elites() {
                row.clear();
                (column.append)(&elite, &mut row);
                file.write_all(&row)?;
            }
        }
        Ok(())
    })
}

/// The head of a safetensors file: a JSON object, padded with spaces to a multiple of eight.
fn head(columns: &[Column<'_>], elites: usize, about: &About) -> serde_json::Result<Vec<u8>> {
    let mut object = serde_json::Map::new();
    let metadata = serde_json::json!({ "magpie": serde_json::to_string(about)? });
    object.insert("__metadata__".to_owned(), metadata);
    let mut start = 0;
    for column in columns {
        let mut shape = vec![elites];
        shape.extend(column.width);
        let end = start + shape.iter().product::<usize>() * column.dtype.bitsize() / 8;
        let tensor =
            serde_json::json!({ "dtype": column.dtype, "shape": shape, "data_offsets": [start, end] });
        object.insert(column.name.to_owned(), tensor);
        start = end;
    }
    let mut bytes = serde_json::to_vec(&object)?;
    bytes.resize(bytes.len().next_multiple_of(8), b' ');
    Ok(bytes)
}

/// Whether a file says that it is an archive; one that cannot be read is an error.
pub fn is_archive(path: &Path) -> Result<bool, RunError> {
    Ok(about(path).map_err(RunError::io(path, "reading"))?.is_some())
}

/// What a file says that it is about; the head is short whatever the file holds.
pub(crate) fn about(path: &Path) -> std::io::Result<Option<About>> {
    let mut head = Vec::new();
    File::open(path)?.take(LONGEST_HEAD).read_to_end(&mut head)?;
    let Some((length, rest)) = head.split_first_chunk() else { return Ok(None) };
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let object: Option<serde_json::Value> =
        rest.get(..length).and_then(|head| serde_json::from_slice(head).ok());
    let entry = object.as_ref().and_then(|object| object["__metadata__"]["magpie"].as_str());
    Ok(entry.and_then(|entry| serde_json::from_str(entry).ok()))
}

/// Reads an archive and checks that it makes sense.
pub fn load_archive(path: &Path) -> Result<SavedArchive, RunError> {
    let bytes = read(path)?;
    let problem = |e: safetensors::SafeTensorError| damaged(path, e.to_string());
    let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(problem)?;
    let entry = metadata.metadata().as_ref().and_then(|entries| entries.get("magpie"));
    let foreign = |problem: String| RunError::Foreign { path: path.to_owned(), problem };
    let entry = entry
        .ok_or_else(|| foreign("it is a safetensors file, but not an archive of magpie's".to_owned()))?;
    let about: About = serde_json::from_str(entry)
        .map_err(|e| foreign(format!("it is not an archive: its metadata say something else ({e})")))?;
    if about.format != FORMAT {
        return Err(damaged(path, format!("its format is {}, and {FORMAT} is what is read", about.format)));
    }
    let tensors = Tensors { path, tensors: SafeTensors::deserialize(&bytes).map_err(problem)? };
    let elites = tensors.length("index")?;
    let measures = tensors.rows("measures", elites, Some(about.grid.measure_dim()))?;
    let observation = tensors.width("obs_mean")?;
    let (means, variances) = (
        tensors.rows("obs_mean", elites, Some(observation))?,
        tensors.rows("obs_var", elites, Some(observation))?,
    );
    let column = |name: &str| tensors.rows(name, elites, None);
    let (objectives, lengths) = (column("objective")?, column("length")?);
    let (thresholds, counts) = (column("threshold")?, column("obs_count")?);
    let (cells, iterations, branches) = (
        tensors.whole("index", elites)?,
        tensors.whole("iteration", elites)?,
        tensors.whole("branch", elites)?,
    );
    let dims = about.grid.measure_dim();
    if about.names.len() != dims {
        let found = about.names.len();
        return Err(damaged(path, format!("it names {found} measures, but its grid has {dims} dimensions")));
    }
    if variances.iter().any(|&v| v < 0.0) || counts.iter().any(|&n| n < 0.0) {
        return Err(damaged(path, "obs_var and obs_count should not be negative".to_owned()));
    }
    if iterations.iter().any(|&i| i < 0) || branches.iter().any(|&b| b < -1 || b > i64::from(u32::MAX)) {
        return Err(damaged(path, "iteration should be at least 0 and branch at least -1".to_owned()));
    }
    if !cells.windows(2).all(|pair| pair[0] < pair[1])
        || cells.iter().any(|&c| c < 0 || c as usize >= about.grid.count())
    {
        return Err(damaged(path, "index should hold cells of the grid in ascending order".to_owned()));
    }
    let parameters = tensors.width("solution")?;
    let solutions = tensors.view("solution", Dtype::F32, &[elites, parameters])?;
    let solution = |i: usize| -> Result<Vec<f32>, RunError> {
        let row = &solutions[i * parameters * 4..][..parameters * 4];
        let row: Vec<f32> = row.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        match row.iter().all(|v| v.is_finite()) {
            true => Ok(row),
            false => Err(damaged(path, format!("row {i} of solution holds numbers that are not finite"))),
        }
    };
    let elite = |i: usize| -> Result<SavedElite, RunError> {
        let normaliser = Running::from_parts(
            means[i * observation..][..observation].to_vec(),
            variances[i * observation..][..observation].to_vec(),
            counts[i],
        );
        Ok(SavedElite {
            cell: cells[i] as usize,
            objective: objectives[i],
            measures: measures[i * dims..][..dims].to_vec(),
            length: lengths[i],
            threshold: thresholds[i],
            iteration: iterations[i] as u64,
            branch: u32::try_from(branches[i]).ok(),
            policy: Policy { parameters: solution(i)?, normaliser },
        })
    };
    let elites = (0..elites).map(elite).collect::<Result<_, _>>()?;
    Ok(SavedArchive { about, elites })
}

/// The tensors of a file, with errors that name it.
struct Tensors<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
}

impl Tensors<'_> {
    fn shape(&self, name: &str) -> Result<Vec<usize>, RunError> {
        let view = self.tensors.tensor(name).map_err(|e| damaged(self.path, e.to_string()))?;
        Ok(view.shape().to_vec())
    }

    fn length(&self, name: &str) -> Result<usize, RunError> {
        Ok(self.shape(name)?.first().copied().unwrap_or(0))
    }

    fn width(&self, name: &str) -> Result<usize, RunError> {
        Ok(self.shape(name)?.get(1).copied().unwrap_or(0))
    }

    fn view(&self, name: &str, dtype: Dtype, shape: &[usize]) -> Result<&[u8], RunError> {
        let view = self.tensors.tensor(name).map_err(|e| damaged(self.path, e.to_string()))?;
        if view.dtype() != dtype || view.shape() != shape {
            let found = (view.shape(), view.dtype());
            let message =
                format!("{name} should be {shape:?} of {dtype:?} and is {:?} of {:?}", found.0, found.1);
            return Err(damaged(self.path, message));
        }
        Ok(view.data())
    }

    fn rows(&self, name: &str, elites: usize, width: Option<usize>) -> Result<Vec<f64>, RunError> {
        let shape: Vec<usize> = std::iter::once(elites).chain(width).collect();
        let bytes = self.view(name, Dtype::F64, &shape)?;
        let values: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
        match values.iter().all(|v| v.is_finite()) {
            true => Ok(values),
            false => Err(damaged(self.path, format!("{name} holds numbers that are not finite"))),
        }
    }

    fn whole(&self, name: &str, elites: usize) -> Result<Vec<i64>, RunError> {
        let bytes = self.view(name, Dtype::I64, &[elites])?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|b| i64::from_le_bytes(*b)).collect())
    }
}

fn damaged(path: &Path, problem: String) -> RunError {
    RunError::Damaged { path: path.to_owned(), problem }
}

#[cfg(test)]
pub(crate) mod tests {
    use magpie_qd::{Acceptance, Candidate, Provenance};

    use super::*;

    /// Two elites with three parameters and two observations, in a grid of 4 × 5.
    pub(crate) fn archive() -> (ArchivePair, About) {
        let grid = Grid::new(vec![4, 5], vec![0.0; 2], vec![1.0; 2]).unwrap();
        let mut archives = ArchivePair::new(grid.clone(), Acceptance::Elitist, 3, 5).unwrap();
        for (branch, measures) in [(None, [0.1, 0.1]), (Some(7), [0.9, 0.3])] {
            let candidate = Candidate {
                solution: &[0.1, -2.0, 3.5],
                extra: &[1.0, 2.0, 3.0, 0.1, 5.0],
                objective: 1.0 / 3.0,
                measures: &measures,
                length: 12.5,
                provenance: Provenance { iteration: 4, branch },
            };
            archives.add(&[candidate]).unwrap();
        }
        let names = vec!["left".to_owned(), "right".to_owned()];
        let about = About {
            format: FORMAT,
            task: "hopper".to_owned(),
            measure: Measure::FeetContact,
            names,
            grid,
            world: World { friction: 0.5, ..World::default() },
            qd_offset: 0.9,
            iteration: 12,
        };
        (archives, about)
    }

    pub(crate) fn written(about: &About) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.safetensors");
        save_archive(&path, &archive().0, about).unwrap();
        (folder, path)
    }

    #[test]
    fn what_is_written_is_read_back() {
        let (archives, about) = archive();
        let (_folder, path) = written(&about);
        assert!(is_archive(&path).unwrap());
        let saved = load_archive(&path).unwrap();
        assert_eq!(saved.about, about);
        for (elite, saved) in archives.elites().zip(&saved.elites) {
            assert_eq!((elite.cell, elite.solution), (saved.cell, &saved.policy.parameters[..]));
            assert_eq!((elite.entry.objective, elite.entry.length), (saved.objective, saved.length));
            assert_eq!(elite.entry.measures, saved.measures);
            assert_eq!(elite.entry.provenance.branch, saved.branch);
            assert_eq!(saved.iteration, 4);
            assert_eq!(saved.policy.normaliser.variance(), [3.0, 0.1]);
        }
        assert_eq!(saved.elites.len(), 2);
        assert_eq!(saved.best().map(|e| e.cell), saved.elites.first().map(|e| e.cell));
        assert!(saved.elite(saved.elites[1].cell).is_some() && saved.elite(19).is_none());
    }

    #[test]
    fn a_file_that_is_cut_or_contradicts_itself_is_refused() {
        let (_, about) = archive();
        let (_folder, path) = written(&about);
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 5, 8, 100, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let error = load_archive(&path).unwrap_err().to_string();
            assert!(error.contains("archive.safetensors") && error.contains("damaged"), "{error}");
            is_archive(&path).unwrap();
        }
        for wrong in [About { names: vec![], ..about.clone() }, About { format: 2, ..about }] {
            let (_folder, path) = written(&wrong);
            assert!(load_archive(&path).unwrap_err().to_string().contains("damaged"));
        }
    }

    #[test]
    fn flipped_bits_never_panic() {
        let (_folder, path) = written(&archive().1);
        let whole = std::fs::read(&path).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &flipped).unwrap();
            if let Ok(archive) = load_archive(&path) {
                archive.metrics();
                archive.best();
            }
        }
    }
}
