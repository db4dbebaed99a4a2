//! Reading an archive, whole.

use std::io::Read;
use std::path::Path;

use magpie_files::tensors::{self, Sums};
use magpie_learn::Policy;
use magpie_nn::normaliser::RunningMeanStd;
use safetensors::tensor::{Dtype, SafeTensors};

use super::about::{Facts, Record};
use super::{SavedArchive, SavedElite, SavedEvidence, damaged};
use crate::directory::read;
use crate::error::RunError;

/// No archive has a longer head: it grows with nothing.
pub(super) const LONGEST_HEAD: u64 = 1 << 20;

/// Whether a file says that it is an archive; one that cannot be read is an error.
pub(crate) fn is_archive(path: &Path) -> Result<bool, RunError> {
    Ok(record_of(path).map_err(RunError::io(path, "reading"))?.is_some())
}

/// How many iterations had been made when an archive was written, if it is one.
pub(crate) fn iteration_of(path: &Path) -> Option<u64> {
    record_of(path).ok().flatten().map(|record| record.iteration())
}

/// What the metadata say; the head is short whatever the file holds.
fn record_of(path: &Path) -> std::io::Result<Option<Record>> {
    let mut head = Vec::new();
    magpie_files::open(path)?.take(LONGEST_HEAD).read_to_end(&mut head)?;
    let Some((length, rest)) = head.split_first_chunk() else { return Ok(None) };
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let head = rest.get(..length).filter(|head| Sums::of_head(head).is_ok());
    let object: Option<serde_json::Value> = head.and_then(|head| serde_json::from_slice(head).ok());
    let entry = object.as_ref().and_then(|object| object["__metadata__"]["magpie"].as_str());
    Ok(entry.and_then(|entry| Record::parse(entry).ok()))
}

/// Reads an archive and checks that it makes sense.
pub fn load_archive(path: &Path) -> Result<SavedArchive, RunError> {
    let bytes = read(path)?;
    let problem = |e: safetensors::SafeTensorError| damaged(path, e.to_string());
    let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(problem)?;
    tensors::check(&bytes).map_err(|e| damaged(path, e))?;
    let entry = metadata.metadata().as_ref().and_then(|entries| entries.get(tensors::ENTRY));
    let foreign = |problem: String| RunError::Foreign { path: path.to_owned(), problem };
    let entry = entry
        .ok_or_else(|| foreign("it is a safetensors file, but not an archive of magpie's".to_owned()))?;
    let record = Record::parse(entry).map_err(foreign)?;
    let tensors = Tensors { path, tensors: SafeTensors::deserialize(&bytes).map_err(problem)? };
    let dims = record.measures().map_err(|e| damaged(path, e))?;
    let centroids = match record.has_centroids() {
        true => Some(tensors.rows("centroids", tensors.length("centroids")?, Some(dims))?),
        false => None,
    };
    let elites = tensors.length("index")?;
    let (parameters, observation) = (tensors.width("solution")?, tensors.width("obs_mean")?);
    let about = record
        .about(Facts { solution: parameters, observation, centroids })
        .map_err(|problem| damaged(path, problem))?;
    let measures = tensors.rows("measures", elites, Some(dims))?;
    let (means, variances) = (
        tensors.rows("obs_mean", elites, Some(observation))?,
        tensors.rows("obs_var", elites, Some(observation))?,
    );
    let column = |name: &str| tensors.rows(name, elites, None);
    let (objectives, lengths) = (column("objective")?, column("length")?);
    let evidence = match tensors.has("episodes") {
        true => Some(tensors.evidence(elites, dims)?),
        false => None,
    };
    let (thresholds, counts) = (column("threshold")?, column("obs_count")?);
    let (cells, iterations, branches) = (
        tensors.whole("index", elites)?,
        tensors.whole("iteration", elites)?,
        tensors.whole("branch", elites)?,
    );
    if variances.iter().any(|&v| v < 0.0) || counts.iter().any(|&n| n < 0.0) {
        return Err(damaged(path, "obs_var and obs_count should not be negative".to_owned()));
    }
    if iterations.iter().any(|&i| i < 0) || branches.iter().any(|&b| b < -1 || b > i64::from(u32::MAX)) {
        return Err(damaged(path, "iteration should be at least 0 and branch at least -1".to_owned()));
    }
    if !cells.windows(2).all(|pair| pair[0] < pair[1])
        || cells.iter().any(|&c| c < 0 || c as usize >= about.cells.count())
    {
        return Err(damaged(path, "index should hold numbers of cells in ascending order".to_owned()));
    }
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
        let normaliser = RunningMeanStd::from_parts(
            means[i * observation..][..observation].to_vec(),
            variances[i * observation..][..observation].to_vec(),
            counts[i],
        );
        Ok(SavedElite {
            cell: cells[i] as usize,
            objective: objectives[i],
            measures: measures[i * dims..][..dims].to_vec(),
            length: lengths[i],
            evidence: evidence.as_ref().map(|evidence| evidence[i].clone()),
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

    fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    fn evidence(&self, elites: usize, dims: usize) -> Result<Vec<SavedEvidence>, RunError> {
        let episodes = self.whole("episodes", elites)?;
        let objective = self.rows("objective_var", elites, None)?;
        let measures = self.rows("measures_var", elites, Some(dims))?;
        let is_count = |&n: &i64| n >= 1 && n <= u32::MAX.into();
        if !episodes.iter().all(is_count) || objective.iter().chain(&measures).any(|&v| v < 0.0) {
            let problem = "episodes should be at least 1, and objective_var and measures_var not negative";
            return Err(damaged(self.path, problem.to_owned()));
        }
        let evidence = |((&episodes, &objective_var), measures_var): ((&i64, &f64), &[f64])| SavedEvidence {
            episodes: episodes as u32,
            objective_var,
            measures_var: measures_var.to_vec(),
        };
        Ok(episodes.iter().zip(&objective).zip(measures.chunks(dims)).map(evidence).collect())
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
