//! What an archive holds apart from its policies.
//!
//! Policies are nearly all of an `archive.safetensors`: hundreds of megabytes for a large robot. Who counts, compares or
//! draws archives, many at a time, needs only objectives, lengths, measures and cells, and reads only these.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use magpie_files::tensors::Sums;
use magpie_qd::{Entry, Metrics, QdOffset, ResultArchive};
use serde_json::Value;

use super::about::{Facts, Record};
use super::load::LONGEST_HEAD;
use super::{About, SavedArchive};
use crate::error::RunError;

/// An elite without its policy.
#[derive(Debug, Clone, PartialEq)]
pub struct OutlinedElite {
    /// Number of its cell.
    pub cell: usize,
    /// Mean return.
    pub objective: f64,
    /// Mean length of its episodes.
    pub length: f64,
    /// Mean measures.
    pub measures: Vec<f64>,
    /// Episodes that these are means of; `None` in files of earlier versions.
    pub episodes: Option<u32>,
    /// Iteration it was found in.
    pub iteration: u64,
}

/// An archive without its policies.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchiveOutline {
    /// What it is about.
    pub about: About,
    /// In ascending order of cells.
    pub elites: Vec<OutlinedElite>,
}

impl ArchiveOutline {
    /// That of a result archive.
    pub(crate) fn of(about: About, result: &ResultArchive) -> ArchiveOutline {
        let outlined = |(cell, entry): (usize, &Entry)| OutlinedElite {
            cell,
            objective: entry.objective,
            length: entry.length,
            measures: entry.measures.clone(),
            episodes: Some(entry.episodes),
            iteration: entry.provenance.iteration,
        };
        ArchiveOutline { elites: result.entries().map(outlined).collect(), about }
    }

    /// Of these elites.
    pub fn metrics(&self) -> Metrics {
        let scores = self.elites.iter().map(|e| (e.objective, e.length));
        Metrics::of(scores, self.about.cells.count(), QdOffset::PerStep(self.about.qd_offset))
    }

    /// The elite with the highest objective.
    pub fn best(&self) -> Option<&OutlinedElite> {
        self.elites.iter().reduce(|best, next| if next.objective > best.objective { next } else { best })
    }

    /// The elite of a cell; an error that names the nearest if the cell has none.
    pub fn elite(&self, cell: usize) -> Result<&OutlinedElite, RunError> {
        match self.position(cell) {
            Some(found) => Ok(&self.elites[found]),
            None => Err(self.about.empty_cell(cell, self.elites.iter().map(|e| e.cell))),
        }
    }

    /// Where the elite of a cell stands in the order of the file.
    pub fn position(&self, cell: usize) -> Option<usize> {
        self.elites.binary_search_by_key(&cell, |e| e.cell).ok()
    }

    /// A number that changes with the elites: what tells a result about this archive from one about an earlier.
    pub fn fingerprint(&self) -> u32 {
        let mut hash = crc32fast::Hasher::new();
        hash.update(&self.about.iteration.to_le_bytes());
        for elite in &self.elites {
            hash.update(&(elite.cell as u64).to_le_bytes());
            for number in [elite.objective, elite.length].iter().chain(&elite.measures) {
                hash.update(&number.to_le_bytes());
            }
        }
        hash.finalize()
    }
}

impl From<&SavedArchive> for ArchiveOutline {
    fn from(archive: &SavedArchive) -> ArchiveOutline {
        let outlined = archive.elites.iter().map(|e| OutlinedElite {
            cell: e.cell,
            objective: e.objective,
            length: e.length,
            measures: e.measures.clone(),
            episodes: e.evidence.as_ref().map(|evidence| evidence.episodes),
            iteration: e.iteration,
        });
        ArchiveOutline { about: archive.about.clone(), elites: outlined.collect() }
    }
}

/// Reads all of an archive but its policies, and checks that it makes sense.
pub fn load_outline(path: &Path) -> Result<ArchiveOutline, RunError> {
    outline(&mut Tensors::open(path)?)
}

