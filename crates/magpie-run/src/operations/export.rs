//! Archives for other programs: the columns of a pyribs archive, and the arrays of a QDax repertoire.

use std::io::Write;
use std::path::Path;

use super::output::may_write;
use crate::archive::{SavedArchive, SavedElite, SavedEvidence};
use crate::directory::{CONFIG, write_with};
use crate::error::RunError;
use crate::npz::{Column, Element, NpzWriter, header};

/// For whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// One line an elite, with the columns of a pyribs archive.
    Csv,
    /// One row a cell, with the arrays of a QDax repertoire, and the elites' observation normalisers.
    Npz,
    /// The same arrays as a folder of npy files, which is what a QDax repertoire loads.
    Qdax,
}

impl ExportFormat {
    /// The name of what is written beside an archive if no other is given.
    pub fn usual_name(self) -> &'static str {
        match self {
            ExportFormat::Csv => "archive.csv",
            ExportFormat::Npz => "archive.npz",
            ExportFormat::Qdax => "archive-qdax",
        }
    }
}

/// What to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportOptions {
    /// For whom.
    pub format: ExportFormat,
    /// Whether policies are written too, parameters and normalisers. They are nearly all of an archive, and nothing that
    /// plots or compares needs them. QDax does.
    pub policies: bool,
}

/// Writes an archive into a file, or a folder, which is not to be one that a run needs.
pub fn export_archive(archive: &SavedArchive, options: ExportOptions, path: &Path) -> Result<(), RunError> {
    let ExportOptions { format, policies } = options;
    match format {
        ExportFormat::Csv => {
            may_write(path, &[])?;
            csv(archive, policies, path)
        }
        ExportFormat::Npz => {
            may_write(path, &[])?;
            npz(archive, policies, path)
        }
        ExportFormat::Qdax if policies => qdax(archive, path),
        ExportFormat::Qdax => {
            let problem =
                "a repertoire of QDax is not loaded without its solutions; write csv or npz without them";
            Err(RunError::Output { path: path.to_owned(), problem: problem.to_owned() })
        }
    }
}

fn csv(archive: &SavedArchive, policies: bool, path: &Path) -> Result<(), RunError> {
    let parameters = archive.elites.first().filter(|_| policies).map_or(0, |e| e.policy.parameters.len());
    let mut columns: Vec<String> = (0..parameters).map(|i| format!("solution_{i}")).collect();
    columns.push("objective".to_owned());
    columns.extend((0..archive.about.names.len()).map(|j| format!("measures_{j}")));
    columns.extend(["threshold".to_owned(), "index".to_owned()]);
    // After what pyribs knows; empty where an archive of an earlier version does not say.
    columns.extend(["episodes".to_owned(), "objective_var".to_owned()]);
    columns.extend((0..archive.about.names.len()).map(|j| format!("measures_var_{j}")));
    write_with(path, |out| {
        writeln!(out, "{}", columns.join(","))?;
        for elite in &archive.elites {
            for parameter in &elite.policy.parameters[..parameters] {
                write!(out, "{parameter},")?;
            }
            write!(out, "{},", elite.objective)?;
            for measure in &elite.measures {
                write!(out, "{measure},")?;
            }
            write!(out, "{},{}", elite.threshold, elite.cell)?;
            match &elite.evidence {
                Some(SavedEvidence { episodes, objective_var, measures_var }) => {
                    write!(out, ",{episodes},{objective_var}")?;
                    measures_var.iter().try_for_each(|variance| write!(out, ",{variance}"))?;
                }
                None => write!(out, "{}", ",".repeat(2 + elite.measures.len()))?,
            }
            writeln!(out)?;
        }
        Ok(())
    })
}

/// What a row of an array says of a cell, with its elite if it has one.
type Row<'a, T> = Box<dyn Fn(usize, Option<&SavedElite>) -> Vec<T> + 'a>;

/// An array with a row for each cell.
enum Array<'a> {
    Single(&'static str, usize, Row<'a, f32>),
    Double(&'static str, usize, Row<'a, f64>),
}

