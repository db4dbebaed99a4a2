//! Archives for other programs: the columns of a pyribs archive, and the arrays of a QDax repertoire.

use std::io::Write;
use std::path::Path;

use super::output::may_write;
use crate::archive::SavedArchive;
use crate::directory::write_with;
use crate::error::RunError;
use crate::npz::NpzWriter;

/// For whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// One line an elite, with the columns of a pyribs archive.
    Csv,
    /// One row a cell, with the arrays of a QDax repertoire, and the elites' observation normalisers.
    Npz,
}

impl ExportFormat {
    /// As files are called.
    pub fn extension(self) -> &'static str {
        match self {
            ExportFormat::Csv => "csv",
            ExportFormat::Npz => "npz",
        }
    }
}

/// Writes an archive into a file, which is not to be one that a run needs.
pub fn export_archive(archive: &SavedArchive, format: ExportFormat, path: &Path) -> Result<(), RunError> {
    may_write(path, &[])?;
    match format {
        ExportFormat::Csv => csv(archive, path),
        ExportFormat::Npz => npz(archive, path),
    }
}

fn csv(archive: &SavedArchive, path: &Path) -> Result<(), RunError> {
    let parameters = archive.elites.first().map_or(0, |e| e.policy.parameters.len());
    let mut columns: Vec<String> = (0..parameters).map(|i| format!("solution_{i}")).collect();
    columns.push("objective".to_owned());
    columns.extend((0..archive.about.names.len()).map(|j| format!("measures_{j}")));
    columns.extend(["threshold".to_owned(), "index".to_owned()]);
    write_with(path, |out| {
        writeln!(out, "{}", columns.join(","))?;
        for elite in &archive.elites {
            for parameter in &elite.policy.parameters {
                write!(out, "{parameter},")?;
            }
            write!(out, "{},", elite.objective)?;
            for measure in &elite.measures {
                write!(out, "{measure},")?;
            }
            writeln!(out, "{},{}", elite.threshold, elite.cell)?;
        }
        Ok(())
    })
}

/// A repertoire has a row for every cell, filled or not, so a small archive may make a file larger than the disk.
const MOST_BYTES: u64 = 16 << 30;

fn npz(archive: &SavedArchive, path: &Path) -> Result<(), RunError> {
    let cells = &archive.about.cells;
    let dims = cells.measure_dim();
    let parameters = archive.elites.first().map_or(0, |e| e.policy.parameters.len());
    let observation = archive.elites.first().map_or(0, |e| e.policy.normaliser.mean().len());
    let row = size_of::<f32>() * (parameters + 1 + 2 * dims) + size_of::<f64>() * 2 * observation;
    let bytes = (cells.count() as u64).saturating_mul(row as u64);
    if bytes > MOST_BYTES {
        let problem = format!(
            "a row of {row} bytes for each of the {} cells takes {} GB; the limit is {} GB. A CSV file has lines for elites \
             only",
            cells.count(),
            bytes >> 30,
            MOST_BYTES >> 30
        );
        return Err(RunError::Output { path: path.to_owned(), problem });
    }
    let out = NpzWriter::create(path)?;
    let mut genotypes = out.column::<f32>("genotypes", vec![parameters]);
    let mut fitnesses = out.column::<f32>("fitnesses", vec![1]);
    let mut descriptors = out.column::<f32>("descriptors", vec![dims]);
    let mut centroids = out.column::<f32>("centroids", vec![dims]);
    let mut means = out.column::<f64>("obs_mean", vec![observation]);
    let mut variances = out.column::<f64>("obs_var", vec![observation]);
    let mut elites = archive.elites.iter().peekable();
    for cell in 0..cells.count() {
        let centre = cells.centre(cell).unwrap_or_default();
        centroids.extend(centre.iter().map(|&c| c as f32))?;
        match elites.next_if(|e| e.cell == cell) {
            Some(elite) => {
                genotypes.extend(elite.policy.parameters.iter().copied())?;
                fitnesses.extend([elite.objective as f32])?;
                descriptors.extend(elite.measures.iter().map(|&m| m as f32))?;
                means.extend(elite.policy.normaliser.mean().iter().copied())?;
                variances.extend(elite.policy.normaliser.variance().iter().copied())?;
            }
            // As QDax leaves an empty cell.
            None => {
                genotypes.extend(std::iter::repeat_n(0.0_f32, parameters))?;
                fitnesses.extend([f32::NEG_INFINITY])?;
                descriptors.extend(std::iter::repeat_n(0.0_f32, dims))?;
                means.extend(std::iter::repeat_n(0.0_f64, observation))?;
                variances.extend(std::iter::repeat_n(1.0_f64, observation))?;
            }
        }
    }
    out.finish(vec![genotypes, fitnesses, descriptors, centroids, means, variances], cells.count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::tests::{CELLS, hopper};
    use magpie_golden::Npz;

    #[test]
    fn exports_have_a_line_an_elite_and_a_row_a_cell() {
        for cells in CELLS {
            let (folder, open) = hopper(cells());
            let at = |format: ExportFormat| folder.path().join("out").with_extension(format.extension());
            for format in [ExportFormat::Csv, ExportFormat::Npz] {
                export_archive(&open.archive, format, &at(format)).unwrap();
            }
            let text = std::fs::read_to_string(at(ExportFormat::Csv)).unwrap();
            assert!(text.starts_with("solution_0,solution_1,"));
            assert!(text.lines().next().unwrap().ends_with(",objective,measures_0,threshold,index"));
            assert_eq!(text.lines().count(), 3);
            let about = &open.archive.about;
            let mut npz = Npz::open(at(ExportFormat::Npz).to_str().unwrap());
            let centroids = npz.array("centroids");
            assert_eq!(centroids.shape, [about.cells.count(), 1]);
            for (cell, &found) in centroids.data.iter().enumerate() {
                assert_eq!(found, f64::from(about.cells.centre(cell).unwrap()[0] as f32));
            }
            let filled: Vec<usize> = npz
                .array("fitnesses")
                .data
                .iter()
                .enumerate()
                .filter_map(|(cell, fitness)| fitness.is_finite().then_some(cell))
                .collect();
            assert_eq!(filled, open.archive.elites.iter().map(|e| e.cell).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_file_larger_than_a_disk_is_not_begun() {
        let wide = magpie_qd::Grid::new(vec![10_000_000], vec![0.0], vec![1.0]).unwrap();
        let (folder, mut open) = hopper(CELLS[0]());
        open.archive.about.cells = wide.into();
        open.archive.elites.iter_mut().for_each(|e| e.policy.parameters.resize(1000, 0.0));
        let path = folder.path().join("out.npz");
        let error = export_archive(&open.archive, ExportFormat::Npz, &path).unwrap_err().to_string();
        assert!(
            error.contains("each of the 10000000 cells") && error.contains("the limit is 16 GB"),
            "{error}"
        );
        assert!(!path.exists());
    }

    #[test]
    fn files_of_a_run_are_not_written_over() {
        let (folder, open) = hopper(CELLS[0]());
        std::fs::write(folder.path().join("config.toml"), "").unwrap();
        let before = std::fs::read(&open.path).unwrap();
        let error = export_archive(&open.archive, ExportFormat::Csv, &open.path).unwrap_err().to_string();
        assert!(error.contains("a file that a run needs"), "{error}");
        assert!(std::fs::read(&open.path).unwrap() == before);
    }
}
