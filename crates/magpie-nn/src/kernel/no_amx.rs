//! Replaces `amx` on systems without it; its types have no values.

use std::convert::Infallible;

use magpie_simd::Pack;

use super::split::{LINES, SplitTile};

/// Proof that this process may use tiles, which cannot exist here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amx(Infallible);

/// Configured tile registers, which cannot exist here.
#[derive(Debug)]
pub struct Tiles(Infallible);

impl Amx {
    /// Always `None`.
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
