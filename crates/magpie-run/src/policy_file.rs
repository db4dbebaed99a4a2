//! A trained policy as one safetensors file: weights by layer, log σ, and the normaliser of its observations.
//!
//! The metadata hold an entry `magpie`: the words `policy 2` and a JSON record with `task`, `actor` (widths and
//! activations) and `actions`, how the policy is meant to act; and one, `crc32`, with checksums
//! ([`magpie_files::tensors`]). Files that say `policy 1` and the task alone hold actors
//! with two hidden layers of 128 units.

use std::path::Path;

use magpie_files::tensors::{self, Tensor};
use magpie_learn::{Actions, Policy};
use magpie_nn::Shape;
use magpie_nn::normaliser::RunningMeanStd;
use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::directory::{read, write_with};
use crate::error::RunError;

/// How the metadata begin.
const FORMAT: &str = "policy 2 ";
/// The rest is the name of the task.
const FIRST: &str = "policy 1 ";
/// Units of both hidden layers in a file of the first format.
const FIRST_HIDDEN: usize = 128;

#[derive(Serialize, Deserialize)]
struct Record {
    task: String,
    actor: Shape,
    actions: Actions,
}

/// What a policy file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyFile {
    /// The task that the policy was trained on.
    pub task: String,
    /// The network that maps observations to mean actions.
    pub actor: Shape,
    /// How the policy is meant to act.
    pub actions: Actions,
    /// The policy.
    pub policy: Policy,
}

/// Writes a policy. Names: `actor.N.weight` [out, in], `actor.N.bias`, `log_std`, `obs_mean`, `obs_var`, `obs_count`.
pub(crate) fn save_policy(path: &Path, file: &PolicyFile) -> Result<(), RunError> {
    let single = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let double = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let (parameters, normaliser) = (&file.policy.parameters, &file.policy.normaliser);
    let width = normaliser.mean().len();
    let log_std = &parameters[file.actor.parameters()..];
    // Wider numbers first, so that all of them are aligned.
    let mut tables: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = vec![
        ("obs_count".to_owned(), Dtype::F64, vec![1], double(&[normaliser.count()])),
        ("obs_mean".to_owned(), Dtype::F64, vec![width], double(normaliser.mean())),
        ("obs_var".to_owned(), Dtype::F64, vec![width], double(normaliser.variance())),
    ];
    for (i, layer) in file.actor.layers().enumerate() {
        for (name, shape, range) in [
            ("bias", vec![layer.outputs], layer.bias.clone()),
            ("weight", vec![layer.outputs, layer.inputs], layer.weight.clone()),
        ] {
            tables.push((format!("actor.{i}.{name}"), Dtype::F32, shape, single(&parameters[range])));
        }
    }
    tables.push(("log_std".to_owned(), Dtype::F32, vec![log_std.len()], single(log_std)));
    let described: Vec<Tensor<'_>> = tables
        .iter()
        .map(|(name, dtype, shape, _)| Tensor { name, dtype: *dtype, shape: shape.clone() })
        .collect();
    let (task, actor) = (file.task.clone(), file.actor.clone());
    let record = serde_json::to_string(&Record { task, actor, actions: file.actions })
        .map_err(|e| damaged(path, format!("cannot be written: {e}")))?;
    write_with(path, |out| {
        tensors::write(out, &format!("{FORMAT}{record}"), &described, |i, out| out.write_all(&tables[i].3))
    })
}

/// Whether these are the bytes of a policy, intact or not.
pub(crate) fn is_policy(bytes: &[u8]) -> bool {
    let head = SafeTensors::read_metadata(bytes).ok();
    let entry = head.as_ref().and_then(|(_, head)| head.metadata().as_ref()?.get(tensors::ENTRY));
    entry.is_some_and(|entry| entry.starts_with("policy "))
}

