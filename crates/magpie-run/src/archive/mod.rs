//! `archive.safetensors`: the elites of a search, with all that is needed to run them again.
//!
//! | tensor | shape | type | |
//! |---|---|---|---|
//! | `solution` | elites × parameters | f32 | the actor's parameters, then log σ |
//! | `objective`, `length` | elites | f64 | mean return and episode length |
//! | `measures` | elites × measures | f64 | |
//! | `episodes` | elites | i64 | that objective, length and measures are means of; with the next two not in files of earlier versions |
//! | `objective_var` | elites | f64 | sample variance over these episodes; 0 after a single one |
//! | `measures_var` | elites × measures | f64 | likewise |
//! | `threshold` | elites | f64 | what a newcomer must surpass in the soft archive |
//! | `index` | elites | i64 | number of the cell, ascending |
//! | `iteration`, `branch` | elites | i64 | where it came from: iterations count from 1, branches from 0, intermediate policies go on from λ, those of the walk last; branch -1 is the search policy itself |
//! | `obs_mean`, `obs_var` | elites × observation | f64 | the elite's normaliser |
//! | `obs_count` | elites | f64 | |
//! | `centroids` | cells × measures | f64 | of the cells, if they are a tessellation; not there if they are a grid |
//!
//! The metadata hold an entry `magpie`, a JSON record of what the archive is about ([`About`]): also how to run its
//! elites, so that nothing else is needed for that; and one, `crc32`, with checksums ([`magpie_files::tensors`]). Files of the first format, which say nothing of that, hold actors of
//! two layers of 128 units that drew their actions. Solutions are the bulk
//! of the file and are single precision as in training; the rest is exact to the last bit, so that an elite that is run
//! again is the one that was found.

mod about;
mod load;
mod outline;
mod rows;
mod save;

use std::path::Path;

use magpie_learn::Policy;
use magpie_qd::{Entry, Metrics, QdOffset};

pub use about::About;
pub use load::load_archive;
pub(crate) use load::{is_archive, iteration_of};
pub use outline::{ArchiveOutline, OutlinedElite, load_outline};
pub use rows::Elites;
pub use save::save_archive;

use crate::error::RunError;
use crate::world::EnvOverrides;

/// How well objective and measures of an elite are known.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedEvidence {
    /// Episodes that they are means of.
    pub episodes: u32,
    /// Sample variance of the return; 0 after a single episode.
    pub objective_var: f64,
    /// Sample variance of each measure; 0 after a single episode.
    pub measures_var: Vec<f64>,
}

impl From<&Entry> for SavedEvidence {
    fn from(entry: &Entry) -> SavedEvidence {
        SavedEvidence {
            episodes: entry.episodes,
            objective_var: entry.objective_variance().unwrap_or(0.0),
            measures_var: entry.measure_variances().unwrap_or(vec![0.0; entry.measures.len()]),
        }
    }
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
    /// How well these are known; `None` in files of earlier versions.
    pub evidence: Option<SavedEvidence>,
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
        Metrics::of(scores, self.about.cells.count(), QdOffset::PerStep(self.about.qd_offset))
    }

    /// The world it was found in, when the archive lies in `folder`.
    pub fn world(&self, folder: &Path) -> EnvOverrides {
        let mut world = self.about.world.clone();
        world.lies_in(folder);
        world
    }

    /// The elite with the highest objective.
    pub fn best(&self) -> Option<&SavedElite> {
        self.elites.iter().reduce(|best, next| if next.objective > best.objective { next } else { best })
    }

    /// The elite of a cell; a cell without one is answered with the nearest that has one.
    pub fn elite(&self, cell: usize) -> Result<&SavedElite, RunError> {
        if let Ok(found) = self.elites.binary_search_by_key(&cell, |e| e.cell) {
            return Ok(&self.elites[found]);
        }
        Err(self.about.empty_cell(cell, self.elites.iter().map(|e| e.cell)))
    }
}

fn damaged(path: &Path, problem: String) -> RunError {
    RunError::Damaged { path: path.to_owned(), problem }
}

#[cfg(test)]
pub(crate) mod tests {
    use magpie_learn::Actions;
    use magpie_nn::Shape;
    use magpie_qd::{Acceptance, ArchivePair, Candidate, Cells, Cvt, Evidence, Grid, Provenance};

    use super::*;

    /// Two elites with three parameters and one observation, in a grid of 4 × 5.
    pub(crate) fn archive() -> (ArchivePair, About) {
        archive_in(Grid::new(vec![4, 5], vec![0.0; 2], vec![1.0; 2]).unwrap())
    }

    /// The same in a tessellation of six cells.
    pub(crate) fn tessellated() -> (ArchivePair, About) {
        let centroids = [[0.1, 0.1], [0.5, 0.2], [0.9, 0.3], [0.2, 0.7], [0.5, 0.8], [1.0 / 3.0, 0.9]];
        archive_in(Cvt::new(centroids.concat(), 2).unwrap())
    }