/// The outline of an open file.
pub(super) fn outline(file: &mut Tensors) -> Result<ArchiveOutline, RunError> {
    let path = &file.path.clone();
    let foreign = |problem: String| RunError::Foreign { path: path.to_owned(), problem };
    let entry = file.head["__metadata__"]["magpie"].as_str();
    let entry = entry
        .ok_or_else(|| foreign("it is a safetensors file, but not an archive of magpie's".to_owned()))?;
    let record = Record::parse(entry).map_err(foreign)?;
    let dims = record.measures().map_err(|e| file.damaged(e))?;
    let size =
        |head: &Value, name: &str, i: usize| head[name]["shape"][i].as_u64().unwrap_or_default() as usize;
    let centroids = match record.has_centroids() {
        true => Some(file.reals("centroids", &[size(&file.head, "centroids", 0), dims])?),
        false => None,
    };
    let [solution, observation] = ["solution", "obs_mean"].map(|name| size(&file.head, name, 1));
    let about = record.about(Facts { solution, observation, centroids }).map_err(|e| file.damaged(e))?;
    let elites = size(&file.head, "index", 0);
    let cells = file.numbers("index", "I64", &[elites], i64::from_le_bytes)?;
    let objectives = file.reals("objective", &[elites])?;
    let lengths = file.reals("length", &[elites])?;
    let measures = file.reals("measures", &[elites, dims])?;
    let episodes = match file.head["episodes"].is_null() {
        true => None,
        false => Some(file.numbers("episodes", "I64", &[elites], i64::from_le_bytes)?),
    };
    let is_count = |&n: &i64| n >= 1 && n <= u32::MAX.into();
    if !episodes.iter().flatten().all(is_count) {
        return Err(file.damaged("episodes should be at least 1".to_owned()));
    }
    let iterations = file.numbers("iteration", "I64", &[elites], i64::from_le_bytes)?;
    if iterations.iter().any(|&i| i < 0) {
        return Err(file.damaged("iteration should be at least 0".to_owned()));
    }
    let ascending = cells.windows(2).all(|pair| pair[0] < pair[1]);
    if !ascending || cells.iter().any(|&c| c < 0 || c as usize >= about.cells.count()) {
        return Err(file.damaged("index should hold numbers of cells in ascending order".to_owned()));
    }
    let elite = |i: usize| OutlinedElite {
        cell: cells[i] as usize,
        objective: objectives[i],
        length: lengths[i],
        measures: measures[i * dims..][..dims].to_vec(),
        episodes: episodes.as_ref().map(|episodes| episodes[i] as u32),
        iteration: iterations[i] as u64,
    };
    Ok(ArchiveOutline { about, elites: (0..elites).map(elite).collect() })
}

/// A safetensors file of which single tensors are read.
#[derive(Debug)]
pub(super) struct Tensors {
    path: PathBuf,
    file: File,
    pub(super) head: Value,
    /// Not in files of earlier versions.
    sums: Option<Sums>,
    /// Where tensors begin, and how much of them there is.
    start: u64,
    bytes: u64,
}

impl Tensors {
    pub(super) fn open(path: &Path) -> Result<Tensors, RunError> {
        let io = || RunError::io(path, "reading");
        let mut file = magpie_files::open(path).map_err(io())?;
        let size = file.metadata().map_err(io())?.len();
        let damaged =
            |problem: &str| RunError::Damaged { path: path.to_owned(), problem: problem.to_owned() };
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(|_| damaged("it is shorter than its head"))?;
        let length = u64::from_le_bytes(length);
        if length > LONGEST_HEAD || length + 8 > size {
            return Err(damaged("it is shorter than its head"));
        }
        let mut head = vec![0; length as usize];
        file.read_exact(&mut head).map_err(io())?;
        let sums = Sums::of_head(&head).map_err(|e| damaged(&e))?;
        let head: Value = serde_json::from_slice(&head).map_err(|_| damaged("its head is not JSON"))?;
        let tensors =
            Tensors { path: path.to_owned(), file, start: length + 8, bytes: size - length - 8, head, sums };
        let ends =
            tensors.head.as_object().into_iter().flatten().filter_map(|(_, t)| t["data_offsets"][1].as_u64());
        match ends.max() {
            Some(end) if end == tensors.bytes => Ok(tensors),
            _ => Err(damaged("it does not end where its last tensor does")),
        }
    }

