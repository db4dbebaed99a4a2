//! Arrays that numpy wrote: npz files, and the npy headers in them.
//!
//! An npz file is a zip archive ([`Npz`]) with one npy file for each array: a [`Header`] with the type of the entries
//! ([`Dtype`]) and the shape, and then the numbers. [`Npz::read`] gives them as an [`Array`], widened to `f64` on the
//! way and in C order.
//!
//! Files come from anywhere, so nothing that a header claims is believed before it agrees with the bytes that are
//! there, and the memory that an array will take is compared with a limit before any of it is unpacked: 128 KB of
//! packed zeros can claim 128 MB of bytes, which widened are a gigabyte.
//!
//! ```
//! use std::io::{Cursor, Write};
//! use magpie_npz::{Dtype, Npz};
//!
//! let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
//! let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
//! zip.start_file("x.npy", zip::write::SimpleFileOptions::default())?;
//! zip.write_all(b"\x93NUMPY\x01\x00")?;
//! zip.write_all(&(header.len() as u16).to_le_bytes())?;
//! zip.write_all(header.as_bytes())?;
//! zip.write_all(&[0.5_f32.to_le_bytes(), (-1.0_f32).to_le_bytes()].concat())?;
//!
//! let mut npz = Npz::new(zip.finish()?, Dtype::FLOATS, 1 << 20)?;
//! let x = npz.array("x")?;
//! assert_eq!((x.shape, x.values), (vec![2], vec![0.5, -1.0]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod array;
mod dtype;
mod header;
mod npz;

pub use array::{Array, tuple};
pub use dtype::Dtype;
pub use header::Header;
pub use npz::{Npz, NpzError};