    fn archive_in(cells: impl Into<Cells>) -> (ArchivePair, About) {
        let cells = cells.into();
        let mut archives = ArchivePair::new(cells.clone(), Acceptance::Elitist, 3, 3).unwrap();
        for (branch, measures) in [(None, [0.1, 0.1]), (Some(7), [0.9, 0.3])] {
            let candidate = Candidate {
                solution: &[0.1, -2.0, 3.5],
                extra: &[1.0, 0.1, 5.0],
                objective: 1.0 / 3.0,
                measures: &measures,
                length: 12.5,
                evidence: Evidence { episodes: 3, squares: &[2.0, 1.0, 0.5] },
                provenance: Provenance { iteration: 4, branch },
            };
            archives.add(&[candidate]).unwrap();
        }
        let about = About {
            task: "hopper".to_owned(),
            measure: "feet_contact".to_owned(),
            names: vec!["left".to_owned(), "right".to_owned()],
            ranges: vec![[0.0, 1.0]; 2],
            cells,
            actor: Shape::tanh(&[1, 1]).unwrap(),
            actions: Actions::Mean,
            world: EnvOverrides { friction: 0.5, ..EnvOverrides::default() },
            qd_offset: 0.9,
            iteration: 12,
        };
        (archives, about)
    }

    pub(crate) fn written(
        (archives, about): &(ArchivePair, About),
    ) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.safetensors");
        save_archive(&path, archives, about).unwrap();
        (folder, path)
    }

    #[test]
    fn what_is_written_is_read_back() {
        for (archives, about) in [archive(), tessellated()] {
            let (_folder, path) = written(&(archives.clone(), about.clone()));
            assert!(is_archive(&path).unwrap());
            assert_eq!(iteration_of(&path), Some(12));
            let saved = load_archive(&path).unwrap();
            assert_eq!(saved.about, about);
            for (elite, saved) in archives.elites().zip(&saved.elites) {
                assert_eq!((elite.cell, elite.solution), (saved.cell, &saved.policy.parameters[..]));
                assert_eq!((elite.entry.objective, elite.entry.length), (saved.objective, saved.length));
                assert_eq!(elite.entry.measures, saved.measures);
                let evidence = saved.evidence.as_ref().unwrap();
                assert_eq!((evidence.episodes, evidence.objective_var), (3, 1.0));
                assert_eq!(evidence.measures_var, [0.5, 0.25]);
                assert_eq!(elite.entry.provenance.branch, saved.branch);
                assert_eq!(saved.iteration, 4);
                assert_eq!(saved.policy.normaliser.variance(), [0.1]);
            }
            assert_eq!(saved.elites.len(), 2);
            assert_eq!(saved.best().map(|e| e.cell), saved.elites.first().map(|e| e.cell));
            assert!(saved.elite(saved.elites[1].cell).is_ok());
        }
    }

    #[test]
    fn cells_have_names_by_which_they_are_found() {
        for ((archives, about), names, wrong) in [
            (archive(), ["0,0", "3,1"], ["4,0", "1", "1,2,3", "x", ""]),
            (tessellated(), ["0", "2"], ["6", "-1", "1,2", "x", ""]),
        ] {
            let (_folder, path) = written(&(archives, about));
            let saved = load_archive(&path).unwrap();
            for (elite, name) in saved.elites.iter().zip(names) {
                assert_eq!(saved.about.cell_name(elite.cell), name);
                assert_eq!(saved.about.cell_named(name).unwrap(), elite.cell);
            }
            for name in wrong {
                let error = saved.about.cell_named(name).unwrap_err().to_string();
                assert!(error.contains("0 to "), "{error}");
            }
            let empty = saved.elite(saved.about.cells.count() - 1).unwrap_err().to_string();
            assert!(empty.contains("holds no elite; the nearest that holds one is"), "{empty}");
        }
    }

    /// An archive as the first layout had it: a grid, and actors whose shape had to be known.
    #[test]
    fn archives_of_the_first_format_are_read() {
        let actor = Shape::tanh(&[1, 128, 128, 2]).unwrap();
        let solution: Vec<f32> =
            (0..actor.parameters() + actor.outputs()).map(|i| i as f32 / 1024.0).collect();
        let grid = Grid::new(vec![4], vec![0.0], vec![1.0]).unwrap();
        let mut archives = ArchivePair::new(grid.clone(), Acceptance::Elitist, solution.len(), 3).unwrap();
        let candidate = Candidate {
            solution: &solution,
            extra: &[1.0, 0.1, 5.0],
            objective: 2.0,
            measures: &[0.3],
            length: 12.5,
            evidence: Evidence::ONE,
            provenance: Provenance { iteration: 4, branch: None },
        };
        archives.add(&[candidate]).unwrap();
        let entry = r#"{"format":1,"task":"hopper","measure":"jump","names":["height (m)"],
            "grid":{"dims":[4],"lower":[0.0],"upper":[1.0]},"qd_offset":0.9,"iteration":3}"#;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.safetensors");
        save::write(&path, &archives, archives.cells(), entry).unwrap();
        let saved = load_archive(&path).unwrap();
        let About { cells, ranges, actions, world, iteration, .. } = &saved.about;
        assert_eq!((&saved.about.actor, actions), (&actor, &Actions::Sampled));
        assert_eq!((cells, ranges), (&Cells::from(grid), &vec![[0.0, 1.0]]));
        assert_eq!((world, *iteration, saved.elites.len()), (&EnvOverrides::default(), 3, 1));
        assert_eq!(load_outline(&path).unwrap(), ArchiveOutline::from(&saved));
        assert!(is_archive(&path).unwrap());
    }

    #[test]
    fn a_file_that_is_cut_or_contradicts_itself_is_refused() {
        for written_down in [archive(), tessellated()] {
            let (_folder, path) = written(&written_down);
            let whole = std::fs::read(&path).unwrap();
            for length in [0, 5, 8, 100, whole.len() - 1] {
                std::fs::write(&path, &whole[..length]).unwrap();
                let error = load_archive(&path).unwrap_err().to_string();
                assert!(error.contains("archive.safetensors") && error.contains("damaged"), "{error}");
                is_archive(&path).unwrap();
            }
            let (archives, about) = written_down;
            for wrong in [
                About { names: vec![], ..about.clone() },
                About { ranges: vec![[0.0, 1.0]], ..about.clone() },
                About { ranges: vec![[1.0, 1.0]; 2], ..about.clone() },
                About { actor: Shape::tanh(&[1, 2]).unwrap(), ..about },
            ] {
                let (_folder, path) = written(&(archives.clone(), wrong));
                for error in [load_archive(&path).err(), load_outline(&path).err()] {
                    assert!(error.unwrap().to_string().contains("damaged"));
                }
            }
        }
    }

    /// A few hundred bytes can claim four billion cells, which an export with a row a cell would write out.
    #[test]
    fn more_cells_than_a_search_has_are_refused() {
        let (archives, about) = archive();
        let with = |cells: usize| {
            let grid = Grid::new(vec![cells / 1000, 1000], vec![0.0; 2], vec![1.0; 2]).unwrap();
            let (_folder, path) = written(&(archives.clone(), About { cells: grid.into(), ..about.clone() }));
            [load_archive(&path).err(), load_outline(&path).err()].map(|e| e.map(|e| e.to_string()))
        };
        assert_eq!(with(10_000_000), [None, None]);
        for error in with(4_294_967_000) {
            let error = error.unwrap();
            assert!(error.contains("it claims 4294967000 cells; a search has at most 10000000"), "{error}");
        }
    }

    #[test]
    fn a_format_of_a_later_version_is_named() {
        let (archives, about) = archive();
        let newer = about::Record::to_json(&about).unwrap().replace("\"format\":2", "\"format\":3");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.safetensors");
        save::write(&path, &archives, &about.cells, &newer).unwrap();
        let error = load_archive(&path).unwrap_err().to_string();
        assert!(error.contains("its format is 3, and 1 to 2 are read"), "{error}");
        assert!(!is_archive(&path).unwrap());
    }

    /// As versions before checksums wrote it: the same file with that entry taken out.
    #[test]
    fn archives_without_checksums_are_read() {
        let (_folder, path) = written(&archive());
        let (archive, outline) = (load_archive(&path).unwrap(), load_outline(&path).unwrap());
        crate::tests::take_out_sums(&path);
        assert_eq!(load_archive(&path).unwrap(), archive);
        assert_eq!(load_outline(&path).unwrap(), outline);
    }

    /// As versions before evidence wrote it: without a tensor of that name.
    #[test]
    fn archives_without_evidence_are_read() {
        let (_folder, path) = written(&archive());
        let mut expected = load_archive(&path).unwrap();
        crate::tests::take_out_sums(&path);
        let mut bytes = std::fs::read(&path).unwrap();
        let name = b"\"episodes\":";
        let at = bytes.windows(name.len()).position(|part| part == name).unwrap();
        bytes[at..at + name.len()].copy_from_slice(b"\"elsewhat\":");
        std::fs::write(&path, bytes).unwrap();
        expected.elites.iter_mut().for_each(|elite| elite.evidence = None);
        assert_eq!(load_archive(&path).unwrap(), expected);
        let outline = load_outline(&path).unwrap();
        assert_eq!(outline, ArchiveOutline::from(&expected));
        assert!(outline.elites.iter().all(|elite| elite.episodes.is_none()));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        for (_folder, path) in [written(&archive()), written(&tessellated())] {
            let whole = std::fs::read(&path).unwrap();
            for bit in 0..whole.len() * 8 {
                let mut flipped = whole.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                std::fs::write(&path, &flipped).unwrap();
                let error = load_archive(&path).err();
                assert!(error.is_some(), "bit {} of byte {}", bit % 8, bit / 8);
            }
        }
    }
}
