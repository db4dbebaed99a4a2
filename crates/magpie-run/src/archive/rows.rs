//! The elites of a run, one policy at a time: who plays a single elite of a large archive reads its row alone.

use std::path::{Path, PathBuf};

use magpie_learn::Policy;
use magpie_nn::normaliser::RunningMeanStd;

use super::ArchiveOutline;
use super::outline::{Tensors, outline};
use crate::checkpoint::CheckpointRows;
use crate::error::RunError;
use crate::train::{ARCHIVE, newer_rows};

/// An outline, and the place from which policies are read when they are asked for.
#[derive(Debug)]
pub struct Elites {
    /// The archive without its policies.
    pub outline: ArchiveOutline,
    /// The folder in which a robot or task of the run's own lies.
    pub folder: PathBuf,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// Kept open: files of runs are replaced whole, so that this stays the file of the outline.
    Archive(Tensors),
    /// With the slot of each elite, in the order of the outline.
    Checkpoint(CheckpointRows, Vec<usize>),
}

impl Elites {
    /// Those of the folder of a run, or of a file. While a run goes on, and if it was killed, its checkpoint may be newer than
    /// the archive's file; then it is the one that is read.
    pub fn open(run: &Path) -> Result<Elites, RunError> {
        let path = if run.is_dir() { run.join(ARCHIVE) } else { run.to_owned() };
        let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
        if let Some((outline, rows, slots)) = if run.is_dir() { newer_rows(run)? } else { None } {
            return Ok(Elites { outline, folder, source: Source::Checkpoint(rows, slots) });
        }
        let mut file = Tensors::open(&path)?;
        Ok(Elites { outline: outline(&mut file)?, folder, source: Source::Archive(file) })
    }

    /// The policy of the elite in this cell.
    pub fn policy(&mut self, cell: usize) -> Result<Policy, RunError> {
        // An error that names the nearest, if the cell is empty.
        self.outline.elite(cell)?;
        let position = self.outline.position(cell).unwrap_or_default();
        let actor = &self.outline.about.actor;
        let (parameters, observation) = (actor.parameters() + actor.outputs(), actor.inputs());
        match &mut self.source {
            Source::Archive(file) => {
                let elites = self.outline.elites.len();
                let solution = file.row("solution", "F32", [elites, parameters], position)?;
                let mean = file.row("obs_mean", "F64", [elites, observation], position)?;
                let variance = file.row("obs_var", "F64", [elites, observation], position)?;
                let count = file.row("obs_count", "F64", [elites, 1], position)?;
                let extra = doubles(&[mean, variance, count].concat());
                policy(singles(&solution), &extra)
                    .ok_or_else(|| file.damaged(format!("row {position} is no policy")))
            }
            Source::Checkpoint(rows, slots) => {
                let bytes = rows.row(slots[position], parameters, 2 * observation + 1)?;
                let (solution, extra) = bytes.split_at(4 * parameters);
                policy(singles(solution), &doubles(extra))
                    .ok_or_else(|| rows.damaged(format!("the row of cell {cell} is no policy")))
            }
        }
    }
}

/// A policy from its parameters and from the mean, the variance and the count of its normaliser.
fn policy(parameters: Vec<f32>, extra: &[f64]) -> Option<Policy> {
    let (mean, rest) = extra.split_at(extra.len() / 2);
    let (variance, count) = rest.split_at(extra.len() / 2);
    let sane = parameters.iter().all(|v| v.is_finite())
        && extra.iter().all(|v| v.is_finite())
        && rest.iter().all(|&v| v >= 0.0);
    let normaliser = RunningMeanStd::from_parts(mean.to_vec(), variance.to_vec(), *count.first()?);
    sane.then_some(Policy { parameters, normaliser })
}

fn singles(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::load_archive;
    use crate::archive::tests::{archive, tessellated, written};

    #[test]
    fn single_policies_are_those_of_the_whole_archive() {
        for (_folder, path) in [written(&archive()), written(&tessellated())] {
            let whole = load_archive(&path).unwrap();
            let mut elites = Elites::open(&path).unwrap();
            for elite in &whole.elites {
                assert_eq!(elites.policy(elite.cell).unwrap(), elite.policy);
            }
            let empty = (0..).find(|&cell| elites.outline.position(cell).is_none()).unwrap();
            assert!(elites.policy(empty).unwrap_err().to_string().contains("the nearest"));
        }
    }

    #[test]
    fn a_row_that_is_no_policy_is_refused() {
        let (_folder, path) = written(&archive());
        let mut bytes = std::fs::read(&path).unwrap();
        let solution = load_archive(&path).unwrap().elites[1].policy.parameters[0].to_le_bytes();
        let at = bytes.windows(4).rposition(|four| four == solution).unwrap();
        bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        std::fs::write(&path, bytes).unwrap();
        let mut elites = Elites::open(&path).unwrap();
        let cell = elites.outline.elites[1].cell;
        assert!(elites.policy(cell).unwrap_err().to_string().contains("no policy"));
    }
}
