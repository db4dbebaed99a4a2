//! Writing an archive.

use std::path::Path;

use magpie_files::tensors::{self, Tensor};
use magpie_qd::{ArchivePair, Cells, Elite};
use safetensors::tensor::Dtype;

use super::about::Record;
use super::{About, SavedEvidence, damaged};
use crate::directory::write_with;
use crate::error::RunError;

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
        column("episodes", Dtype::I64, None, move |e, row| whole(row, e.entry.episodes.into())),
        column("objective_var", Dtype::F64, None, move |e, row| {
            double(row, &[SavedEvidence::from(e.entry).objective_var]);
        }),
        column("measures_var", Dtype::F64, Some(measures), move |e, row| {
            double(row, &SavedEvidence::from(e.entry).measures_var);
        }),
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
    let unwritten = |e: serde_json::Error| damaged(path, format!("cannot be written: {e}"));
    let entry = Record::to_json(about).map_err(unwritten)?;
    write(path, archives, &about.cells, &entry)
}

/// With an entry in the metadata that is already in words.
pub(super) fn write(path: &Path, archives: &ArchivePair, cells: &Cells, entry: &str) -> Result<(), RunError> {
    let columns = columns(archives);
    let elites = archives.result().len();
    let centroids = match cells {
        Cells::Grid(_) => None,
        Cells::Cvt(cvt) => Some(cvt.centroids()),
    };
    let mut tensors: Vec<Tensor<'_>> = columns
        .iter()
        .map(|column| {
            let shape = std::iter::once(elites).chain(column.width).collect();
            Tensor { name: column.name, dtype: column.dtype, shape }
        })
        .collect();
    if centroids.is_some() {
        let shape = vec![cells.count(), cells.measure_dim()];
        tensors.push(Tensor { name: "centroids", dtype: Dtype::F64, shape });
    }
    let mut row = Vec::new();
    write_with(path, |file| {
        tensors::write(file, entry, &tensors, |number, out| {
            // After the columns come the centroids, if there are any.
            let Some(column) = columns.get(number) else {
                return centroids
                    .unwrap_or_default()
                    .iter()
                    .try_for_each(|c| out.write_all(&c.to_le_bytes()));
            };
            archives.elites().try_for_each(|elite| {
                row.clear();
                (column.append)(&elite, &mut row);
                out.write_all(&row)
            })
        })
    })
}
