//! `reevaluation.csv`: what an archive is worth when all of its elites are run again.
//!
//! `magpie eval RUN` writes it, whoever compares runs reads it. It names the archive by a fingerprint, so that one made
//! before the run went on is recognised.

use std::path::Path;

use magpie_qd::Metrics;

use crate::archive::ArchiveOutline;
use crate::directory::write_whole;
use crate::error::RunError;
use crate::settings::read_text;

/// Metrics of the archive that the elites of a run make when they are run again.
#[derive(Debug, Clone, PartialEq)]
pub struct Reevaluation {
    /// Fingerprint of the run's archive ([`ArchiveOutline::fingerprint`]).
    pub archive: u32,
    /// Iterations that it had behind it.
    pub iteration: u64,
    /// Episodes of each elite.
    pub episodes: u32,
    /// Seed of the episodes.
    pub seed: u64,
    /// Of the archive that they make.
    pub metrics: Metrics,
}

pub(crate) const FILE: &str = "reevaluation.csv";
const COLUMNS: &str = "archive,iteration,episodes,seed,elites,qd_score,qd_score_offset,coverage,best,mean";

impl Reevaluation {
    /// Writes it into the folder of a run, in place of an earlier one.
    pub fn save(&self, folder: &Path) -> Result<(), RunError> {
        let Reevaluation { archive, iteration, episodes, seed, metrics: m } = self;
        let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
        let text = format!(
            "{COLUMNS}\n{archive:08x},{iteration},{episodes},{seed},{},{},{},{},{},{}\n",
            m.elites,
            m.qd_score,
            m.qd_score_offset,
            m.coverage,
            number(m.best),
            number(m.mean)
        );
        write_whole(&folder.join(FILE), text.as_bytes())
    }

    /// That of a run, if there is one.
    pub fn load(folder: &Path) -> Result<Option<Reevaluation>, RunError> {
        let path = folder.join(FILE);
        if !path.is_file() {
            return Ok(None);
        }
        let text = read_text(&path)?;
        let mut lines = text.lines();
        let row = lines.next().filter(|&head| head == COLUMNS).and_then(|_| lines.next()).and_then(parsed);
        row.map(Some).ok_or_else(|| RunError::Foreign {
            path,
            problem: "this is not what `magpie eval` writes; remove it and run that again".to_owned(),
        })
    }

    /// Whether it is about this archive.
    pub fn is_of(&self, archive: &ArchiveOutline) -> bool {
        self.archive == archive.fingerprint()
    }
}

fn parsed(row: &str) -> Option<Reevaluation> {
    let fields: Vec<&str> = row.split(',').collect();
    let [archive, iteration, episodes, seed, elites, qd_score, qd_score_offset, coverage, best, mean] =
        fields[..]
    else {
        return None;
    };
    let real = |field: &str| field.parse::<f64>().ok().filter(|v| v.is_finite());
    let metrics = Metrics {
        elites: elites.parse().ok()?,
        qd_score: real(qd_score)?,
        qd_score_offset: real(qd_score_offset)?,
        coverage: real(coverage)?,
        best: real(best),
        mean: real(mean),
    };
    Some(Reevaluation {
        archive: u32::from_str_radix(archive, 16).ok()?,
        iteration: iteration.parse().ok()?,
        episodes: episodes.parse().ok()?,
        seed: seed.parse().ok()?,
        metrics,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_anything_else_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Reevaluation::load(folder.path()).unwrap(), None);
        let metrics = Metrics {
            elites: 2,
            qd_score: 1.0 / 3.0,
            qd_score_offset: 7.5,
            coverage: 0.1,
            best: Some(-1e-9),
            mean: None,
        };
        let written = Reevaluation { archive: 0x00ab_cdef, iteration: 4, episodes: 10, seed: 3, metrics };
        written.save(folder.path()).unwrap();
        assert_eq!(Reevaluation::load(folder.path()).unwrap(), Some(written));
        for text in
            ["", "a,b\n1,2\n", &format!("{COLUMNS}\n1,2\n"), &format!("{COLUMNS}\nx,1,1,1,1,1,1,1,1,1\n")]
        {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            let error = Reevaluation::load(folder.path()).unwrap_err().to_string();
            assert!(error.contains("reevaluation.csv") && error.contains("magpie eval"), "{error}");
        }
    }
}
