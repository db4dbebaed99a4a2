//! Runs: what is computed, where it is kept, and how it goes on after being stopped.
//!
//! Three nouns. A *configuration* is a typed record that is checked before anything starts and saved, whole, beside
//! the results ([`settings`] says how files and arguments make one). A [`RunDirectory`] is a folder that one process at a time may write; files in it appear complete or not
//! at all. A *checkpoint* is all state of a run, in files with checksums: a run that is killed and resumed gives the bytes
//! of one that was left alone.
//!
//! There are three kinds of run: [`ppo`], one policy on the task's own reward; [`clone`], one policy that acts as in
//! demonstrations; and [`train`], a search for many. What a
//! search has found is one file ([`SavedArchive`]) that everything else reads; [`operations`] are what one does with it, and
//! [`adapt`](mod@adapt) is what it is for. A [`sweep`] is many searches, from one file.

pub mod adapt;
mod archive;
mod checkpoint;
mod choices;
pub mod clone;
mod column;
mod compare;
pub mod cores;
mod directory;
mod driver;
mod error;
mod finished;
pub mod lease;
mod memory;
mod metrics;
pub mod npz;
pub mod operations;
mod policy_file;
pub mod ppo;
mod reevaluation;
pub mod settings;
pub mod sweep;
mod tensorboard;
pub mod train;
mod world;

pub use archive::{
    About, ArchiveOutline, Elites, OutlinedElite, SavedArchive, SavedElite, SavedEvidence, load_archive,
    load_outline, save_archive,
};
pub use choices::RunChoices;
pub use column::metrics_reference;
pub use compare::Difference;
pub use directory::{RunDirectory, write_whole};
pub use error::{FewGoodElites, RunError};
pub use magpie_files::{count, printable};
pub use metrics::Metrics;
pub use policy_file::{PolicyFile, load_policy};
pub use reevaluation::Reevaluation;
pub use world::{EnvOverrides, WorldChanges};

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    /// Makes a safetensors file what versions before checksums wrote.
    pub(crate) fn take_out_sums(path: &Path) {
        let bytes = std::fs::read(path).unwrap();
        let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
        let (head, body) = rest.split_at(u64::from_le_bytes(*length) as usize);
        let mut head: serde_json::Value = serde_json::from_slice(head).unwrap();
        head["__metadata__"].as_object_mut().unwrap().remove("crc32").expect("the file has checksums");
        let mut head = serde_json::to_vec(&head).unwrap();
        head.resize(head.len().next_multiple_of(8), b' ');
        std::fs::write(path, [&(head.len() as u64).to_le_bytes()[..], &head, body].concat()).unwrap();
    }
}
