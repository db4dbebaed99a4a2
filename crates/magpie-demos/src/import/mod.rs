//! Demonstrations from elsewhere: which format a file is in, and reading it.

mod imitation;
mod minari;
mod paper;
mod pickle;
mod table;

use std::io::Cursor;
use std::path::Path;

use magpie_npz::{Dtype, Npz};

use crate::demonstrations::{About, Demonstrations, Sizes};
use crate::error::{DemonstrationError, Problem, problem};
use crate::file;
use table::Table;

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
        }
    }
}

impl Given {
    /// Where demonstrations come from, as far as the caller knows.
    fn about(&self) -> About {
        let Given { task, robot, source, horizon, .. } = self.clone();
        About { task, robot, source, horizon, ..About::default() }
    }
}

const READABLE: &str = "expected the paper's pickled trajs_ppga_*.pt, an npz file of the library imitation, Minari's \
                        main_data.hdf5, or demonstrations of magpie's";

/// Reads a file of a format that is recognised by its first bytes.
pub fn import(path: &Path, given: &Given) -> Result<Demonstrations, DemonstrationError> {
    import_bytes(&file::read(path)?, given)
        .map_err(|problem| DemonstrationError::Content { path: path.to_owned(), problem })
}

/// Reads the bytes of a file.
pub fn import_bytes(bytes: &[u8], given: &Given) -> Result<Demonstrations, Problem> {
    let demonstrations = match bytes {
        [] => return problem!("the file is empty; {READABLE}"),
        // A safetensors file begins with the length of its JSON head, which may look like the beginning of a pickle.
        [_, _, _, _, 0, 0, 0, 0, b'{', ..] => Demonstrations::from_bytes(bytes)?,
        [0x80, 2..=5, ..] => paper::read(bytes, given)?,
        [b'P', b'K', 3 | 5, 4 | 6, ..] => zipped(bytes, given)?,
        [0x89, b'H', b'D', b'F', ..] => minari::read(bytes, given)?,
        [b'A', b'R', b'R', b'O', b'W', ..] => {
            return problem!(
                "an Arrow file; {READABLE}. Save it with numpy.savez: obs, acts, indices, terminal, rews, as imitation did"
            );
        }
        _ => return problem!("a format that is not known; {READABLE}"),
    };
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

/// The memory that the unpacked tables of a file may take. Observations do not pack into a 64th, so a file that claims
/// more is damaged or hostile; and no demonstrations need more than a gigabyte.
fn most_bytes(file: &[u8]) -> u64 {
    (64 * file.len() as u64).clamp(16 << 20, 1 << 30)
}

fn zipped(bytes: &[u8], given: &Given) -> Result<Demonstrations, Problem> {
    let mut npz = Npz::new(Cursor::new(bytes), Dtype::ALL, most_bytes(bytes))?;
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
    let shown: Vec<&str> = names.iter().take(10).map(String::as_str).collect();
    problem!("a zip archive with {}; {READABLE}: obs, acts, indices and terminal", shown.join(", "))
}

/// Actions in single precision as the environment takes them, and how many entries were outside. NaN stays, to be
/// refused.
fn limited(actions: &Table) -> (Vec<f32>, usize) {
    let outside = actions.values.iter().filter(|value| value.abs() > 1.0).count();
    let limit = |a: f32| if a.is_nan() { a } else { a.clamp(-1.0, 1.0) };
    (actions.single().into_iter().map(limit).collect(), outside)
}
