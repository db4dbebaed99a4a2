//! In the place of `amx` on systems without it: nothing here can come into being.

use std::convert::Infallible;

use magpie_simd::Pack;

use super::split::{LINES, SplitTile};

/// Proof that this process may use tiles: there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amx(Infallible);

/// Configured tile registers: there are none.
#[derive(Debug)]
pub struct Tiles(Infallible);

impl Amx {
    /// None.
    pub fn detect() -> Option<Amx> {
        None
    }

    /// Never called.
    pub fn configure(self) -> Tiles {
        match self.0 {}
    }
}

impl Tiles {
    /// Never called.
    pub fn multiply(&self, _: [&[SplitTile]; 2], _: [&[SplitTile]; 2], _: &mut [[Pack; LINES]; 4]) {
        match self.0 {}
    }
}
