//! Demonstrations from elsewhere: which format a file is in, and reading it.

mod actions;
mod arrow;
mod d4rl;
mod folder;
mod hdf5;
mod imitation;
mod limit;
mod minari;
mod paper;
mod pickle;
mod table;

use std::io::Cursor;
use std::path::Path;

use magpie_npz::{Dtype, Npz};

use crate::demonstrations::{About, Columns, Demonstrations, Sizes};
use crate::error::{DemonstrationError, Problem, problem, shown};
use crate::file;
use actions::Actions;
use hdf5::Hdf5;

/// What other formats do not say of themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The task.
    pub task: String,
    /// Name of the robot.
    pub robot: String,
    /// The measure of the steps.
    pub measure: String,
    /// Steps after which an episode is cut off. The paper's tasks: 1000.
    pub horizon: u32,
    /// What to write down as their source, such as the name of the file.
    pub source: String,
    /// Widths that the task's observations and actions must have, if there is a task.
    pub sizes: Option<Sizes>,
    /// What the entries of an observation are called in messages; may be empty.
    pub entries: Vec<String>,
}

impl Default for Given {
    fn default() -> Given {
        Given {
            task: String::new(),
            robot: String::new(),
            measure: String::new(),
            horizon: 1000,
            source: String::new(),
            sizes: None,
            entries: Vec::new(),
        }
    }
}

impl Given {
    /// Where demonstrations come from, as far as the caller knows.
    fn about(&self) -> About {
        let Given { task, robot, source, horizon, .. } = self.clone();
        About { task, robot, source, horizon, ..About::default() }
    }

    /// What an importer has read, if it makes sense.
    fn checked(&self, columns: Columns) -> Result<Demonstrations, Problem> {
        Demonstrations::named(columns, &self.entries)
    }
}

const READABLE: &str = "expected the paper's pickled trajs_ppga_*.pt, an npz file or a folder of the library imitation, \
                        main_data.hdf5 or a dataset's folder of Minari, an hdf5 file of D4RL, or demonstrations of \
                        magpie's";

/// Reads a file of a format that is recognised by its first bytes, or a folder with such files.
pub fn import(path: &Path, given: &Given) -> Result<Demonstrations, DemonstrationError> {
    let content = |problem| DemonstrationError::Content { path: path.to_owned(), problem };
    if path.is_dir() {
        return folder::read(path, given);
    }
    let bytes = file::read(path)?;
    if path.extension().is_some_and(|extension| extension == "safetensors") {
        // The name says that it is magpie's own: nothing has to be guessed.
        let demonstrations = Demonstrations::from_bytes(&bytes).map_err(content)?;
        return given.fits(demonstrations).map_err(content);
    }
    import_with(&bytes, given, folder::simulator_beside(path)).map_err(content)
}

/// Reads the bytes of a file.
pub fn import_bytes(bytes: &[u8], given: &Given) -> Result<Demonstrations, Problem> {
    import_with(bytes, given, None)
}

/// The same; `simulator` is what another file says of where it was recorded.
fn import_with(bytes: &[u8], given: &Given, simulator: Option<String>) -> Result<Demonstrations, Problem> {
    let demonstrations = match bytes {
        [] => return problem!("the file is empty; {READABLE}"),
        // Before all others, because the length of a head can look like any of their first bytes.
        own if is_own(own) => Demonstrations::from_bytes(bytes)?,
        [0x80, 2..=5, ..] => paper::read(bytes, given)?,
        [b'P', b'K', 3 | 5, 4 | 6, ..] => zipped(bytes, given)?,
        [0x89, b'H', b'D', b'F', ..] => in_hdf5(bytes, given, simulator)?,
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => {
            arrow::read(&[bytes], given)?
        }
        _ => return problem!("a format that is not known; {READABLE}"),
    };
    given.fits(demonstrations)
}

/// A safetensors file begins with the length of its JSON head, of at most 100 MB, in eight bytes.
fn is_own(bytes: &[u8]) -> bool {
    const LONGEST_HEAD: u64 = 100_000_000;
    match bytes.split_first_chunk() {
        Some((length, [b'{', ..])) => u64::from_le_bytes(*length) <= LONGEST_HEAD,
        _ => false,
    }
}

impl Given {
    /// Refuses demonstrations whose tables are not as wide as those of the task.
    fn fits(&self, demonstrations: Demonstrations) -> Result<Demonstrations, Problem> {
        let given = self;
        if let Some(expected) = given.sizes
            && expected != demonstrations.sizes()
        {
            let found = demonstrations.sizes();
            let whose = match demonstrations.columns().about.task.as_str() {
                theirs if theirs.is_empty() || *theirs == given.task => "another task's file?".to_owned(),
                theirs => format!("these are demonstrations of {theirs}"),
            };
            return problem!(
                "observations have {} entries and actions {}; expected {} and {}, as {} has: {whose}",
                found.observation,
                found.action,
                expected.observation,
                expected.action,
                given.task
            );
        }
        Ok(demonstrations)
    }
}

fn in_hdf5(bytes: &[u8], given: &Given, simulator: Option<String>) -> Result<Demonstrations, Problem> {
    let file = Hdf5::open(bytes)?;
    let groups = file.groups(&file.root())?;
    if groups.iter().any(|group| group.name().starts_with("episode_")) {
        return minari::read(&file, &groups, given, simulator);
    }
    let tables = file.tables(&file.root())?;
    if d4rl::recognised(&tables) {
        return d4rl::read(&file, &tables, given);
    }
    problem!(
        "an HDF5 file without episodes; expected groups episode_0, episode_1 … as Minari writes, or tables observations, \
         actions, rewards and terminals as D4RL writes"
    )
}

fn zipped(bytes: &[u8], given: &Given) -> Result<Demonstrations, Problem> {
    let mut npz = Npz::new(Cursor::new(bytes), Dtype::ALL, limit::most_bytes(bytes.len()))?;
    if ["obs", "acts", "indices", "terminal"].iter().all(|name| npz.contains(name)) {
        return imitation::read(&mut npz, given);
    }
    let names = npz.names();
    if names.iter().any(|name| name.ends_with("data.pkl")) {
        return problem!(
            "an archive of torch.save; {READABLE}. Convert it in Python: \
             pickle.dump({{k: v.numpy() for k, v in torch.load(FILE).items()}}, open(\"demos.pkl\", \"wb\"))"
        );
    }
    let found: Vec<String> = names.iter().take(10).map(|name| shown(name)).collect();
    problem!("a zip archive with {}; {READABLE}: obs, acts, indices and terminal", found.join(", "))
}