/// The arrays of a QDax repertoire and, if policies are asked for, the normalisers that these need beside their parameters.
/// Empty cells are as QDax leaves them.
fn arrays(archive: &SavedArchive, policies: bool) -> Vec<Array<'_>> {
    let cells = &archive.about.cells;
    let dims = cells.measure_dim();
    let single = |numbers: &[f64]| numbers.iter().map(|&number| number as f32).collect::<Vec<f32>>();
    let fitness = |e: Option<&SavedElite>| vec![e.map_or(f32::NEG_INFINITY, |e| e.objective as f32)];
    let mut arrays = vec![
        Array::Single("fitnesses", 1, Box::new(move |_, e| fitness(e))),
        Array::Single(
            "descriptors",
            dims,
            Box::new(move |_, e| e.map_or(vec![0.0; dims], |e| single(&e.measures))),
        ),
        Array::Single(
            "centroids",
            dims,
            Box::new(move |cell, _| single(&cells.centre(cell).unwrap_or_default())),
        ),
    ];
    if archive.elites.first().is_some_and(|e| e.evidence.is_some()) {
        arrays.extend(evidence(dims));
    }
    let Some(first) = archive.elites.first().filter(|_| policies) else { return arrays };
    let (parameters, observation) = (first.policy.parameters.len(), first.policy.normaliser.mean().len());
    let genotype =
        move |e: Option<&SavedElite>| e.map_or(vec![0.0; parameters], |e| e.policy.parameters.clone());
    arrays.insert(0, Array::Single("genotypes", parameters, Box::new(move |_, e| genotype(e))));
    let mean = move |e: Option<&SavedElite>| {
        e.map_or(vec![0.0; observation], |e| e.policy.normaliser.mean().to_vec())
    };
    let variance = move |e: Option<&SavedElite>| {
        e.map_or(vec![1.0; observation], |e| e.policy.normaliser.variance().to_vec())
    };
    arrays.push(Array::Double("obs_mean", observation, Box::new(move |_, e| mean(e))));
    arrays.push(Array::Double("obs_var", observation, Box::new(move |_, e| variance(e))));
    arrays
}

/// How well elites are known: 0 in empty cells.
fn evidence<'a>(dims: usize) -> [Array<'a>; 3] {
    let of = |e: Option<&SavedElite>| e.and_then(|e| e.evidence.clone());
    [
        Array::Single("episodes", 1, Box::new(move |_, e| vec![of(e).map_or(0.0, |e| e.episodes as f32)])),
        Array::Double("objective_var", 1, Box::new(move |_, e| vec![of(e).map_or(0.0, |e| e.objective_var)])),
        Array::Double(
            "measures_var",
            dims,
            Box::new(move |_, e| of(e).map_or(vec![0.0; dims], |e| e.measures_var)),
        ),
    ]
}

/// A repertoire has a row for every cell, filled or not, so a small archive may make a file larger than the disk.
const MOST_BYTES: u64 = 16 << 30;

/// Refuses arrays that are too large.
fn check_size(archive: &SavedArchive, arrays: &[Array<'_>], path: &Path) -> Result<(), RunError> {
    let cells = archive.about.cells.count() as u64;
    let width = |array: &Array<'_>| match array {
        Array::Single(_, width, _) => size_of::<f32>() * width,
        Array::Double(_, width, _) => size_of::<f64>() * width,
    };
    let row = arrays.iter().map(width).sum::<usize>() as u64;
    let bytes = cells.saturating_mul(row);
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let problem = format!(
        "a row of {row} bytes for each of the {cells} cells takes {} GB; the limit is {} GB. A CSV file has lines for elites \
         only",
        bytes >> 30,
        MOST_BYTES >> 30
    );
    Err(RunError::Output { path: path.to_owned(), problem })
}

/// Each cell with its elite, if it has one.
fn rows(archive: &SavedArchive) -> impl Iterator<Item = (usize, Option<&SavedElite>)> {
    let mut elites = archive.elites.iter().peekable();
    (0..archive.about.cells.count()).map(move |cell| (cell, elites.next_if(|e| e.cell == cell)))
}

fn npz(archive: &SavedArchive, policies: bool, path: &Path) -> Result<(), RunError> {
    let arrays = arrays(archive, policies);
    check_size(archive, &arrays, path)?;
    let out = NpzWriter::create(path)?;
    let mut columns = Vec::new();
    for array in arrays {
        columns.push(match array {
            Array::Single(name, width, row) => filled(out.column::<f32>(name, vec![width]), archive, row)?,
            Array::Double(name, width, row) => filled(out.column::<f64>(name, vec![width]), archive, row)?,
        });
    }
    out.finish(columns, archive.about.cells.count())
}

fn filled<T: Element>(
    mut column: Column,
    archive: &SavedArchive,
    row: Row<'_, T>,
) -> Result<Column, RunError> {
    for (cell, elite) in rows(archive) {
        column.extend(row(cell, elite))?;
    }
    Ok(column)
}

/// Files called as QDax calls them: a repertoire is loaded from the folder's path with a slash at its end. QDax looks past the
/// two with the normalisers.
fn qdax(archive: &SavedArchive, folder: &Path) -> Result<(), RunError> {
    let refuse =
        |problem: &str| Err(RunError::Output { path: folder.to_owned(), problem: problem.to_owned() });
    if folder.join(CONFIG).exists() {
        return refuse("this is the folder of a run; name one for the exported files alone");
    }
    if folder.exists() && !folder.is_dir() {
        return refuse("this is no folder, and QDax wants one with several files; choose another name");
    }
    let arrays = arrays(archive, true);
    check_size(archive, &arrays, folder)?;
    std::fs::create_dir_all(folder).map_err(RunError::io(folder, "making the folder"))?;
    for array in arrays {
        match array {
            Array::Single(name, width, row) => npy(archive, folder, name, width, row)?,
            Array::Double(name, width, row) => npy(archive, folder, name, width, row)?,
        }
    }
    Ok(())
}