    fn reals(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f64>, RunError> {
        let numbers = self.numbers(name, "F64", shape, f64::from_le_bytes)?;
        match numbers.iter().all(|v| v.is_finite()) {
            true => Ok(numbers),
            false => Err(self.damaged(format!("{name} holds numbers that are not finite"))),
        }
    }

    fn numbers<T>(
        &mut self,
        name: &str,
        dtype: &str,
        shape: &[usize],
        number: fn([u8; 8]) -> T,
    ) -> Result<Vec<T>, RunError> {
        let tensor = &self.head[name];
        let offset = |i: usize| tensor["data_offsets"][i].as_u64();
        let count = shape.iter().try_fold(8usize, |n, &d| n.checked_mul(d));
        let (Some(from), Some(to), Some(count)) = (offset(0), offset(1), count) else {
            return Err(self.damaged(format!("there is no tensor {name}")));
        };
        let fits = tensor["dtype"] == dtype && tensor["shape"] == serde_json::json!(shape);
        if !fits || to > self.bytes || to.checked_sub(from) != Some(count as u64) {
            return Err(self.damaged(format!("{name} should be {shape:?} of {dtype}")));
        }
        let mut bytes = vec![0; count];
        self.file
            .seek(SeekFrom::Start(self.start + from))
            .and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(RunError::io(&self.path, "reading"))?;
        if let Some(sums) = &self.sums {
            sums.check(name, &bytes).map_err(|e| self.damaged(e))?;
        }
        Ok(bytes.as_chunks::<8>().0.iter().map(|chunk| number(*chunk)).collect())
    }

    /// One row of a table of `rows`, as bytes. Checksums are of whole tensors, so that a single row has none.
    pub(super) fn row(
        &mut self,
        name: &str,
        dtype: &str,
        [rows, width]: [usize; 2],
        row: usize,
    ) -> Result<Vec<u8>, RunError> {
        let size = if dtype == "F32" { 4 } else { 8 };
        let tensor = &self.head[name];
        let offset = |i: usize| tensor["data_offsets"][i].as_u64();
        let bytes = width.checked_mul(size).and_then(|n| Some((n, n.checked_mul(rows)?)));
        let (Some(from), Some(to), Some((bytes, all))) = (offset(0), offset(1), bytes) else {
            return Err(self.damaged(format!("there is no tensor {name}")));
        };
        let shape = &tensor["shape"];
        let fits =
            *shape == serde_json::json!([rows, width]) || width == 1 && *shape == serde_json::json!([rows]);
        let whole = to <= self.bytes && to.checked_sub(from) == Some(all as u64);
        if tensor["dtype"] != dtype || !fits || !whole || row >= rows {
            return Err(self.damaged(format!("{name} should be {rows} rows of {width} {dtype}")));
        }
        let mut values = vec![0; bytes];
        self.file
            .seek(SeekFrom::Start(self.start + from + (row * bytes) as u64))
            .and_then(|_| self.file.read_exact(&mut values))
            .map_err(RunError::io(&self.path, "reading"))?;
        Ok(values)
    }

    pub(super) fn damaged(&self, problem: String) -> RunError {
        RunError::Damaged { path: self.path.to_owned(), problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::load_archive;
    use crate::archive::tests::{archive, tessellated, written};

    #[test]
    fn an_outline_is_the_archive_without_policies() {
        for (_folder, path) in [written(&archive()), written(&tessellated())] {
            let (outline, whole) = (load_outline(&path).unwrap(), load_archive(&path).unwrap());
            assert_eq!((&outline, outline.metrics()), (&ArchiveOutline::from(&whole), whole.metrics()));
            assert_eq!(outline.elites.len(), 2);
        }
    }

    #[test]
    fn a_fingerprint_changes_with_the_elites_and_the_iteration() {
        let (_folder, path) = written(&archive());
        let outline = load_outline(&path).unwrap();
        let mut later = outline.clone();
        later.about.iteration += 1;
        let mut better = outline.clone();
        better.elites[1].objective += 1e-9;
        let prints = [&outline, &later, &better].map(ArchiveOutline::fingerprint);
        assert!(prints[0] != prints[1] && prints[0] != prints[2]);
    }

    #[test]
    fn a_file_that_is_cut_or_flipped_is_refused() {
        let (_folder, path) = written(&archive());
        let whole = std::fs::read(&path).unwrap();
        let intact = load_outline(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let error = load_outline(&path).unwrap_err().to_string();
            assert!(error.contains("archive.safetensors") && error.contains("damaged"), "{error}");
        }
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &flipped).unwrap();
            // What is not read is not checked: policies and where they come from.
            if let Ok(outline) = load_outline(&path) {
                assert_eq!(outline, intact, "bit {bit}");
            }
        }
    }
}
