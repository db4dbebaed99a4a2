//! A trained policy as one safetensors file: weights by layer, log σ, and the normaliser of its observations.
//!
//! The metadata hold one entry, `magpie`: the words `policy 2` and a JSON record with `task`, `actor` (widths and
//! activations) and `actions`, how the policy is meant to act. Files that say `policy 1` and the task alone hold actors
//! with two hidden layers of 128 units.

use std::collections::HashMap;
use std::path::Path;

use magpie_learn::{Actions, Policy};
use magpie_nn::Shape;
use magpie_nn::normaliser::RunningMeanStd;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::directory::{read, write_whole};
use crate::error::RunError;

/// Key of the metadata, and how its value begins.
const METADATA: &str = "magpie";
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
    let mut tensors: Vec<(String, Vec<usize>, Vec<u8>)> = Vec::new();
    let single = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let parameters = &file.policy.parameters;
    for (i, layer) in file.actor.layers().enumerate() {
        let shape = vec![layer.outputs, layer.inputs];
        tensors.push((format!("actor.{i}.weight"), shape, single(&parameters[layer.weight.clone()])));
        tensors.push((
            format!("actor.{i}.bias"),
            vec![layer.outputs],
            single(&parameters[layer.bias.clone()]),
        ));
    }
    let log_std = &parameters[file.actor.parameters()..];
    tensors.push(("log_std".to_owned(), vec![log_std.len()], single(log_std)));
    let normaliser = &file.policy.normaliser;
    let double = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let width = normaliser.mean().len();
    let statistics = [
        ("obs_mean", vec![width], double(normaliser.mean())),
        ("obs_var", vec![width], double(normaliser.variance())),
        ("obs_count", vec![1], double(&[normaliser.count()])),
    ];
    let views: Result<Vec<_>, _> = tensors
        .iter()
        .map(|(name, shape, bytes)| (name.as_str(), Dtype::F32, shape, bytes))
        .chain(statistics.iter().map(|(name, shape, bytes)| (*name, Dtype::F64, shape, bytes)))
        .map(|(name, dtype, shape, bytes)| Ok((name, TensorView::new(dtype, shape.clone(), bytes)?)))
        .collect();
    // One entry, because the order of several would differ from run to run.
    let (task, actor) = (file.task.clone(), file.actor.clone());
    let unwritten = |e: &dyn ToString| damaged(path, format!("cannot be written: {}", e.to_string()));
    let record =
        serde_json::to_string(&Record { task, actor, actions: file.actions }).map_err(|e| unwritten(&e))?;
    let metadata = HashMap::from([(METADATA.to_owned(), format!("{FORMAT}{record}"))]);
    let bytes =
        views.and_then(|views| safetensors::serialize(views, Some(metadata))).map_err(|e| unwritten(&e))?;
    write_whole(path, &bytes)
}

/// Reads a policy.
pub fn load_policy(path: &Path) -> Result<PolicyFile, RunError> {
    let bytes = read(path)?;
    let problem = |e: safetensors::SafeTensorError| damaged(path, e.to_string());
    let (_, head) = SafeTensors::read_metadata(&bytes).map_err(problem)?;
    let entry = head.metadata().as_ref().and_then(|metadata| metadata.get(METADATA));
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
