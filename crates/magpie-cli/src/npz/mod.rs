//! npz files of recordings, for `magpie rollout`.

mod read;

pub use read::Npz;
