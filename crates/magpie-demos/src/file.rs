//! magpie's own format: one safetensors file.
//!
//! | tensor | type, shape | |
//! |---|---|---|
//! | `observations` | f32 [N, O] | raw, before the step |
//! | `actions` | f32 [N, A] | within ±1 |
//! | `final_observations` | f32 [E, O] | after the last step of each episode; may be absent |
//! | `next_observations` | f32 [N, O] | after each step, where not all were kept; may be absent |
//! | `rewards` | f32 [N] | true rewards; may be absent |
//! | `measures` | f32 [N, k] | of the steps; may be absent |
//!
//! Metadata: an entry `magpie`, JSON: the format, [`About`] and the episodes; and an entry `crc32` with checksums
//! ([`magpie_files::tensors`]), which files of earlier versions do not have.

use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;

use magpie_files::tensors::{self, Tensor};
use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::demonstrations::{About, Columns, Demonstrations, Episode, Sizes};
use crate::error::{DemonstrationError, Problem, problem};

/// What the metadata must say it is.
const FORMAT: &str = "demonstrations 1";

/// Shape and numbers.
type Table = (Vec<usize>, Vec<f32>);

#[derive(Serialize, Deserialize)]
struct Metadata {
    format: String,
    about: About,
    episodes: Vec<Episode>,
}

impl Demonstrations {
    /// The bytes of a file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Problem> {
        let columns = self.columns();
        let Sizes { observation, action } = columns.sizes;
        let (rows, episodes) = (self.steps(), columns.episodes.len());
        let measures = columns.measures.len() / rows;
        let tables: [(&str, Vec<usize>, &Vec<f32>); 6] = [
            ("actions", vec![rows, action], &columns.actions),
            ("final_observations", vec![episodes, observation], &columns.final_observations),
            ("measures", vec![rows, measures], &columns.measures),
            ("next_observations", vec![rows, observation], &columns.next_observations),
            ("observations", vec![rows, observation], &columns.observations),
            ("rewards", vec![rows], &columns.rewards),
        ];
        let tables: Vec<(Tensor<'_>, &[f32])> = tables
            .into_iter()
            .filter(|(_, _, table)| !table.is_empty())
            .map(|(name, shape, table)| (Tensor { name, dtype: Dtype::F32, shape }, &table[..]))
            .collect();
        let about = About { magpie: env!("CARGO_PKG_VERSION").to_owned(), ..columns.about.clone() };
        let metadata = Metadata { format: FORMAT.to_owned(), about, episodes: columns.episodes.clone() };
        let text = serde_json::to_string(&metadata).map_err(|e| Problem(e.to_string()))?;
        let described: Vec<Tensor<'_>> = tables.iter().map(|(tensor, _)| tensor.clone()).collect();
        let mut bytes = Cursor::new(Vec::new());
        tensors::write(&mut bytes, &text, &described, |number, out| {
            tables[number].1.iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
        })
        .map_err(|e| Problem(e.to_string()))?;
        Ok(bytes.into_inner())
    }

    /// Reads the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Demonstrations, Problem> {
        let broken = |e: safetensors::SafeTensorError| {
            Problem(format!("not a whole safetensors file ({e}); restore it from a copy, or make it again"))
        };
        let (_, head) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let Some(text) = head.metadata().as_ref().and_then(|metadata| metadata.get(tensors::ENTRY)) else {
            return problem!("a safetensors file, but not one with demonstrations of magpie's");
        };
        tensors::check(bytes).map_err(|e| {
            Problem(format!("{e}; the file is damaged, restore it from a copy, or make it again"))
        })?;
        let metadata: Metadata = match serde_json::from_str(text) {
            Ok(metadata) => metadata,
            Err(e) => {
                return problem!(
                    "a safetensors file of magpie's, but not one with demonstrations of this version ({e}); from an \
                     archive, magpie demos make RUN makes some"
                );
            }
        };
        if metadata.format != FORMAT {
            return problem!("its format is \"{}\"; expected \"{FORMAT}\"", metadata.format);
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(broken)?;
        let table = |name: &str, axes: usize| -> Result<Option<Table>, Problem> {
            let Ok(view) = tensors.tensor(name) else { return Ok(None) };
            if view.dtype() != Dtype::F32 || view.shape().len() != axes {
                let (dtype, shape) = (view.dtype(), view.shape());
                return problem!("{name} is {dtype:?} {shape:?}; expected F32 with {axes} axes");
            }
            let values = view.data().as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
            Ok(Some((view.shape().to_vec(), values)))
        };
        let needed = |name: &str| -> Result<Table, Problem> {
            table(name, 2)?.ok_or_else(|| Problem(format!("the table {name} is missing")))
        };
        let optional = |name: &str, axes: usize| -> Result<Vec<f32>, Problem> {
            Ok(table(name, axes)?.map_or_else(Vec::new, |(_, values)| values))
        };
        let (observations, actions) = (needed("observations")?, needed("actions")?);
        Demonstrations::new(Columns {
            about: metadata.about,
            sizes: Sizes { observation: observations.0[1], action: actions.0[1] },
            episodes: metadata.episodes,
            observations: observations.1,
            actions: actions.1,
            final_observations: optional("final_observations", 2)?,
            next_observations: optional("next_observations", 2)?,
            rewards: optional("rewards", 1)?,
            measures: optional("measures", 2)?,
        })
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Demonstrations, DemonstrationError> {
        Demonstrations::from_bytes(&read(path)?)
            .map_err(|problem| DemonstrationError::Content { path: path.to_owned(), problem })
    }

    /// Writes a file: beside, then renamed, so that a reader sees all of it or nothing.
    pub fn save(&self, path: &Path) -> Result<(), DemonstrationError> {
        let bytes = self
            .to_bytes()
            .map_err(|problem| DemonstrationError::Content { path: path.to_owned(), problem })?;
        magpie_files::write_whole(path, &bytes).map_err(|reason| DemonstrationError::Io {
            path: path.to_owned(),
            action: "writing",
            reason,
        })
    }
}

/// Larger files than this are no demonstrations.
const MOST_BYTES: u64 = 4 << 30;

/// The bytes of a file, if it is one and not absurdly large.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, DemonstrationError> {
    let io = |action| move |reason| DemonstrationError::Io { path: path.to_owned(), action, reason };
    let content =
        |text: String| DemonstrationError::Content { path: path.to_owned(), problem: Problem(text) };
    let about = fs::metadata(path).map_err(io("opening"))?;
    if !about.is_file() {
        return Err(content("not a file; expected a file with demonstrations".to_owned()));
    }
    let file = magpie_files::open(path).map_err(io("opening"))?;
    if about.len() > MOST_BYTES {
        return Err(content(format!("it has {} bytes; expected at most {MOST_BYTES}", about.len())));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(io("reading"))?;
    Ok(bytes)
}
