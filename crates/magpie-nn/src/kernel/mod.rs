//! How matrices are multiplied, chosen at run time.
//!
//! There are two implementations of the products of a layer: [`fused`] multiply-adds of `f32` on any instruction set,
//! and tiles of [`split`] numbers on processors with AMX ([`tiled`]). A [`Kernel`] is the choice between them, which
//! [`Matrix`] and [`product`] follow layer by layer.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
#[path = "no_amx.rs"]
mod amx;
mod choice;
pub(crate) mod fused;
mod split;
pub(crate) mod tiled;

use magpie_simd::{Isa, Pack, Simd};

pub(crate) use amx::Amx;
pub use choice::{Kernel, UnknownKernel};
use fused::Tiles;
use tiled::{SplitMatrix, SplitScratch};

/// Sixteen features are one tile, most of which a narrower layer would leave empty.
const LEAST_WIDTH: usize = 16;

impl Kernel {
    /// Tiles, if they are chosen and pay off for a layer of this size.
    pub(crate) fn tiles_for(self, inputs: usize, outputs: usize) -> Option<Amx> {
        self.amx.filter(|_| inputs.min(outputs) >= LEAST_WIDTH)
    }
}

/// A matrix `m[o][k]` in the order in which [`product`] reads it.
#[derive(Debug, Clone)]
pub(crate) enum Matrix {
    Fused(Tiles),
    Tiled(SplitMatrix),
}

impl Matrix {
    /// Memory for a matrix of `outputs` rows of length `inner`.
    pub fn new(kernel: Kernel, outputs: usize, inner: usize) -> Matrix {
        match kernel.tiles_for(inner, outputs) {
            Some(amx) => Matrix::Tiled(SplitMatrix::new(amx, outputs, inner)),
            None => Matrix::Fused(Tiles::new(outputs, inner)),
        }
    }

    /// Loads `m`, stored `[o][k]`.
    pub fn load(&mut self, isa: Isa, m: &[f32]) {
        match self {
            Matrix::Fused(tiles) => tiles.load(m),
            Matrix::Tiled(matrix) => matrix.load(isa, m),
        }
    }

    /// Loads the transpose of `m`, stored `[k][o]`.
    pub fn load_transposed(&mut self, isa: Isa, m: &[f32]) {
        match self {
            Matrix::Fused(tiles) => tiles.load_transposed(m),
            Matrix::Tiled(matrix) => matrix.load_transposed(isa, m),
        }
    }
}

/// Memory for operands in the order of the kernels.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scratch {
    pub turned: Vec<Pack>,
    pub split: SplitScratch,
}

/// Computes `out[p][o] = start[o] + Σₖ x[p][k] m[o][k]`. After a few outputs of a panel are written, `finish(index of
/// the first in out, the outputs)` can process them while they are in the first-level cache.
#[inline(always)]
pub(crate) fn product<S: Simd>(
    token: S,
    x: &[Pack],
    matrix: &Matrix,
    start: Option<&[f32]>,
    out: &mut [Pack],
    scratch: &mut Scratch,
    finish: impl FnMut(usize, &mut [Pack]),
) {
    match matrix {
        Matrix::Fused(tiles) => fused::product(token, x, tiles, start, out, finish),
        Matrix::Tiled(matrix) => {
            tiled::product(token, x, matrix, start, out, &mut scratch.split, finish);
        }
    }
}