fn npy<T: Element>(
    archive: &SavedArchive,
    folder: &Path,
    name: &str,
    width: usize,
    row: Row<'_, T>,
) -> Result<(), RunError> {
    let path = folder.join(name).with_extension("npy");
    may_write(&path, &[])?;
    write_with(&path, |out| {
        out.write_all(&header(T::DTYPE, &[archive.about.cells.count(), width]))?;
        let mut bytes = Vec::new();
        for (cell, elite) in rows(archive) {
            bytes.clear();
            row(cell, elite).into_iter().for_each(|number| number.put(&mut bytes));
            out.write_all(&bytes)?;
        }
        Ok(())
    })
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
            let at = |format: ExportFormat| folder.path().join(format.usual_name());
            for format in [ExportFormat::Csv, ExportFormat::Npz] {
                export_archive(&open.archive, ExportOptions { format, policies: true }, &at(format)).unwrap();
            }
            let text = std::fs::read_to_string(at(ExportFormat::Csv)).unwrap();
            assert!(text.starts_with("solution_0,solution_1,"));
            assert!(
                text.lines()
                    .next()
                    .unwrap()
                    .ends_with(",objective,measures_0,threshold,index,episodes,objective_var,measures_var_0")
            );
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
        let options = ExportOptions { format: ExportFormat::Npz, policies: true };
        let error = export_archive(&open.archive, options, &path).unwrap_err().to_string();
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
        let options = ExportOptions { format: ExportFormat::Csv, policies: true };
        let error = export_archive(&open.archive, options, &open.path).unwrap_err().to_string();
        assert!(error.contains("a file that a run needs"), "{error}");
        assert!(std::fs::read(&open.path).unwrap() == before);
    }

    #[test]
    fn a_repertoire_is_the_same_arrays_in_files() {
        for cells in CELLS {
            let (folder, open) = hopper(cells());
            let (files, npz) = (folder.path().join("repertoire"), folder.path().join("all.npz"));
            let of = |format| ExportOptions { format, policies: true };
            export_archive(&open.archive, of(ExportFormat::Qdax), &files).unwrap();
            export_archive(&open.archive, of(ExportFormat::Npz), &npz).unwrap();
            let mut npz = zip::ZipArchive::new(std::fs::File::open(&npz).unwrap()).unwrap();
            for name in ["genotypes", "fitnesses", "descriptors", "centroids", "obs_mean", "obs_var"] {
                let file = std::fs::read(files.join(format!("{name}.npy"))).unwrap();
                let mut inside = Vec::new();
                let mut entry = npz.by_name(&format!("{name}.npy")).unwrap();
                std::io::Read::read_to_end(&mut entry, &mut inside).unwrap();
                assert!(file == inside, "{name}");
            }
            let cells = open.archive.about.cells.count();
            let parameters = open.archive.elites[0].policy.parameters.len();
            let genotypes = std::fs::read(files.join("genotypes.npy")).unwrap();
            let head = String::from_utf8_lossy(&genotypes[..128]).into_owned();
            assert!(
                head.contains(&format!(
                    "'descr': '<f4', 'fortran_order': False, 'shape': ({cells}, {parameters})"
                )),
                "{head}"
            );
            // Written again it replaces itself; a run's folder is left alone.
            export_archive(&open.archive, of(ExportFormat::Qdax), &files).unwrap();
            std::fs::write(folder.path().join("config.toml"), "").unwrap();
            let error =
                export_archive(&open.archive, of(ExportFormat::Qdax), folder.path()).unwrap_err().to_string();
            assert!(
                error.contains("the folder of a run") && !folder.path().join("genotypes.npy").exists(),
                "{error}"
            );
        }
    }

    #[test]
    fn without_policies_everything_else_is_there() {
        let (folder, open) = hopper(CELLS[0]());
        let at = |name: &str| folder.path().join(name);
        let without = |format| ExportOptions { format, policies: false };
        export_archive(&open.archive, without(ExportFormat::Csv), &at("a.csv")).unwrap();
        let text = std::fs::read_to_string(at("a.csv")).unwrap();
        assert_eq!(
            text.lines().next(),
            Some("objective,measures_0,threshold,index,episodes,objective_var,measures_var_0")
        );
        assert_eq!(text.lines().count(), 3);
        export_archive(&open.archive, without(ExportFormat::Npz), &at("a.npz")).unwrap();
        let npz = zip::ZipArchive::new(std::fs::File::open(at("a.npz")).unwrap()).unwrap();
        let mut names: Vec<String> = npz.file_names().map(|name| name.unwrap().into_owned()).collect();
        names.sort();
        let evidence = ["episodes.npy", "measures_var.npy", "objective_var.npy"];
        let mut wanted = [&["centroids.npy", "descriptors.npy", "fitnesses.npy"][..], &evidence].concat();
        wanted.sort_unstable();
        assert_eq!(names, wanted);
        let error =
            export_archive(&open.archive, without(ExportFormat::Qdax), &at("q")).unwrap_err().to_string();
        assert!(error.contains("without its solutions") && !at("q").exists(), "{error}");
    }
}
