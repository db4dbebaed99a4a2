//! The neighbourhood of cells: the share of empty cells around each cell, and the direction in which it grows.

use magpie_qd::{Cells, Cvt, Grid, Occupancy};

/// Positions of cells, in units of a cell's width.
pub(crate) enum Spacing<'a> {
    Grid(&'a Grid),
    Cvt { cvt: &'a Cvt, width: f64 },
}

impl<'a> Spacing<'a> {
    pub fn of(cells: &'a Cells) -> Spacing<'a> {
        match cells {
            Cells::Grid(grid) => Spacing::Grid(grid),
            Cells::Cvt(cvt) => Spacing::Cvt { cvt, width: width_of_cells(cvt) },
        }
    }

    /// The position of a cell.
    pub fn position(&self, cell: usize) -> Vec<f64> {
        match self {
            Spacing::Grid(grid) => {
                grid.coordinates(cell).unwrap_or_default().into_iter().map(|c| c as f64).collect()
            }
            Spacing::Cvt { cvt, width } => {
                cvt.centroid(cell).unwrap_or_default().iter().map(|x| x / width).collect()
            }
        }
    }
}

/// A Gaussian of the distance with a standard deviation of `width` cells: 1 at distance 0.
pub(crate) fn nearness(a: &[f64], b: &[f64], width: f64) -> f64 {
    let square = |(a, b): (&f64, &f64)| ((a - b).abs() / width).powi(2);
    (-0.5 * a.iter().zip(b).map(square).sum::<f64>()).exp()
}

/// The width of a cell if all cells were equal cubes that fill the bounding box of the centroids.
fn width_of_cells(cvt: &Cvt) -> f64 {
    let dims = cvt.measure_dim();
    let centroids = || (0..cvt.count()).filter_map(|cell| cvt.centroid(cell));
    let extent = |axis: usize| {
        let (low, high) = centroids()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), c| (low.min(c[axis]), high.max(c[axis])));
        high - low
    };
    let side = |whole: f64| whole.powf(1.0 / dims as f64);
    let width = side((0..dims).map(extent).product()) / (side(cvt.count() as f64) - 1.0);
    // Centroids that lie on an axis-parallel line, or a single one, span no box.
    if width > 0.0 && width.is_finite() { width } else { 1.0 }
}

/// The Gaussian is cut off beyond this many standard deviations.
const REACH: f64 = 3.0;

/// Weighted means over the cells around each cell, for any arrangement of cells.
fn smoothed_around(spacing: &Spacing<'_>, width: f64, field: &[f32]) -> Vec<f32> {
    let least = (-0.5 * REACH * REACH).exp();
    let positions: Vec<Vec<f64>> = (0..field.len()).map(|cell| spacing.position(cell)).collect();
    let mean = |here: &Vec<f64>| {
        let (mut total, mut sum) = (0.0, 0.0);
        for (there, &value) in positions.iter().zip(field) {
            let weight = nearness(here, there, width);
            if weight >= least {
                total += weight;
                sum += weight * f64::from(value);
            }
        }
        (sum / total) as f32
    };
    positions.iter().map(mean).collect()
}

/// The share of empty cells around each cell, with Gaussian weights of `width` cells. Cells beyond the borders do not
/// count.
pub(crate) fn empty_share(cells: &Cells, width: f64, archive: &dyn Occupancy) -> Vec<f32> {
    let empty = (0..cells.count()).map(|cell| f32::from(u8::from(archive.entry(cell).is_none()))).collect();
    mean_around(cells, width, empty)
}

/// The mean of a value around each cell, weighted likewise.
pub(crate) fn mean_around(cells: &Cells, width: f64, values: Vec<f32>) -> Vec<f32> {
    match cells {
        Cells::Grid(grid) => smoothed_on_grid(grid, width, values),
        Cells::Cvt(_) => smoothed_around(&Spacing::of(cells), width, &values),
    }
}

fn smoothed_on_grid(grid: &Grid, width: f64, mut field: Vec<f32>) -> Vec<f32> {
    // A Gaussian in several dimensions is separable.
    let mut stride = 1;
    for &dim in grid.dims().iter().rev() {
        field = smoothed(&field, &gaussian(width, dim), dim, stride);
        stride *= dim;
    }
    field
}

/// Weights at distances 0, 1, …, up to three standard deviations and at most the length of the dimension.
fn gaussian(width: f64, dim: usize) -> Vec<f32> {
    let reach = ((REACH * width).ceil() as usize).min(dim - 1);
    (0..=reach).map(|d| (-0.5 * (d as f64 / width).powi(2)).exp() as f32).collect()
}

/// Weighted means along one dimension, in which neighbours are `stride` apart.
fn smoothed(field: &[f32], kernel: &[f32], dim: usize, stride: usize) -> Vec<f32> {
    let mut means = vec![0.0; field.len()];
    for (block, from) in means.chunks_exact_mut(dim * stride).zip(field.chunks_exact(dim * stride)) {
        for (i, row) in block.chunks_exact_mut(stride).enumerate() {
            let near = i.saturating_sub(kernel.len() - 1)..(i + kernel.len()).min(dim);
            let total: f32 = near.clone().map(|j| kernel[i.abs_diff(j)]).sum();
            for j in near {
                let weight = kernel[i.abs_diff(j)] / total;
                row.iter_mut().zip(&from[j * stride..]).for_each(|(mean, value)| *mean += weight * value);
            }
        }
    }
    means
}
