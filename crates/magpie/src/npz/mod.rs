//! npz files, as numpy reads and writes them: zip archives with one npy file for each array.
//!
//! Files come from anywhere, so nothing that a header claims is believed before it agrees with the bytes that are
//! really there: memory grows with what has been read and not with what was announced. That is why npy headers are
//! read here and not by a crate made for trusted files.

mod read;
mod write;

pub use read::Npz;
pub use write::{Column, OutFile};

use magpie_simd::Scalar;

/// Numbers that arrays are made of.
pub trait Element: Scalar {
    /// As numpy calls it.
    const DTYPE: &'static str;

    /// Appends the number to bytes of a file.
    fn put(self, bytes: &mut Vec<u8>);
}

impl Element for f32 {
    const DTYPE: &'static str = "<f4";

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }
}

impl Element for f64 {
    const DTYPE: &'static str = "<f8";

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }
}

/// A shape as numpy prints it: `(8, 200, 3)`.
pub fn tuple(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}
