//! Files that are whole or not there.
//!
//! A result is written beside its name, synced and renamed ([`write_with`], or [`Beside`] for a file that takes long to
//! compute), so that a reader, a kill or a power cut sees the old file or the new one. Files are read only if they are
//! ordinary ones ([`open`], [`read`]), and those that a run appends to are opened without following links ([`open_own`]):
//! a folder from elsewhere may hold anything.
//!
//! Our safetensors files carry a checksum for the head and for each tensor ([`tensors`]), so that damage is noticed even
//! if only part of a file is read.
//!
//! [`in_words`] and [`printable`] are for messages: what the operating system refused and what to do, and names from
//! foreign files without what would control a terminal.

mod beside;
mod open;
pub mod tensors;
mod words;

pub use beside::{Beside, sync_folder, write_whole, write_with};
pub use open::{open, open_own, read};
pub use words::{count, in_words, printable};