/// Reads a policy.
pub fn load_policy(path: &Path) -> Result<PolicyFile, RunError> {
    let bytes = read(path)?;
    let problem = |e: safetensors::SafeTensorError| damaged(path, e.to_string());
    let (_, head) = SafeTensors::read_metadata(&bytes).map_err(problem)?;
    tensors::check(&bytes).map_err(|e| damaged(path, e))?;
    let entry = head.metadata().as_ref().and_then(|metadata| metadata.get(tensors::ENTRY));
    let foreign = || damaged(path, "it is a safetensors file, but not a policy of magpie's".to_owned());
    let entry = entry.ok_or_else(foreign)?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(problem)?;
    let Record { task, actor, actions } = match (entry.strip_prefix(FORMAT), entry.strip_prefix(FIRST)) {
        (Some(record), _) => serde_json::from_str(record)
            .map_err(|e| damaged(path, format!("its metadata are not those of a policy ({e})")))?,
        (None, Some(task)) => {
            let length = |name: &str| -> Result<usize, RunError> {
                Ok(tensors.tensor(name).map_err(problem)?.shape().iter().product())
            };
            let sizes = [length("obs_mean")?, FIRST_HIDDEN, FIRST_HIDDEN, length("log_std")?];
            Record { task: task.to_owned(), actor: Shape::tanh(&sizes)?, actions: Actions::Mean }
        }
        (None, None) => return Err(foreign()),
    };
    let numbers = |name: &str, dtype: Dtype, count: usize| -> Result<Vec<f64>, RunError> {
        let view = tensors.tensor(name).map_err(problem)?;
        let found: usize = view.shape().iter().product();
        if view.dtype() != dtype || found != count {
            let message = format!(
                "{name} should hold {count} numbers of type {dtype:?} and holds {found} of {:?}",
                view.dtype()
            );
            return Err(damaged(path, message));
        }
        let values: Vec<f64> = match dtype {
            Dtype::F32 => {
                view.data().as_chunks::<4>().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect()
            }
            _ => view.data().as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
        };
        match values.iter().all(|v| v.is_finite()) {
            true => Ok(values),
            false => Err(damaged(path, format!("{name} holds numbers that are not finite"))),
        }
    };
    let mut parameters = vec![0.0; actor.parameters() + actor.outputs()];
    for (i, layer) in actor.layers().enumerate() {
        for (name, range) in [("weight", layer.weight.clone()), ("bias", layer.bias.clone())] {
            let values = numbers(&format!("actor.{i}.{name}"), Dtype::F32, range.len())?;
            parameters[range].iter_mut().zip(values).for_each(|(p, v)| *p = v as f32);
        }
    }
    let log_std = numbers("log_std", Dtype::F32, actor.outputs())?;
    parameters[actor.parameters()..].iter_mut().zip(log_std).for_each(|(p, v)| *p = v as f32);
    let width = actor.inputs();
    let (mean, variance) = (numbers("obs_mean", Dtype::F64, width)?, numbers("obs_var", Dtype::F64, width)?);
    let count = numbers("obs_count", Dtype::F64, 1)?[0];
    // An empty normaliser that merges one batch is that batch.
    let mut normaliser = RunningMeanStd::with_prior(width, 0.0, 0.0, 0.0);
    normaliser.merge(&mean, &variance, count);
    Ok(PolicyFile { task, actor, actions, policy: Policy { parameters, normaliser } })
}

fn damaged(path: &Path, problem: String) -> RunError {
    RunError::Damaged { path: path.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> (tempfile::TempDir, std::path::PathBuf, PolicyFile) {
        let actor = Shape::tanh(&[2, 3, 1]).unwrap();
        let parameters = (0..actor.parameters() + actor.outputs()).map(|i| i as f32 - 4.0).collect();
        let normaliser = RunningMeanStd::from_parts(vec![0.5, -1.0], vec![2.0, 0.25], 7.0);
        let policy = Policy { parameters, normaliser };
        let file = PolicyFile { task: "hopper".to_owned(), actor, actions: Actions::Mean, policy };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.safetensors");
        save_policy(&path, &file).unwrap();
        (folder, path, file)
    }

    #[test]
    fn what_is_written_is_read_back_with_checksums_and_without() {
        let (_folder, path, file) = written();
        assert_eq!(load_policy(&path).unwrap(), file);
        crate::tests::take_out_sums(&path);
        assert_eq!(load_policy(&path).unwrap(), file, "as versions before checksums wrote it");
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let (_folder, path, _) = written();
        let whole = std::fs::read(&path).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &flipped).unwrap();
            assert!(load_policy(&path).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
        }
    }
}
